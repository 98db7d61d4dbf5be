"""Bounds and saturation laws of robust panels, with the constants of the proofs."""
