#pragma once

#include <einparallel/array/aliasing.hpp>

#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace einparallel {

EINPARALLEL_INLINE std::pair<std::uintptr_t, std::uintptr_t> strided_block::touched() const {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto bytes = index(element.bytes);
    if (counts_from >= 0) {
        return {first, first + std::uintptr_t(bytes)};
    }
    index lowest = 0;
    index highest = 0;
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        if (extents[dimension] <= 0) {
            return {first, first};
        }
        const index reach = (extents[dimension] - 1) * strides[dimension];
        (reach < 0 ? lowest : highest) += reach;
    }
    return {first + std::uintptr_t(lowest * bytes), first + std::uintptr_t((highest + 1) * bytes)};
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bool is_dense(index_span extents, const index* strides) {
    index step = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        if (strides[dimension] != step) {
            return false;
        }
        step *= extents[dimension];
    }
    return true;
}

/// The multiples of a positive stride by 0, 1, …, most.
struct multiples {
    index stride;
    index most;
};

/// All sums of one multiple of each stride. The strides are kept in descending order.
class stride_sums {
public:
    EINPARALLEL_INLINE void add(index stride, index most) {
        if (stride == 0 || most == 0) {
            return;
        }
        if (const auto same = find_in(all_, stride, &multiples::stride); same != all_.end()) {
            same->most += most;
            return;
        }
        all_.push_back({stride, most});
        for (std::size_t at = all_.size() - 1; at > 0 && all_[at - 1].stride < stride; --at) {
            std::swap(all_[at - 1], all_[at]);
        }
    }

    /// True where some sum lies in [low, high], or where the search is given up after too many tries. Only many
    /// unrelated strides take so many tries; views of one array take a few.
    EINPARALLEL_INLINE [[nodiscard]] bool reach(index low, index high) const {
        int tries = 20000;
        return reach({all_.data(), all_.size()}, low, high, tries);
    }

private:
    EINPARALLEL_INLINE static bool reach(std::span<const multiples> all, index low, index high, int& tries) {
        index highest = 0;
        index step = 0;
        for (const multiples& each : all) {
            highest += each.stride * each.most;
            step = std::gcd(step, each.stride);
        }
        if (low <= 0 || high >= highest) {
            return low <= highest && high >= 0;
        }
        low = quotient_above(low, step) * step;
        high = high / step * step;
        if (low > high || all.size() == 1) {
            return low <= high;
        }
        const multiples least = all.back();
        if (least.stride <= high - low + step) {  // its multiples leave no gaps
            return reach(all.first(all.size() - 1), low - least.stride * least.most, high, tries);
        }
        if (all.size() == 2 && least.stride / step >> 31 == 0) {
            return reach(all[0], least, step, low, high);
        }
        // Cut where the large strides have fewest sums from which the small ones get there.
        std::size_t cut = 0;
        index unit = 0;
        interval sums{0, std::numeric_limits<index>::max()};
        index large = 0;
        index common = 0;
        for (std::size_t count = 1; count < all.size(); ++count) {
            large += all[count - 1].stride * all[count - 1].most;
            common = std::gcd(common, all[count - 1].stride);
            const interval found{std::max<index>(quotient_above(low - highest + large, common), 0),
                                 std::min(high, large) / common + 1};
            if (found.end - found.begin < sums.end - sums.begin) {
                cut = count;
                unit = common;
                sums = found;
            }
        }
        for (index sum = sums.begin * unit; sum < sums.end * unit; sum += unit) {
            if (--tries < 0 ||
                (reach(all.first(cut), sum, sum, tries) && reach(all.subspan(cut), low - sum, high - sum, tries))) {
                return true;
            }
        }
        return false;
    }

    /// Like reach() above, for two strides; the strides, `low` and `high` are multiples of `step`. It examines the
    /// remainders of multiples of the large stride modulo the small one.
    EINPARALLEL_INLINE static bool reach(multiples large, multiples small, index step, index low, index high) {
        const index first = std::max<index>(quotient_above(low - small.stride * small.most, large.stride), 0);
        const index modulus = small.stride / step;
        const index rest = (high - first * large.stride) / step % modulus;
        const index ahead =
            first_between(large.stride / step % modulus, modulus, std::max<index>(rest - (high - low) / step, 0), rest);
        return ahead >= 0 && first + ahead <= std::min(high / large.stride, large.most);
    }

    /// The least x >= 0 with low <= (factor · x) mod modulus <= high, or −1 if there is none. It works like Euclid's
    /// algorithm. @pre high < modulus
    EINPARALLEL_INLINE static index first_between(index factor, index modulus, index low, index high) {
        if (low == 0 || factor == 0) {
            return low == 0 ? 0 : -1;
        }
        if (factor > modulus / 2) {
            return first_between(modulus - factor, modulus, modulus - high, modulus - low);
        }
        const index least = quotient_above(low, factor);
        if (least * factor <= high) {
            return least;
        }
        const index turns = first_between(factor - modulus % factor, factor, low % factor, high % factor);
        return turns < 0 ? turns : quotient_above(low + modulus * turns, factor);
    }

    small_vector<multiples, 12> all_;
};

EINPARALLEL_INLINE bool overlaps_itself(index_span extents, const index* strides) {
    if (is_dense(extents, strides) || element_count(extents) == 0) {
        return false;
    }
    stride_sums inner;  // distances in memory of two indices along the later dimensions
    index middle = 0;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        const index most = extents[dimension] - 1;
        const index stride = std::abs(strides[dimension]);
        if (most > 0 && stride <= middle) {  // along this dimension they differ by one stride or more
            stride_sums sums = inner;
            sums.add(stride, most - 1);
            if (sums.reach(middle - stride, middle - stride)) {
                return true;
            }
        }
        inner.add(stride, 2 * most);
        middle += stride * most;
    }
    return false;
}

EINPARALLEL_INLINE void check_readable(const strided_block& block) {
    check_extents(block.extents);
    const std::size_t count = block.joined == nullptr ? 0 : block.joined->blocks.size();
    for (std::size_t number = 0; number < count; ++number) {
        const auto& [data, strides] = block.joined->blocks[number];
        check_readable({data, extents_of(block.joined->boxes[number]), strides.data(), block.element});
    }
    const auto [begin, end] = block.touched();
    expect(block.data != nullptr || begin == end, "einsum: a view has elements, but its pointer is null");
}

EINPARALLEL_INLINE bool overlap(const strided_block& a, const strided_block& b) {
    const auto [a_begin, a_end] = a.touched();
    const auto [b_begin, b_end] = b.touched();
    if (b.joined == nullptr) {
        if (a_begin >= b_end || b_begin >= a_end || a_begin == a_end || b_begin == b_end) {
            return false;
        }
        if (a.data == b.data) {
            return true;
        }
    }
    if (b.joined != nullptr ||
        !b.labels.empty()) {  // only what is read counts: each block, and the diagonal of dimensions with one label
        small_vector<index, 16> extents;
        for (std::size_t dimension = 0; dimension < b.labels.size(); ++dimension) {
            if (const label_id label = b.labels[dimension]; label != no_label) {
                extents.resize(std::max(extents.size(), std::size_t(label) + 1), 1);
                extents[std::size_t(label)] = b.extents[dimension];
            }
        }
        bool any = false;
        split_at_joins({extents, {&b, 1}, {}}, [&](const block_call& call) {
            const strided_block& read = call.operands[0];
            small_vector<index, 16> strides;
            for (std::size_t label = 0; label < call.extents.size(); ++label) {
                strides.push_back(stride_along(read, label_id(label)));
            }
            any = any || overlap(a, {read.data, call.extents, strides.data(), read.element});
        });
        return any;
    }
    stride_sums sums;  // from the lowest byte of a up, and from the highest of b down
    for (const strided_block* const block : {&a, &b}) {
        for (std::size_t dimension = 0; dimension < block->extents.size(); ++dimension) {
            if (const index most = block->extents[dimension] - 1; most > 0) {
                sums.add(std::abs(block->strides[dimension]) * index(block->element.bytes), most);
            }
        }
    }
    const auto distance = index(b_end - a_begin);
    return sums.reach(distance + 1 - index(a.element.bytes + b.element.bytes), distance - 1);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
