#pragma once
// One matrix of a panel: where its elements lie, and as a copy that vectors can read and write.

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/simd/convert.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// How complex elements become real numbers in packed memory. Then a product of them is one of real numbers.
enum class real_layout : std::uint8_t {
    as_it_is,  ///< real elements; re, im of complex ones
    halves,    ///< a row of real parts, then one of imaginary parts
    thirds,    ///< a row −im, one re, one im: A where vectors hold points
};

/// One of the three matrices of a panel: where its elements lie, and in packed memory. There, either matrices follow
/// one another, or each element is a row of points, which fill vectors.
template <class T>
class panel_matrix {
public:
    using R = real_part_t<T>;
    static constexpr index reals = index(sizeof(T) / sizeof(R));

    index moves = 0;  ///< elements from one point to the next, where they lie
    index step = 0;   ///< elements from one unit (a point, or a vector of points) to the next, as products read them
    index real_step = 0;  ///< … in packed memory: real numbers
    bool is_packed = false;
    index row = 1;        ///< elements of a row in packed memory
    index size = 0;       ///< elements of packed memory
    R* packed = nullptr;  ///< packed memory: what allocate() gives, or the caller

    /// Notes where the elements lie, and changes the strides in the axes to those in packed memory.
    /// @param unit  points of a vector; 1: a vector holds columns, and rows have room for `width` of them
    void pack(gemm_axis& rows, index gemm_axis::loop::*row_side, gemm_axis& columns,
              index gemm_axis::loop::*column_side, index unit, index width, index points, element_type of,
              real_layout layout) {
        constexpr index line = 64 / index(sizeof(R));
        is_packed = true;
        of_ = of;
        unit_ = unit;
        layout_ = reals == 1 ? real_layout::as_it_is : layout;
        points_ = moves == 0 && unit == 1 ? 1 : points;
        // Long rows of points stay together, lest copies begin anew for each vector; short ones would be apart.
        constexpr index long_row = 1024;  // bytes
        const bool stays = points * index(sizeof(R)) >= long_row;
        row = unit == 1 ? 1 : stays ? (rounded_up(points, line) / line | 1) * line : std::max(unit, reals * 2);
        size = row;
        const auto take = [&](gemm_axis& axis, index gemm_axis::loop::*side) {
            for (std::size_t position = axis.loops.size(); position-- > 0;) {
                gemm_axis::loop& each = axis.loops[position];
                index* const by = elements_.add(each.extent);
                by[0] = size;
                by[1] = std::exchange(each.*side, size);
                size *= each.extent;
            }
        };
        take(columns, column_side);
        if (unit == 1) {
            row = size = std::max(size, width);
        }
        take(rows, row_side);
        if (unit > 1) {  // an odd number of lines, lest units fall into the same sets of a cache
            step = stays ? unit : (rounded_up(size, line) / line | 1) * line;
            size = stays ? size : (points + unit - 1) / unit * step;
        } else {
            step = moves == 0 ? 0 : size;
            size *= points_;
        }
        real_step = stays && unit > 1 ? step : step * factor();
    }

    /// Real numbers that packed memory has for each element.
    [[nodiscard]] index factor() const { return layout_ == real_layout::thirds ? 3 : reals; }

    /// Gives packed memory, with zeros wherever products read more than is packed.
    /// @param keeps  false: the caller gives it
    void allocate(bool keeps = true) {
        if (!is_packed) {
            return;
        }
        if (keeps) {
            memory_.emplace(std::size_t(size * factor()) * sizeof(R));
            packed = reinterpret_cast<R*>(memory_->data());
        }
        if (layout_ != real_layout::as_it_is) {
            staged_.emplace(std::size_t(size) * sizeof(T));
        }
        if (is_converted()) {
            raw_.emplace(std::size_t(size) * of_.bytes);
        }
        if (element_count(elements_.extents) * points_ < size) {
            const auto clear = [](const std::optional<scratch_memory>& memory, index bytes) {
                std::fill_n(memory ? memory->data() : nullptr, memory ? bytes : 0, std::byte{});
            };
            clear(memory_, size * factor() * index(sizeof(R)));
            clear(staged_, size * index(sizeof(T)));
            clear(raw_, size * index(of_.bytes));
        }
    }

    /// Packs the matrices from `memory` on, times a scale, unless these are what was packed last.
    void read(const void* memory, T scale) {
        if (held_ == memory) {
            return;
        }
        held_ = memory;
        if (is_converted()) {
            copy<true>(raw_->data(), const_cast<void*>(memory), index(of_.bytes));
            convert_row(of_, staged(), raw_->data(), size);
        } else {
            copy<true>(staged(), const_cast<void*>(memory), sizeof(T));
        }
        if constexpr (reals > 1) {
            split(scale);
        }
    }
    void forget() { held_ = nullptr; }

    /// Unpacks the matrices to `memory`.
    void write(T* memory) const {
        if constexpr (reals > 1) {
            for (index begin = 0; layout_ == real_layout::halves && begin < size; begin += row) {
                const R* const from = packed + reals * begin;
                R* const into = reinterpret_cast<R*>(staged() + begin);
                for (index at = 0; at < row; at += wide) {
                    const wide_vector re = *reinterpret_cast<const wide_vector*>(from + at);
                    const wide_vector im = *reinterpret_cast<const wide_vector*>(from + row + at);
                    *reinterpret_cast<wide_vector*>(into + 2 * at) = in_turns<0>(re, im);
                    *reinterpret_cast<wide_vector*>(into + 2 * at + wide) = in_turns<int(wide / 2)>(re, im);
                }
            }
        }
        copy<false>(staged(), memory, sizeof(T));
    }

    /// Calls visit(offset in packed memory, offset where it lies) for each element of a matrix.
    template <class Visit>
    void each_element(const Visit& visit) const {
        const odometer::loop_list loops = outermost_first();
        odometer element(elements_, loops);
        index at[2] = {0, 0};
        do {
            visit(at[0], at[1]);
        } while (element.advance(at));
    }

private:
    [[nodiscard]] bool is_converted() const { return of_ != element_type_of<T>(); }

    /// Packed memory as elements, or what becomes real numbers from there.
    [[nodiscard]] T* staged() const {
        return reinterpret_cast<T*>(staged_ ? staged_->data() : reinterpret_cast<std::byte*>(packed));
    }

    /// Real numbers in 16 bytes, which every processor has vectors for.
    static constexpr index wide = 16 / index(sizeof(R));
    typedef R wide_vector __attribute__((vector_size(16), aligned(sizeof(R)), may_alias));

    /// The elements with even numbers of two vectors, or those with odd ones.
    template <int Odd>
    static wide_vector every_second(wide_vector lower, wide_vector upper) {
        if constexpr (wide == 2) {
            return __builtin_shufflevector(lower, upper, Odd, Odd + 2);
        } else {
            return __builtin_shufflevector(lower, upper, Odd, Odd + 2, Odd + 4, Odd + 6);
        }
    }
    /// Elements of two vectors in turns: of their lower halves, or of their upper ones.
    template <int First>
    static wide_vector in_turns(wide_vector even, wide_vector odd) {
        if constexpr (wide == 2) {
            return __builtin_shufflevector(even, odd, First, First + 2);
        } else {
            return __builtin_shufflevector(even, odd, First, First + 4, First + 1, First + 5);
        }
    }

    /// Makes real numbers of staged complex ones, times a scale. Rows have room for whole vectors.
    void split(T scale) {
        for (index at = 0; scale != T(1) && at < size; ++at) {
            staged()[at] = op::prod(scale, staged()[at]);
        }
        for (index begin = 0; layout_ != real_layout::as_it_is && begin < size; begin += row) {
            const R* const from = reinterpret_cast<const R*>(staged() + begin);
            R* const into = packed + factor() * begin;
            R* const re = layout_ == real_layout::thirds ? into + row : into;
            for (index at = 0; at < row; at += wide) {
                const wide_vector lower = *reinterpret_cast<const wide_vector*>(from + 2 * at);
                const wide_vector upper = *reinterpret_cast<const wide_vector*>(from + 2 * at + wide);
                const wide_vector im = every_second<1>(lower, upper);
                *reinterpret_cast<wide_vector*>(re + at) = every_second<0>(lower, upper);
                *reinterpret_cast<wide_vector*>(re + row + at) = im;
                if (layout_ == real_layout::thirds) {
                    *reinterpret_cast<wide_vector*>(into + at) = -im;
                }
            }
        }
    }

    [[nodiscard]] odometer::loop_list outermost_first() const {
        odometer::loop_list loops;
        for (std::size_t loop = elements_.size(); loop-- > 0;) {
            loops.push_back(loop);
        }
        return loops;
    }

    /// Copies all points between packed memory and where they lie.
    template <bool Packs>
    void copy(void* to, void* memory, index bytes) const {
        if (moves == 1 && unit_ > 1) {
            along<Packs>(static_cast<std::byte*>(to), static_cast<std::byte*>(memory), bytes);
            return;
        }
        const index whole = points_ / unit_;
        const index rest = points_ % unit_;
        copy_units<Packs>(to, memory, bytes, whole, unit_);
        copy_units<Packs>(static_cast<std::byte*>(to) + whole * step * bytes,
                          static_cast<std::byte*>(memory) + whole * unit_ * moves * bytes, bytes, rest > 0 ? 1 : 0,
                          rest);
    }

    /// Copies units of `lanes` points.
    template <bool Packs>
    void copy_units(void* to, void* memory, index bytes, index units, index lanes) const {
        if (units == 0) {
            return;
        }
        loop_nest nest = elements_;
        const auto add = [&](index extent, index in_packed, index in_memory) {
            if (extent > 1) {
                index* const by = nest.add(extent);
                by[0] = in_packed;
                by[1] = in_memory;
            }
        };
        add(units, step, unit_ * moves);
        add(lanes, 1, moves);
        for (std::size_t loop = 0; !Packs && loop < nest.size(); ++loop) {
            std::swap(nest.of(loop)[0], nest.of(loop)[1]);
        }
        nest.fuse();
        nest.sort_by(0);
        copy_nest(nest, std::size_t(bytes), Packs ? to : memory, Packs ? memory : to);
    }

    /// Copies points that are contiguous where they lie. Prefetches those of elements ahead: they lie far apart.
    template <bool Packs>
    void along(std::byte* to, std::byte* memory, index bytes) const {
        constexpr index ahead = 8;
        const odometer::loop_list loops = outermost_first();
        const index count = element_count(elements_.extents);
        const index length = points_ * bytes;
        const index vector = unit_ * bytes;
        odometer now(elements_, loops);
        odometer later(elements_, loops);
        index at[2] = {0, 0};
        index soon[2] = {0, 0};
        later.go_to(std::min(ahead, count) - 1, soon);
        for (index number = 0; number < count; ++number) {
            for (index point = 0; point < length; point += 64) {
                __builtin_prefetch(memory + soon[1] * bytes + point, Packs ? 0 : 1);
            }
            std::byte* packed_vector = to + at[0] * bytes;
            std::byte* there = memory + at[1] * bytes;
            if (step == unit_) {
                copy_bytes(Packs ? packed_vector : there, Packs ? there : packed_vector, std::size_t(length));
            }
            for (index left = step == unit_ ? 0 : length; left > 0;
                 left -= vector, there += vector, packed_vector += step * bytes) {
                copy_short(Packs ? packed_vector : there, Packs ? there : packed_vector, std::min(left, vector));
            }
            now.advance(at);
            later.advance(soon);
        }
    }

    /// Copies so few bytes that a call would take longer.
    static void copy_short(std::byte* to, const std::byte* from, index bytes) {
        for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
            __builtin_memcpy(to, from, 16);
        }
        for (; bytes > 0; --bytes) {
            *to++ = *from++;
        }
    }

    loop_nest elements_{2};  ///< the loops of a matrix, innermost first: slot 0 is packed memory
    element_type of_ = element_type_of<T>();
    index unit_ = 1;
    index points_ = 1;
    const void* held_ = nullptr;
    std::optional<scratch_memory> memory_;
    std::optional<scratch_memory> staged_;  ///< complex elements before they become real numbers
    std::optional<scratch_memory> raw_;     ///< elements before they are converted
    real_layout layout_ = real_layout::as_it_is;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
