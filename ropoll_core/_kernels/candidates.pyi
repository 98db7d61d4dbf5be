import numpy as np
from numpy.typing import NDArray

def select_rows(
    pool: NDArray[np.int32],
    panel: NDArray[np.int32],
    index: NDArray[np.int32],
    support: NDArray[np.int32],
    most_frequent: NDArray[np.int32],
    start: int,
    stop: int,
) -> None: ...
