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

/// True where some dimension is cut at points of its own.
EINPARALLEL_INLINE bool has_points(const distribution& resting) {
    return any_in(resting.sides(), [](const cut_side& side) { return !side.points.empty(); });
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
        return boxes_.at(key_of(resting), [&] { return add(std::move(resting), false, whole); });
    });
}

EINPARALLEL_INLINE place_id place_table::exact(distribution irregular) {
    return add(std::move(irregular), false, anywhere);
}

EINPARALLEL_INLINE place_id place_table::on_rank(const std::vector<index>& bounds, int rank) {
    if (rank == 0) {
        return exact(bounds, mesh{}, std::vector<label_id>(bounds.size(), no_label), 0);
    }
    std::vector<index> key(bounds);
    key.push_back(rank);
    return lone_.at(key, [&] { return exact(held_by_one(bounds, rank)); });
}

EINPARALLEL_INLINE place_id place_table::open(distribution like) {
    std::vector<index> key(like.bounds());
    key.insert(key.end(), {like.replication(), like.holders()});
    for (const cut_side& side : like.sides()) {
        key.push_back(side.parts);
    }
    add_points(like, key);
    return open_.at(key, [&] { return add(std::move(like), true, anywhere); });
}

/// A block's pieces lie along one dimension: the one that is known, or, of an open place, any.
EINPARALLEL_INLINE place_id place_table::add(distribution resting, bool is_open, place_id whole) {
    place made{rank_grid(std::move(resting)), is_open};
    made.whole = whole;
    const distribution& of = made.grid.resting;
    for (const cut_side& side : of.sides()) {
        made.parts.push_back(side.parts);
    }
    for (std::size_t along = 0; along < std::max<std::size_t>(made.parts.size(), 1) && of.is_regular(); ++along) {
        if (of.cut() && !is_open && along != *of.cut()) {
            continue;
        }
        std::vector<index> key(of.bounds());
        for (std::size_t dimension = 0; dimension < made.parts.size(); ++dimension) {
            const index cells = index{made.parts[dimension]} * (dimension == along ? of.replication() : 1);
            key.push_back(std::min(cells, of.bounds()[dimension]));
        }
        made.grids.push_back(static_cast<index>(grids_.number_of(key).first));
        if (of.replication() == 1) {
            break;
        }
    }
    places_.push_back(std::move(made));
    return static_cast<place_id>(places_.size()) - 1;
}

EINPARALLEL_INLINE bool place_table::may_be_one(place_id a, place_id b) const {
    if (a == b || a < 0 || b < 0) {
        return true;
    }
    const place& one = places_[at(a)];
    const place& other = places_[at(b)];
    if ((!one.is_open && !other.is_open) || !one.grid.resting.is_regular() || !other.grid.resting.is_regular()) {
        return false;
    }
    if (has_points(one.grid.resting) || has_points(other.grid.resting)) {
        return true;  // uneven blocks may be even ones in pieces
    }
    return any_in(one.grids, [&](index grid) { return found_in(grid, other.grids); });
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

EINPARALLEL_INLINE bool place_table::is_estimated(const rank_grid& from, const rank_grid& to) const {
    return from.is_valid && to.is_valid && !(from.is_even && to.is_even) && std::max(from.ranks, to.ranks) > looked_at;
}

EINPARALLEL_INLINE traffic place_table::between(place_id from, place_id to) {
    if (from == to || from < 0 || to < 0) {
        return {};
    }
    place& before = places_[at(from)];
    place& after = places_[at(to)];
    const int ranks = std::max(before.grid.ranks, after.grid.ranks);
    const bool is_even = before.grid.is_even && after.grid.is_even;
    if (is_even || (before.grid.is_binary && after.grid.is_binary && ranks > looked_at)) {
        const std::optional<std::size_t> settled = is_even ? std::nullopt : pairs_.find({from, to});
        return settled ? by_pair_[*settled].moving : binary_traffic(before.grid, after.grid);
    }
    const auto [number, fresh] = pairs_.number_of({from, to});
    if (fresh) {
        by_pair_.push_back(
            {before.grid.is_valid && after.grid.is_valid
                 ? by_ranks(from, to, looked_at, elements_only_)
                 : irregular_traffic(before.grid.resting, after.grid.resting, !before.grid.resting.is_regular())});
    }
    return by_pair_[number].moving;
}

EINPARALLEL_INLINE bool place_table::settle(place_id from, place_id to) {
    if (from == to || from < 0 || to < 0 || is_open(from) || is_open(to) || bounds(from) != bounds(to)) {
        return false;
    }
    const rank_grid& before = places_[at(from)].grid;
    const rank_grid& after = places_[at(to)].grid;
    if (!is_estimated(before, after)) {
        return false;
    }
    const traffic estimate = between(from, to);
    const auto [number, fresh] = pairs_.number_of({from, to});
    if (fresh) {
        by_pair_.push_back({estimate});
    }
    pair_traffic& known = by_pair_[number];
    if (std::exchange(known.is_settled, true)) {
        return false;
    }
    known.is_exact = std::max(before.ranks, after.ranks) <= looked_at_closely;
    known.moving = by_ranks(from, to, looked_at_closely, true);
    known.moving.messages = estimate.messages;
    return !(known.moving == estimate);
}

EINPARALLEL_INLINE traffic place_table::counted(place_id from, place_id to) {
    const rank_grid& before = places_[at(from)].grid;
    const rank_grid& after = places_[at(to)].grid;
    if (from == to || !before.is_valid || !after.is_valid || (before.is_even && after.is_even)) {
        return between(from, to);
    }
    return counted_.at(std::array<index, 2>{from, to},
                       [&] { return by_ranks(from, to, std::max(before.ranks, after.ranks), false); });
}

EINPARALLEL_INLINE traffic place_table::at_least(place_id from, place_id to) {
    if (from == to || from < 0 || to < 0) {
        return {};
    }
    const place& before = places_[at(from)];
    const place& after = places_[at(to)];
    if (!before.is_open && !after.is_open) {
        if (!is_estimated(before.grid, after.grid)) {
            return between(from, to);
        }
        const std::optional<std::size_t> known = elements_only_ ? pairs_.find({from, to}) : std::nullopt;
        if (known && by_pair_[*known].is_exact) {
            return by_pair_[*known].moving;
        }
    }
    return by_cuts(from, to);
}

EINPARALLEL_INLINE traffic place_table::by_cuts(place_id from, place_id to) const {
    const distribution& before = resting(from);
    const distribution& after = resting(to);
    if (!before.is_regular() || !after.is_regular() || has_points(before) || has_points(after)) {
        return {};
    }
    double elements = 1;
    for (const index bound : before.bounds()) {
        elements *= static_cast<double>(bound);
    }
    traffic least;
    least.elements = elements * smallest_moved_share(before, after);
    if (least.elements <= elements * 1e-9) {
        return {};
    }
    least.busiest = least.elements / std::min(before.holders(), after.holders());
    // Ranks that hold something at least: where a block has fewer slices than pieces, perhaps one of its sharers.
    const auto holders = [](const distribution& of) {
        const bool all = of.replication() == 1 || all_in(of.sides(), [&](const cut_side& side) {
                             return side.extent / side.parts >= of.replication();
                         });
        return all ? of.holders() : of.holders() / of.replication();
    };
    const auto partners = [](int many, int few) { return many > few ? (many - 1) / few : 0; };  // ⌈(many − few) / few⌉
    least.messages = std::max(1, partners(holders(after), before.holders()));
    if (before.is_diagonal() || after.is_diagonal()) {
        return least;
    }
    double targets = before.replication() == 1 ? 1 : 0;  // blocks that one block meets
    double sources = after.replication() == 1 ? 1 : 0;
    for (std::size_t dimension = 0; dimension < before.sides().size(); ++dimension) {
        const int had = before.sides()[dimension].parts;
        const int wanted = after.sides()[dimension].parts;
        sources *= had > wanted ? (had + wanted - 1) / wanted : 1;
        targets *= wanted > had ? (wanted + had - 1) / had : 1;
    }
    const int senders = partners(holders(before), after.holders());
    least.messages = std::max({least.messages, static_cast<double>(senders), sources - 1, targets - 1});
    return least;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
