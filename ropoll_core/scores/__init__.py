"""Robust aggregation of score vectors: the geometric median and its comparators."""
