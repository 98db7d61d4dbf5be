import numpy as np
from numpy.typing import NDArray

PHI_TILE: int

def phi_rows(
    totals: NDArray[np.float64], columns: NDArray[np.int64], out: NDArray[np.float64]
) -> None: ...
def effective_votes(
    totals: NDArray[np.float64],
    columns: NDArray[np.int64],
    pairs: NDArray[np.int64],
    judges: NDArray[np.int64],
    starts: NDArray[np.int64],
    phi: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def ratio_rows(
    totals: NDArray[np.float64],
    tops: NDArray[np.int64],
    bottoms: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
