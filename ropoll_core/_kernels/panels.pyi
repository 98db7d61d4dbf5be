from typing import Any

class Batch:
    def __init__(
        self,
        scores: Any,
        weights: Any,
        out: Any,
        status: Any,
        seen: Any,
        propagate: bool,
        report: Any = None,
    ) -> None: ...
    def set_status(self, query: int, status: int) -> None: ...
