#pragma once
// What of a graph is the same in every run of a plan, and how often the rest is done.

#include <einparallel/cost/objective.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How often a vertex's work is done over all runs of a plan, and what of it once.
struct lasting_work {
    double runs = 1;             ///< of the vertex
    std::vector<double> once{};  ///< by operand, of the blocks of one that lasts: the share of all who may hold the
                                 ///< same; 0 for others. Empty: none lasts

    [[nodiscard]] bool lasts(std::size_t operand) const { return operand < once.size() && once[operand] > 0; }

    friend bool operator==(const lasting_work&, const lasting_work&) = default;
};

/// Which tensors of a graph last over the runs of a plan, for they depend on lasting inputs alone: they
/// are brought and computed once, and kept. Refers to the graph.
class lasting_tensors {
public:
    EINPARALLEL_INLINE lasting_tensors(const einsum_graph& graph, std::size_t runs, objective minimised)
        : graph_(graph),
          runs_(double(runs)),
          is_paper_(minimised == objective::paper),
          lasts_(graph.vertices.size(), false),
          readings_(graph.vertices.size(), 0) {
        for (std::size_t number = 0; runs > 1 && number < lasts_.size(); ++number) {
            const vertex& each = *graph.vertices[number];
            const std::vector<std::size_t>& inputs = graph.inputs[number];
            lasts_[number] = each.is_input() ? each.origin != nullptr && each.origin->lasts()
                                             : all_in(inputs, [&](std::size_t input) { return lasts_[input]; });
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

}  // namespace einparallel::EINPARALLEL_DETAIL
