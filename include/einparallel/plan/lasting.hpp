#pragma once
// What depends on lasting inputs alone over the runs of a plan (options.runs): brought and computed once, and kept.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/traffic.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Which tensors of a graph last, and how often the work of its vertices is done. Refers to the graph.
class lasting_tensors {
public:
    EINPARALLEL_INLINE lasting_tensors(const einsum_graph& graph, const options& asked);

    /// The tensor is the same in every run.
    [[nodiscard]] bool lasts(std::size_t number) const { return lasts_[number]; }

    /// How often it is brought to a reader.
    [[nodiscard]] double runs(std::size_t number) const { return lasts_[number] ? 1 : runs_; }

    /// Of a vertex. Readers that hold the same blocks gather them once: each is charged its part, no more than what it
    /// costs; the paper, which knows no blocks, charges every one.
    EINPARALLEL_INLINE [[nodiscard]] lasting_work work_of(std::size_t number) const;

private:
    const einsum_graph& graph_;
    double runs_;
    bool is_paper_;
    std::vector<bool> lasts_;
    std::vector<int> readings_;  ///< by operands of vertices that do not last
};

/// True where every rank gathers the same block of a tensor by both.
EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b);

}  // namespace einparallel::EINPARALLEL_DETAIL
