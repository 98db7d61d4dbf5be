import numpy as np
from numpy.typing import NDArray

def map_totals(
    address: int,
    totals: NDArray[np.float64],
    column: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int: ...
def call_rows(address: int, rows: NDArray[np.float64]) -> tuple[float, bool]: ...
def map_resamples(
    address: int,
    high: int,
    low: int,
    rows: NDArray[np.float64],
    starts: NDArray[np.int64],
    part_size: int,
    start: int,
    stop: int,
    indices: NDArray[np.uint16],
    drawn: NDArray[np.int64],
    copy: NDArray[np.float64],
    out: NDArray[np.float64],
) -> tuple[int, int]: ...
