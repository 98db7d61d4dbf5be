from numpy import float64, int64, uint8
from numpy.typing import NDArray

KINDS: dict[str, int]
NO_KIND: int
MOST_JUDGES: int
MOST_ATTRIBUTES: int
MOST_STREAMS: int

class Source:
    def __init__(
        self,
        truth: NDArray[float64],
        scores: NDArray[float64],
        rates: NDArray[float64],
        key: tuple[int, int],
        scale: tuple[float, float],
        colluding: bool,
    ) -> None: ...

def corrupt_rows(
    source: Source,
    kind: int,
    judges: NDArray[int64],
    n_drawn: int,
    first_replicate: int,
    n_replicates: int,
    start: int,
    stop: int,
    panels: NDArray[float64],
    hit: NDArray[uint8],
) -> None: ...
def member_rows(
    source: Source,
    n_drawn: int,
    first_replicate: int,
    n_replicates: int,
    start: int,
    stop: int,
    members: NDArray[int64],
) -> None: ...
def corrupt_cells(
    source: Source,
    kind: int,
    replicates: NDArray[int64],
    items: NDArray[int64],
    judges: NDArray[int64],
    out: NDArray[float64],
) -> None: ...
def draw_cells(
    source: Source,
    normal: bool,
    stream: int,
    replicates: NDArray[int64],
    items: NDArray[int64],
    judges: NDArray[int64],
    out: NDArray[float64],
) -> None: ...
def add_squared_errors(
    truth: NDArray[float64],
    estimates: NDArray[float64],
    start: int,
    stop: int,
    totals: NDArray[float64],
    counts: NDArray[int64],
) -> None: ...
def draw_truth_rows(
    key: tuple[int, int],
    low: float,
    high: float,
    start: int,
    stop: int,
    truth: NDArray[float64],
) -> None: ...
def simulate_rows(
    key: tuple[int, int],
    truth: NDArray[float64],
    shared: NDArray[float64],
    own_part: NDArray[float64],
    failure_rates: NDArray[float64],
    start: int,
    stop: int,
    scores: NDArray[float64],
) -> None: ...
