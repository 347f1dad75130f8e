// Products too small to be worth packing, and dot products. Compiled for every instruction set:
// this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_SMALL)
#define EINPARALLEL_DETAIL_VECTOR_SMALL

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/lines_ahead.hpp>
#include <einparallel/notation/box.hpp>

namespace einparallel::detail {

/// Offsets of step d in A and in B.
struct small_step {
    index a;
    index b;
};

/// A product too small to be worth packing: C[i][j] (+)= scale · Σ_d A[i][d] · B[d][j] with offsets in tables and j
/// contiguous in B and C.
template <class T>
struct small_call {
    index m = 0;
    index n = 0;
    index k = 0;
    const index* a_rows = nullptr;
    const small_step* along = nullptr;
    const index* c_rows = nullptr;
    T scale = T(1);
    index b_gap = 0;               ///< between two vectors of columns of B and the next two
    lines_ahead* ahead = nullptr;  ///< what is asked for meanwhile, at every two vectors
};

/// z[i][j] (+)= scale · x[i][j] · y[i][j] where nothing is summed: z is contiguous along j, and each operand contiguous
/// or constant.
template <class T>
struct product_plane {
    index rows = 0;
    index columns = 0;
    index z_row = 0;
    index x_row = 0;
    index y_row = 0;
    bool x_moves = false;  ///< along j
    bool y_moves = false;
    bool add = false;
    bool streams = false;  ///< every row of z is on a cache line, and z outgrows the caches
    T scale = T(1);
};

/// Operands in place, for real T with the instructions of Set.
template <class T, instruction_set Set>
struct vector_small;

}  // namespace einparallel::detail

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/vector_small.hpp>
#include <einparallel/kernel/for_instruction_sets.hpp>

#endif
#else

namespace einparallel::detail {

template <class T>
struct vector_small<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / static_cast<index>(sizeof(T));
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef T loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));
    static constexpr index columns = 2 * lanes;

    /// Operands in place: Rows rows, which may be copies of one another, times two vectors of columns at a time while
    /// more than one is left, from `column` on, or times the last vector, which may overlap the one before.
    /// @return the first column that is left
    template <int Rows, int Parts>
    EINPARALLEL_DETAIL_TARGET static index small_tiles(const small_call<T>& call, const T* a, const index* a_rows,
                                                       const T* b, T* c, const index* c_rows, index column, bool add) {
        const T* rows_of_a[Rows];
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            rows_of_a[row] = a + a_rows[row];
        }
        const small_step* const end = call.along + call.k;
        do {
            if (call.ahead != nullptr) {
                call.ahead->ask();
            }
            const index place = Parts == 1 ? call.n - lanes : column;
            const index apart = column + columns <= call.n ? lanes : call.n - lanes - column;
            const T* const first_of_b = b + column / columns * call.b_gap + place;
            vector sums[Rows][Parts];
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < Parts; ++part) {
                    sums[row][part] = vector{};
                }
            }
            EINPARALLEL_DETAIL_TWO_STEPS for (const small_step* step = call.along; step != end; ++step) {
                const T* const right_row = first_of_b + step->b;
                const index along = step->a;
                vector right[Parts];
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < Parts; ++part) {
                    right[part] = *reinterpret_cast<const loose*>(right_row + part * apart);
                }
                EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                    EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < Parts; ++part) {
                        sums[row][part] += rows_of_a[row][along] * right[part];
                    }
                }
            }
            const vector scale = vector{} + call.scale;
            T* const first_of_c = c + place;
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                T* const row_of_c = first_of_c + c_rows[row];
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < Parts; ++part) {
                    auto* into = reinterpret_cast<loose*>(row_of_c + part * apart);
                    const vector sum = sums[row][part] * scale;
                    *into = add ? *into + sum : sum;
                }
            }
            column += Parts * lanes;
        } while (Parts > 1 && column + lanes < call.n);
        return column;
    }

    template <int Rows>
    EINPARALLEL_DETAIL_TARGET static void small_rows(const small_call<T>& call, const T* a, const index* a_rows,
                                                     const T* b, T* c, const index* c_rows, bool add) {
        const index column = call.n > lanes ? small_tiles<Rows, 2>(call, a, a_rows, b, c, c_rows, 0, add) : 0;
        if (column < call.n) {
            small_tiles<Rows, 1>(call, a, a_rows, b, c, c_rows, column, add);
        }
    }

    /// @pre n >= lanes; where `add`, n is a multiple of lanes
    EINPARALLEL_DETAIL_TARGET static void small(const small_call<T>& call, const T* a, const T* b, T* c, bool add) {
        constexpr int most = EINPARALLEL_DETAIL_ROWS >= 6 ? 6 : 4;
        index row = 0;
        index left = call.m;
        while (left > 0) {
            if (left >= most && left != 8 && left != 10) {
                small_rows<most>(call, a, call.a_rows + row, b, c, call.c_rows + row, add);
                row += most;
            } else if (left >= 4) {
                small_rows<4>(call, a, call.a_rows + row, b, c, call.c_rows + row, add);
                row += 4;
            } else if (left >= 2) {
                small_rows<2>(call, a, call.a_rows + row, b, c, call.c_rows + row, add);
                row += 2;
            } else {
                small_rows<1>(call, a, call.a_rows + row, b, c, call.c_rows + row, add);
                row += 1;
            }
            left = call.m - row;
        }
    }

    EINPARALLEL_DETAIL_TARGET static void products(const product_plane<T>& plane, T* z, const T* x, const T* y) {
        typedef double doubles __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
        for (index row = 0; row < plane.rows; ++row) {
            index at = 0;
            for (; at + lanes <= plane.columns; at += lanes) {
                vector value = plane.x_moves ? *reinterpret_cast<const loose*>(x + at) : vector{} + *x;
                value *= plane.y_moves ? *reinterpret_cast<const loose*>(y + at) : vector{} + *y;
                value *= plane.scale;
                if (plane.streams) {
                    doubles streamed;  // nvcc casts no vectors
                    __builtin_memcpy(&streamed, &value, sizeof(value));
                    EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(z + at), streamed);
                } else {
                    auto* const into = reinterpret_cast<loose*>(z + at);
                    *into = plane.add ? *into + value : value;
                }
            }
            for (; at < plane.columns; ++at) {
                const T value = plane.scale * (x[plane.x_moves ? at : 0] * y[plane.y_moves ? at : 0]);
                z[at] = plane.add ? z[at] + value : value;
            }
            z += plane.z_row;
            x += plane.x_row;
            y += plane.y_row;
        }
    }

    /// Σ x·y of `count` neighbours, of Rows rows at once, which lie x_row and y_row apart: memory answers several
    /// streams faster than one. The order of summation does not depend on x_row and y_row.
    template <int Rows>
    EINPARALLEL_DETAIL_TARGET static void dots(index count, const T* x, index x_row, const T* y, index y_row, T* into) {
        constexpr int chains = 8 / Rows;
        vector sums[Rows][chains];
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int chain = 0; chain < chains; ++chain) {
                sums[row][chain] = vector{};
            }
        }
        index at = 0;
        for (; at + chains * lanes <= count; at += chains * lanes) {
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int chain = 0; chain < chains; ++chain) {
                    sums[row][chain] += *reinterpret_cast<const loose*>(x + row * x_row + at + chain * lanes) *
                                        *reinterpret_cast<const loose*>(y + row * y_row + at + chain * lanes);
                }
            }
        }
        for (; at + lanes <= count; at += lanes) {
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                sums[row][0] += *reinterpret_cast<const loose*>(x + row * x_row + at) *
                                *reinterpret_cast<const loose*>(y + row * y_row + at);
            }
        }
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int chain = 1; chain < chains; ++chain) {
                sums[row][0] += sums[row][chain];
            }
            T sum = 0;
            for (index rest = at; rest < count; ++rest) {
                sum += x[row * x_row + rest] * y[row * y_row + rest];
            }
            for (index lane = 0; lane < lanes; ++lane) {
                sum += sums[row][0][lane];
            }
            into[row] = sum;
        }
    }
};

}  // namespace einparallel::detail

#endif
