"""Exact metrics for training and evaluating language models with MindSpore."""

__version__ = "0.1.0"
