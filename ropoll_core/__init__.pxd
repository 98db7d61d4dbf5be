# The C API: from ropoll_core cimport geometric_median_one, geometric_median_scratch
from ropoll_core._kernels.geometric_median cimport geometric_median_one, geometric_median_scratch
