from typing import Any

import numpy as np
from numpy.typing import NDArray

__pyx_capi__: dict[str, object]

def scratch_bytes(n_judges: int, n_attributes: int) -> int: ...

class Job:
    def __init__(
        self,
        scores: NDArray[Any],
        median: NDArray[Any],
        weights: NDArray[np.float64] | None,
        details: tuple[NDArray[Any], ...] | None,
        *,
        propagate: bool,
        solver: int,
        max_iter: int,
        tol: float,
        step: float,
        eta: float,
    ) -> None: ...
    def run(self, start: int, stop: int, scratch: NDArray[np.uint8]) -> None: ...
    def statuses_seen(self) -> tuple[list[int], bool]: ...
