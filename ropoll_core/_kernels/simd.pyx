"""Which instruction-set variant the kernels run.

Chosen once at import: the best that the processor has, or the one named by the environment
variable ROPOLL_SIMD. Tests switch it with use().
"""

import os

cdef extern from "simd.h":
    int ropoll_best_variant() noexcept nogil

NAMES = ("generic", "avx2", "avx512")

cdef int _best = ropoll_best_variant()
cdef int _active = _best


cdef int active_variant() noexcept nogil:
    return _active


def available():
    """Names of the variants that this processor can run, narrowest first."""
    return NAMES[: _best + 1]


def active():
    """Name of the variant in use."""
    return NAMES[_active]


def use(name):
    """Make `name` the active variant of this process; not while kernels run."""
    global _active
    if name not in NAMES:
        raise ValueError(f"ROPOLL_SIMD must be one of {', '.join(NAMES)}, got {name!r}")
    if name not in available():
        raise ValueError(
            f"ROPOLL_SIMD={name!r} is not available on this processor; "
            f"it has {', '.join(available())}"
        )
    _active = NAMES.index(name)


if os.environ.get("ROPOLL_SIMD"):
    use(os.environ["ROPOLL_SIMD"])
