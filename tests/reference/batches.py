"""Panels in Arrow batches, with judges and whole panels missing, for the tests of every engine."""

import numpy as np
import pyarrow as pa

ATTRIBUTES = ("x", "y", "z")


def panels(n=500, n_judges=5, seed=3):
    """Scores (n, n_judges, 3): a tenth of the judges missing, and panel 7 as a whole."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, n_judges, len(ATTRIBUTES)))
    values[rng.random((n, n_judges)) < 0.1] = np.nan
    values[7] = np.nan
    return values


def list_batch(values):
    """One row a panel: the id, and its scores judge by judge with nulls for NaN."""
    flat = [[None if np.isnan(v) else v for v in row] for row in values.reshape(len(values), -1)]
    ids = [f"{i:03d}" for i in range(len(values))]
    return pa.record_batch({"id": ids, "s": pa.array(flat, type=pa.list_(pa.float64()))})
