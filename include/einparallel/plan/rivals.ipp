#pragma once

#include <einparallel/plan/rivals.hpp>

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/plan/by_hand.ipp>
#include <einparallel/plan/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Places the ranks of a plan on the labels of one vertex, step by step.
EINPARALLEL_INLINE class rank_placing {
public:
    /// @param kept what is cut already
    explicit rank_placing(const vertex_to_cut& asked, const label_parts& kept = {})
        : einsum_(asked.einsum), parts_(asked.einsum.extents.size(), 1), left_(asked.processes) {
        for (const auto& [name, count] : kept) {
            parts_[position_of(name)] = count;
            left_ /= count;
        }
    }

    /// Cuts a label as finely as what is left allows: into the largest divisor of the ranks left that is no more than
    /// the label's extent, nor than `most`. Does nothing for a label that the vertex does not have.
    void cut(const std::string& name, int most = std::numeric_limits<int>::max()) {
        const std::size_t label = position_of(name);
        if (label == parts_.size()) {
            return;
        }
        int count = static_cast<int>(std::min<index>({left_, einsum_.extents[label] / parts_[label], most}));
        while (count > 1 && left_ % count != 0) {
            --count;
        }
        parts_[label] *= std::max(count, 1);
        left_ /= std::max(count, 1);
    }

    /// Cuts the two longest labels of the output into numbers of parts that are as equal as can be with as many ranks
    /// as they take; the longer one into more.
    void cut_in_squares() {
        const std::vector<std::size_t> labels = labels_by_length();
        const partition_vectors rows =
            viable(std::vector<index>{einsum_.extents[labels[0]], einsum_.extents[labels[1]]}, left_);
        std::pair<int, int> best{std::numeric_limits<int>::max(), 0};  // the larger number, and less the longer label's
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto parts = rows[row];
            if (const std::pair other{std::max(parts[0], parts[1]), -parts[0]}; other < best) {
                best = other;
                parts_[labels[0]] = parts[0];
                parts_[labels[1]] = parts[1];
            }
        }
        left_ /= rows.product;
    }

    /// The parts, with the rest of the ranks on the longest labels of the output, then on the longest contracted ones.
    label_parts parts(bool occupy_the_rest = true) {
        for (const std::size_t label : occupy_the_rest ? labels_by_length() : std::vector<std::size_t>{}) {
            cut(einsum_.form.names[label]);
        }
        return named_parts(einsum_.form, parts_);
    }

private:
    [[nodiscard]] std::size_t position_of(const std::string& name) const {
        return static_cast<std::size_t>(std::ranges::find(einsum_.form.names, name) - einsum_.form.names.begin());
    }

    /// Labels of the output from the longest to the shortest, the outer before the inner of equals; then the others.
    [[nodiscard]] std::vector<std::size_t> labels_by_length() const {
        std::vector<std::size_t> labels(einsum_.form.output.begin(), einsum_.form.output.end());
        for (std::size_t label = 0; label < parts_.size(); ++label) {
            if (!einsum_.form.in_output(static_cast<label_id>(label))) {
                labels.push_back(label);
            }
        }
        const auto summed = labels.begin() + static_cast<std::ptrdiff_t>(einsum_.form.output.size());
        const auto is_longer = [&](std::size_t a, std::size_t b) { return einsum_.extents[a] > einsum_.extents[b]; };
        std::stable_sort(labels.begin(), summed, is_longer);
        std::stable_sort(summed, labels.end(), is_longer);
        return labels;
    }

    const vertex& einsum_;
    std::vector<int> parts_;
    int left_;
};

/// What a rule does with a vertex that it does not speak of: the cut of the operands, and no rank idle.
EINPARALLEL_INLINE label_parts as_operands_are(const vertex_to_cut& each) {
    return rank_placing(each, each.from_operands).parts();
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::rivals {

EINPARALLEL_INLINE cutting_rule sqrt() {
    return [](const vertex_to_cut& each) {
        if (!each.einsum.work->is_contraction()) {
            return detail::as_operands_are(each);
        }
        detail::rank_placing placing(each);
        if (each.einsum.form.output.size() >= 2) {
            placing.cut_in_squares();
        }
        return placing.parts();
    };
}

EINPARALLEL_INLINE cutting_rule along(std::string label) {
    return [label = std::move(label)](const vertex_to_cut& each) {
        each.expect_somewhere(label);
        if (!each.has(label)) {
            return detail::as_operands_are(each);
        }
        detail::rank_placing placing(each);
        placing.cut(label);
        return placing.parts(false);
    };
}

EINPARALLEL_INLINE cutting_rule data_parallel(std::string batch) {
    return along(std::move(batch));
}

EINPARALLEL_INLINE cutting_rule sequence(std::string tokens) {
    return along(std::move(tokens));
}

EINPARALLEL_INLINE cutting_rule megatron(group_labels labels) {
    return [labels = std::move(labels)](const vertex_to_cut& each) {
        std::vector<std::string> named = labels.columns;
        named.insert(named.end(), {labels.batch, labels.tokens});
        std::erase(named, "");
        std::ranges::for_each(named, [&](const std::string& label) { each.expect_somewhere(label); });
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
        return placing.parts();
    };
}

EINPARALLEL_INLINE cutting_rule attention_heads(std::string heads, std::string batch, std::string tokens, int degree) {
    return megatron({{std::move(heads)}, std::move(batch), std::move(tokens), degree});
}

}  // namespace einparallel::rivals
