"""Every public name is documented, and every example in a docstring runs."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import ropoll_core

MODULES = sorted(
    info.name for info in pkgutil.walk_packages(ropoll_core.__path__, prefix="ropoll_core.")
)
EXPORTED = sorted(name for name in ropoll_core.__all__ if not name.startswith("_"))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_modules_say_what_is_in_them(name):
    assert inspect.getdoc(importlib.import_module(name))


@pytest.mark.parametrize("name", EXPORTED)
def test_public_names_have_docstring_and_example(name):
    value = getattr(ropoll_core, name)
    text = inspect.getdoc(value) or ""
    assert text
    if inspect.isfunction(value):
        assert "Examples\n--------" in text
        assert "Parameters\n----------" in text or not inspect.signature(value).parameters


def test_public_modules_reexport_what_they_list():
    for module, names in ropoll_core._EXPORTS.items():
        try:
            loaded = importlib.import_module(f"ropoll_core.{module}")
        except ModuleNotFoundError as error:
            raise AssertionError(f"_EXPORTS names a module that is not there: {error}") from None
        for name in names:
            assert getattr(ropoll_core, name) is getattr(loaded, name)
