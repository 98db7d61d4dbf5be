import numpy as np
from numpy.typing import NDArray

def plurality_rows(
    codes: NDArray[np.int32],
    policy: int,
    frequency: NDArray[np.int64],
    key_high: int,
    key_low: int,
    counts: NDArray[np.int32],
    judge: NDArray[np.int32],
    count: NDArray[np.int32],
    n_valid: NDArray[np.int32],
    n_tied: NDArray[np.int32],
    start: int,
    stop: int,
) -> None: ...
def take_rows(
    codes: NDArray[np.int32],
    judge: NDArray[np.int32],
    out: NDArray[np.int32],
    start: int,
    stop: int,
) -> None: ...
def grade_rows(
    codes: NDArray[np.int32],
    gold: NDArray[np.int32],
    counts: NDArray[np.int32],
    count: NDArray[np.int32],
    n_valid: NDArray[np.int32],
    n_tied: NDArray[np.int32],
    n_correct: NDArray[np.int32],
    slots: NDArray[np.int32],
    start: int,
    stop: int,
) -> None: ...
