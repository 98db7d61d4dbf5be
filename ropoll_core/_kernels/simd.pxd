# The active instruction set, for kernels with a function table.
cdef int active_variant() noexcept nogil
