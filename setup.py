"""Extensions and compiler flags only; all metadata is in pyproject.toml.

ROPOLL_DEBUG=1 builds with bounds checks, assertions and little optimisation.
"""

import os
import re
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ROPOLL_DEBUG", "0") == "1"
KERNELS = Path("ropoll_core/_kernels")
INCLUDE = KERNELS / "include"

COMMON = ["-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-g0"]
SPEED = ["-O1", "-UNDEBUG", "-DROPOLL_DEBUG", "-D_GLIBCXX_ASSERTIONS"] if DEBUG else ["-O3"]

DIRECTIVES = {
    "language_level": 3,
    "binding": False,
    "embedsignature": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
}


def dependencies(source: Path) -> set[Path]:
    """The headers and .pxd files that a source names, and those that they name in turn."""
    text = source.read_text(encoding="ascii")
    named = {INCLUDE / name for name in re.findall(r'"(\w+\.h)"', text)}
    named |= {KERNELS / f"{name}.pxd" for name in re.findall(r"_kernels\.(\w+) cimport", text)}
    named |= {source.with_suffix(".pxd")}
    found = {path for path in named if path.exists()} - {source}
    return found.union(*map(dependencies, found))


def extension(path: Path) -> Extension:
    return Extension(
        f"ropoll_core._kernels.{path.stem}",
        sources=[path.as_posix()],
        include_dirs=[INCLUDE.as_posix()],
        depends=sorted(p.as_posix() for p in dependencies(path)),
        extra_compile_args=[*SPEED, *COMMON, "-ffp-contract=off", "-std=c++17"],
        language="c++",
    )


setup(
    ext_modules=cythonize(
        [extension(p) for p in sorted(KERNELS.glob("*.pyx"))], compiler_directives=DIRECTIVES
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
