"""Scoring what a model answers: choices, Yes/No, extracted answers, numbers and code."""
