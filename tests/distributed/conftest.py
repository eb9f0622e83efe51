"""The scripts that ranks run are no test modules: they cannot be imported in a single process."""

collect_ignore_glob = ["ranks_*.py"]
