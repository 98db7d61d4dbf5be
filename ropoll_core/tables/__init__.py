"""Files and tables to panels, long and semi-wide, and back: CSV, JSON lines, Parquet, Arrow."""

from ropoll_core._results.tables import (
    AnswerTable,
    LeftOut,
    Panel,
    PanelConsensus,
    TableReport,
    VoteTable,
)
from ropoll_core.tables._answers import read_answers
from ropoll_core.tables._batch import BatchSpec, aggregate_batch, batch_schema
from ropoll_core.tables._consensus import aggregate_panel, aggregate_table, consensus_columns
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._scores import inspect_scores, read_score_parts, read_scores
from ropoll_core.tables._votes import read_votes
from ropoll_core.tables._write import check_target, complete_or_nothing, write_table

__all__ = [
    "AnswerTable",
    "BatchSpec",
    "LeftOut",
    "Panel",
    "PanelConsensus",
    "TableError",
    "TableReport",
    "VoteTable",
    "aggregate_batch",
    "aggregate_panel",
    "aggregate_table",
    "batch_schema",
    "check_target",
    "complete_or_nothing",
    "consensus_columns",
    "inspect_scores",
    "read_answers",
    "read_score_parts",
    "read_scores",
    "read_votes",
    "write_table",
]
