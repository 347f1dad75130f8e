#pragma once

#include <einparallel/cost/rank_grid.hpp>

#include <algorithm>
#include <bit>
#include <functional>

namespace einparallel::EINPARALLEL_DETAIL {

/// Numbers of cells that are gone through one by one.
inline constexpr index is_short = 4096;

EINPARALLEL_INLINE std::vector<double> rank_grid::cells_of(const std::vector<int>& of_ranks) const {
    const std::size_t count = of_ranks.size();
    std::vector<double> made(2 * count * sides.size());
    for (std::size_t dimension = 0; dimension < sides.size(); ++dimension) {
        for (std::size_t place = 0; place < count; ++place) {
            int number = 0;
            for (const digit& each : digits) {
                number += each.dimension == dimension ? of_ranks[place] / each.stride % each.radix * each.weight : 0;
            }
            const interval held = of_ranks[place] < ranks ? sides[dimension].cell(number) : interval{};
            made[2 * dimension * count + place] = static_cast<double>(held.begin);
            made[(2 * dimension + 1) * count + place] = static_cast<double>(held.end);
        }
    }
    return made;
}

EINPARALLEL_INLINE index rank_grid::side::largest() const {
    index most = cell(0).size();
    for (int number = 1; number < cells() && !axis.points.empty(); ++number) {
        most = std::max(most, cell(number).size());
    }
    return most;
}

EINPARALLEL_INLINE double rank_grid::side::meeting(interval held) const {
    if (!axis.points.empty()) {
        int met = 0;
        for (int number = 0; number < cells(); ++number) {
            met += intersect(cell(number), held).empty() ? 0 : 1;
        }
        return met;
    }
    const auto pieces_of = [&](index part) {
        const even_parts& of = in_pieces[in_parts.is_longer(part) ? 1 : 0];
        return of.shorter > 0 ? pieces : of.longer;
    };
    const auto piece_at = [&](index part, index position) {
        const even_parts& of = in_pieces[in_parts.is_longer(part) ? 1 : 0];
        return pieces == 1 ? 0 : of.part_at(position - in_parts.begin_of(part));
    };
    const index first = in_parts.part_at(held.begin);
    const index last = in_parts.part_at(held.end - 1);
    index count = piece_at(last, held.end - 1) + 1 - piece_at(first, held.begin);
    if (first != last) {  // what the first part has from there on, and all of the parts between
        const index longer = std::clamp<index>(in_parts.longer - first, 0, last - first);
        count += longer * pieces_of(first) + (last - first - longer) * pieces_of(last - 1);
    }
    return static_cast<double>(count);
}

EINPARALLEL_INLINE double rank_grid::side::most_meeting(const side& others) const {
    if (cells() > is_short && axis.points.empty()) {
        return static_cast<double>(std::min(others.cells(), others.cells() / cells() + 2));
    }
    double most = 0;
    for (int number = 0; number < cells(); ++number) {
        const interval each = cell(number);
        most = std::max(most, each.empty() ? 0 : others.meeting(each));
    }
    return most;
}

EINPARALLEL_INLINE rank_grid::rank_grid(const std::vector<index>& bounds, const mesh& over,
                                        const std::vector<label_id>& labels, std::size_t cut)
    : ranks(bounds.empty() ? 1 : over.size()),  // one element is on rank 0
      is_valid(true),
      is_binary(std::has_single_bit(static_cast<unsigned>(ranks))),
      is_even(is_binary) {
    for (const index bound : bounds) {
        sides.emplace_back().extent = bound;
    }
    int stride = 1;
    for (const bool piece : {true, false}) {  // the digits of a part stand before those of its pieces
        stride = 1;
        for (std::size_t axis = bounds.empty() ? 0 : over.axes.size(); axis-- > 0; stride *= over.axes[axis].parts) {
            const auto& [label, parts, points] = over.axes[axis];
            const auto times = std::count(labels.begin(), labels.end(), label);
            if (times > 1) {
                is_valid = is_binary = is_even = false;  // a diagonal covers no tensor
                return;
            }
            if (piece == (times == 0)) {
                const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
                const std::size_t dimension = piece ? cut : static_cast<std::size_t>(place);
                side& along = sides[dimension];
                digits.push_back({stride, parts, dimension, static_cast<int>(along.cells())});
                (piece ? along.pieces : along.axis.parts) *= parts;
                if (!piece && !points.empty()) {
                    along.axis.points = points;
                    is_binary = is_even = false;
                }
            }
        }
    }
    for (side& along : sides) {
        along.in_parts = even_parts(along.extent, along.axis.parts);
        along.in_pieces[0] = even_parts(along.in_parts.shorter, along.pieces);
        along.in_pieces[1] = even_parts(along.in_parts.shorter + 1, along.pieces);
        is_even = is_even && along.extent % along.cells() == 0;
        mean *= static_cast<double>(along.extent) / static_cast<double>(along.cells());
    }
    bits.resize(bounds.size());
    std::ranges::sort(digits, std::greater<>(), &digit::weight);
    for (const digit& each : is_binary ? digits : std::vector<digit>{}) {
        for (int bit = std::countr_zero(static_cast<unsigned>(each.radix)); bit-- > 0;) {
            bits[each.dimension].push_back(std::countr_zero(static_cast<unsigned>(each.stride)) + bit);
        }
    }
    std::ranges::sort(digits, {}, &digit::stride);
}

EINPARALLEL_INLINE tensor_cut cut_of(const mesh& ranks, const std::vector<label_id>& labels) {
    tensor_cut made{std::vector<int>(labels.size(), 1), 1, 1};
    for (const mesh_axis& axis : ranks.axes) {
        bool cuts = false;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == axis.label) {
                made.parts[dimension] *= axis.parts;
                if (!axis.points.empty()) {
                    made.points.resize(labels.size());
                    made.points[dimension] = axis.points;
                }
                cuts = true;
            }
        }
        made.pieces *= cuts ? 1 : axis.parts;
        made.ranks *= axis.parts;
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
