from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def encode_records(
    words: NDArray[np.uint32],
    codes: NDArray[np.int32],
    first: NDArray[np.int64],
    table: NDArray[np.int32],
    n_codes: int,
    start: int,
) -> tuple[int, int]: ...
def refill_table(
    words: NDArray[np.uint32],
    first: NDArray[np.int64],
    table: NDArray[np.int32],
    n_codes: int,
) -> None: ...
def encode_objects(
    items: list[Any], codes: NDArray[np.int32], is_missing: Callable[[Any], bool]
) -> list[Any]: ...
