import numpy as np
from numpy.typing import NDArray

def add_totals(
    high: int,
    low: int,
    hashes: NDArray[np.uint64],
    moments: NDArray[np.float64],
    start: int,
    stop: int,
    totals: NDArray[np.float64],
) -> None: ...
def permute(
    high: int,
    low: int,
    number: int,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
