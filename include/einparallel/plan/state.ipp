#pragma once
// All that can be decided about a vertex at once: how it is cut, on which ranks its blocks are, along which dimension
// shared blocks rest in pieces, and which sums it takes and leaves unfinished.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/schedule/task.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One state of a vertex. An open one stands for every placement with its partition vector.
struct state {
    mesh ranks;
    task_cuts cuts;
    pending_sums sums;
    std::vector<place_id> operands;  ///< where each is wanted; anywhere where every rank reads what it wants
    place_id output = anywhere;      ///< anywhere where nobody reads it
    feeding feed;                    ///< exact states that are run as master–worker
    double cost = 0;                 ///< of the vertex's own work, in the unit of the objective
    bool open = false;
};

EINPARALLEL_INLINE std::vector<std::size_t> operand_bytes_of(const vertex& einsum) {
    std::vector<std::size_t> bytes;
    for (const std::shared_ptr<vertex>& operand : einsum.operands) {
        bytes.push_back(operand->element.bytes);
    }
    return bytes;
}

/// What a vertex does in a state. @param wanted how its kind is asked to run
EINPARALLEL_INLINE task task_of(const vertex& einsum, const state& chosen, algorithm wanted, const options& asked,
                                const lasting_work& lasting) {
    task work = make_task(with_sums(einsum.form, einsum.extents, chosen.sums, chosen.ranks), operand_bytes_of(einsum),
                          einsum.element.bytes, chosen.ranks, chosen.cuts);
    if (chosen.feed.slices > 0) {
        return fed_task(std::move(work), chosen.feed);
    }
    choose_best_travelling(work, wanted, einsum.work->operations_per_point(), asked, lasting);
    return work;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
