"""A run through the main names with nothing but the required dependencies; prints what it did.

Not collected by pytest: it is run on its own where only the oldest dependencies are installed.
"""

import sys

import numpy as np

import ropoll_core
from ropoll_core import scores


def main():
    panel = np.array([[[5.0, 5.0, 1.0], [5.0, 1.0, 5.0], [1.0, 5.0, 5.0]]])
    for name, options in {
        "geometric_median": {},
        "mean": {},
        "coordinatewise_median": {},
        "trimmed_mean": {"proportion": 0.34},
        "median_of_means": {"n_groups": 3},
        "medoid": {},
    }.items():
        value = getattr(scores, name)(panel, **options)
        assert value.shape == (1, 3)
        assert np.isfinite(value).all()
    optional = {"numba", "duckdb", "pandas", "pyarrow", "typer", "dask"} & set(sys.modules)
    assert not optional, f"imported without being asked: {optional}"
    for key, value in ropoll_core.build_info().items():
        print(f"{key}: {value}")


if __name__ == "__main__":
    main()
