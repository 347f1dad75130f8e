#pragma once

#include <einparallel/cost/places.hpp>
#include <einparallel/cost/redistribution_traffic.ipp>
#include <einparallel/notation/affine_map.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE place::place(distribution of, place_id all)
    : resting(std::move(of)),
      whole(all),
      ranks(resting.bounds().empty() ? 1 : resting.holders()),  // one element is on rank 0
      is_valid(resting.is_regular() && !resting.is_diagonal()),
      is_binary(is_valid && std::has_single_bit(unsigned(ranks))),
      is_even(is_binary),
      bits(resting.bounds().size()) {
    for (const cut_side& side : resting.sides()) {
        parts.push_back(side.parts);
        is_binary = is_binary && side.points.empty();
        is_even = is_even && is_binary && side.extent % side.cells() == 0;
    }
    const std::vector<rank_digit>& digits = resting.digits();
    for (std::size_t number = digits.size(); is_binary && ranks > 1 && number-- > 0;) {
        for (int bit = std::countr_zero(unsigned(digits[number].radix)); bit-- > 0;) {
            bits[digits[number].dimension].push_back(std::countr_zero(unsigned(digits[number].stride)) + bit);
        }
    }
}

/// The beginning of a key: how the dimensions of a tensor are cut. Keys of different kinds end with different negative
/// numbers.
EINPARALLEL_INLINE std::vector<index> cuts_of(const distribution& resting) {
    std::vector<index> key{index(resting.bounds().size())};
    key.insert(key.end(), resting.bounds().begin(), resting.bounds().end());
    for (const cut_side& side : resting.sides()) {
        key.push_back(side.parts);
        key.insert(key.end(), side.points.begin(), side.points.end());
    }
    return key;
}

/// A key of the boxes on every rank. It differs for irregular places and for regular ones, which know their parts.
EINPARALLEL_INLINE std::vector<index> boxes_of(const distribution& resting) {
    std::vector<index> key(resting.bounds());
    for (int rank = 0; rank < resting.holders(); ++rank) {
        for (const box& held : resting.boxes_of(rank)) {
            key.insert(key.end(), held.empty() ? 0 : 1, rank);
            for (std::size_t side = 0; !held.empty() && side < held.sides.size(); ++side) {
                key.insert(key.end(), {held.sides[side].begin, held.sides[side].end});
            }
        }
    }
    key.insert(key.end(), {index(resting.bounds().size()), resting.is_regular() ? -4 : -5});
    return key;
}

/// Distributions over few ranks have one place if they put the same boxes on the same ranks, however they are
/// described. Over many ranks they have one place if their descriptions are equal.
EINPARALLEL_INLINE place_id place_table::exact(const std::vector<index>& bounds, const mesh& ranks,
                                               const std::vector<label_id>& labels, std::size_t cut) {
    distribution resting(bounds, ranks, labels, cut);
    place_id whole = anywhere;
    if (resting.is_diagonal()) {
        std::vector<label_id> once = labels;
        for (std::size_t dimension = once.size(); dimension-- > 0;) {
            const auto here = once.begin() + std::ptrdiff_t(dimension);
            *here = std::find(once.begin(), here, *here) != here ? no_label : *here;
        }
        whole = exact(bounds, ranks, once, cut);
    }
    std::vector<index> key = cuts_of(resting);
    key.push_back(resting.cut() ? index(cut) + 1 : -1);
    for (const rank_digit& digit : resting.digits()) {
        key.insert(key.end(), {digit.is_piece ? -1 : index(digit.dimension), digit.radix, digit.stride});
    }
    const auto make = [&] { return add(std::move(resting), whole); };
    constexpr int few = 64;
    return known_.at(key, [&] { return resting.holders() > few ? make() : known_.at(boxes_of(resting), make); });
}

/// An irregular distribution that is equal to a regular one has the place of that one.
EINPARALLEL_INLINE place_id place_table::exact(distribution irregular, place_id whole) {
    return known_.at(boxes_of(irregular), [&] {
        const std::optional<mesh> cut = irregular.is_regular() ? std::nullopt : mesh_of(irregular);
        if (!cut) {
            return add(std::move(irregular), whole);
        }
        mesh even = *cut;
        for_each_in(even.axes, [](mesh_axis& axis) { axis.points.clear(); });
        const std::vector<label_id> labels = first_labels(irregular.bounds().size());
        const bool is_even = cut_along(irregular.bounds(), even) == irregular;
        return exact(irregular.bounds(), is_even ? even : *cut, labels, 0);
    });
}

EINPARALLEL_INLINE place_id place_table::gathered(place_id pieces, const distribution& of, double elements) {
    const std::array<index, 5> key{pieces, of.replication(), of.cut() ? index(*of.cut()) : -1,
                                   index(std::llround(elements)), -6};
    return known_.at(key, [&] {
        const place_id made = add(of, whole_of(pieces));
        places_[at(made)].pieces = pieces;
        places_[at(made)].gathered = elements;
        return made;
    });
}

EINPARALLEL_INLINE place_id place_table::cut_like(distribution one) {
    std::vector<index> key = cuts_of(one);
    key.insert(key.end(), {one.replication(), one.holders(), -3});
    return known_.at(key, [&] { return add(std::move(one)); });
}

EINPARALLEL_INLINE place_id place_table::add(distribution resting, place_id whole) {
    const auto number = place_id(places_.size());
    places_.emplace_back(std::move(resting), whole == anywhere ? number : whole);
    return number;
}

/// The traffic from one place to another: by the closed form where both places are even, else by the boxes of `most`
/// ranks, or of more where such a count is kept. Between binary places over many ranks the closed form is the first
/// estimate. It is not kept: to look it up would not be faster.
EINPARALLEL_INLINE const pair_traffic& place_table::looked_up(place_id from, place_id to, int most,
                                                              bool elements_only) {
    static const pair_traffic nothing{{}, every_rank};
    if (from == to || from < 0 || to < 0) {
        return nothing;
    }
    place& before = places_[at(from)];
    place& after = places_[at(to)];
    const int all = std::max(before.ranks, after.ranks);
    const rank_groups& groups = on().groups();
    const bool is_aligned = are_binary(groups);
    const bool is_even = before.is_even && after.is_even && is_aligned;
    const bool is_binary =
        before.is_binary && after.is_binary && is_aligned && all > looked_at_first && most == looked_at_first;
    if (is_even || (is_binary && !before.pairs.contains(to))) {
        set_binary_traffic(before, after, groups, closed_);
        closed_.looked_at = is_even ? every_rank : 0;
        return closed_;
    }
    const auto [pair, fresh] = before.pairs.try_emplace(to);
    pair_traffic& known = pair->second;
    compared_ += fresh ? 1 : 0;
    const int looked_at = most < all ? most : every_rank;
    const bool lacks_levels = known.crossings.size() < groups.levels();
    if (known.looked_at < looked_at || (known.elements_only && !elements_only) || lacks_levels) {
        const bool is_valid = before.is_valid && after.is_valid;
        known = is_valid ? pair_traffic{regular_traffic(before, after, most, elements_only), looked_at, elements_only}
                         : pair_traffic{irregular_traffic(before.resting, after.resting, groups), every_rank};
        if (is_valid && groups.levels() > 0) {
            const std::array<index, 2> key{all, most};
            const rank_sample& sample = samples_.at(key, [&] { return rank_sample(groups, all, most); });
            add_crossings(before, after, groups, sample, known);
        }
        if (most == every_rank && all > looked_at_closely) {  // megabytes that only the last count needs
            before.cells.clear();
            after.cells.clear();
        }
    }
    return known;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
