#pragma once
// The innermost block of a matrix product as a value: one blocked product serves all element types, operators and
// instruction sets.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/pack.hpp>
#include <einparallel/kernel/tile_kernel.hpp>
#include <einparallel/kernel/vector_pack.hpp>
#include <einparallel/kernel/vector_small.hpp>
#include <einparallel/kernel/vector_tile.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Σ of products of T; the context is the scale.
template <Element T>
struct product_tile {
    static void scatter(const void* /*context*/, const void* tile, index columns, void* c, const index* row_offsets,
                        index high, const index* column_offsets, index wide, bool add) {
        using semiring = sum_of_products<T>;
        for (index row = 0; row < high; ++row) {
            const T* const from = static_cast<const T*>(tile) + row * columns;
            T* const into = static_cast<T*>(c) + row_offsets[row];
            for (index column = 0; column < wide; ++column) {
                T& element = into[column_offsets[column]];
                element = add ? semiring::plus(element, from[column]) : from[column];
            }
        }
    }
    /// Multiplies packed rows by the scale.
    static void scale(const void* context, T* packed, index rows, const pack_source& source) {
        const T factor = *static_cast<const T*>(context);
        if (factor == sum_of_products<T>::one) {
            return;
        }
        for (index begin = 0; begin < source.count; begin += rows) {
            for (index each = 0; each < rows * source.depth; ++each) {
                packed[each] = sum_of_products<T>::times(packed[each], factor);
            }
            packed += source.sliver / static_cast<index>(sizeof(T));
        }
    }
};

/// Vector kernels of all types but the complex.
template <class T, instruction_set Set>
struct vector_code {
    using code = vector_tile<T, Set>;
    static constexpr index rows = code::rows;
    static constexpr index columns = code::columns;
    static constexpr index lanes = code::lanes;
    static constexpr std::size_t parts = 1;
    using packed = T;

    static void run(const void* /*context*/, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        code::run(depth, high, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c), row_offsets,
                  vector_offsets, add);
    }
    static index computed(index high) { return code::computed(high); }
    static void pack_a(const void* context, void* into, const void* from, const pack_source& source) {
        pack_slivers<T, rows, Set>(into, from, source);
        product_tile<T>::scale(context, static_cast<T*>(into), rows, source);
    }
    static void pack_b(const void* /*context*/, void* into, const void* from, const pack_source& source) {
        pack_slivers<T, columns, Set>(into, from, source);
    }
    static void run_in_place(const void* context, const block_in_place& block, const void* a, const void* b, void* c,
                             bool add) {
        const small_call<T> call{block.rows,
                                 block.columns,
                                 block.depth,
                                 block.a_rows,
                                 block.along,
                                 block.c_rows,
                                 *static_cast<const T*>(context),
                                 block.b_gap,
                                 block.ahead,
                                 even_steps(block.along, block.depth)};
        constexpr index bytes = code::lanes * index{sizeof(T)};
        vector_small<T, Set>::template small<bytes>(call, static_cast<const T*>(a), static_cast<const T*>(b),
                                                    static_cast<T*>(c), add);
    }
};

/// Complex products on the vector kernels of their parts.
template <class R, instruction_set Set>
struct complex_code {
    using T = std::complex<R>;
    using code = vector_tile<R, Set>;
    static constexpr index rows = code::rows;
    static constexpr index columns = code::columns / 2;
    static constexpr index lanes = code::lanes / 2;
    static constexpr std::size_t parts = 2;
    using packed = R;

    static void run(const void* /*context*/, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        index row_places[rows];
        for (index row = 0; row < computed(high); ++row) {
            row_places[row] = 2 * row_offsets[row];
        }
        const index places[2] = {2 * vector_offsets[0], 2 * vector_offsets[1]};
        code::run(2 * depth, high, static_cast<const R*>(a), static_cast<const R*>(b), reinterpret_cast<R*>(c),
                  row_places, places, add);
    }
    static index computed(index high) { return code::computed(high); }
    static void pack_a(const void* context, void* into, const void* from, const pack_source& source) {
        pack_complex_rows<R, rows>(static_cast<R*>(into), static_cast<const T*>(from), source);
        if (const T factor = *static_cast<const T*>(context); factor != T(1)) {
            for (index begin = 0; begin < source.count; begin += rows) {
                scale_complex_rows<R, rows>(
                    reinterpret_cast<R*>(static_cast<std::byte*>(into) + begin / rows * source.sliver),
                    2 * rows * source.depth, factor);
            }
        }
    }
    static void pack_b(const void* /*context*/, void* into, const void* from, const pack_source& source) {
        pack_complex_columns<R, columns>(static_cast<R*>(into), static_cast<const T*>(from), source);
    }
};

template <Element T, class Code>
tile_kernel tile_kernel_of(const T* scale) {
    constexpr std::size_t part = sizeof(typename Code::packed) * Code::parts;
    tile_kernel kernel{Code::rows,
                       Code::columns,
                       Code::lanes,
                       part,
                       part * Code::parts,
                       sizeof(T),
                       sizeof(T),
                       sizeof(T),
                       &Code::run,
                       &Code::computed,
                       &Code::pack_a,
                       &Code::pack_b,
                       &product_tile<T>::scatter,
                       scale};
    if constexpr (std::is_floating_point_v<T>) {
        kernel.run_in_place = &Code::run_in_place;
    }
    return kernel;
}

/// The kernel of scale · Σ of products with the instructions of a set chosen at run time.
/// @pre supported(set); the scale outlives the kernel
template <Element T>
tile_kernel product_tile_kernel(instruction_set set, const T* scale) {
    return with_instruction_set(set, [scale](auto chosen) {
        if constexpr (is_complex<T>::value) {
            return tile_kernel_of<T, complex_code<typename T::value_type, chosen.value>>(scale);
        } else {
            return tile_kernel_of<T, vector_code<T, chosen.value>>(scale);
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
