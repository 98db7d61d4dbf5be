/* Convex polygons and polyhedra cut by half-spaces, and their centroids.
 *
 * Contract: finite coordinates. A cut that would not fit into the buffers, or whose border rounding
 * has torn, is refused (false) and leaves the shape as it was. A cut keeps the points with
 * <u, z> >= c. Cut points are computed from the ends of an edge in a fixed order, so the two
 * faces that share the edge get the same bits.
 */
#ifndef ROPOLL_POLYTOPE_H
#define ROPOLL_POLYTOPE_H

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace ropoll_polytope {

/* A vertex no farther outside than this does not call for a cut. */
const double ROUNDING = 1e-15;

template <int D> struct Vector {
    double v[D];
};

template <int D> static inline double dot(const Vector<D> &a, const Vector<D> &b) {
    double s = 0;
    for (int i = 0; i < D; i++) s += a.v[i] * b.v[i];
    return s;
}

template <int D> static inline Vector<D> minus(const Vector<D> &a, const Vector<D> &b) {
    Vector<D> r;
    for (int i = 0; i < D; i++) r.v[i] = a.v[i] - b.v[i];
    return r;
}

static inline Vector<3> cross(const Vector<3> &a, const Vector<3> &b) {
    return {{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
             a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

/* Where the edge a b meets <u, z> = c; its ends are on different sides. */
template <int D>
static inline Vector<D> meet(Vector<D> a, Vector<D> b, const Vector<D> &u, double c) {
    if (std::memcmp(&a, &b, sizeof a) > 0) {
        const Vector<D> t = a;
        a = b;
        b = t;
    }
    const double at_a = dot(u, a) - c, at_b = dot(u, b) - c, share = at_a / (at_a - at_b);
    for (int i = 0; i < D; i++) a.v[i] += share * (b.v[i] - a.v[i]);
    return a;
}

/* One face, cut: its vertices in order go to `to`. Each new edge of it, from where the boundary
 * leaves to where it comes back, is written to `edge` backwards, as the cap's edge. Returns the
 * number of vertices left. */
template <int D>
static inline int cut_face(const Vector<D> *face, int count, const Vector<D> &u, double c,
                           Vector<D> *to, Vector<D> *edge, int *n_edges) {
    int left = 0, exits = 0, entries = 0, first_is_entry = 0;
    Vector<D> *const mine = edge + 2 * *n_edges;
    for (int i = 0; i < count; i++) {
        const Vector<D> &a = face[i], &b = face[i + 1 == count ? 0 : i + 1];
        const bool a_in = dot(u, a) >= c, b_in = dot(u, b) >= c;
        if (a_in) to[left++] = a;
        if (a_in == b_in) continue;
        to[left] = meet(a, b, u, c);
        if (b_in) {
            first_is_entry |= exits == 0 && entries == 0;
            mine[2 * entries++] = to[left++];
        } else {
            mine[2 * exits++ + 1] = to[left++];
        }
    }
    /* The entry met first belongs to the exit met last. */
    if (first_is_entry && exits > 1) {
        const Vector<D> last = mine[2 * exits - 1];
        for (int k = exits - 1; k > 0; k--) mine[2 * k + 1] = mine[2 * k - 1];
        mine[1] = last;
    }
    *n_edges += exits;
    return left;
}

/* A polygon (D = 2: one face) or a polyhedron (D = 3) as faces one after the other. */
template <int D> struct Polytope {
    Vector<D> *vertex, *spare, *edge; /* room each */
    int *end, *spare_end;            /* face f is vertex[end[f - 1]..end[f]) */
    int n_faces, room, face_room;

    int size() const { return n_faces ? end[n_faces - 1] : 0; }

    void start_box(double half) {
        n_faces = 0;
        if (D == 2) {
            const double x[4] = {-half, half, half, -half}, y[4] = {-half, -half, half, half};
            for (int i = 0; i < 4; i++) vertex[i].v[0] = x[i], vertex[i].v[1] = y[i];
            end[n_faces++] = 4;
            return;
        }
        for (int axis = 0; axis < D; axis++)
            for (int side = -1; side <= 1; side += 2) {
                const int b = (axis + 1) % D, c = (axis + 2) % D;
                const double x[4] = {-half, half, half, -half}, y[4] = {-half, -half, half, half};
                Vector<D> *to = vertex + 4 * n_faces;
                for (int i = 0; i < 4; i++) {
                    const int from = side > 0 ? i : 3 - i; /* outward: counter-clockwise */
                    to[i].v[axis] = side * half;
                    to[i].v[b] = x[from];
                    to[i].v[c] = y[from];
                }
                n_faces++;
                end[n_faces - 1] = 4 * n_faces;
            }
    }

    /* Keep <u, z> >= c. Empty afterwards: n_faces is 0. */
    bool cut(const Vector<D> &u, double c) {
        const int count = size();
        bool touched = false;
        for (int i = 0; i < count && !touched; i++) touched = dot(u, vertex[i]) < c - ROUNDING;
        if (!touched) return true;
        if (3 * count > room || n_faces + 1 > face_room) return false;
        int faces = 0, filled = 0, n_edges = 0;
        for (int f = 0, first = 0; f < n_faces; first = end[f++]) {
            const int left = cut_face<D>(vertex + first, end[f] - first, u, c, spare + filled,
                                         edge, &n_edges);
            if (left == 0) continue;
            filled += left;
            spare_end[faces++] = filled;
        }
        if (D == 3) {
            const int added = chain_edges(n_edges, spare + filled);
            if (added < 0) return false;
            if (added > 0) spare_end[faces++] = filled + added;
        }
        Vector<D> *v = vertex;
        int *e = end;
        vertex = spare, end = spare_end, spare = v, spare_end = e;
        n_faces = faces;
        return true;
    }

    /* The cap from its edges, end to end: by their bits, so its vertices are those of the faces
     * around it. Returns how many; 0 if there is no area, -1 if the edges make no ring. */
    int chain_edges(int n_edges, Vector<D> *to) {
        int kept = 0;
        for (int i = 0; i < n_edges; i++) {
            if (same(edge[2 * i], edge[2 * i + 1])) continue;
            edge[2 * kept] = edge[2 * i];
            edge[2 * kept + 1] = edge[2 * i + 1];
            kept++;
        }
        if (kept < 3) return 0;
        for (int i = 0; i < kept; i++) {
            to[i] = edge[2 * i];
            int next = i + 1;
            while (next < kept && !same(edge[2 * next], edge[2 * i + 1])) next++;
            if (next == kept) return i + 1 == kept && same(edge[2 * i + 1], to[0]) ? kept : -1;
            std::swap(edge[2 * next], edge[2 * i + 2]);
            std::swap(edge[2 * next + 1], edge[2 * i + 3]);
        }
        return kept;
    }

    static bool same(const Vector<D> &a, const Vector<D> &b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }

    /* Centroid; where there is no area or volume, the middle of the vertices. */
    Vector<D> centroid() const {
        Vector<D> middle{}, sum{};
        double total = 0;
        const int count = size();
        for (int i = 0; i < count; i++)
            for (int k = 0; k < D; k++) middle.v[k] += vertex[i].v[k] / count;
        for (int f = 0, first = 0; f < n_faces; first = end[f++])
            for (int i = first + (D == 3); i < end[f] - (D == 3); i++) {
                const Vector<D> b = minus(vertex[i], middle);
                const Vector<D> c = minus(vertex[i + 1 == end[f] ? first : i + 1], middle);
                Vector<D> a{};
                double size;
                if constexpr (D == 2) {
                    size = std::fabs(b.v[0] * c.v[1] - b.v[1] * c.v[0]);
                } else {
                    a = minus(vertex[first], middle);
                    size = std::fabs(dot(a, cross(b, c)));
                }
                total += size;
                for (int k = 0; k < D; k++)
                    sum.v[k] += size * (a.v[k] + b.v[k] + c.v[k]) / (D + 1);
            }
        if (total > 0)
            for (int k = 0; k < D; k++) middle.v[k] += sum.v[k] / total;
        return middle;
    }
};

} /* namespace ropoll_polytope */

#endif
