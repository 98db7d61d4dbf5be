"""The one place that states the version; pyproject.toml reads it."""

__version__ = "0.1.0"
