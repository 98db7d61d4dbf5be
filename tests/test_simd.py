"""The choice of instruction set: by name, by environment, and never one that is not there."""

import os
import subprocess
import sys

import pytest

from ropoll_core._kernels import simd


def test_best_is_active_by_default():
    assert "generic" in simd.available()
    assert simd.active() in simd.available()


def test_use_switches_and_refuses():
    before = simd.active()
    try:
        for name in simd.available():
            simd.use(name)
            assert simd.active() == name
        with pytest.raises(ValueError, match="must be one of generic, avx2, avx512, got 'sse9'"):
            simd.use("sse9")
    finally:
        simd.use(before)


def test_environment_forces_a_variant():
    code = "from ropoll_core._kernels import simd; print(simd.active())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ROPOLL_SIMD": "generic"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "generic"
