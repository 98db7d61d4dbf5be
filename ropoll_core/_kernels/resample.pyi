import numpy as np
from numpy.typing import NDArray

TILE: int

def scratch_shape(n_tasks: int, part_size: int, n_blocks: int) -> tuple[int, int]: ...
def total_resamples(
    high: int,
    low: int,
    table: NDArray[np.uint8] | NDArray[np.int16] | NDArray[np.int32] | NDArray[np.float64],
    base: NDArray[np.float64],
    n_moments: int,
    flush: int,
    part_size: int,
    start: int,
    stop: int,
    indices: NDArray[np.uint16],
    scratch: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def total_types(
    high: int,
    low: int,
    rows: NDArray[np.float64],
    n_of: NDArray[np.int64],
    start: int,
    stop: int,
    counts: NDArray[np.int64],
    column: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def draw_tasks(
    high: int,
    low: int,
    resample: int,
    part_size: int,
    indices: NDArray[np.uint16],
    out: NDArray[np.int64],
) -> None: ...
def find_ranges(
    rows: NDArray[np.int64], lowest: NDArray[np.int64], highest: NDArray[np.int64]
) -> None: ...
def pack_rows(
    rows: NDArray[np.int64] | NDArray[np.float64],
    first: int,
    count: int,
    lowest: NDArray[np.int64] | NDArray[np.float64],
    table: NDArray[np.uint8] | NDArray[np.int16] | NDArray[np.int32] | NDArray[np.float64],
) -> None: ...
def sum_rows(
    codes: NDArray[np.int64],
    rows: NDArray[np.int64] | NDArray[np.float64],
    out: NDArray[np.int64] | NDArray[np.float64],
) -> None: ...
def find_types(
    rows: NDArray[np.int64],
    slots: NDArray[np.int64],
    first: NDArray[np.int64],
    n_of: NDArray[np.int64],
) -> int: ...
