"""Metrics of class decisions, of scores and their curves, of probabilities, and of regressed numbers."""
