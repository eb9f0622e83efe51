"""Metrics of images and of embeddings."""
