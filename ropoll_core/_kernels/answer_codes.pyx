"""Answers of any type to small integers: the same code for equal answers.

Contract
--------
* ``encode_records``: a record is a row of 32-bit words, equal bits mean equal answers (the
  caller has made -0.0 and 0.0 one). ``codes`` holds -1 for missing records, which stay -1, and
  anything else is overwritten. Codes count from 0 in order of first sight and ``first`` gets
  the position of that sight. ``table`` has a power of two of entries, -1 where free. Returns
  before its end when the table is half full; call again with a larger one.
* ``encode_objects`` works on Python objects and so holds the GIL, alone among the kernels.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef inline uint64_t hash_one(const uint32_t* words, Py_ssize_t n_words) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(n_words):
        h = (h ^ words[i]) * <uint64_t> 0x9E3779B97F4A7C15
        h ^= h >> 32
    return h


cdef inline Py_ssize_t find_one(
    const uint32_t* words, Py_ssize_t n_words, const uint32_t* all_words,
    const int64_t* first, const int32_t* table, Py_ssize_t mask,
) noexcept nogil:
    """Slot of the table that holds the record, or the free slot where it belongs."""
    cdef Py_ssize_t slot = <Py_ssize_t> (hash_one(words, n_words) & <uint64_t> mask)
    cdef const uint32_t* other
    cdef Py_ssize_t i
    while table[slot] >= 0:
        other = all_words + first[table[slot]] * n_words
        i = 0
        while i < n_words and other[i] == words[i]:
            i += 1
        if i == n_words:
            return slot
        slot = (slot + 1) & mask
    return slot


def encode_records(
    const uint32_t[:, ::1] words, int32_t[::1] codes, int64_t[::1] first,
    int32_t[::1] table, Py_ssize_t n_codes, Py_ssize_t start,
):
    """Encode from record `start` on; returns (where it stopped, number of codes so far)."""
    cdef Py_ssize_t n_records = words.shape[0], n_words = words.shape[1]
    cdef Py_ssize_t mask = table.shape[0] - 1, most = table.shape[0] // 2
    cdef Py_ssize_t i = start, slot
    cdef const uint32_t* base
    if start >= n_records:
        return start, n_codes
    base = &words[0, 0]
    with nogil:
        while i < n_records and n_codes < most:
            if codes[i] >= 0:
                slot = find_one(base + i * n_words, n_words, base, &first[0], &table[0], mask)
                if table[slot] < 0:
                    table[slot] = <int32_t> n_codes
                    first[n_codes] = i
                    n_codes += 1
                codes[i] = table[slot]
            i += 1
    return i, n_codes


def refill_table(
    const uint32_t[:, ::1] words, const int64_t[::1] first, int32_t[::1] table,
    Py_ssize_t n_codes,
):
    """Enter the first `n_codes` distinct records into an empty, larger table."""
    cdef Py_ssize_t n_words = words.shape[1], mask = table.shape[0] - 1
    cdef Py_ssize_t code, slot
    cdef const uint32_t* base
    if n_codes == 0:
        return
    base = &words[0, 0]
    with nogil:
        for code in range(n_codes):
            slot = find_one(
                base + first[code] * n_words, n_words, base, &first[0], &table[0], mask
            )
            table[slot] = <int32_t> code


def encode_objects(list items, int32_t[::1] codes, is_missing):
    """Codes of hashable objects, equal as Python has it; returns the distinct ones in order.

    `is_missing` is asked about what is neither None, text nor integer. TypeError, with the
    position as its argument, for an object that cannot be hashed.
    """
    cdef dict seen = {}
    cdef list values = []
    cdef Py_ssize_t i
    cdef object item, code
    for i in range(len(items)):
        item = items[i]
        if item is None:
            codes[i] = -1
            continue
        if not isinstance(item, (str, int)) and is_missing(item):
            codes[i] = -1
            continue
        try:
            code = seen.get(item)
        except TypeError:
            raise TypeError(i) from None
        if code is None:
            code = len(values)
            seen[item] = code
            values.append(item)
        codes[i] = <int32_t> code
    return values
