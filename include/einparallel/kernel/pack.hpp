#pragma once
// Packs blocks of a scattered matrix into the slivers that micro-kernels read: what needs no vector instructions.

#include <einparallel/kernel/vector_pack.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <algorithm>
#include <complex>
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

/// The same with the vectors of Set where T has any; the packing of integers and bool keeps up without.
template <class T, index Panel, instruction_set Set>
void pack_slivers(void* into, const void* from, const pack_source& source) {
    if constexpr (std::is_floating_point_v<T>) {
        vector_pack<T, Set>::template pack<Panel>(static_cast<T*>(into), static_cast<const T*>(from), source);
    } else {
        pack_each<Panel>(static_cast<T*>(into), static_cast<const T*>(from), source, Panel,
                         [](T* place, index lane, T value) { place[lane] = value; });
    }
}

/// A complex product as a real one of twice the depth (Van Zee's 1m): the left matrix as rows (re, im) along the depth
/// … `Panel` counts complex rows; `into` has room for 2 · ⌈count / Panel⌉ · Panel · depth reals.
template <class R, index Panel>
void pack_complex_rows(R* into, const std::complex<R>* from, const pack_source& source) {
    pack_each<Panel>(into, from, source, 2 * Panel, [](R* place, index lane, std::complex<R> value) {
        place[lane] = value.real();
        place[Panel + lane] = value.imag();
    });
}

/// … and the right one as the row (re, im, re, im, …) followed by (−im, re, −im, re, …), so that the real product is
/// the complex one as it lies in memory. `Panel` counts complex columns; room for 4 · ⌈count / Panel⌉ · Panel · depth.
template <class R, index Panel>
void pack_complex_columns(R* into, const std::complex<R>* from, const pack_source& source) {
    pack_each<Panel>(into, from, source, 4 * Panel, [](R* place, index lane, std::complex<R> value) {
        R* const lower = place + 2 * Panel;
        place[2 * lane] = value.real();
        place[2 * lane + 1] = value.imag();
        lower[2 * lane] = -value.imag();
        lower[2 * lane + 1] = value.real();
    });
}

/// Multiplies one sliver of pack_complex_rows, of `depth` steps.
template <class R>
void scale_complex_rows(R* packed, index rows, index depth, std::complex<R> factor) {
    for (index start = 0; start < 2 * rows * depth; start += 2 * rows) {
        for (index lane = start; lane < start + rows; ++lane) {
            const std::complex<R> value = op::prod(std::complex<R>(packed[lane], packed[rows + lane]), factor);
            packed[lane] = value.real();
            packed[rows + lane] = value.imag();
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
