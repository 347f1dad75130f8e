#pragma once
// An einsum's labels as run-time numbers: what kernels, graph, planner and schedules work on.
// The compile-time specification (einsum_spec) is where the numbers come from; nothing below the notation is a template
// on it, so two hundred einsums of one program share one contraction routine.

#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

/// The class of a label, which tells a parallel run how to treat it (see classify). x_only and y_only are contracted
/// labels of a single operand.
/// It is a class around an enumeration because g++ suggests the enumerators of an enum class, label_class::m, for every
/// undeclared m.
class label_class {
public:
    enum value_type : std::uint8_t { c, m, n, k, x_only, y_only };

    constexpr label_class(value_type of) : value_(of) {}  // implicit: label_class::m is one
    constexpr operator value_type() const { return value_; }

private:
    value_type value_;
};

/// The class of a label. has_label(r) says whether operand r has the label, `in_output` whether the output has it.
/// With more than two operands: c is in all of them and in the output. m and n are output labels that some operand
/// lacks: m is in the first operand, n is not. k is contracted and in more than one operand. x_only and y_only are
/// contracted and in one operand: x_only is in the first one.
constexpr label_class classify(std::size_t operand_count, const auto& has_label, bool in_output) {
    std::size_t having = 0;
    for (std::size_t operand = 0; operand < operand_count; ++operand) {
        having += has_label(operand) ? 1 : 0;
    }
    const bool in_first = operand_count > 0 && has_label(0);
    if (in_output) {
        return having == operand_count ? label_class::c : in_first ? label_class::m : label_class::n;
    }
    if (operand_count > 1 && having > 1) {
        return label_class::k;
    }
    return in_first || operand_count <= 1 ? label_class::x_only : label_class::y_only;
}

namespace detail {

/// An einsum as a reader would write it: `ij,jk->ik`, with spaces between labels where a name is longer than a letter.
/// labels_of(r) are the labels of operand r, as positions in names.
std::string einsum_text(const auto& names, std::size_t operands, const auto& labels_of, label_span out) {
    const bool spaced = any_in(names, [](const auto& name) { return name.size() > 1; });
    std::string written;
    const auto append = [&](label_span labels) {
        for (std::size_t position = 0; position < labels.size(); ++position) {
            written += spaced && position > 0 ? " " : "";
            if (labels[position] == no_label) {
                written += '1';
            } else {
                written += names[std::size_t(labels[position])];
            }
        }
    };
    for (std::size_t operand = 0; operand < operands; ++operand) {
        written += operand > 0 ? "," : "";
        append(labels_of(operand));
    }
    written += "->";
    append(out);
    return written;
}

}  // namespace detail

/// What a kernel reads from an operand: a tensor with one dimension for each of `labels`. The map `at` says which
/// element of operand `operand` each of its elements is.
struct operand_read {
    std::size_t operand = 0;
    std::vector<label_id> labels;
    affine_map at{};                        ///< map of the einsum's labels
    std::vector<operand_read> elsewhere{};  ///< read instead where the conditions of `at` do not hold, or its functions
                                            ///< are outside the bounds: the first one whose own conditions hold

    friend bool operator==(const operand_read&, const operand_read&) = default;
};

/// The labels of running sums. The output, and the operand in memory, have label `sums`; the kernel reads the operand
/// at label `terms` instead. It sums the elements with terms <= sums. Without running sums both are no_label.
struct running_labels {
    label_id terms = no_label;
    label_id sums = no_label;

    friend bool operator==(const running_labels&, const running_labels&) = default;
};

/// The labels of one einsum, as positions in `names`; names are unique, in order of first appearance over operands.
/// A label may stand twice in one operand (the diagonal). The output holds each label at most once.
struct einsum_form {
    std::vector<std::string> names;
    std::vector<std::vector<label_id>> operands;  ///< labels of each; for one that is read at functions, their labels
    std::vector<label_id> output;
    std::vector<operand_read> reads{};  ///< by operand of the kernel; empty: each operand is read at its labels
    running_labels running{};
    bool reads_at_once = false;  ///< one call on a rank sees all that it reads, so no operand is joined

    friend bool operator==(const einsum_form&, const einsum_form&) = default;

    [[nodiscard]] std::size_t label_count() const { return names.size(); }

    [[nodiscard]] bool in_operand(std::size_t operand, label_id label) const {
        return detail::found_in(label, operands[operand]);
    }
    [[nodiscard]] bool in_output(label_id label) const { return detail::found_in(label, output); }

    /// True where the kernel reads each operand once, at its labels. Planners and schedules ask nothing more about such
    /// an einsum.
    [[nodiscard]] bool is_plain() const { return reads.empty(); }
    /// What the kernel reads, one entry for each of its operands. In a plain einsum each operand is read at its labels.
    [[nodiscard]] std::vector<operand_read> listed_reads() const {
        std::vector<operand_read> all = reads;
        for (std::size_t operand = 0; is_plain() && operand < operands.size(); ++operand) {
            all.push_back({operand, operands[operand]});
        }
        return all;
    }

    /// Pointers to all of `reads`, by operand of the kernel, and behind them to all that is read elsewhere.
    [[nodiscard]] std::vector<const operand_read*> all_reads() const {
        std::vector<const operand_read*> all = detail::list_of(reads, [](const operand_read& read) { return &read; });
        for (const operand_read& read : reads) {
            for (const operand_read& other : read.elsewhere) {
                all.push_back(&other);
            }
        }
        return all;
    }

    /// True where is(map) is true for a map at which this operand is read.
    [[nodiscard]] bool any_read(std::size_t operand, const auto& is) const {
        return detail::any_in(all_reads(), [&](const operand_read* read) {
            return read->operand == operand && std::invoke(is, read->at);
        });
    }
    /// True where the operand is read at functions of labels.
    [[nodiscard]] bool is_viewed(std::size_t operand) const {
        return !is_plain() && any_read(operand, [](const affine_map& at) { return !at.is_plain(); });
    }

    /// True for a viewed operand of which a rank holds the elements that it reads in several buffers: its own block and
    /// a halo. An operand with a function that runs through several dimensions is not joined: its rows follow each
    /// other in memory.
    [[nodiscard]] bool is_joined(std::size_t operand) const {
        return is_viewed(operand) && !reads_at_once && !any_read(operand, &affine_map::is_reshaped);
    }

    [[nodiscard]] label_class class_of(label_id label) const {
        return classify(
            operands.size(), [&](std::size_t operand) { return in_operand(operand, label); }, in_output(label));
    }

    /// The einsum as a reader would write it: `ij,jk->ik`, with spaces between labels where a name is longer than a
    /// letter; with commas between functions of labels, `[i + r, j],[r]->[i, j]`.
    [[nodiscard]] std::string text() const {
        if (is_plain()) {
            return detail::einsum_text(
                names, operands.size(), [this](std::size_t operand) { return label_span(operands[operand]); }, output);
        }
        const auto listed = [](const auto& list, const auto& text_of) {
            std::string written;
            for (const auto& each : list) {
                written += (written.empty() ? "[" : ", ") + text_of(each);
            }
            return written.empty() ? "[]" : written + "]";
        };
        const auto name = [this](label_id label) {
            return label == no_label ? std::string("1") : names[std::size_t(label)];
        };
        std::string written;
        for (const operand_read& read : reads) {
            written += written.empty() ? "" : ",";
            written += read.at.is_plain() ? listed(read.labels, name)
                                          : listed(read.at.functions, [this](const index_function& each) {
                                                return detail::function_text(each, names);
                                            });
        }
        return written + "->" + listed(output, name);
    }
};

}  // namespace einparallel
