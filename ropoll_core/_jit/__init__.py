"""Numba: what only a JIT can do, inline the user's own function. Imported lazily."""
