#pragma once

#include <einparallel/cost/places.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double redistribution_seconds(const traffic& moving, std::size_t element_bytes,
                                                 const machine& constants) {
    return moving.messages * constants.seconds_per_message +
           moving.busiest * static_cast<double>(element_bytes) * constants.seconds_per_byte;
}

/// Adds the cut points of all dimensions to a key.
EINPARALLEL_INLINE void add_points(const distribution& resting, std::vector<index>& key) {
    for (std::size_t dimension = 0; dimension < resting.sides().size(); ++dimension) {
        if (const std::vector<index>& points = resting.sides()[dimension].points; !points.empty()) {
            key.insert(key.end(), {-2, static_cast<index>(dimension)});
            key.insert(key.end(), points.begin(), points.end());
        }
    }
}

EINPARALLEL_INLINE place_id place_table::exact(const std::vector<index>& bounds, const mesh& ranks,
                                               const std::vector<label_id>& labels, std::size_t cut) {
    distribution resting(bounds, ranks, labels, cut);
    std::vector<index> key(bounds);
    key.push_back(resting.cut() ? static_cast<index>(cut) : -1);
    for (const rank_digit& digit : resting.digits()) {
        key.insert(key.end(), {digit.is_piece ? -1 : static_cast<index>(digit.dimension), digit.radix, digit.stride});
    }
    add_points(resting, key);
    return described_.at(key, [&] {
        place_id whole = anywhere;
        if (resting.is_diagonal()) {  // before this place has its number: without elements the two are one
            std::vector<label_id> once = labels;
            for (std::size_t dimension = once.size(); dimension-- > 0;) {
                const auto here = once.begin() + static_cast<std::ptrdiff_t>(dimension);
                *here = std::find(once.begin(), here, *here) != here ? no_label : *here;
            }
            whole = exact(bounds, ranks, once, cut);
        }
        return boxes_.at(key_of(resting), [&] { return add(std::move(resting), whole); });
    });
}

EINPARALLEL_INLINE place_id place_table::exact(distribution irregular) {
    return add(std::move(irregular));
}

EINPARALLEL_INLINE place_id place_table::on_rank(const std::vector<index>& bounds, int rank) {
    if (rank == 0) {
        return exact(bounds, mesh{}, std::vector<label_id>(bounds.size(), no_label), 0);
    }
    std::vector<index> key(bounds);
    key.push_back(rank);
    return lone_.at(key, [&] { return exact(held_by_one(bounds, rank)); });
}

EINPARALLEL_INLINE place_id place_table::cut_like(distribution one) {
    std::vector<index> key(one.bounds());
    key.insert(key.end(), {one.replication(), one.holders()});
    for (const cut_side& side : one.sides()) {
        key.push_back(side.parts);
    }
    add_points(one, key);
    return cuts_.at(key, [&] { return add(std::move(one)); });
}

EINPARALLEL_INLINE place_id place_table::add(distribution resting, place_id whole) {
    place& made = places_.emplace_back(place{rank_grid(std::move(resting)), whole});
    for (const cut_side& side : made.grid.resting.sides()) {
        made.parts.push_back(side.parts);
    }
    return static_cast<place_id>(places_.size()) - 1;
}

EINPARALLEL_INLINE place_id place_table::whole_of(place_id number) {
    const place_id whole = places_[at(number)].whole;
    return whole == anywhere ? number : whole;
}

/// Distributions over few ranks that put the same boxes on the same ranks are one, however they are described; over
/// many ranks the description has to do.
EINPARALLEL_INLINE std::vector<index> place_table::key_of(const distribution& resting) const {
    constexpr int few = 64;
    std::vector<index> key{static_cast<index>(resting.bounds().size())};
    key.insert(key.end(), resting.bounds().begin(), resting.bounds().end());
    if (resting.holders() > few) {
        key.push_back(-1 - static_cast<index>(places_.size()));
        return key;
    }
    for (int rank = 0; rank < resting.holders(); ++rank) {
        const box held = resting.held_by(rank);
        if (held.empty()) {
            continue;
        }
        key.push_back(rank);
        for (const interval& side : held.sides) {
            key.push_back(side.begin);
            key.push_back(side.end);
        }
    }
    return key;
}

/// By the cells of all ranks where they are no more than `most`, else of so many that differ in all their digits.
EINPARALLEL_INLINE traffic place_table::by_ranks(place_id from, place_id to, int most, bool elements_only) {
    place& before = places_[at(from)];
    place& after = places_[at(to)];
    const int ranks = std::max(before.grid.ranks, after.grid.ranks);
    const int tried = std::min(ranks, most);
    const auto cells_of = [&](place& of) -> const std::vector<double>& {
        const auto [known, fresh] = of.cells.try_emplace({ranks, tried});
        if (fresh) {
            std::vector<int> looked;
            for (int trial = 0; trial < tried; ++trial) {
                const auto spread = static_cast<std::uint32_t>(trial) * std::uint64_t{2'654'435'769U};
                looked.push_back(ranks <= most ? trial
                                               : static_cast<int>((spread >> 8U) % static_cast<std::uint64_t>(ranks)));
            }
            known->second = of.grid.cells_of(looked);
        }
        return known->second;
    };
    const traffic moving = regular_traffic(before.grid, after.grid, cells_of(before), cells_of(after),
                                           static_cast<std::size_t>(tried), elements_only);
    if (tried > looked_at_closely) {  // megabytes, of the last count
        before.cells.clear();
        after.cells.clear();
    }
    return moving;
}

EINPARALLEL_INLINE int place_table::ranks(place_id from, place_id to) const {
    return std::max(places_[at(from)].grid.ranks, places_[at(to)].grid.ranks);
}

/// By so many ranks, or more where that is known. A first look at binary grids is their closed form, which is looked up
/// faster than it was written down.
EINPARALLEL_INLINE traffic place_table::looked_up(place_id from, place_id to, int most, bool elements_only) {
    if (from == to || from < 0 || to < 0) {
        return {};
    }
    const rank_grid& before = places_[at(from)].grid;
    const rank_grid& after = places_[at(to)].grid;
    const int all = ranks(from, to);
    const bool is_binary = before.is_binary && after.is_binary && all > looked_at && most == looked_at;
    if ((before.is_even && after.is_even) || (is_binary && !pairs_.find({from, to}))) {
        return binary_traffic(before, after);
    }
    const auto [number, fresh] = pairs_.number_of({from, to});
    if (fresh) {
        by_pair_.emplace_back();
    }
    pair_traffic& known = by_pair_[number];
    if (!before.is_valid || !after.is_valid) {
        if (fresh) {
            known = {irregular_traffic(before.resting, after.resting, !before.resting.is_regular()), all};
        }
    } else if (known.looked_at < std::min(most, all) || (known.elements_only && !elements_only)) {
        known = {by_ranks(from, to, most, elements_only), std::min(most, all), elements_only};
        if (all > looked_at && all <= most) {
            exact_.number_of({from, to});
        }
    }
    return known.moving;
}

EINPARALLEL_INLINE traffic place_table::between(place_id from, place_id to) {
    return looked_up(from, to, looked_at, elements_only_);
}

EINPARALLEL_INLINE bool place_table::is_estimated(place_id from, place_id to) const {
    if (from == to || from < 0 || to < 0 || bounds(from) != bounds(to) || ranks(from, to) <= looked_at) {
        return false;
    }
    const rank_grid& before = places_[at(from)].grid;
    const rank_grid& after = places_[at(to)].grid;
    return before.is_valid && after.is_valid && !(before.is_even && after.is_even) && !exact_.find({from, to});
}

EINPARALLEL_INLINE bool place_table::settle(place_id from, place_id to) {
    if (!is_estimated(from, to)) {
        return false;
    }
    const traffic estimate = between(from, to);
    return !(looked_up(from, to, looked_at_closely, elements_only_) == estimate);
}

EINPARALLEL_INLINE traffic place_table::counted(place_id from, place_id to) {
    return looked_up(from, to, std::numeric_limits<int>::max(), false);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
