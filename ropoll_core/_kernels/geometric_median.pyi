from typing import Any

import numpy as np
from numpy.typing import NDArray

def scratch_bytes(n_judges: int, n_attributes: int) -> int: ...

class Job:
    def options(
        self,
        *,
        propagate: bool,
        solver: int,
        max_iter: int,
        tol: float,
        step: float,
        eta: float,
    ) -> None: ...
    def arrays(
        self,
        scores: NDArray[Any],
        median: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
    ) -> None: ...
    def details(
        self,
        objective: NDArray[np.float64],
        gap: NDArray[np.float64],
        n_valid: NDArray[np.int64],
        n_iter: NDArray[np.int64],
        status: NDArray[np.int8],
        influence: NDArray[np.float64],
    ) -> None: ...
    def run(self, start: int, stop: int, scratch: NDArray[np.uint8]) -> None: ...
    def statuses_seen(self) -> tuple[list[int], bool]: ...
