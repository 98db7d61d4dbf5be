"""Frozen result dataclasses, one module an area. ``repr`` is one readable screen."""
