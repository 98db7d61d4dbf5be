from typing import Any

def count_sides(rule: int) -> int: ...
def outcome_table(rule: int, size: int, out: Any) -> None: ...
def panel_columns(
    votes: Any,
    signal: Any,
    labels: Any,
    rule: int,
    size: int,
    columns: Any,
    sides: Any,
) -> None: ...
def stratum_rows(
    columns: Any,
    sides: Any,
    counts: Any,
    panels: Any,
    rule: int,
    outcomes: Any,
    out: Any,
    gain: Any,
    start: int,
    stop: int,
    block: Any,
    n_in: Any,
    gains: Any,
) -> None: ...
def task_rows(
    columns: Any,
    sides: Any,
    codes: Any,
    panels: Any,
    outcomes: Any,
    out: Any,
    start: int,
    stop: int,
    block: Any,
) -> None: ...
