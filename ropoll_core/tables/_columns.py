"""Which column is what: given by name, or found among the usual names."""

from __future__ import annotations

from collections.abc import Collection

from ropoll_core.tables._errors import TableError
from ropoll_core.tables._source import Column, Source

__all__ = ["ALIASES", "find_column", "named_column"]

# Compared without regard to case.
ALIASES = {
    "item": ("item", "task", "id", "sample_id", "doc_id", "prompt_id"),
    "judge": ("judge", "worker", "rater", "annotator", "model"),
    "attribute": ("attribute", "criterion", "dimension"),
    "score": ("score", "label", "rating", "judge_score"),
    "vote": ("vote", "ballot", "verdict", "decision", "pass"),
    "answer": ("answer", "prediction", "choice", "response"),
    "label": ("label", "gold", "truth", "target"),
    "gold": ("gold", "label", "truth", "target"),
    "tasks": ("task",),
}


def named_column(source: Source, name: str, argument: str) -> Column:
    """The column called `name`, or an error that lists what there is."""
    if name not in source.columns:
        raise TableError(
            f"{source.name}: no column {name!r}; {_listed(source)}", f"it was given by {argument}="
        )
    return source.columns[name]


def find_column(
    source: Source,
    role: str,
    given: str | None,
    *,
    taken: Collection[str] = (),
    required: bool = True,
) -> Column | None:
    """The column for a role: the one given, else the only one with a usual name for it.

    Columns in `taken` have another role already. Two candidates are an error, never a choice.
    """
    if given is not None:
        return named_column(source, given, role)
    names = ALIASES[role]
    found = [name for name in source.columns if name.lower() in names and name not in taken]
    if len(found) > 1:
        raise TableError(
            f"{source.name}: the columns {', '.join(map(repr, found))} could each be the {role}",
            f"say which ({role}=)",
        )
    if found:
        return source.columns[found[0]]
    if required:
        other = [name for name in source.columns if name.lower() in names and name in taken]
        if other:
            raise TableError(
                f"{source.name}: no column is left for the {role}: {other[0]!r} is something else "
                f"here; {_listed(source)}",
                f"name it ({role}=)",
            )
        one_cell = len(source.columns) == 1 and hasattr(source, "delimiter")
        raise TableError(
            f"{source.name}: no column for the {role} ({', '.join(names)}); {_listed(source)}",
            "give the delimiter (delimiter=)" if one_cell else f"name it ({role}=)",
        )
    return None


def _listed(source: Source) -> str:
    return "the columns are " + ", ".join(map(repr, source.columns))
