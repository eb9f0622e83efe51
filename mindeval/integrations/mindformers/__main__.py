"""``python -m mindeval.integrations.mindformers`` prints the folder of mindeval_register.py, for REGISTER_PATH."""

from pathlib import Path

print(Path(__file__).parents[1])
