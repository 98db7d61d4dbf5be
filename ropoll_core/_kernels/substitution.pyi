from typing import Any

def cell_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    cross: Any,
    flips: Any,
    start: int,
    stop: int,
) -> None: ...
def weighted_cell_rows(
    votes: Any,
    weights: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    cross: Any,
    flips: Any,
    start: int,
    stop: int,
) -> None: ...
