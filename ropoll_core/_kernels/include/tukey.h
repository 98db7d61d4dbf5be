/* Tukey's halfspace median of each panel: exact in up to three dimensions, and by random
 * directions in any.
 *
 * The points of depth at least k are the intersection of the half-spaces <u, z> >= q_k(u), q_k
 * the k-th smallest projection; the normals of the hyperplanes through rank-many judges suffice,
 * because between them the judge that gives q_k does not change. Any direction gives a valid
 * half-space, so rounding of u costs accuracy only. Depth and centroid do not change under affine
 * maps: panels are solved in coordinates where the judges span [-1, 1] along each axis, after
 * directions along which they do not differ are taken away. TOLERANCE is how far, in those
 * coordinates, half-spaces are moved outwards so that a region that is a point or a segment has
 * an inside.
 *
 * Contract: see panels.h; n_attributes is at most 3 and n_judges at most MOST_JUDGES for the
 * exact median.
 */
#ifndef ROPOLL_TUKEY_H
#define ROPOLL_TUKEY_H

#include <algorithm>

#include "mean.h"
#include "panels.h"
#include "polytope.h"

namespace ropoll_tukey {

using ropoll_polytope::Polytope;
using ropoll_polytope::Vector;

const double TOLERANCE = 1e-9;
const int ROOM = 8192, FACE_ROOM = 1024; /* far above what a cut-down box needs */

/* ---- exact ---- */

/* Unit normal of the hyperplane through judges i, j (and l); false if they do not span one. */
static inline bool normal(const Vector<2> *s, int i, int j, int, Vector<2> &u) {
    const Vector<2> t = minus(s[j], s[i]);
    const double size = std::sqrt(dot(t, t));
    if (!(size > 1e-13)) return false;
    u = {{-t.v[1] / size, t.v[0] / size}};
    return true;
}

static inline bool normal(const Vector<3> *s, int i, int j, int l, Vector<3> &u) {
    u = cross(minus(s[j], s[i]), minus(s[l], s[i]));
    const double size = std::sqrt(dot(u, u));
    if (!(size > 1e-13)) return false;
    for (double &c : u.v) c /= size;
    return true;
}

/* How far a half-space is moved: half to one and a half tolerances, by its direction, so that
 * planes through one point meet there no more. */
template <int D> static inline double shift(const Vector<D> &u) {
    double sum = 0;
    for (int i = 0; i < D; i++) sum += u.v[i] * (12345.678 + 98765.432 * i);
    return TOLERANCE * (0.5 + (sum - std::floor(sum)));
}

/* Both half-spaces of one direction; false if the polytope's buffers are full. */
template <int D>
static inline bool cut_both(Polytope<D> &shape, const Vector<D> *s, int m, int k, Vector<D> u,
                            double *projection) {
    for (int i = 0; i < m; i++) projection[i] = dot(u, s[i]);
    std::sort(projection, projection + m);
    if (!shape.cut(u, projection[k - 1] - shift(u))) return false;
    for (double &c : u.v) c = -c;
    return shape.cut(u, -projection[m - k] - shift(u));
}

/* Cut down to the points of depth k at least; false as cut_both(). */
template <int D>
static bool cut_to_depth(Polytope<D> &shape, const Vector<D> *s, int m, int k,
                         double *projection) {
    Vector<D> u;
    for (int i = 0; i < m; i++)
        for (int j = i + 1; j < m; j++)
            for (int l = D == 3 ? j + 1 : m - 1; l < m; l++) {
                if (shape.n_faces == 0) return true;
                if (normal(s, i, j, l, u) && !cut_both(shape, s, m, k, u, projection))
                    return false;
            }
    return true;
}

/* Centroid of the deepest region of m points that span D dimensions. */
template <int D>
static bool deepest(const double *coordinates, int m, double *projection, double *buffer,
                    double *z) {
    Vector<D> s[64];
    for (int i = 0; i < m; i++)
        for (int k = 0; k < D; k++) s[i].v[k] = coordinates[3 * i + k];
    Polytope<D> shape;
    shape.vertex = (Vector<D> *)buffer;
    shape.spare = shape.vertex + ROOM;
    shape.edge = shape.spare + ROOM;
    shape.end = (int *)(shape.edge + ROOM);
    shape.spare_end = shape.end + FACE_ROOM;
    shape.room = ROOM;
    shape.face_room = FACE_ROOM;
    shape.start_box(2);
    Vector<D> best{};
    bool found = false;
    /* Some point has depth m/(D + 1) at least (centre point theorem). */
    for (int k = (m + D) / (D + 1); k <= m; k++) {
        if (!cut_to_depth(shape, s, m, k, projection)) return false;
        if (shape.n_faces == 0) break;
        best = shape.centroid();
        found = true;
    }
    for (int k = 0; k < D; k++) z[k] = best.v[k];
    return found;
}

static inline double median_of(double *values, ptrdiff_t m) {
    std::sort(values, values + m);
    const double low = values[(m - 1) / 2], high = values[m / 2], sum = low + high;
    return std::isfinite(sum) ? 0.5 * sum : 0.5 * low + 0.5 * high;
}

/* Axes along which the judges differ, farthest first, by Gram-Schmidt on t (m x d, in [-1, 1]).
 * Coordinates in units of each axis' extent go to s (m x 3). Returns the rank. */
static inline int span(double *t, int m, ptrdiff_t d, double (*axis)[3], double *extent,
                       double *s) {
    int rank = 0;
    for (; rank < d; rank++) {
        int far = 0;
        double greatest = 0;
        for (int i = 0; i < m; i++) {
            double square = 0;
            for (ptrdiff_t a = 0; a < d; a++) square += t[i * d + a] * t[i * d + a];
            if (square > greatest) greatest = square, far = i;
        }
        greatest = std::sqrt(greatest);
        if (greatest <= TOLERANCE) break;
        extent[rank] = greatest;
        for (ptrdiff_t a = 0; a < d; a++) axis[rank][a] = t[far * d + a] / greatest;
        for (int i = 0; i < m; i++) {
            double along = 0;
            for (ptrdiff_t a = 0; a < d; a++) along += t[i * d + a] * axis[rank][a];
            for (ptrdiff_t a = 0; a < d; a++) t[i * d + a] -= along * axis[rank][a];
            s[3 * i + rank] = along / greatest;
        }
    }
    return rank;
}

/* y = Tukey median of a packed panel; false if it could not be settled. */
static bool median_one(const Panel &p, ptrdiff_t d, double *scratch, double *y) {
    const int m = p.m;
    double *t = scratch, *s = t + 3 * m, *projection = s + 3 * m, *buffer = projection + m;
    if (d == 1) {
        for (int i = 0; i < m; i++) projection[i] = p.x[i];
        y[0] = median_of(projection, m);
        return true;
    }
    double largest = 0;
    for (ptrdiff_t i = 0; i < m * d; i++) largest = std::max(largest, std::fabs(p.x[i]));
    const double half = largest > 1e300 ? 0.25 : 1; /* differences must not overflow */
    double unit = 0;
    for (ptrdiff_t i = 0; i < m * d; i++) {
        t[i] = half * p.x[i] - half * p.x[i % d];
        unit = std::max(unit, std::fabs(t[i]));
    }
    for (ptrdiff_t a = 0; a < d; a++) y[a] = p.x[a];
    if (unit == 0) return true; /* all alike */
    for (ptrdiff_t i = 0; i < m * d; i++) t[i] /= unit;
    double axis[3][3], extent[3], z[3] = {0, 0, 0};
    const int rank = span(t, m, d, axis, extent, s);
    bool settled = true;
    if (rank == 1) {
        for (int i = 0; i < m; i++) projection[i] = s[3 * i];
        z[0] = median_of(projection, m);
    } else if (rank == 2) {
        settled = deepest<2>(s, m, projection, buffer, z);
    } else {
        settled = deepest<3>(s, m, projection, buffer, z);
    }
    for (ptrdiff_t a = 0; a < d; a++) {
        double away = 0;
        for (int k = 0; k < rank; k++) away += z[k] * extent[k] * axis[k][a];
        y[a] = (half * p.x[a] + unit * away) / half;
    }
    return settled;
}

static inline ptrdiff_t median_scratch(ptrdiff_t n, ptrdiff_t d) {
    return packed_doubles(n, d) + d + 7 * n + 9 * ROOM + FACE_ROOM;
}

template <class T>
static void median_rows_of(const Batch &b, double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes;
    Panel p = packed_panel(scratch, n, d);
    double *y = scratch + packed_doubles(n, d);
    for (ptrdiff_t q = start; q < stop; q++) {
        PanelStatus status = load_panel<T>(b, q, p);
        if (status == PANEL_OK && !median_one(p, d, y + d, y)) status = PANEL_NOT_CONVERGED;
        store_panel<T, double>(b, q, p, status, y, 1, p.m, nullptr);
    }
}

static inline void median(const Batch &b, double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    if (b.single)
        median_rows_of<float>(b, scratch, start, stop);
    else
        median_rows_of<double>(b, scratch, start, stop);
}

/* ---- by random directions ---- */

/* depth[k] = smallest number of judges on judge k's side of any of the directions. */
static inline void random_depths(const Panel &p, ptrdiff_t d, const double *directions,
                                 ptrdiff_t n_directions, double *projection, int *depth) {
    const int m = p.m;
    double largest = 0;
    for (ptrdiff_t i = 0; i < m * d; i++) largest = std::max(largest, std::fabs(p.x[i]));
    const double scale = largest > 1e290 ? 1e-20 : largest < 1e-290 ? 1e20 : 1;
    for (int k = 0; k < m; k++) depth[k] = m;
    for (const double *u = directions; u < directions + n_directions * d; u += d) {
        for (int k = 0; k < m; k++) {
            projection[k] = 0;
            for (ptrdiff_t a = 0; a < d; a++) projection[k] += u[a] * (scale * p.x[k * d + a]);
        }
        for (int k = 0; k < m; k++) {
            int below = 0, above = 0;
            for (int i = 0; i < m; i++) {
                below += projection[i] <= projection[k];
                above += projection[i] >= projection[k];
            }
            depth[k] = std::min(depth[k], std::min(below, above));
        }
    }
}

static inline ptrdiff_t random_scratch(ptrdiff_t n, ptrdiff_t d) {
    return packed_doubles(n, d) + d + 3 * n;
}

template <class T>
static void random_rows_of(const Batch &b, const double *directions, ptrdiff_t n_directions,
                           double *scratch, ptrdiff_t start, ptrdiff_t stop) {
    const ptrdiff_t n = b.n_judges, d = b.n_attributes;
    Panel p = packed_panel(scratch, n, d);
    double *y = scratch + packed_doubles(n, d), *projection = y + d, *takes_part = projection + n;
    int *depth = (int *)(takes_part + n);
    for (ptrdiff_t q = start; q < stop; q++) {
        const PanelStatus status = load_panel<T>(b, q, p);
        int n_used = 0;
        if (status == PANEL_OK) {
            random_depths(p, d, directions, n_directions, projection, depth);
            const int deepest = *std::max_element(depth, depth + p.m);
            for (int k = 0; k < p.m; k++) n_used += depth[k] == deepest;
            for (int k = 0; k < p.m; k++) takes_part[k] = depth[k] == deepest;
            Panel used = p;
            used.w = takes_part;
            ropoll_mean::mean_packed(used, true, d, y);
        }
        store_panel<T, double>(b, q, p, status, y, 1, n_used, takes_part);
    }
}

static inline void random_median(const Batch &b, const double *directions,
                                 ptrdiff_t n_directions, double *scratch, ptrdiff_t start,
                                 ptrdiff_t stop) {
    if (b.single)
        random_rows_of<float>(b, directions, n_directions, scratch, start, stop);
    else
        random_rows_of<double>(b, directions, n_directions, scratch, start, stop);
}

} /* namespace ropoll_tukey */

#endif
