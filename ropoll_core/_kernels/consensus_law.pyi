import numpy as np
from numpy.typing import NDArray

def law_rows(
    accuracy: NDArray[np.float64],
    correlation: NDArray[np.float64],
    attractors: NDArray[np.float64],
    n: int,
    binomial: NDArray[np.float64],
    reach: NDArray[np.float64],
    size_pmf: NDArray[np.float64],
    correct: NDArray[np.float64],
    floor: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
