"""The scripts that ranks run are no test modules."""

collect_ignore_glob = ["ranks_*.py"]
