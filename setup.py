"""Extensions and compiler flags only; all metadata is in pyproject.toml.

ROPOLL_DEBUG=1 builds with bounds checks, assertions and little optimisation.
"""

import os
import platform
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ROPOLL_DEBUG", "0") == "1"
KERNELS = Path("ropoll_core/_kernels")

# Fused multiply-add may be used only where a module says so, and there only inside the
# AVX2/AVX-512 variants: baseline x86-64 has no such instruction. On other machines the
# generic variant is the only one, and stays unfused so that results are the same everywhere.
FUSED = {"geometric_median"} if platform.machine() in {"x86_64", "AMD64"} else set()

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
    contract = "fast" if path.stem in FUSED else "off"
    return Extension(
        f"ropoll_core._kernels.{path.stem}",
        sources=[path.as_posix()],
        include_dirs=[(KERNELS / "include").as_posix()],
        depends=[p.as_posix() for p in sorted((KERNELS / "include").glob("*.h"))],
        extra_compile_args=[*SPEED, *COMMON, f"-ffp-contract={contract}", "-std=c++17"],
        language="c++",
    )


setup(
    ext_modules=cythonize(
        [extension(p) for p in sorted(KERNELS.glob("*.pyx"))], compiler_directives=DIRECTIVES
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
