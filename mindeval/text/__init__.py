"""Text metrics. Each one is imported from its own module, or from ``mindeval``."""
