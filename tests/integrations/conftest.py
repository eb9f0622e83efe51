"""The scripts that ranks or a person run are no test modules."""

collect_ignore_glob = ["ranks_*.py", "smollm2_*.py"]
