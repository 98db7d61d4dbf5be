"""docs/jury.md: its examples run, and its commands name options that exist."""

import doctest
import re
from pathlib import Path

from typer.testing import CliRunner

from ropoll_core.cli._app import app

PAGE = Path(__file__).parents[2] / "docs" / "jury.md"


def test_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert failed == 0
    assert tried >= 10


def test_options_exist():
    text = CliRunner().invoke(app, ["jury", "--help"], env={"COLUMNS": "200"}).output
    for option in set(re.findall(r"--[a-z-]+", PAGE.read_text(encoding="utf-8"))):
        assert option in text, option
