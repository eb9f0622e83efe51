"""Metrics of classification."""
