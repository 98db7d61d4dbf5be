"""What was built: version, compiler, instruction sets, debug checks."""

from __future__ import annotations

import platform
import sysconfig

import numpy as np

from ropoll_core._kernels import simd
from ropoll_core._parallel import available_cores
from ropoll_core._version import __version__

__all__ = ["build_info"]


def build_info() -> dict[str, str]:
    """Describe this installation, for bug reports and benchmark tables.

    Returns
    -------
    dict of str to str
        Versions, compiler, the SIMD variants this processor can run and the active one.

    Examples
    --------
    >>> import ropoll_core
    >>> ropoll_core.build_info()["simd_active"] in {"generic", "avx2", "avx512"}
    True
    """
    return {
        "ropoll_core": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "compiler": str(sysconfig.get_config_var("CC") or "unknown"),
        "simd_available": ", ".join(simd.available()),
        "simd_active": simd.active(),
        "cores": str(available_cores()),
    }
