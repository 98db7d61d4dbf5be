"""Huber contamination: corruption types, protocols and sweeps."""
