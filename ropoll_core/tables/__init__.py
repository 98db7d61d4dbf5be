"""Files and tables to panels: long and semi-wide CSV, JSONL, Parquet, Arrow."""

from ropoll_core._results.tables import AnswerTable, LeftOut, Panel, VoteTable
from ropoll_core.tables._ballots import read_answers, read_votes
from ropoll_core.tables._errors import TableError
from ropoll_core.tables._scores import read_scores

__all__ = [
    "AnswerTable",
    "LeftOut",
    "Panel",
    "TableError",
    "VoteTable",
    "read_answers",
    "read_scores",
    "read_votes",
]
