"""The README's examples run, and its two commands are there."""

import doctest
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_examples_run():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert failed == 0
    assert tried >= 8


@pytest.mark.parametrize(
    "command", ["pip install '.[cli]' && ropoll demo", "pip install '.[test]' && pytest"]
)
def test_commands_are_stated_as_they_are_run(command):
    assert f"\n    {command}\n" in README.read_text(encoding="utf-8")
