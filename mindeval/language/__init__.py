"""Metrics of language modelling: Loss and Perplexity."""
