/* Body of moments.h, compiled once for each instruction set: see for_each_variant.h. Plain loops
 * that the compiler vectorises.
 */
namespace ROPOLL_NS {

static void ranges_of(const int64_t *rows, int64_t n_rows, int64_t n_columns, int64_t *lowest,
                      int64_t *highest) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const int64_t *row = rows + r * n_columns;
        for (int64_t c = 0; c < n_columns; ++c) {
            lowest[c] = row[c] < lowest[c] ? row[c] : lowest[c];
            highest[c] = row[c] > highest[c] ? row[c] : highest[c];
        }
    }
}

template <typename From, typename To>
static void pack_rows_of(const From *rows, int64_t n_rows, int64_t n_columns, int64_t first,
                         int64_t count, const From *__restrict lowest, To *__restrict table,
                         int64_t width) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const From *row = rows + r * n_columns + first;
        To *packed = table + r * width;
        for (int64_t c = 0; c < count; ++c) packed[c] = (To)(row[c] - lowest[first + c]);
        for (int64_t c = count; c < width; ++c) packed[c] = 0;
    }
}

}  // namespace ROPOLL_NS
