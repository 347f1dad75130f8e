#pragma once

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The smallest box around boxes that are not empty; an empty box of `rank` dimensions where there are none.
EINPARALLEL_INLINE box hull_of(const std::vector<box>& boxes, std::size_t rank) {
    box hull = boxes.empty() ? no_box(rank) : boxes.front();
    for (const box& each : boxes) {
        for (std::size_t dimension = 0; dimension < hull.rank(); ++dimension) {
            interval& side = hull.sides[dimension];
            side = {std::min(side.begin, each.sides[dimension].begin), std::max(side.end, each.sides[dimension].end)};
        }
    }
    return hull;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE distribution held_by_one(const std::vector<index>& bounds, int root) {
    std::vector<box> boxes(std::size_t(root) + 1, no_box(bounds.size()));
    boxes.back() = whole_box(bounds);
    return {bounds, std::move(boxes)};
}

EINPARALLEL_INLINE distribution::distribution(std::vector<index> bounds, const mesh& ranks,
                                              const std::vector<label_id>& labels, std::size_t cut)
    : bounds_(std::move(bounds)),
      sides_(detail::list_of(bounds_, [](index bound) { return cut_side{bound}; })),
      cut_(cut),
      holders_(ranks.size()) {
    digits_.reserve(ranks.axes.size());
    for (const bool is_piece : {true, false}) {  // the digits of a part stand before those of its pieces
        int stride = 1;
        for (std::size_t axis = ranks.axes.size(); axis-- > 0; stride *= ranks.axes[axis].parts) {
            const mesh_axis& along = ranks.axes[axis];
            const bool is_cut = detail::found_in(along.label, labels);
            if (is_piece && !is_cut) {
                digits_.push_back({stride, along.parts, replication_, cut, true});
                replication_ *= along.parts;
            }
            int times = 0;
            for (std::size_t dimension = 0; !is_piece && is_cut && dimension < labels.size(); ++dimension) {
                if (labels[dimension] == along.label) {
                    cut_side& side = sides_[dimension];
                    digits_.push_back({stride, along.parts, side.parts * side.pieces, dimension});
                    side.parts *= along.parts;
                    side.points = along.points;
                    diagonal_ = diagonal_ || ++times > 1;
                }
            }
        }
        if (is_piece && replication_ > 1 && !sides_.empty()) {
            sides_[cut_].pieces = replication_;
        }
    }
}

EINPARALLEL_INLINE distribution::distribution(std::vector<index> bounds, std::vector<box> boxes)
    : bounds_(std::move(bounds)),
      boxes_(detail::list_of(boxes, [](const box& held) { return std::vector<box>{held}; })),
      holders_(int(boxes_.size())),
      regular_(false) {}

EINPARALLEL_INLINE distribution::distribution(const std::vector<index>& bounds,
                                              const std::vector<std::vector<box>>& boxes)
    : bounds_(bounds), holders_(int(boxes.size())), regular_(false) {
    for (const std::vector<box>& all : boxes) {
        std::vector<box>& disjoint = boxes_.emplace_back();
        for (const box& each : all) {
            std::vector<box> fresh = difference({each}, no_box(bounds.size()));
            detail::for_each_in(disjoint, [&](const box& known) { fresh = difference(fresh, known); });
            disjoint.insert(disjoint.end(), fresh.begin(), fresh.end());
        }
        const box hull = detail::hull_of(disjoint, bounds.size());
        if (detail::sum_in(disjoint, index{0}, &box::size) == hull.size()) {
            disjoint = {hull};
        }
    }
}

EINPARALLEL_INLINE distribution cut_along(const std::vector<index>& bounds, const mesh& ranks) {
    std::vector<label_id> labels(bounds.size());
    std::iota(labels.begin(), labels.end(), label_id{0});
    return {bounds, ranks, labels, 0};
}

EINPARALLEL_INLINE index distribution::largest_block_extent(std::size_t dimension) const {
    index largest = 0;
    for (int rank = 0; rank < holders_ && !regular_; ++rank) {
        const box held = block_of_rank(rank);
        largest = std::max(largest, held.nothing ? 0 : held.sides[dimension].size());
    }
    const int parts = !regular_ ? 0 : sides_[dimension].points.empty() ? 1 : sides_[dimension].parts;
    for (int part = 0; part < parts; ++part) {  // of even parts the first is largest
        largest = std::max(largest, sides_[dimension].part(part).size());
    }
    return largest;
}

EINPARALLEL_INLINE double distribution::largest_block() const {
    double elements = 1;
    for (std::size_t dimension = 0; dimension < bounds_.size(); ++dimension) {
        elements *= double(largest_block_extent(dimension));
    }
    return elements;
}

EINPARALLEL_INLINE box distribution::block_of_rank(int rank) const {
    if (rank < 0 || rank >= holders_) {
        return no_box(bounds_.size());
    }
    if (!regular_) {
        return detail::hull_of(boxes_[std::size_t(rank)], bounds_.size());
    }
    box block = whole_box(bounds_);
    for (std::size_t dimension = 0; dimension < sides_.size(); ++dimension) {
        block.sides[dimension] = sides_[dimension].part(cell_of(rank, dimension) / sides_[dimension].pieces);
    }
    return block;
}

EINPARALLEL_INLINE box distribution::held_by(int rank) const {
    box held = block_of_rank(rank);
    if (const std::optional<std::size_t> along = cut(); along && !held.nothing) {
        held.sides[*along] = sides_[*along].cell(cell_of(rank, *along));
    }
    held.nothing = held.nothing || (bounds_.empty() && replica_number(rank) > 0);
    return held;
}

EINPARALLEL_INLINE std::vector<int> distribution::replicas(int rank) const {
    std::vector<int> group{rank};
    for (std::size_t number = digits_.size(); number-- > 0;) {
        const rank_digit& digit = digits_[number];
        if (!digit.is_piece || rank >= holders_) {
            continue;
        }
        std::vector<int> finer;
        for (const int member : group) {
            for (int value = 0; value < digit.radix; ++value) {
                finer.push_back(member + (value - digit.of(rank)) * digit.stride);
            }
        }
        group = std::move(finer);
    }
    return group;
}

EINPARALLEL_INLINE std::vector<int> distribution::ranks_meeting(const box& region) const {
    std::vector<int> met;
    if (!regular_ || diagonal_) {
        for (int rank = 0; rank < holders_; ++rank) {
            if (detail::any_in(boxes_of(rank), [&](const box& held) { return !intersect(held, region).empty(); })) {
                met.push_back(rank);
            }
        }
        return met;
    }
    met.resize(region.empty() ? 0 : 1);
    for (std::size_t dimension = 0; dimension < sides_.size() && !met.empty(); ++dimension) {
        const cut_side& side = sides_[dimension];
        std::vector<int> finer;
        for (int part = 0; part < side.parts; ++part) {
            const interval common = intersect(side.part(part), region.sides[dimension]);
            for (int cell = part * side.pieces; !common.empty() && cell < (part + 1) * side.pieces; ++cell) {
                if (intersect(side.cell(cell), common).empty()) {
                    continue;
                }
                // The digits of this dimension in the number of a rank with this cell.
                const int number = detail::sum_in(digits_, 0, [&](const rank_digit& digit) {
                    return digit.dimension == dimension ? cell / digit.weight % digit.radix * digit.stride : 0;
                });
                detail::for_each_in(met, [&](int by_others) { finer.push_back(by_others + number); });
            }
        }
        met = std::move(finer);
    }
    detail::sort_range(met);
    return met;
}

EINPARALLEL_INLINE bool operator==(const distribution& a, const distribution& b) {
    if (a.bounds_ != b.bounds_) {
        return false;
    }
    if (a.regular_ == b.regular_ && a.sides_ == b.sides_ && a.digits_ == b.digits_ && a.boxes_ == b.boxes_) {
        return true;
    }
    // Where blocks are even and ranks a power of two, every bit of a rank's number adds its own offset to the block: so
    // it is enough to compare the ranks with one bit.
    const auto is_binary = [](const distribution& of) {
        return of.regular_ && !of.bounds_.empty() && std::has_single_bit(unsigned(of.holders_)) &&
               detail::all_in(of.sides_, [](const cut_side& side) {
                   return side.points.empty() && side.extent % side.cells() == 0;
               });
    };
    const bool by_bits = a.holders_ == b.holders_ && is_binary(a) && is_binary(b);
    const int ranks = std::max(a.holders(), b.holders());
    for (int rank = 0; rank < ranks; rank += by_bits && rank > 0 ? rank : 1) {
        if (a.regular_ && b.regular_ && a.held_by(rank) == b.held_by(rank)) {
            continue;
        }
        const std::vector<box> in_a = a.boxes_of(rank);
        const std::vector<box> in_b = b.boxes_of(rank);
        if (in_a != in_b && !(detail::all_in(in_a, &box::empty) && detail::all_in(in_b, &box::empty))) {
            return false;
        }
    }
    return true;
}

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::optional<mesh> mesh_of(const distribution& boxes) {
    const std::size_t rank = boxes.bounds().size();
    std::vector<std::vector<index>> begins(rank);  // of the blocks that hold something, by dimension
    std::vector<int> turns(rank, 0);               // the first rank whose block begins elsewhere than the first one's
    std::vector<box> held;
    for (int holder = 0; holder < boxes.holders(); ++holder) {
        held.push_back(boxes.held_by(holder));
        for (std::size_t dimension = 0; dimension < rank && !held.back().empty(); ++dimension) {
            std::vector<index>& known = begins[dimension];
            const index begin = held.back().sides[dimension].begin;
            if (!found_in(begin, known)) {
                turns[dimension] = known.size() == 1 ? holder : turns[dimension];
                known.push_back(begin);
            }
        }
    }
    std::vector<std::size_t> cut;  // dimensions, the one along the outermost axis first
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        sort_range(begins[dimension]);
        if (begins[dimension].size() > 1) {
            cut.push_back(dimension);
        }
    }
    if (cut.empty() && rank > 0 && !begins[0].empty() && held.front().empty()) {
        cut = {0};  // whole on a rank behind others
    }
    sort_range(cut, [&](std::size_t a, std::size_t b) { return turns[a] > turns[b]; });
    mesh made;
    for (const std::size_t dimension : cut) {
        std::vector<index> points = begins[dimension];
        points.push_back(boxes.bounds()[dimension]);
        if (cut.size() == 1) {  // a rank without elements has a block where the next one begins
            points = {boxes.bounds()[dimension]};
            for (std::size_t holder = held.size(); holder-- > 0;) {
                points.push_back(held[holder].empty() ? points.back() : held[holder].sides[dimension].begin);
            }
            std::reverse(points.begin(), points.end());
        }
        const int parts = int(points.size()) - 1;
        made.axes.push_back({label_id(dimension), parts, std::move(points)});
    }
    return cut_along(boxes.bounds(), made) == boxes ? std::optional(std::move(made)) : std::nullopt;
}

EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b) {
    bool same = a == b && a.replication() == b.replication();
    for (int rank = 0; same && rank < a.holders(); ++rank) {
        same = a.block_of_rank(rank) == b.block_of_rank(rank);
    }
    return same;
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
