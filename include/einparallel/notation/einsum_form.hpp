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

/// What a label means to a parallel run. x_only and y_only are contracted labels of a single operand.
/// A class around the enumeration: g++ offers the enumerators of an enum class, label_class::m, for every undeclared m.
class label_class {
public:
    enum value_type : std::uint8_t { c, m, n, k, x_only, y_only };

    constexpr label_class(value_type of) : value_(of) {}  // implicit: label_class::m is one
    constexpr operator value_type() const { return value_; }

private:
    value_type value_;
};

/// Which class a label is that the operands has_label(0), has_label(1), … and maybe the output carry.
/// With more than two operands: c is in all of them and in the output; m and n are output labels missing somewhere (m
/// if the first operand has it, else n); k is contracted and in more than one; x_only / y_only are contracted and in
/// one (x_only if that one is the first).
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

/// What a kernel reads of an operand: a tensor with a dimension for each label, that of the operand at a map of them.
struct operand_read {
    std::size_t operand = 0;
    std::vector<label_id> labels;
    affine_map at{};                        ///< of labels of the einsum
    std::vector<operand_read> elsewhere{};  ///< what is read where its conditions do not hold, or functions are outside
                                            ///< the bounds: the first one whose own conditions hold

    friend bool operator==(const operand_read&, const operand_read&) = default;
};

/// Running sums: the kernel reads its operand at label `terms` where the output, and the operand as it rests, have
/// `sums`, and sums what is not behind that. No label: there are none.
struct running_labels {
    label_id terms = no_label;
    label_id sums = no_label;

    friend bool operator==(const running_labels&, const running_labels&) = default;
};

/// The labels of one einsum, as positions in `names`; names are unique, in order of first appearance over operands.
/// A label may stand twice in one operand (the diagonal). The output holds each label at most once.
struct einsum_form {
    std::vector<std::string> names;
    std::vector<std::vector<label_id>> operands;  ///< labels of each; of one that is read at functions those in them
    std::vector<label_id> output;
    std::vector<operand_read> reads{};  ///< by operand of the kernel; none: each operand at its labels (is_plain)
    running_labels running{};
    bool reads_at_once = false;  ///< a rank's call sees all that it reads: no operand is joined

    friend bool operator==(const einsum_form&, const einsum_form&) = default;

    [[nodiscard]] std::size_t label_count() const { return names.size(); }

    [[nodiscard]] bool in_operand(std::size_t operand, label_id label) const {
        return detail::found_in(label, operands[operand]);
    }
    [[nodiscard]] bool in_output(label_id label) const { return detail::found_in(label, output); }

    /// The kernel reads each operand once, at its labels: planners and schedules copy and ask nothing more of it.
    [[nodiscard]] bool is_plain() const { return reads.empty(); }
    /// All operands of the kernel, plain ones too.
    [[nodiscard]] std::vector<operand_read> listed_reads() const {
        std::vector<operand_read> all = reads;
        for (std::size_t operand = 0; is_plain() && operand < operands.size(); ++operand) {
            all.push_back({operand, operands[operand]});
        }
        return all;
    }

    /// By kernel's operand where these are not plain, and behind them what is read outside their bounds.
    [[nodiscard]] std::vector<const operand_read*> all_reads() const {
        std::vector<const operand_read*> all = detail::list_of(reads, [](const operand_read& read) { return &read; });
        for (const operand_read& read : reads) {
            for (const operand_read& other : read.elsewhere) {
                all.push_back(&other);
            }
        }
        return all;
    }

    /// A read of this operand is as asked.
    [[nodiscard]] bool any_read(std::size_t operand, const auto& is) const {
        return detail::any_in(all_reads(), [&](const operand_read* read) {
            return read->operand == operand && std::invoke(is, read->at);
        });
    }
    /// An operand that is read at functions of labels.
    [[nodiscard]] bool is_viewed(std::size_t operand) const {
        return !is_plain() && any_read(operand, [](const affine_map& at) { return !at.is_plain(); });
    }

    /// A viewed operand of which a rank has what it reads in several buffers, its own block and a halo. One that is
    /// read through several dimensions at once lies in rows that follow each other.
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
