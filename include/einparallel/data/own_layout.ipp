#pragma once

#include <einparallel/data/own_layout.hpp>

#include <einparallel/graph/text.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM box box_at(index_span lower, index_span extents) {
    box made;
    for (std::size_t dimension = 0; dimension < lower.size(); ++dimension) {
        const index begin = lower[dimension];
        const index room = std::numeric_limits<index>::max() - std::max<index>(begin, 0);
        made.sides.push_back({begin, begin + std::min(extents[dimension], room)});
        made.nothing = made.nothing || extents[dimension] == 0;
    }
    return made;
}

EINPARALLEL_SELDOM std::vector<pinned_part> pin_of(const distribution& blocks) {
    const std::optional<mesh> grid = mesh_of(blocks);
    expect(grid.has_value(),
           "distributed: these blocks do not form a grid of ranks, so that no tensor can be pinned to them");
    return list_of(grid->axes,
                   [](const mesh_axis& axis) { return pinned_part(int(axis.label), cut_points(axis.points)); });
}

/// Returns the boxes of all ranks, by rank. Every rank gives its box `mine` and the extents `bounds` of the tensor.
/// First the ranks agree that no rank has a `mistake` (empty where there is none) and that `numbers` are the same on
/// all. Collective. @throws error, the same on every rank, also where extents are negative or differ between ranks, or
/// a box reaches outside of the tensor
EINPARALLEL_SELDOM std::vector<box> exchange_boxes(const communicator& control, const std::string& doing,
                                                   const std::string& mistake, std::initializer_list<common> numbers,
                                                   const std::vector<index>& bounds, const box& mine) {
    const std::size_t rank = bounds.size();
    const std::size_t count = 1 + 3 * rank;
    std::vector<std::int64_t> sent{mine.nothing ? 1 : 0};
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        sent.insert(sent.end(), {bounds[dimension], mine.sides[dimension].begin, mine.sides[dimension].end});
    }
    std::vector<std::int64_t> all(count * std::size_t(control.size()));
    agree(control, mistake.empty() ? mistake : sentence({doing, ": rank ", control.rank(), ": ", mistake}), numbers);
    allgather(control, sent, all);

    // From here on all ranks see the same.
    std::vector<box> boxes(std::size_t(control.size()));
    for (std::size_t peer = 0; peer < boxes.size(); ++peer) {
        const std::int64_t* const theirs = all.data() + peer * count;
        boxes[peer].nothing = theirs[0] != 0;
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            const index first = all[1 + 3 * dimension];
            const index extent = theirs[1 + 3 * dimension];
            const interval side{theirs[2 + 3 * dimension], theirs[3 + 3 * dimension]};
            boxes[peer].sides.push_back(side);
            require(first >= 0, {doing, ": extent ", first, " of dimension ", dimension, " is negative"});
            require(extent == first, {doing, ": dimension ", dimension, ": extent ", first, " on rank 0 and ", extent,
                                      " on rank ", peer});
            require(boxes[peer].nothing || (side.begin >= 0 && side.end <= extent),
                    {doing, ": the part of rank ", peer, " reaches from ", side.begin, " to ", side.end,
                     " in dimension ", dimension, ", the extent is ", extent});
        }
    }
    return boxes;
}

EINPARALLEL_SELDOM std::vector<index> corner_of(const box& held_box) {
    return list_of(held_box.sides, &interval::begin);
}

EINPARALLEL_SELDOM std::optional<std::vector<index>> first_hole(const box& region, const std::vector<box>& boxes) {
    std::vector<box> rest{region};
    for_each_in(boxes, [&](const box& held_box) { rest = difference(rest, held_box); });
    const std::vector<std::vector<index>> corners = list_of(rest, [](const box& each) { return corner_of(each); });
    const auto first = std::min_element(corners.begin(), corners.end());
    return first == corners.end() ? std::nullopt : std::optional(*first);
}

/// @throws error where boxes overlap or do not hold every element of the tensor. Takes n log n steps for n slabs, at
/// most n² for other boxes. @pre the boxes lie inside the tensor
EINPARALLEL_SELDOM void check_boxes(const std::vector<index>& bounds, const std::vector<box>& boxes) {
    expect(is_countable(bounds), "distributed: these extents make more than 2^59 elements");
    index held = 0;
    std::vector<std::size_t> order;  // ranks whose boxes hold something, sorted by the first elements of the boxes
    for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
        if (!boxes[rank].empty()) {
            held += boxes[rank].size();
            order.push_back(rank);
        }
    }
    const auto corner = [&](std::size_t rank) { return corner_of(boxes[rank]); };
    sort_range(order, [&](std::size_t a, std::size_t b) { return std::pair(corner(a), a) < std::pair(corner(b), b); });
    for (std::size_t position = 0; position < order.size(); ++position) {
        const box& held_box = boxes[order[position]];
        for (std::size_t next = position + 1; next < order.size(); ++next) {
            const box& other = boxes[order[next]];
            if (!bounds.empty() && other.sides[0].begin >= held_box.sides[0].end) {
                break;
            }
            if (!intersect(held_box, other).empty()) {
                const auto [lower, higher] = std::minmax(order[position], order[next]);
                refuse({"distributed: the parts of ranks ", lower, " and ", higher, " overlap"});
            }
        }
    }
    const index wanted = whole_box(bounds).size();
    if (held == wanted) {
        return;
    }
    const std::vector<index> hole = *first_hole(whole_box(bounds), boxes);
    std::string mistake = sentence({"distributed: the parts hold ", held, " of ", wanted,
                                    " elements: no rank has the element at (", numbers_text(hole), ")"});
    const auto is_before = [&](std::size_t rank, const std::vector<index>& at) { return corner(rank) < at; };
    if (const auto behind = std::lower_bound(order.begin(), order.end(), hole, is_before); behind != order.begin()) {
        const std::size_t rank = *std::prev(behind);
        mistake +=
            sentence({"; the part in front of it is that of rank ", rank, ", with extents (",
                      numbers_text(extents_of(boxes[rank])), ") from element (", numbers_text(corner(rank)), ") on"});
    }
    throw error(mistake);
}

EINPARALLEL_SELDOM local_tensor own_tensor(context& world, const std::vector<index>& bounds, const strided_box& mine) {
    const exclusive guard(*world.state(), "distributed");
    fingerprint kind;
    kind.add(std::uint64_t(bounds.size())).add(name_of_element(mine.element));
    std::vector<box> boxes = exchange_boxes(
        world.control(), "distributed", negative_extent(extents_of(mine.held)),
        {{kind.value(), "distributed: the number of dimensions or the element type is not the same on all ranks"}},
        bounds, mine.held);
    check_boxes(bounds, boxes);
    return {nullptr, mine, std::make_shared<const distribution>(bounds, std::move(boxes)), world.state()};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
