#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/places.hpp>

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

EINPARALLEL_INLINE place_id place_table::exact(const std::vector<index>& bounds, const mesh& ranks,
                                               const std::vector<label_id>& labels, std::size_t cut) {
    // The digits by dimension, then those that replicate.
    std::vector<index> key(bounds);
    index stride = ranks.size();
    key.push_back(stride);
    bool replicates = false;
    bool diagonal = false;
    for (const mesh_axis& axis : ranks.axes) {
        stride /= axis.parts;
        bool cuts = false;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == axis.label) {
                key.insert(key.end(), {static_cast<index>(dimension), axis.parts, stride});
                if (!axis.points.empty()) {
                    key.push_back(-2);
                    key.insert(key.end(), axis.points.begin(), axis.points.end());
                }
                diagonal = diagonal || cuts;
                cuts = true;
            }
        }
        if (!cuts) {
            key.insert(key.end(), {-1, axis.parts, stride});
            replicates = true;
        }
    }
    key.push_back(replicates ? static_cast<index>(cut) : -1);
    return described_.at(key, [&] {
        place_id whole = anywhere;
        if (diagonal) {  // before this place has its number: without elements the two are one
            std::vector<label_id> once = labels;
            for (std::size_t dimension = once.size(); dimension-- > 0;) {
                const auto here = once.begin() + static_cast<std::ptrdiff_t>(dimension);
                *here = std::find(once.begin(), here, *here) != here ? no_label : *here;
            }
            whole = exact(bounds, ranks, once, cut);
        }
        distribution resting(bounds, ranks, labels, cut);
        return boxes_.at(key_of(resting), [&] {
            const auto number = static_cast<place_id>(places_.size());
            const tensor_cut known = cut_of(ranks, labels);
            places_.push_back({bounds,
                               known,
                               std::move(resting),
                               rank_grid(bounds, ranks, labels, cut),
                               grids_of(bounds, known, cut),
                               whole,
                               {}});
            return number;
        });
    });
}

EINPARALLEL_INLINE place_id place_table::exact(distribution irregular) {
    const std::vector<index> bounds = irregular.bounds();
    places_.push_back({bounds, std::nullopt, std::move(irregular), {}, {}, anywhere, {}});
    return static_cast<place_id>(places_.size()) - 1;
}

EINPARALLEL_INLINE place_id place_table::on_rank(const std::vector<index>& bounds, int rank) {
    if (rank == 0) {
        return exact(bounds, mesh{}, std::vector<label_id>(bounds.size(), no_label), 0);
    }
    std::vector<index> key(bounds);
    key.push_back(rank);
    return lone_.at(key, [&] { return exact(held_by_one(bounds, rank)); });
}

EINPARALLEL_INLINE place_id place_table::open(const std::vector<index>& bounds, const tensor_cut& cut) {
    std::vector<index> key(bounds);
    key.insert(key.end(), cut.parts.begin(), cut.parts.end());
    key.insert(key.end(), {cut.pieces, cut.ranks});
    for (const std::vector<index>& points : cut.points) {
        key.push_back(-1);
        key.insert(key.end(), points.begin(), points.end());
    }
    return open_.at(key, [&] {
        places_.push_back({bounds, cut, std::nullopt, {}, grids_of(bounds, cut, std::nullopt), anywhere, {}});
        return static_cast<place_id>(places_.size()) - 1;
    });
}

/// A block's pieces lie along one dimension: the one that is known, or any.
EINPARALLEL_INLINE std::vector<index> place_table::grids_of(const std::vector<index>& bounds, const tensor_cut& cut,
                                                            std::optional<std::size_t> along) {
    std::vector<index> found;
    for (std::size_t cut_along = 0; cut_along < std::max<std::size_t>(bounds.size(), 1); ++cut_along) {
        if (cut.pieces > 1 && along && cut_along != *along) {
            continue;
        }
        std::vector<index> key(bounds);
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            const index cells = index{cut.parts[dimension]} * (dimension == cut_along ? cut.pieces : 1);
            key.push_back(std::min(cells, bounds[dimension]));
        }
        found.push_back(static_cast<index>(grids_.number_of(key).first));
        if (cut.pieces == 1) {
            break;
        }
    }
    return found;
}

EINPARALLEL_INLINE bool place_table::may_be_one(place_id a, place_id b) const {
    if (a == b || a < 0 || b < 0) {
        return true;
    }
    const place& one = places_[at(a)];
    const place& other = places_[at(b)];
    if ((one.resting && other.resting) || !one.cut || !other.cut) {
        return false;
    }
    if (!one.cut->points.empty() || !other.cut->points.empty()) {
        return true;  // uneven blocks may be even ones in pieces
    }
    return any_in(one.grids, [&](index grid) { return found_in(grid, other.grids); });
}

EINPARALLEL_INLINE bool place_table::is_diagonal(place_id number) const {
    const std::optional<tensor_cut>& cut = places_[at(number)].cut;
    int blocks = cut ? cut->pieces : 0;
    for (std::size_t dimension = 0; cut && dimension < cut->parts.size(); ++dimension) {
        blocks *= cut->parts[dimension];
    }
    return cut && blocks > cut->ranks;
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

/// The cells of all of few ranks, of many of some that differ in all their digits.
EINPARALLEL_INLINE const std::vector<double>& place_table::cells_of(place& of, int ranks) {
    const auto [known, fresh] = of.cells.try_emplace(ranks);
    if (fresh) {
        std::vector<int> looked;
        for (int trial = 0; trial < std::min(ranks, looked_at); ++trial) {
            const auto spread = static_cast<std::uint32_t>(trial) * std::uint64_t{2'654'435'769U};
            looked.push_back(ranks <= looked_at ? trial
                                                : static_cast<int>((spread >> 8U) % static_cast<std::uint64_t>(ranks)));
        }
        known->second = of.grid.cells_of(looked);
    }
    return known->second;
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
                 ? regular_traffic(before.grid, after.grid, cells_of(before, ranks), cells_of(after, ranks),
                                   static_cast<std::size_t>(std::min(ranks, looked_at)), elements_only_)
                 : irregular_traffic(*before.resting, *after.resting, !before.cut)});
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
    const std::optional<traffic> found = digit_traffic(before, after, elements_only_);
    known.is_exact = found.has_value();
    known.moving = found.value_or(estimate);
    return !(known.moving == estimate);
}

EINPARALLEL_INLINE traffic place_table::counted(place_id from, place_id to) {
    const rank_grid& before = places_[at(from)].grid;
    const rank_grid& after = places_[at(to)].grid;
    if (from == to || !before.is_valid || !after.is_valid || (before.is_even && after.is_even)) {
        return between(from, to);
    }
    return counted_.at(std::array<index, 2>{from, to}, [&] {
        std::vector<int> all(static_cast<std::size_t>(std::max(before.ranks, after.ranks)));
        std::iota(all.begin(), all.end(), 0);
        return regular_traffic(before, after, before.cells_of(all), after.cells_of(all), all.size(), false);
    });
}

EINPARALLEL_INLINE traffic place_table::at_least(place_id from, place_id to) {
    if (from == to || from < 0 || to < 0) {
        return {};
    }
    const place& before = places_[at(from)];
    const place& after = places_[at(to)];
    if (before.resting && after.resting) {
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
    const place& before = places_[at(from)];
    const place& after = places_[at(to)];
    if (!before.cut || !after.cut || !before.cut->points.empty() || !after.cut->points.empty()) {
        return {};
    }
    double elements = 1;
    for (const index bound : before.bounds) {
        elements *= static_cast<double>(bound);
    }
    traffic least;
    least.elements = elements * smallest_moved_share(before.bounds, *before.cut, *after.cut);
    if (least.elements <= elements * 1e-9) {
        return {};
    }
    least.busiest = least.elements / std::min(before.cut->ranks, after.cut->ranks);
    // Ranks that hold something at least: where a block has fewer slices than pieces, perhaps one of its sharers.
    const auto holders = [&](const tensor_cut& cut) {
        bool all = true;
        for (std::size_t dimension = 0; dimension < cut.parts.size() && cut.pieces > 1; ++dimension) {
            all = all && before.bounds[dimension] / cut.parts[dimension] >= cut.pieces;
        }
        return all ? cut.ranks : cut.ranks / cut.pieces;
    };
    const auto partners = [](int many, int few) { return many > few ? (many - 1) / few : 0; };  // ⌈(many − few) / few⌉
    least.messages = std::max(1, partners(holders(*after.cut), before.cut->ranks));
    if (is_diagonal(from) || is_diagonal(to)) {
        return least;
    }
    double targets = before.cut->pieces == 1 ? 1 : 0;  // blocks that one block meets
    double sources = after.cut->pieces == 1 ? 1 : 0;
    for (std::size_t dimension = 0; dimension < before.bounds.size(); ++dimension) {
        const int had = before.cut->parts[dimension];
        const int wanted = after.cut->parts[dimension];
        sources *= had > wanted ? (had + wanted - 1) / wanted : 1;
        targets *= wanted > had ? (wanted + had - 1) / had : 1;
    }
    const int senders = partners(holders(*before.cut), after.cut->ranks);
    least.messages = std::max({least.messages, static_cast<double>(senders), sources - 1, targets - 1});
    return least;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
