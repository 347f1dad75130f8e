#pragma once
// The decompositions by hand that the EinDecomp paper's experiments compare with (§9.2), as rules for plan_with.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

/// Places the ranks of a plan on the labels of one vertex, step by step.
class rank_placing {
public:
    explicit rank_placing(const vertex_to_cut& asked)
        : asked_(asked), parts_(asked.einsum.extents.size(), 1), left_(asked.processes) {}

    /// Cuts a label as finely as what is left allows: into the largest divisor of the ranks left that is no more than
    /// the label's extent, nor than `most`. Does nothing for a label that the vertex does not have.
    void cut(const std::string& name, int most = std::numeric_limits<int>::max()) {
        const std::vector<std::string>& names = asked_.einsum.form.names;
        const auto known = std::find(names.begin(), names.end(), name);
        if (known != names.end()) {
            cut(static_cast<std::size_t>(known - names.begin()), most);
        }
    }

    /// Cuts as the operands are cut.
    void keep_operands_cut() {
        for (const auto& [name, count] : asked_.from_operands) {
            const std::vector<std::string>& names = asked_.einsum.form.names;
            const auto known = std::find(names.begin(), names.end(), name);
            parts_[static_cast<std::size_t>(known - names.begin())] = count;
            left_ /= count;
        }
    }

    /// Cuts two labels into numbers of parts that are as equal as can be with as many ranks as they take; the longer
    /// one into more.
    void cut_in_squares(std::size_t longer, std::size_t shorter) {
        const std::vector<index> extents{asked_.einsum.extents[longer], asked_.einsum.extents[shorter]};
        const partition_vectors rows = viable(extents, left_);
        std::pair<int, int> best{rows[0][0], rows[0][1]};
        for (std::size_t row = 1; row < rows.size(); ++row) {
            const std::pair<int, int> other{rows[row][0], rows[row][1]};
            const int spread = std::max(other.first, other.second) - std::max(best.first, best.second);
            if (spread < 0 || (spread == 0 && other.first > best.first)) {
                best = other;
            }
        }
        parts_[longer] = best.first;
        parts_[shorter] = best.second;
        left_ /= best.first * best.second;
    }

    /// The rest of the ranks, on the longest labels of the output, then on the longest contracted ones.
    void occupy_the_rest() {
        for (const std::size_t label : labels_by_length()) {
            cut(label, std::numeric_limits<int>::max());
        }
    }

    /// Labels of the output from the longest to the shortest, the outer before the inner of equals; then the others.
    [[nodiscard]] std::vector<std::size_t> labels_by_length() const {
        std::vector<std::size_t> labels;
        for (const label_id label : asked_.einsum.form.output) {
            labels.push_back(static_cast<std::size_t>(label));
        }
        const auto kept = static_cast<std::ptrdiff_t>(labels.size());
        for (std::size_t label = 0; label < parts_.size(); ++label) {
            if (!asked_.einsum.form.in_output(static_cast<label_id>(label))) {
                labels.push_back(label);
            }
        }
        const auto is_longer = [&](std::size_t a, std::size_t b) {
            return asked_.einsum.extents[a] > asked_.einsum.extents[b];
        };
        std::stable_sort(labels.begin(), labels.begin() + kept, is_longer);
        std::stable_sort(labels.begin() + kept, labels.end(), is_longer);
        return labels;
    }

    [[nodiscard]] label_parts parts() const {
        label_parts named;
        for (std::size_t label = 0; label < parts_.size(); ++label) {
            if (parts_[label] > 1) {
                named.emplace_back(asked_.einsum.form.names[label], parts_[label]);
            }
        }
        return named;
    }

private:
    void cut(std::size_t label, int most) {
        const index room = asked_.einsum.extents[label] / parts_[label];
        int count = static_cast<int>(std::min<index>({left_, room, most}));
        while (count > 1 && left_ % count != 0) {
            --count;
        }
        if (count > 1) {
            parts_[label] *= count;
            left_ /= count;
        }
    }

    const vertex_to_cut& asked_;
    std::vector<int> parts_;
    int left_;
};

/// What a rule does with a vertex that it does not speak of: the cut of the operands, and no rank idle.
inline label_parts as_operands_are(const vertex_to_cut& each) {
    rank_placing placing(each);
    placing.keep_operands_cut();
    placing.occupy_the_rest();
    return placing.parts();
}

}  // namespace detail

/// Rules by hand. Labels are named as the graph's statements name them. A label takes the largest divisor of the ranks
/// that is no more than its extent. Vertices that a rule does not speak of are cut as their operands are
/// (vertex_to_cut::from_operands); what ranks are then left take the longest labels of the output, then the longest of
/// the others, so that no rank is idle where extents allow it. A label that no vertex of the graph has is an error.
namespace rivals {

/// SQRT: every contraction's output is sliced √p × √p along its two longest labels; into the most equal numbers of
/// parts where p is no square, the longer label into more.
[[nodiscard]] inline cutting_rule sqrt() {
    return [](const vertex_to_cut& each) {
        if (!each.einsum.work->is_contraction()) {
            return detail::as_operands_are(each);
        }
        detail::rank_placing placing(each);
        if (each.einsum.form.output.size() >= 2) {
            const std::vector<std::size_t> labels = placing.labels_by_length();
            placing.cut_in_squares(labels[0], labels[1]);
        }
        placing.occupy_the_rest();
        return placing.parts();
    };
}

/// One label everywhere: every vertex that has it is cut along it alone, into as many parts as it takes; further ranks
/// stay idle there.
[[nodiscard]] inline cutting_rule along(std::string label) {
    return [label = std::move(label)](const vertex_to_cut& each) {
        each.expect_somewhere(label);
        if (!each.has(label)) {
            return detail::as_operands_are(each);
        }
        detail::rank_placing placing(each);
        placing.cut(label);
        return placing.parts();
    };
}

/// Data parallel: the data points of a batch are dealt out, weights travel to where they are needed and their gradients
/// are aggregated.
[[nodiscard]] inline cutting_rule data_parallel(std::string batch) {
    return along(std::move(batch));
}

/// The tokens of the sequence are dealt out.
[[nodiscard]] inline cutting_rule sequence(std::string tokens) {
    return along(std::move(tokens));
}

/// The labels' roles for rules that work in groups of `degree` ranks. An empty name stands for no such label.
struct group_labels {
    std::vector<std::string>
        columns;         ///< what is dealt out inside a group, the first that a vertex has: heads, neurons
    std::string batch;   ///< what is dealt out over the groups
    std::string tokens;  ///< what is dealt out inside a group where a vertex has none of the columns
    int degree = 0;      ///< ranks of a group; 0 for one group of all ranks

    /// @throws error where no einsum of the graph has one of them
    void check_known(const vertex_to_cut& each) const {
        std::vector<std::string> named = columns;
        named.insert(named.end(), {batch, tokens});
        for (const std::string& label : named) {
            if (!label.empty()) {
                each.expect_somewhere(label);
            }
        }
    }
};

/// Megatron's tensor parallelism: the first weights of attention and of the feed-forward network are cut by columns
/// (heads, neurons), the second ones by rows, so that only their outputs are aggregated; between them, norms and
/// residuals are cut along tokens (Korthikanti et al. 2022), where an aggregation to every rank becomes one to pieces
/// and a gather. Here every product that reads the pieces gathers them for itself. Groups of `degree` ranks work so,
/// each on its share of the batch; ranks that the batch does not occupy share the tokens.
[[nodiscard]] inline cutting_rule megatron(group_labels labels) {
    return [labels = std::move(labels)](const vertex_to_cut& each) {
        labels.check_known(each);
        const auto column = std::find_if(labels.columns.begin(), labels.columns.end(),
                                         [&](const std::string& name) { return each.has(name); });
        if (column == labels.columns.end() && !each.has(labels.batch) && !each.has(labels.tokens)) {
            return detail::as_operands_are(each);
        }
        const int degree = labels.degree > 0 ? labels.degree : each.processes;
        detail::rank_placing placing(each);
        if (column != labels.columns.end()) {
            placing.cut(*column, degree);
            placing.cut(labels.batch);
        } else {
            placing.cut(labels.batch, std::max(1, each.processes / degree));
        }
        placing.cut(labels.tokens);
        placing.occupy_the_rest();
        return placing.parts();
    };
}

/// Attention is cut along heads, everything without heads along the batch and the tokens: megatron() with the heads as
/// only columns.
[[nodiscard]] inline cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens,
                                                  int degree = 0) {
    return megatron({{std::move(heads)}, std::move(batch), std::move(tokens), degree});
}

}  // namespace rivals

}  // namespace einparallel
