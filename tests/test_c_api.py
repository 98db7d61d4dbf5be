"""Other compiled code can cimport the one-panel functions: a client is built and run."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import ropoll_core

pytest.importorskip("Cython")

CLIENT = """
from libc.stdlib cimport free, malloc
from ropoll_core cimport geometric_median_one, geometric_median_scratch


def median_of(const double[:, ::1] scores, double[::1] out, const double[::1] weights=None):
    cdef char *scratch = <char *> malloc(
        geometric_median_scratch(scores.shape[0], scores.shape[1])
    )
    cdef const double *w = NULL
    cdef int status
    if weights is not None:
        w = &weights[0]
    with nogil:
        status = geometric_median_one(
            &scores[0, 0], w, scores.shape[0], scores.shape[1], &out[0], scratch
        )
    free(scratch)
    return status
"""

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="client",
    ext_modules=cythonize(
        [Extension("client", ["client.pyx"])], include_path=[{root!r}], language_level=3
    ),
    script_args=["build_ext", "--inplace"],
)
"""

RUN = """
import client
import numpy as np
from ropoll_core import geometric_median

x = np.random.default_rng(0).normal(size=(5, 4))
w = np.array([1.0, 2.0, 1.0, 0.0, 3.0])
out = np.empty(4)
assert client.median_of(x, out) == 0
np.testing.assert_array_equal(out, geometric_median(x))
assert client.median_of(x, out, w) == 0
np.testing.assert_array_equal(out, geometric_median(x, weights=w))
x[:] = np.nan
assert client.median_of(x, out) == 3
assert np.isnan(out).all()
x[0, 0] = np.inf
assert client.median_of(x, out) == 5
"""


def test_a_client_builds_and_agrees(tmp_path):
    root = Path(ropoll_core.__file__).resolve().parents[1]
    (tmp_path / "client.pyx").write_text(CLIENT, encoding="ascii")
    (tmp_path / "setup.py").write_text(textwrap.dedent(SETUP.format(root=str(root))))
    for code in ("import runpy; runpy.run_path('setup.py')", RUN):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path += [{str(root)!r}, '.']\n{code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
