"""Nothing imports upward: checked on the source, by ast for Python and by pattern for Cython."""

import ast
import re
from pathlib import Path

import pytest

import ropoll_core

ROOT = Path(ropoll_core.__file__).parent
PUBLIC = {"scores", "votes", "jury", "resampling", "contamination", "theory"}
LAYERS = [
    {"_version"},
    {"_kernels", "_jit"},
    {"_checks", "_parallel", "_rng", "_results", "_build_info"},
    PUBLIC,
    {"tables", "engines", "cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SOURCES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path):
    """First component below ropoll_core of everything a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write it in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "ropoll_core" and len(parts) > 1:
                yield parts[1]


def test_every_room_has_a_layer():
    rooms = {room(p) for p in SOURCES}
    assert rooms <= set(RANK), f"no layer for {sorted(rooms - set(RANK))}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_upward_import(path):
    own = RANK[room(path)]
    for other in imported_rooms(path):
        if other in RANK:  # else a name of the package itself, such as __version__
            assert RANK[other] <= own, f"{path.name} imports upward: ropoll_core.{other}"


def test_kernels_cimport_only_kernels():
    for path in [*ROOT.rglob("*.pyx"), *ROOT.rglob("*.pxd")]:
        text = path.read_text(encoding="utf-8")
        for module in re.findall(r"^\s*(?:from|cimport|import)\s+(ropoll_core[\w.]*)", text, re.M):
            assert module.startswith("ropoll_core._kernels"), f"{path.name}: {module}"
        assert "cimport numpy" not in text, path.name


def test_only_parallel_owns_threads():
    for path in SOURCES:
        if room(path) == "_parallel":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            assert module != "concurrent.futures", f"{path.name} starts threads"
