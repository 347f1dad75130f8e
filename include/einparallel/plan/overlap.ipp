#pragma once
// How much of a tensor stays where it is between two distributions: what the planner compares axis orders by.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/bit_grid.hpp>
#include <einparallel/plan/cell_grid.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Number of a distribution in an overlap_table.
using resting_id = int;

/// Distributions, numbered by where they put what (the labels that got them there do not matter), and the traffic
/// between any two of them, computed once.
class overlap_table {
public:
    /// The number of the regular distribution of a tensor with these bounds and labels over a mesh.
    EINPARALLEL_INLINE resting_id number_of(const std::vector<index>& bounds, const mesh& ranks,
                                            const std::vector<label_id>& labels, std::size_t cut);

    /// The number of a distribution that may be irregular; such ones are not compared with each other.
    EINPARALLEL_INLINE resting_id number_of(distribution irregular);

    EINPARALLEL_INLINE [[nodiscard]] const distribution& resting(resting_id number) const;

    /// The place itself where it has all elements of its tensor. Otherwise (somebody reads the blocks on a diagonal)
    /// one that has all of them: every rank's block is completed along the dimensions in which a label stands again.
    EINPARALLEL_INLINE resting_id whole_of(resting_id number);

    /// Elements that have to change ranks.
    EINPARALLEL_INLINE double moved(resting_id from, resting_id to);

    /// The same with the busiest rank's share of it.
    EINPARALLEL_INLINE traffic between(resting_id from, resting_id to);

private:
    /// A place that has the blocks on a diagonal only.
    struct diagonal {
        resting_id number = 0;
        std::vector<index> bounds;
        mesh ranks;
        std::vector<label_id> labels;
        std::size_t cut = 0;
    };

    EINPARALLEL_INLINE static bool cuts_diagonal(const mesh& ranks, const std::vector<label_id>& labels);

    /// Distributions over few ranks that put the same boxes on the same ranks are one, however they are described; over
    /// many ranks the description has to do.
    EINPARALLEL_INLINE std::vector<index> boxes_of(const distribution& resting);

    EINPARALLEL_INLINE [[nodiscard]] std::pair<const bit_grid*, const bit_grid*> grids(resting_id from,
                                                                                       resting_id to) const;

    /// What is known of a pair: at least the elements that move.
    EINPARALLEL_INLINE traffic& pair(resting_id from, resting_id to);

    /// Made when asked for first.
    EINPARALLEL_INLINE const cell_grid& cells(resting_id number);

    /// Elements that ranks want and do not have.
    EINPARALLEL_INLINE static double missing(const distribution& from, const distribution& to);

    EINPARALLEL_INLINE static traffic count_traffic(const distribution& from, const distribution& to);

    std::vector<distribution> known_;
    std::vector<bit_grid> grids_;                          // by resting_id
    std::vector<std::shared_ptr<const cell_grid>> cells_;  // by resting_id
    cell_traffic counter_;
    std::vector<diagonal> diagonals_;
    numbering places_;
    std::vector<resting_id> by_place_;
    numbering numbers_;
    std::vector<resting_id> regular_;  // by number
    numbering pairs_;
    std::vector<traffic> traffic_;  // by number of the pair
};

EINPARALLEL_INLINE resting_id overlap_table::number_of(const std::vector<index>& bounds, const mesh& ranks,
                                                       const std::vector<label_id>& labels, std::size_t cut) {
    // Per dimension the parts and the distance of neighbouring parts in ranks; then the axes that replicate.
    std::vector<index> key{ranks.size()};
    key.insert(key.end(), bounds.begin(), bounds.end());
    std::vector<index> grid(2 * bounds.size(), 1);
    std::vector<index> replicating;
    std::vector<index> further;  // axes that cut what an axis inside of them cuts already
    index stride = 1;
    for (std::size_t axis = ranks.axes.size(); axis-- > 0;) {
        const mesh_axis& each = ranks.axes[axis];
        bool cuts = false;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] != each.label) {
                continue;
            }
            cuts = true;
            if (grid[2 * dimension] == 1) {
                grid[2 * dimension] = each.parts;
                grid[2 * dimension + 1] = stride;
            } else {
                further.insert(further.end(), {static_cast<index>(dimension), each.parts, stride});
            }
        }
        if (!cuts) {
            replicating.push_back(each.parts);
            replicating.push_back(stride);
        }
        stride *= each.parts;
    }
    key.insert(key.end(), grid.begin(), grid.end());
    key.push_back(replicating.empty() ? -1 : static_cast<index>(cut));
    key.insert(key.end(), replicating.begin(), replicating.end());
    if (!further.empty()) {
        key.push_back(-1);
        key.insert(key.end(), further.begin(), further.end());
    }
    const auto [number, fresh] = numbers_.number_of(std::move(key));
    if (fresh) {
        distribution resting(bounds, ranks, labels, cut);
        const auto [place, unlike] = places_.number_of(boxes_of(resting));
        if (unlike) {
            by_place_.push_back(static_cast<resting_id>(known_.size()));
            if (cuts_diagonal(ranks, labels)) {
                diagonals_.push_back({by_place_.back(), bounds, ranks, labels, cut});
            }
            known_.push_back(std::move(resting));
            grids_.emplace_back(bounds, ranks, labels, cut);
        }
        regular_.push_back(by_place_[place]);
    }
    return regular_[number];
}

EINPARALLEL_INLINE resting_id overlap_table::number_of(distribution irregular) {
    known_.push_back(std::move(irregular));
    grids_.emplace_back();
    return static_cast<resting_id>(known_.size()) - 1;
}

EINPARALLEL_INLINE const distribution& overlap_table::resting(resting_id number) const {
    return known_[static_cast<std::size_t>(number)];
}

EINPARALLEL_INLINE resting_id overlap_table::whole_of(resting_id number) {
    const auto known =
        std::find_if(diagonals_.begin(), diagonals_.end(), [&](const diagonal& each) { return each.number == number; });
    if (known == diagonals_.end()) {
        return number;
    }
    diagonal of = *known;
    for (std::size_t dimension = 0; dimension < of.labels.size(); ++dimension) {
        const auto before = of.labels.begin() + static_cast<std::ptrdiff_t>(dimension);
        if (std::find(of.labels.begin(), before, *before) != before) {
            *before = no_label;
        }
    }
    return number_of(of.bounds, of.ranks, of.labels, of.cut);
}

EINPARALLEL_INLINE double overlap_table::moved(resting_id from, resting_id to) {
    if (from == to) {
        return 0;
    }
    if (const auto [before, after] = grids(from, to); before->valid && after->valid) {
        return traffic_between(*before, *after).elements;
    }
    return pair(from, to).elements;
}

EINPARALLEL_INLINE traffic overlap_table::between(resting_id from, resting_id to) {
    if (from == to) {
        return {};
    }
    if (const auto [before, after] = grids(from, to); before->valid && after->valid) {
        return traffic_between(*before, *after);
    }
    traffic& known = pair(from, to);
    if (known.elements > 0 && known.messages == 0) {
        const cell_grid& before = cells(from);
        const cell_grid& after = cells(to);
        known =
            before.valid && after.valid ? counter_.between(before, after) : count_traffic(resting(from), resting(to));
    }
    return known;
}

EINPARALLEL_INLINE bool overlap_table::cuts_diagonal(const mesh& ranks, const std::vector<label_id>& labels) {
    return std::any_of(ranks.axes.begin(), ranks.axes.end(),
                       [&](const mesh_axis& axis) { return std::count(labels.begin(), labels.end(), axis.label) > 1; });
}

EINPARALLEL_INLINE std::vector<index> overlap_table::boxes_of(const distribution& resting) {
    constexpr int few = 64;
    std::vector<index> key{static_cast<index>(resting.bounds().size())};
    key.insert(key.end(), resting.bounds().begin(), resting.bounds().end());
    if (resting.holders() > few) {
        key.push_back(-1 - static_cast<index>(known_.size()));
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

EINPARALLEL_INLINE std::pair<const bit_grid*, const bit_grid*> overlap_table::grids(resting_id from,
                                                                                    resting_id to) const {
    return {&grids_[static_cast<std::size_t>(from)], &grids_[static_cast<std::size_t>(to)]};
}

EINPARALLEL_INLINE traffic& overlap_table::pair(resting_id from, resting_id to) {
    const auto [number, fresh] = pairs_.number_of({from, to});
    if (fresh) {
        const cell_grid& before = cells(from);
        const cell_grid& after = cells(to);
        traffic_.emplace_back().elements =
            before.valid && after.valid ? moved_between(before, after) : missing(resting(from), resting(to));
    }
    return traffic_[number];
}

EINPARALLEL_INLINE const cell_grid& overlap_table::cells(resting_id number) {
    const auto place = static_cast<std::size_t>(number);
    cells_.resize(std::max(cells_.size(), known_.size()));
    if (cells_[place] == nullptr) {
        cells_[place] = std::make_shared<const cell_grid>(cells_of(known_[place]));
    }
    return *cells_[place];
}

EINPARALLEL_INLINE double overlap_table::missing(const distribution& from, const distribution& to) {
    double moving = 0;
    for (int rank = 0; rank < to.holders(); ++rank) {
        const box wanted = to.held_by(rank);
        const bool may_have = rank < from.holders() && !wanted.empty();
        moving += static_cast<double>(wanted.size() - (may_have ? intersect(from.held_by(rank), wanted).size() : 0));
    }
    return moving;
}

EINPARALLEL_INLINE traffic overlap_table::count_traffic(const distribution& from, const distribution& to) {
    const auto ranks = static_cast<std::size_t>(std::max(from.holders(), to.holders()));
    std::vector<traffic> sent(ranks);
    std::vector<traffic> received(ranks);
    for (int reader = 0; reader < to.holders(); ++reader) {
        const box wanted = to.held_by(reader);
        for (const int owner : from.ranks_meeting(wanted)) {
            if (owner != reader) {
                const auto elements = static_cast<double>(intersect(from.held_by(owner), wanted).size());
                sent[static_cast<std::size_t>(owner)].elements += elements;
                sent[static_cast<std::size_t>(owner)].messages += 1;
                received[static_cast<std::size_t>(reader)].elements += elements;
                received[static_cast<std::size_t>(reader)].messages += 1;
            }
        }
    }
    return busiest_of(sent, received);
}

/// Seconds of a redistribution on the busiest rank.
EINPARALLEL_INLINE double redistribution_seconds(const traffic& moving, std::size_t element_bytes,
                                                 const machine& constants) {
    return moving.messages * constants.seconds_per_message +
           moving.busiest * static_cast<double>(element_bytes) * constants.seconds_per_byte;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
