#pragma once

#include <einparallel/plan/lasting.hpp>

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE lasting_tensors::lasting_tensors(const einsum_graph& graph, const options& asked)
    : graph_(graph),
      runs_(static_cast<double>(asked.runs)),
      is_paper_(asked.objective == objective::paper),
      lasts_(graph.vertices.size(), false),
      readings_(graph.vertices.size(), 0) {
    for (std::size_t number = 0; asked.runs > 1 && number < lasts_.size(); ++number) {
        const vertex& each = *graph.vertices[number];
        const std::vector<std::size_t>& inputs = graph.inputs[number];
        lasts_[number] = each.is_input() ? each.origin != nullptr && each.origin->lasts()
                                         : all_in(inputs, [&](std::size_t input) { return lasts_[input]; });
        for (const std::size_t input : inputs) {
            readings_[input] += lasts_[number] ? 0 : 1;
        }
    }
}

EINPARALLEL_INLINE lasting_work lasting_tensors::work_of(std::size_t number) const {
    lasting_work made{runs(number)};
    for (const std::size_t input : graph_.inputs[number]) {
        const bool once = lasts_[input] && !lasts_[number];
        made.once.push_back(once ? (is_paper_ ? 1.0 : 1.0 / readings_[input]) : 0.0);
    }
    return made;
}

EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b) {
    bool same = a == b && a.replication() == b.replication();
    for (int rank = 0; same && rank < a.holders(); ++rank) {
        same = a.block_of_rank(rank) == b.block_of_rank(rank);
    }
    return same;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
