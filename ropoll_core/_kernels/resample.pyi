import numpy as np
from numpy.typing import NDArray

def total_resamples(
    high: int,
    low: int,
    table: NDArray[np.int16] | NDArray[np.int32] | NDArray[np.float64],
    n_moments: int,
    flush: int,
    start: int,
    stop: int,
    scratch: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None: ...
def draw_tasks(
    high: int, low: int, resample: int, scratch: NDArray[np.int32], out: NDArray[np.int64]
) -> None: ...
def sum_rows(
    codes: NDArray[np.int64],
    rows: NDArray[np.int64] | NDArray[np.float64],
    out: NDArray[np.int64] | NDArray[np.float64],
) -> None: ...
