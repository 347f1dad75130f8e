#pragma once
// The innermost block of a matrix product as a value, and the packing of scattered matrices into the slivers that it
// reads: one blocked product serves all element types, operators and instruction sets.

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_pack.hpp>
#include <einparallel/kernel/simd/vector_small.hpp>
#include <einparallel/kernel/simd/vector_tile.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operators.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Packs into slivers of `Panel` indices i, each step of `wide` numbers: put(place, lane, value) for element (i, d)
/// with the place of step d in sliver i / Panel and lane i % Panel. The last sliver is filled up with copies of the
/// last index.
template <index Panel, class R, class T, class Put>
void pack_each(R* into, const T* from, const pack_source& source, index wide, Put put) {
    for (index begin = 0; begin < source.count; begin += Panel) {
        const index last = std::min(Panel, source.count - begin) - 1;
        R* place = into + begin / Panel * (source.sliver / static_cast<index>(sizeof(R)));
        for (index step = 0; step < source.depth; ++step, place += wide) {
            const T* const row = from + source.along[step];
            for (index lane = 0; lane < Panel; ++lane) {
                put(place, lane, row[source.across[begin + std::min(lane, last)]]);
            }
        }
    }
}

/// With the vectors of Set where T has any; the packing of integers and bool keeps up without.
template <class T, index Panel, instruction_set Set>
void pack_slivers(const void* /*context*/, void* into, const void* from, const pack_source& source) {
    if constexpr (std::is_floating_point_v<T>) {
        vector_pack<T, Set>::template pack<Panel>(static_cast<T*>(into), static_cast<const T*>(from), source);
    } else {
        pack_each<Panel>(static_cast<T*>(into), static_cast<const T*>(from), source, Panel,
                         [](T* place, index lane, T value) { place[lane] = value; });
    }
}

/// A complex product as a real one of twice the depth (Van Zee's 1m): the left matrix as rows (re, im) along the depth
/// … `Panel` counts complex rows; `into` has room for 2 · ⌈count / Panel⌉ · Panel · depth reals.
template <class T, index Panel>
void pack_complex_rows(const void* /*context*/, void* into, const void* from, const pack_source& source) {
    using R = typename T::value_type;
    pack_each<Panel>(static_cast<R*>(into), static_cast<const T*>(from), source, 2 * Panel,
                     [](R* place, index lane, T value) {
                         place[lane] = value.real();
                         place[Panel + lane] = value.imag();
                     });
}

/// … and the right one as the row (re, im, re, im, …) followed by (−im, re, −im, re, …), so that the real product is
/// the complex one as it lies in memory. `Panel` counts complex columns; room for 4 · ⌈count / Panel⌉ · Panel · depth.
template <class T, index Panel>
void pack_complex_columns(const void* /*context*/, void* into, const void* from, const pack_source& source) {
    using R = typename T::value_type;
    pack_each<Panel>(static_cast<R*>(into), static_cast<const T*>(from), source, 4 * Panel,
                     [](R* place, index lane, T value) {
                         R* const lower = place + 2 * Panel;
                         place[2 * lane] = value.real();
                         place[2 * lane + 1] = value.imag();
                         lower[2 * lane] = -value.imag();
                         lower[2 * lane + 1] = value.real();
                     });
}

/// Multiplies packed slivers of `rows` by the scale, which the context is.
template <Element T>
void scale_slivers(const void* context, void* packed, index rows, const pack_source& source) {
    const T factor = *static_cast<const T*>(context);
    for (index begin = 0; factor != T(1) && begin < source.count; begin += rows) {
        auto* const sliver = static_cast<std::byte*>(packed) + begin / rows * source.sliver;
        for (index step = 0; step < source.depth; ++step) {
            for (index lane = 0; lane < rows; ++lane) {
                if constexpr (is_complex<T>::value) {
                    auto* const real = reinterpret_cast<typename T::value_type*>(sliver) + 2 * step * rows + lane;
                    const T value = op::prod(T(real[0], real[rows]), factor);
                    real[0] = value.real();
                    real[rows] = value.imag();
                } else {
                    T& element = reinterpret_cast<T*>(sliver)[step * rows + lane];
                    element = op::prod(element, factor);
                }
            }
        }
    }
}

struct sums {
    static constexpr op::sum_type reduce{};
};

/// Σ of products, complex ones on the vector kernels of their parts; the context is the scale.
template <Element T, instruction_set Set>
tile_kernel product_tile_kernel_of(const T* scale) {
    using R = real_part_t<T>;
    using code = vector_tile<R, Set>;
    constexpr index parts = sizeof(T) / sizeof(R);
    constexpr index columns = code::columns / parts;
    tile_kernel kernel{code::rows,        columns,   code::lanes / parts, sizeof(T),
                       parts * sizeof(T), sizeof(T), sizeof(T),           sizeof(T)};
    kernel.run = [](const void* /*context*/, index depth, index high, const void* a, const void* b, void* c,
                    const index* row_offsets, const index* vector_offsets, bool add) {
        const index places[2] = {parts * vector_offsets[0], parts * vector_offsets[1]};
        index row_places[code::rows];
        if constexpr (parts > 1) {
            for (index row = 0; row < code::computed(high); ++row) {
                row_places[row] = parts * row_offsets[row];
            }
            row_offsets = row_places;
        }
        code::run(parts * depth, high, static_cast<const R*>(a), static_cast<const R*>(b), static_cast<R*>(c),
                  row_offsets, places, add);
    };
    kernel.computed = &code::computed;
    kernel.pack_a = [](const void* context, void* into, const void* from, const pack_source& source) {
        if constexpr (parts > 1) {
            pack_complex_rows<T, code::rows>(context, into, from, source);
        } else {
            pack_slivers<T, code::rows, Set>(context, into, from, source);
        }
        scale_slivers<T>(context, into, code::rows, source);
    };
    if constexpr (parts > 1) {
        kernel.pack_b = &pack_complex_columns<T, columns>;
    } else {
        kernel.pack_b = &pack_slivers<T, columns, Set>;
    }
    if constexpr (std::is_floating_point_v<T>) {
        kernel.run_in_place = [](const small_call& block, const void* a, const void* b, void* c, bool add) {
            vector_small<T, Set>::template small<code::lanes * index{sizeof(T)}>(
                block, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(c), add);
        };
    }
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
