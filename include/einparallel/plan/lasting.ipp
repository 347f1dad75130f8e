#pragma once
// What depends on lasting inputs alone over the runs of a plan (options.runs): brought and computed once, and kept.

#include <einparallel/graph/source.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/traffic.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Which tensors of a graph last, and how often the work of its vertices is done.
class lasting_tensors {
public:
    EINPARALLEL_INLINE lasting_tensors(const einsum_graph& graph, const options& asked)
        : graph_(graph),
          runs_(static_cast<double>(asked.runs)),
          is_paper_(asked.objective == objective::paper),
          lasts_(graph.vertices.size(), false),
          readings_(graph.vertices.size(), 0) {
        for (std::size_t number = 0; asked.runs > 1 && number < lasts_.size(); ++number) {
            const vertex& each = *graph.vertices[number];
            const std::vector<std::size_t>& inputs = graph.inputs[number];
            lasts_[number] = each.is_input() ? each.origin != nullptr && each.origin->lasts()
                                             : std::ranges::all_of(inputs, [&](auto input) { return lasts_[input]; });
            for (const std::size_t input : inputs) {
                readings_[input] += lasts_[number] ? 0 : 1;
            }
        }
    }

    /// The tensor is the same in every run.
    [[nodiscard]] bool lasts(std::size_t number) const { return lasts_[number]; }

    /// How often it is brought to a reader.
    [[nodiscard]] double runs(std::size_t number) const { return lasts_[number] ? 1 : runs_; }

    /// Of a vertex. Readers that hold the same blocks gather them once: each is charged its part, no more than what it
    /// costs; the paper, which knows no blocks, charges every one.
    EINPARALLEL_INLINE [[nodiscard]] lasting_work work_of(std::size_t number) const {
        lasting_work made{runs(number)};
        for (const std::size_t input : graph_.inputs[number]) {
            const bool once = lasts_[input] && !lasts_[number];
            made.once.push_back(once ? (is_paper_ ? 1.0 : 1.0 / readings_[input]) : 0.0);
        }
        return made;
    }

private:
    const einsum_graph& graph_;
    double runs_;
    bool is_paper_;
    std::vector<bool> lasts_;
    std::vector<int> readings_;  ///< by operands of vertices that do not last
};

/// True where every rank gathers the same block of a tensor by both.
EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b) {
    bool same = a == b && a.replication() == b.replication();
    for (int rank = 0; same && rank < a.holders(); ++rank) {
        same = a.block_of_rank(rank) == b.block_of_rank(rank);
    }
    return same;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
