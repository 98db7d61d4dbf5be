from typing import Any

MOST_PATTERN_JUDGES: int

def pattern_rows(
    votes: Any,
    signal: Any,
    labels: Any,
    ternary: Any,
    complete: Any,
    gapped: Any,
    start: int,
    stop: int,
) -> int: ...
def unpack_cells(
    table: Any,
    ternary: bool,
    votes: Any,
    signal: Any,
    labels: Any,
    counts: Any,
) -> None: ...
