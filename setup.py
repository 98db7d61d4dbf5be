"""Extensions and compiler flags only; all metadata is in pyproject.toml.

ROPOLL_DEBUG=1 builds with bounds checks, assertions and little optimisation.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ROPOLL_DEBUG", "0") == "1"
KERNELS = Path("ropoll_core/_kernels")

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


def extension(path: Path) -> Extension:
    return Extension(
        f"ropoll_core._kernels.{path.stem}",
        sources=[path.as_posix()],
        include_dirs=[(KERNELS / "include").as_posix()],
        depends=[p.as_posix() for p in sorted((KERNELS / "include").glob("*.h"))],
        extra_compile_args=[*SPEED, *COMMON, "-ffp-contract=off", "-std=c++17"],
        language="c++",
    )


setup(
    ext_modules=cythonize(
        [extension(p) for p in sorted(KERNELS.glob("*.pyx"))], compiler_directives=DIRECTIVES
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
