#pragma once
// The decompositions by hand that the EinDecomp paper's experiments compare with (§9.2), as rules for plan_with.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <string>
#include <vector>

namespace einparallel {

/// Rules by hand. Labels are named as the graph's statements name them. A label takes the largest divisor of the ranks
/// that is no more than its extent. Vertices that a rule does not speak of are cut as their operands are
/// (vertex_to_cut::from_operands); what ranks are then left take the longest labels of the output, then the longest of
/// the others, so that no rank is idle where extents allow it. A label that no vertex of the graph has is an error.
namespace rivals {

/// SQRT: every contraction's output is sliced √p × √p along its two longest labels; into the most equal numbers of
/// parts where p is no square, the longer label into more.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sqrt();

/// One label everywhere: every vertex that has it is cut along it alone, into as many parts as it takes; further ranks
/// stay idle there.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule along(std::string label);

/// Data parallel: the data points of a batch are dealt out, weights travel to where they are needed and their gradients
/// are aggregated.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule data_parallel(std::string batch);

/// The tokens of the sequence are dealt out.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule sequence(std::string tokens);

/// The labels' roles for rules that work in groups of `degree` ranks. An empty name stands for no such label.
struct group_labels {
    std::vector<std::string>
        columns;         ///< what is dealt out inside a group, the first that a vertex has: heads, neurons
    std::string batch;   ///< what is dealt out over the groups
    std::string tokens;  ///< what is dealt out inside a group where a vertex has none of the columns
    int degree = 0;      ///< ranks of a group; 0 for one group of all ranks
};

/// Megatron's tensor parallelism: the first weights of attention and of the feed-forward network are cut by columns
/// (heads, neurons), the second ones by rows, so that only their outputs are aggregated; between them, norms and
/// residuals are cut along tokens (Korthikanti et al. 2022), where an aggregation to every rank becomes one to pieces
/// and a gather. Here every product that reads the pieces gathers them for itself. Groups of `degree` ranks work so,
/// each on its share of the batch; ranks that the batch does not occupy share the tokens.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule megatron(group_labels labels);

/// Attention is cut along heads, everything without heads along the batch and the tokens: megatron() with the heads as
/// only columns.
EINPARALLEL_INLINE [[nodiscard]] cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens,
                                                              int degree = 0);

}  // namespace rivals

}  // namespace einparallel
