#pragma once

#include <einparallel/plan/cell_grid.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE const interval& cell_grid::side(int rank, std::size_t dimension) const {
    const std::size_t place = static_cast<std::size_t>(rank) * dimensions() + dimension;
    return cuts[dimension][static_cast<std::size_t>(cells[place])];
}

EINPARALLEL_INLINE cell_grid cells_of(const distribution& resting) {
    cell_grid made;
    const std::size_t dimensions = resting.bounds().size();
    const int ranks = resting.holders();
    std::vector<std::vector<std::pair<index, index>>> sides(dimensions);
    std::vector<box> boxes;
    for (int rank = 0; rank < ranks; ++rank) {
        boxes.push_back(resting.held_by(rank));
        made.holds.push_back(!boxes.back().empty());
        for (std::size_t dimension = 0; dimension < dimensions && made.holds.back(); ++dimension) {
            const interval& side = boxes.back().sides[dimension];
            sides[dimension].emplace_back(side.begin, side.end);
        }
    }
    std::size_t count = 1;
    for (std::vector<std::pair<index, index>>& along : sides) {
        sort_range(along);
        along.erase(std::unique(along.begin(), along.end()), along.end());
        std::vector<interval>& cut = made.cuts.emplace_back();
        for (const auto& [begin, end] : along) {
            if (!cut.empty() && begin < cut.back().end) {
                return made;
            }
            cut.push_back({begin, end});
        }
        count *= cut.size();
        if (count > 8 * static_cast<std::size_t>(ranks)) {
            return made;
        }
    }
    made.owner.assign(count, cell_grid::nobody);
    made.cells.assign(static_cast<std::size_t>(ranks) * dimensions, 0);
    for (int rank = 0; rank < ranks; ++rank) {
        if (!made.holds[static_cast<std::size_t>(rank)]) {
            continue;
        }
        std::size_t cell = 0;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            const std::vector<interval>& cut = made.cuts[dimension];
            const index begin = boxes[static_cast<std::size_t>(rank)].sides[dimension].begin;
            const auto here = std::partition_point(cut.begin(), cut.end(),
                                                   [&](const interval& other) { return other.begin < begin; });
            const auto position = static_cast<std::size_t>(here - cut.begin());
            made.cells[static_cast<std::size_t>(rank) * dimensions + dimension] = static_cast<int>(position);
            cell = cell * cut.size() + position;
        }
        made.owner[cell] = rank;
    }
    made.valid = true;
    return made;
}

EINPARALLEL_INLINE double moved_between(const cell_grid& from, const cell_grid& to) {
    double moving = 0;
    for (int rank = 0; rank < to.ranks(); ++rank) {
        if (!to.holds[static_cast<std::size_t>(rank)]) {
            continue;
        }
        const bool has = rank < from.ranks() && from.holds[static_cast<std::size_t>(rank)];
        double wanted = 1;
        double kept = has ? 1 : 0;
        for (std::size_t dimension = 0; dimension < to.dimensions(); ++dimension) {
            const interval& side = to.side(rank, dimension);
            wanted *= static_cast<double>(side.size());
            kept *= kept > 0 ? static_cast<double>(intersect(from.side(rank, dimension), side).size()) : 0;
        }
        moving += wanted - kept;
    }
    return moving;
}

EINPARALLEL_INLINE traffic busiest_of(const std::vector<traffic>& sent, const std::vector<traffic>& received) {
    traffic total;
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        total.elements += sent[rank].elements;
        total.busiest = std::max({total.busiest, sent[rank].elements, received[rank].elements});
        total.messages = std::max({total.messages, sent[rank].messages, received[rank].messages});
    }
    return total;
}

EINPARALLEL_INLINE traffic cell_traffic::between(const cell_grid& from, const cell_grid& to) {
    const std::size_t dimensions = to.dimensions();
    const auto ranks = static_cast<std::size_t>(std::max(from.ranks(), to.ranks()));
    sent_.assign(ranks, {});
    received_.assign(ranks, {});
    meet(from, to);
    at_.assign(dimensions, 0);
    for (int reader = 0; reader < to.ranks(); ++reader) {
        if (to.holds[static_cast<std::size_t>(reader)]) {
            read(from, to, reader);
        }
    }
    return busiest_of(sent_, received_);
}

EINPARALLEL_INLINE void cell_traffic::meet(const cell_grid& from, const cell_grid& to) {
    meetings_.resize(to.dimensions());
    lengths_.clear();
    for (std::size_t dimension = 0; dimension < to.dimensions(); ++dimension) {
        const std::vector<interval>& had = from.cuts[dimension];
        meetings_[dimension].clear();
        for (const interval& wanted : to.cuts[dimension]) {
            const auto first = std::partition_point(had.begin(), had.end(),
                                                    [&](const interval& other) { return other.end <= wanted.begin; });
            meeting met{static_cast<std::size_t>(first - had.begin()), lengths_.size(), 0};
            for (auto other = first; other != had.end() && other->begin < wanted.end; ++other) {
                lengths_.push_back(static_cast<double>(intersect(*other, wanted).size()));
                ++met.count;
            }
            meetings_[dimension].push_back(met);
        }
    }
}

EINPARALLEL_INLINE void cell_traffic::read(const cell_grid& from, const cell_grid& to, int reader) {
    const std::size_t dimensions = to.dimensions();
    met_.clear();
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        const std::size_t place = static_cast<std::size_t>(reader) * dimensions + dimension;
        met_.push_back(meetings_[dimension][static_cast<std::size_t>(to.cells[place])]);
        if (met_.back().count == 0) {
            return;
        }
        at_[dimension] = 0;
    }
    for (bool more = true; more;) {
        std::size_t cell = 0;
        double elements = 1;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            cell = cell * from.cuts[dimension].size() + met_[dimension].first + at_[dimension];
            elements *= lengths_[met_[dimension].lengths + at_[dimension]];
        }
        const int owner = from.owner[cell];
        if (owner != cell_grid::nobody && owner != reader) {
            traffic& out = sent_[static_cast<std::size_t>(owner)];
            traffic& in = received_[static_cast<std::size_t>(reader)];
            out.elements += elements;
            out.messages += 1;
            in.elements += elements;
            in.messages += 1;
        }
        std::size_t dimension = dimensions;
        while (dimension > 0 && ++at_[dimension - 1] == met_[dimension - 1].count) {
            at_[--dimension] = 0;
        }
        more = dimension > 0;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
