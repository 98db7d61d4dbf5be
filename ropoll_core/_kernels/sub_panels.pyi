from typing import Any

def stratum_rows(
    ones: Any,
    valid: Any,
    signal: Any,
    labels: Any,
    counts: Any,
    panels: Any,
    rule: int,
    out: Any,
    gain: Any,
    start: int,
    stop: int,
    scratch: Any,
    gains: Any,
) -> None: ...
def task_rows(
    ones: Any,
    valid: Any,
    signal: Any,
    labels: Any,
    codes: Any,
    panels: Any,
    rule: int,
    shares: Any,
    out: Any,
    start: int,
    stop: int,
    scratch: Any,
) -> None: ...
