"""Metrics of classification: decisions, scores and their curves, probabilities, and regressed numbers."""
