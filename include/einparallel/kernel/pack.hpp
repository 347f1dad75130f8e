#pragma once
// Packs blocks of a scattered matrix into the slivers that micro-kernels read.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <complex>

namespace einparallel::detail {

/// True where the offsets count up by one.
inline bool consecutive(const index* offsets, index count) {
    for (index position = 1; position < count; ++position) {
        if (offsets[position] != offsets[position - 1] + 1) {
            return false;
        }
    }
    return true;
}

/// Packs the matrix from[across[i] + along[d]], i < count, d < depth, into slivers of `Panel` indices i: element (i, d)
/// goes to sliver i / Panel, place d · Panel + i % Panel. The last sliver is filled up with zeros. All elements are
/// multiplied by `factor`.
/// @pre `into` has room for ⌈count / Panel⌉ · Panel · depth elements
template <class T, index Panel>
void pack_panels(T* into, const T* from, const index* across, index count, const index* along, index depth, T factor) {
    T* const start = into;
    const bool streams = depth > 1 && consecutive(along, depth);
    for (index begin = 0; begin < count; begin += Panel, into += Panel * depth) {
        const index width = std::min(Panel, count - begin);
        const index* const offsets = across + begin;
        if (width == Panel && consecutive(offsets, Panel)) {
            for (index step = 0; step < depth; ++step) {
                const T* const source = from + offsets[0] + along[step];
                T* const place = into + step * Panel;
                for (index lane = 0; lane < Panel; ++lane) {
                    place[lane] = source[lane];
                }
            }
            continue;
        }
        if (width < Panel) {
            std::fill(into, into + Panel * depth, T{});
        }
        if (streams && width == Panel) {
            const T* sources[Panel];
            for (index lane = 0; lane < Panel; ++lane) {
                sources[lane] = from + offsets[lane] + along[0];
            }
            for (index step = 0; step < depth; ++step) {
                for (index lane = 0; lane < Panel; ++lane) {
                    into[step * Panel + lane] = sources[lane][step];
                }
            }
            continue;
        }
        for (index step = 0; step < depth; ++step) {
            const T* const source = from + along[step];
            for (index lane = 0; lane < width; ++lane) {
                into[step * Panel + lane] = source[offsets[lane]];
            }
        }
    }
    if (factor != sum_of_products<T>::one) {
        for (T* each = start; each != into; ++each) {
            *each = sum_of_products<T>::times(*each, factor);
        }
    }
}

/// A complex product as a real one of twice the depth (Van Zee's 1m): the left matrix as rows (re, im) along the depth
/// … `Panel` counts complex rows; `into` has room for 2 · ⌈count / Panel⌉ · Panel · depth reals.
template <class R, index Panel>
void pack_complex_rows(R* into, const std::complex<R>* from, const index* across, index count, const index* along,
                       index depth, std::complex<R> factor) {
    const bool scaled = factor != std::complex<R>(1);
    for (index begin = 0; begin < count; begin += Panel, into += 2 * Panel * depth) {
        const index width = std::min(Panel, count - begin);
        if (width < Panel) {
            std::fill(into, into + 2 * Panel * depth, R{});
        }
        for (index step = 0; step < depth; ++step) {
            R* const place = into + 2 * step * Panel;
            for (index lane = 0; lane < width; ++lane) {
                std::complex<R> value = from[across[begin + lane] + along[step]];
                if (scaled) {
                    value = sum_of_products<std::complex<R>>::times(value, factor);
                }
                place[lane] = value.real();
                place[Panel + lane] = value.imag();
            }
        }
    }
}

/// … and the right one as the row (re, im, re, im, …) followed by (−im, re, −im, re, …), so that the real product is
/// the complex one as it lies in memory. `Panel` counts complex columns; room for 4 · ⌈count / Panel⌉ · Panel · depth.
template <class R, index Panel>
void pack_complex_columns(R* into, const std::complex<R>* from, const index* across, index count, const index* along,
                          index depth, std::complex<R>) {
    for (index begin = 0; begin < count; begin += Panel, into += 4 * Panel * depth) {
        const index width = std::min(Panel, count - begin);
        if (width < Panel) {
            std::fill(into, into + 4 * Panel * depth, R{});
        }
        for (index step = 0; step < depth; ++step) {
            R* const upper = into + 4 * step * Panel;
            R* const lower = upper + 2 * Panel;
            for (index lane = 0; lane < width; ++lane) {
                const std::complex<R> value = from[across[begin + lane] + along[step]];
                upper[2 * lane] = value.real();
                upper[2 * lane + 1] = value.imag();
                lower[2 * lane] = -value.imag();
                lower[2 * lane + 1] = value.real();
            }
        }
    }
}

}  // namespace einparallel::detail
