"""Readers that favour the obvious: csv rows into dictionaries, one cell at a time."""

import csv
import math
import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING = {"", "NA", "N/A", "n/a", "NaN", "nan", "null", "None"}


def number_or_none(text):
    """The finite number a text is, None for a text that means missing; ValueError otherwise."""
    if text in MISSING:
        return None
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise ValueError(text)
    return float(text)


def read_semi_wide(path, attributes):
    """items, judges in order of first appearance, and {(item, judge): {attribute: value}}."""
    items, judges, cells = {}, {}, {}
    with open(path, encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            item, judge = row["item"], row["judge"]
            items.setdefault(item)
            judges.setdefault(judge)
            assert (item, judge) not in cells
            cells[item, judge] = {name: number_or_none(row[name]) for name in attributes}
    return list(items), list(judges), cells
