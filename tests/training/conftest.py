"""The training that a test kills is no test module: it would train when it is imported."""

collect_ignore = ["killed_run.py"]
