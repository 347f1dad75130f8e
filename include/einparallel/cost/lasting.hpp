#pragma once
// Which tensors of a graph are the same in every run of a plan, how often the others are computed, and which blocks
// are gathered once for several readers.

#include <einparallel/cost/objective.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/task.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How often a vertex's work is done over all runs of a plan, and how often its operands are gathered: less often where
/// they last, or once for several vertices.
struct lasting_work {
    double runs = 1;             ///< runs of the vertex
    std::vector<double> held{};  ///< by operand: how often its blocks are gathered before the vertex and held, divided
                                 ///< by the readers that may hold the same blocks; 0: may not be held. Empty: none may

    [[nodiscard]] bool may_hold(std::size_t operand) const { return operand < held.size() && held[operand] > 0; }

    friend bool operator==(const lasting_work&, const lasting_work&) = default;
};

/// Which tensors of a graph last over the runs of a plan: those that depend on lasting inputs only. They are brought
/// and computed once, and kept. It also tells which tensors are gathered once for all readers of the same blocks: all
/// tensors that are moved, where bytes are minimised and memory is not limited. Refers to the graph.
class lasting_tensors {
public:
    EINPARALLEL_INLINE lasting_tensors(const einsum_graph& graph, std::size_t runs, objective minimised,
                                       std::size_t memory_limit = 0)
        : graph_(graph),
          runs_(double(runs)),
          is_paper_(minimised == objective::paper),
          shares_(minimised == objective::bytes && memory_limit == 0),
          lasts_(graph.vertices.size(), false),
          readings_(graph.vertices.size(), 0) {
        for (std::size_t number = 0; number < lasts_.size(); ++number) {
            const vertex& each = *graph.vertices[number];
            const std::vector<std::size_t>& inputs = graph.inputs[number];
            lasts_[number] =
                runs > 1 && (each.is_input() ? each.origin != nullptr && each.origin->lasts()
                                             : all_in(inputs, [&](std::size_t input) { return lasts_[input]; }));
            for (std::size_t operand = 0; operand < inputs.size(); ++operand) {
                const bool may = shares(inputs[operand]) ? may_be_shared(each, operand) : !lasts_[number];
                readings_[inputs[operand]] += may ? 1 : 0;
            }
        }
    }

    /// True where the tensor is the same in every run.
    [[nodiscard]] bool lasts(std::size_t number) const { return lasts_[number]; }

    /// How often the tensor is brought to a reader, over all runs.
    [[nodiscard]] double runs(std::size_t number) const { return lasts_[number] ? 1 : runs_; }

    /// True where several ranks may need the same block of an operand, since the operand lacks a label.
    static bool may_be_shared(const vertex& einsum, std::size_t operand) {
        bool lacks = false;
        for (std::size_t label = 0; label < einsum.extents.size(); ++label) {
            lacks = lacks || (einsum.extents[label] > 1 && !einsum.form.in_operand(operand, label_id(label)));
        }
        return lacks && !einsum.form.is_viewed(operand);
    }

    /// Number of readings that may hold the same blocks of a tensor, and are charged for these together (move_cost); 0
    /// where each reader gathers by itself.
    [[nodiscard]] int sharers(std::size_t number) const {
        return shares(number) && readings_[number] > 1 ? readings_[number] : 0;
    }

    /// How often the work of vertex `number` is done, where the user asked for algorithm `wanted`. Readers that hold
    /// the same blocks gather them once, and each is charged a share of the cost. The paper's cost does not know
    /// blocks: it charges every reader in full.
    EINPARALLEL_INLINE [[nodiscard]] lasting_work work_of(std::size_t number,
                                                          algorithm wanted = algorithm::automatic) const {
        lasting_work made{runs(number)};
        for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
            const std::size_t input = graph_.inputs[number][operand];
            const bool shared = sharers(input) > 0 && wanted == algorithm::automatic &&
                                may_be_shared(*graph_.vertices[number], operand);
            const bool may = shared || (lasts_[input] && !lasts_[number]);
            made.held.push_back(may ? runs(input) / (is_paper_ ? 1 : std::max(1, readings_[input])) : 0.0);
        }
        return made;
    }

private:
    [[nodiscard]] bool shares(std::size_t number) const { return shares_ && is_moved(*graph_.vertices[number]); }

    const einsum_graph& graph_;
    double runs_;
    bool is_paper_;
    bool shares_;
    std::vector<bool> lasts_;
    std::vector<int> readings_;  ///< by tensor: operands that may hold the same blocks
};

}  // namespace einparallel::EINPARALLEL_DETAIL
