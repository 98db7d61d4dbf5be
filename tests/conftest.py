"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

import ropoll_core
from ropoll_core._kernels import simd

# Child processes import the package under test, not the sources in the folder they start in.
os.environ["PYTHONSAFEPATH"] = "1"
os.environ["PYTHONPATH"] = str(Path(ropoll_core.__file__).parents[1])


@pytest.fixture(params=simd.available())
def simd_variant(request):
    """Run a test once for each instruction set that this processor has."""
    before = simd.active()
    simd.use(request.param)
    yield request.param
    simd.use(before)


@pytest.fixture(scope="session")
def real_data():
    """The folder of real files, or skip: they are not part of the project."""
    folder = os.environ.get("ROPOLL_REAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("ROPOLL_REAL_DATA does not name a folder of real files")
    return Path(folder)
