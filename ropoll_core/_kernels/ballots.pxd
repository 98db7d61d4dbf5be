from libc.stdint cimport int8_t, int32_t, uint64_t

cdef extern from "ballots.h" namespace "ropoll" nogil:
    double TIE

    cppclass RowCount:
        int32_t ones
        int32_t valid
        bint ok

    cppclass WeightedCount:
        double lean
        double total
        int32_t ones
        int32_t valid
        bint ok

    uint64_t load_word(const int8_t *origin) noexcept
    bint all_ballots(uint64_t word) noexcept
    RowCount count_row(const int8_t *row, Py_ssize_t n_judges, const int8_t *end) noexcept
    WeightedCount count_weighted(
        const int8_t *row, const double *weights, Py_ssize_t n_judges
    ) noexcept
    int8_t decide(int32_t lean, int8_t tie) noexcept
    int8_t decide_weighted(double lean, double slack, int8_t tie) noexcept
    bint pivotal(int32_t ones, int32_t valid, int8_t tie) noexcept
