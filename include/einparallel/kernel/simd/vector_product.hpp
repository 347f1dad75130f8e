// Element-wise products, and dot products. Compiled for every instruction set: this header includes itself once for
// each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_PRODUCT)
#define EINPARALLEL_DETAIL_VECTOR_PRODUCT

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/notation/box.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// z[i][j] (+)= scale · x[i][j] · y[i][j] where nothing is summed: z is contiguous along j, and each operand contiguous
/// or constant.
template <class T>
struct product_plane {
    index rows = 0;
    index columns = 0;
    index z_row = 0;  ///< elements from a row of z to the next
    index x_row = 0;
    index y_row = 0;
    bool x_moves = false;  ///< x is contiguous along j; false: it is constant along j
    bool y_moves = false;
    bool add = false;
    bool streams = false;  ///< z outgrows the caches and is written past them; each of its rows begins on a cache line
    T scale = T(1);
};

/// Products and dot products for real T with the instructions of Set.
template <class T, instruction_set Set>
struct vector_product;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// Functions for the dot product of one row, and of `rows` rows at once (vector_product::dots). Operands may be halves.
template <class T>
struct dot_functions {
    using function = void (*)(index count, const void* x, index x_row, const void* y, index y_row, T* into);
    static constexpr int rows = 4;
    function one = nullptr;
    function some = nullptr;

    dot_functions(element_type x, element_type y) {
        const auto with_element = [](element_type type, const auto& visit) {
            if constexpr (std::is_same_v<T, float>) {
                is_multiplied_half(type) ? with_element_among(multiplied_halves(), type, visit)
                                         : visit(std::type_identity<T>());
            } else {
                visit(std::type_identity<T>());
            }
        };
        with_element(x, [&]<class X>(std::type_identity<X> /*x*/) {
            with_element(y, [&]<class Y>(std::type_identity<Y> /*y*/) {
                one = dots<1, X, Y>();
                some = dots<rows, X, Y>();
            });
        });
    }

private:
    template <int Rows, class X, class Y>
    static function dots() {
        return with_best_instructions([](auto set) -> function { return &run<Rows, X, Y, decltype(set)::value>; });
    }
    template <int Rows, class X, class Y, instruction_set Set>
    static void run(index count, const void* x, index x_row, const void* y, index y_row, T* into) {
        vector_product<T, Set>::template dots<Rows>(count, static_cast<const X*>(x), x_row, static_cast<const Y*>(y),
                                                    y_row, into);
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_product<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / index(sizeof(T));
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef T loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));

    /// Computes a plane. It is copied first: for all the compiler knows stores may write to it.
    EINPARALLEL_DETAIL_TARGET static void products(const product_plane<T>& plane, T* z, const T* x, const T* y) {
        typedef double doubles __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
        const product_plane<T> own = plane;
        vector still[2];  // what a constant operand is read from: x − 0 is x, where 0 + x is not: −0
        for (index row = 0; row < own.rows; ++row) {
            if (!own.x_moves) {
                still[0] = *x - vector{};
            }
            if (!own.y_moves) {
                still[1] = *y - vector{};
            }
            const T* left = own.x_moves ? x : reinterpret_cast<const T*>(&still[0]);
            const T* right = own.y_moves ? y : reinterpret_cast<const T*>(&still[1]);
            const index left_step = own.x_moves ? lanes : 0;
            const index right_step = own.y_moves ? lanes : 0;
            index at = 0;
            const auto pass = [&](auto put) EINPARALLEL_DETAIL_TARGET {
                for (; at + lanes <= own.columns; at += lanes) {
                    vector value = *reinterpret_cast<const loose*>(left) * *reinterpret_cast<const loose*>(right);
                    value *= own.scale;
                    put(z + at, value);
                    left += left_step;
                    right += right_step;
                }
            };
            if (own.streams) {
                pass([](T* into, const vector& value) EINPARALLEL_DETAIL_TARGET {
                    doubles streamed;  // nvcc casts no vectors
                    __builtin_memcpy(&streamed, &value, sizeof(value));
                    EINPARALLEL_DETAIL_STREAM(reinterpret_cast<double*>(into), streamed);
                });
            } else if (own.add) {
                pass([](T* into, const vector& value)
                         EINPARALLEL_DETAIL_TARGET { *reinterpret_cast<loose*>(into) += value; });
            } else {
                pass([](T* into, const vector& value)
                         EINPARALLEL_DETAIL_TARGET { *reinterpret_cast<loose*>(into) = value; });
            }
            for (; at < own.columns; ++at) {
                const T value = own.scale * (x[own.x_moves ? at : 0] * y[own.y_moves ? at : 0]);
                z[at] = own.add ? z[at] + value : value;
            }
            z += own.z_row;
            x += own.x_row;
            y += own.y_row;
        }
    }

    /// Dot products of `count` contiguous elements, for Rows rows at once: memory answers several streams faster than
    /// one. The rows lie x_row and y_row elements apart; the order of summation does not depend on these. Halves are
    /// read as floats.
    template <int Rows, class X, class Y>
    EINPARALLEL_DETAIL_TARGET static void dots(index count, const X* x, index x_row, const Y* y, index y_row, T* into) {
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
                ask_ahead<Rows>(x + row * x_row + at, x_row, count);
                ask_ahead<Rows>(y + row * y_row + at, y_row, count);
                EINPARALLEL_DETAIL_UNROLL for (int chain = 0; chain < chains; ++chain) {
                    sums[row][chain] +=
                        read(x + row * x_row + at + chain * lanes) * read(y + row * y_row + at + chain * lanes);
                }
            }
        }
        for (; at + lanes <= count; at += lanes) {
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                sums[row][0] += read(x + row * x_row + at) * read(y + row * y_row + at);
            }
        }
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int chain = 1; chain < chains; ++chain) {
                sums[row][0] += sums[row][chain];
            }
            T sum = 0;
            for (index rest = at; rest < count; ++rest) {
                sum += computed(x[row * x_row + rest]) * computed(y[row * y_row + rest]);
            }
            for (index lane = 0; lane < lanes; ++lane) {
                sum += sums[row][0][lane];
            }
            into[row] = sum;
        }
    }

private:
    /// Prefetches halves: a step reads too few bytes of them for the processor to fetch far enough ahead. For short
    /// rows it prefetches the next rows, because memory between rows may belong to another block.
    template <int Rows, class X>
    static void ask_ahead(const X* x, index row, index count) {
        if constexpr (is_half<X> && Rows > 1) {
            __builtin_prefetch(x + (count <= 4096 ? Rows * row : 1024));
        }
    }
    template <class X>
    EINPARALLEL_DETAIL_TARGET static vector read(const X* x) {
        if constexpr (is_half<X>) {
            return vector_half<X, instruction_set::EINPARALLEL_DETAIL_SET>::read(x);
        } else {
            return *reinterpret_cast<const loose*>(x);
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
