"""What an installation must hold to: light import, optional packages optional, no writable home."""

import os
import shutil
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import pytest

import ropoll_core

OPTIONAL = ("numba", "duckdb", "nanoarrow", "typer", "rich", "pandas", "polars", "pyarrow", "dask")
PANEL = "[[[1., 2.], [1., 2.], [9., 0.]]]"


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )


def test_version_is_the_installed_one():
    try:
        installed = metadata.version("ropoll-core")
    except metadata.PackageNotFoundError:
        pytest.skip("run from a checkout, not from an installation")
    assert installed == ropoll_core.__version__


def test_import_loads_numpy_and_nothing_else_heavy():
    done = run(
        """
        import sys, ropoll_core
        from ropoll_core import geometric_median
        heavy = {m.split(".")[0] for m in sys.modules} & {"scipy", "numba", "pandas", "duckdb",
            "typer", "rich", "pyarrow", "polars", "dask", "matplotlib"}
        print(sorted(heavy))
        """
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_core_works_with_every_optional_package_absent():
    done = run(
        f"""
        import sys
        for name in {OPTIONAL!r}:
            sys.modules[name] = None  # makes the import fail
        import ropoll_core
        print(ropoll_core.geometric_median({PANEL}).tolist())
        """
    )
    assert done.stdout.strip() == "[[1.0, 2.0]]", done.stderr


def test_a_missing_extra_is_named():
    done = run(
        """
        import sys
        sys.modules["duckdb"] = None
        from ropoll_core.tables import read_scores
        read_scores("absent.csv")
        """
    )
    assert done.returncode != 0
    assert "ropoll-core[cli]" in done.stderr
    done = run(
        """
        import sys
        sys.modules["typer"] = None
        from ropoll_core.cli import main
        main()
        """
    )
    assert done.returncode == 2
    assert "pip install 'ropoll-core[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_import_takes_little_longer_than_numpy():
    code = """
        import time
        import numpy
        start = time.process_time()  # a busy machine makes wall time of anything
        import ropoll_core
        from ropoll_core import geometric_median
        print(time.process_time() - start)
        """
    seconds = min(float(run(code).stdout) for _ in range(5))
    assert seconds < 0.060


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to step down"
)
def test_user_without_a_home_and_without_write_access():
    try:
        probe = run("print('ok')", user="nobody", group="nogroup", cwd="/")
    except (PermissionError, LookupError):
        pytest.skip("this interpreter cannot be run by the user nobody")
    if probe.stdout.strip() != "ok":
        pytest.skip("this interpreter cannot be run by the user nobody")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "PYTHONPATH": str(Path(ropoll_core.__file__).parents[1]),
    }
    done = run(
        f"import ropoll_core; print(ropoll_core.geometric_median({PANEL}).tolist())",
        user="nobody",
        group="nogroup",
        cwd="/",
        env=environment,
    )
    assert done.stdout.strip() == "[[1.0, 2.0]]", done.stderr


def test_demo_runs_as_a_command(tmp_path):
    command = shutil.which("ropoll", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("run from a checkout, not from an installation")
    done = subprocess.run(
        [command, "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert any(tmp_path.iterdir())
