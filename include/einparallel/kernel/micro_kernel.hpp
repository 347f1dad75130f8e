#pragma once
// The innermost block of a matrix product as a value: one blocked product serves all element types, operators and
// instruction sets.

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/pack.hpp>
#include <einparallel/kernel/tile_kernel.hpp>
#include <einparallel/kernel/vector_pack.hpp>
#include <einparallel/kernel/vector_small.hpp>
#include <einparallel/kernel/vector_tile.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operators.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Packed slivers of `rows` times the scale, which the context is.
template <Element T>
void scale_slivers(const void* context, void* packed, index rows, const pack_source& source) {
    const T factor = *static_cast<const T*>(context);
    for (index begin = 0; factor != T(1) && begin < source.count; begin += rows) {
        auto* const sliver = static_cast<std::byte*>(packed) + begin / rows * source.sliver;
        if constexpr (is_complex<T>::value) {
            scale_complex_rows(reinterpret_cast<typename T::value_type*>(sliver), rows, source.depth, factor);
        } else {
            for (index each = 0; each < rows * source.depth; ++each) {
                T& element = reinterpret_cast<T*>(sliver)[each];
                element = op::prod(element, factor);
            }
        }
    }
}

struct sums {
    static constexpr op::sum_type reduce{};
};

/// Σ of products of numbers that are not complex; the context is the scale.
template <class T, instruction_set Set>
tile_kernel product_tile_kernel_of(const T* scale) {
    using code = vector_tile<T, Set>;
    tile_kernel kernel{code::rows, code::columns, code::lanes, sizeof(T), sizeof(T), sizeof(T), sizeof(T), sizeof(T)};
    kernel.run = [](const void* /*context*/, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        code::run(depth, high, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c), row_offsets,
                  vector_offsets, add);
    };
    kernel.computed = &code::computed;
    kernel.pack_a = [](const void* context, void* into, const void* from, const pack_source& source) {
        pack_slivers<T, code::rows, Set>(into, from, source);
        scale_slivers<T>(context, into, code::rows, source);
    };
    kernel.pack_b = [](const void* /*context*/, void* into, const void* from, const pack_source& source) {
        pack_slivers<T, code::columns, Set>(into, from, source);
    };
    if constexpr (std::is_floating_point_v<T>) {
        kernel.run_in_place = [](const void* context, const block_in_place& block, const void* a, const void* b,
                                 void* c, bool add) {
            small_call<T> call{block.rows, block.columns, block.depth, block.a_rows, block.along, block.c_rows};
            call.scale = *static_cast<const T*>(context);
            call.b_gap = block.b_gap;
            call.ahead = block.ahead;
            call.even = even_steps(block.along, block.depth);
            vector_small<T, Set>::template small<code::lanes * index{sizeof(T)}>(
                call, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c), add);
        };
    }
    kernel.scatter = &scatter_tile<T, sums>;
    kernel.context = scale;
    return kernel;
}

/// Complex products on the vector kernels of their parts.
template <class T, instruction_set Set>
    requires is_complex<T>::value tile_kernel product_tile_kernel_of(const T* scale) {
        using R = typename T::value_type;
        using code = vector_tile<R, Set>;
        constexpr index columns = code::columns / 2;
        tile_kernel kernel{code::rows,    columns,   code::lanes / 2, sizeof(T),
                           2 * sizeof(T), sizeof(T), sizeof(T),       sizeof(T)};
        kernel.run = [](const void* /*context*/, index depth, index high, const void* a, const void* b, void* c,
                        const index* row_offsets, const index* vector_offsets, bool add) {
            index row_places[code::rows];
            for (index row = 0; row < code::computed(high); ++row) {
                row_places[row] = 2 * row_offsets[row];
            }
            const index places[2] = {2 * vector_offsets[0], 2 * vector_offsets[1]};
            code::run(2 * depth, high, static_cast<const R*>(a), static_cast<const R*>(b), static_cast<R*>(c),
                      row_places, places, add);
        };
        kernel.computed = &code::computed;
        kernel.pack_a = [](const void* context, void* into, const void* from, const pack_source& source) {
            pack_complex_rows<R, code::rows>(static_cast<R*>(into), static_cast<const T*>(from), source);
            scale_slivers<T>(context, into, code::rows, source);
        };
        kernel.pack_b = [](const void* /*context*/, void* into, const void* from, const pack_source& source) {
            pack_complex_columns<R, columns>(static_cast<R*>(into), static_cast<const T*>(from), source);
        };
        kernel.scatter = &scatter_tile<T, sums>;
        kernel.context = scale;
        return kernel;
    }

/// The kernel of scale · Σ of products with the instructions of a set chosen at run time.
/// @pre supported(set); the scale outlives the kernel
template <Element T>
tile_kernel product_tile_kernel(instruction_set set, const T* scale) {
    return with_instruction_set(set, [scale](auto chosen) { return product_tile_kernel_of<T, chosen.value>(scale); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
