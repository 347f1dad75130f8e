#pragma once
// An einsum's labels as run-time numbers: what kernels, graph, planner and schedules work on.
// The compile-time specification (einsum_spec) is where the numbers come from; nothing below the notation is a template
// on it, so two hundred einsums of one program share one contraction routine.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

/// Position of a label among the unique labels of one einsum.
using label_id = std::int16_t;
using label_span = std::span<const label_id>;

/// A dimension that carries no label: extent 1, broadcast (an ellipsis dimension of extent 1 against a longer one).
inline constexpr label_id no_label = -1;

/// A label and what it is multiplied by.
struct index_term {
    label_id label = no_label;
    index coefficient = 1;

    friend bool operator==(const index_term&, const index_term&) = default;
};

/// At which index of a dimension an operand is read: Σ coefficient · label + constant. A plain label is the commonest.
struct index_function {
    std::vector<index_term> terms;
    index constant = 0;
    bool is_whole = false;  ///< a label alone, which runs through the whole dimension
    bool is_fused = false;  ///< no function: the one before runs on through this dimension, row-major
    index extent = 1;       ///< of a condition: it holds where the function is from 0 to below that

    friend bool operator==(const index_function&, const index_function&) = default;
};

namespace detail {

/// a + b · c. @throws error where it is beyond an index
constexpr index fused(index a, index b, index c) {
    index product = 0;
    index sum = 0;
    if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &sum)) {
        throw error("einsum: the coefficients of an index are beyond 2^63");
    }
    return sum;
}

/// a · b + c. `is_beyond` 2^62 it may be. (nvcc's constants know no __builtin_mul_overflow.)
constexpr index bounded(index a, index b, index c, bool& is_beyond) {
    const double made = double(a) * double(b) + double(c);
    is_beyond = is_beyond || made > 0x1p62 || made < -0x1p62;
    return is_beyond ? 0 : a * b + c;
}

/// From the lowest index to behind the highest, where each label, by id, runs through its range.
/// @pre no range is empty
interval range_of(const index_function& function, const auto& ranges) {
    interval reached{function.constant, function.constant};
    for (const index_term& term : function.terms) {
        const interval range = ranges[std::size_t(term.label)];
        const bool rises = term.coefficient > 0;
        reached.begin = fused(reached.begin, term.coefficient, rises ? range.begin : range.end - 1);
        reached.end = fused(reached.end, term.coefficient, rises ? range.end - 1 : range.begin);
    }
    ++reached.end;
    return reached;
}

}  // namespace detail

/// What a label means to a parallel run (DESIGN §2). x_only and y_only are contracted labels of a single operand.
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

/// `2*i + r - 1`
std::string function_text(const index_function& function, const auto& names) {
    std::string written = function.is_fused ? "..." : "";
    const auto add = [&](index factor, const std::string& what) {
        const std::string number = std::to_string(factor < 0 ? -factor : factor);
        written += written.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
        written += what.empty() ? number : number == "1" ? what : number + "*" + what;
    };
    for (const index_term& term : function.terms) {
        add(term.coefficient, std::string(names[std::size_t(term.label)]));
    }
    if (function.constant != 0 || written.empty()) {
        add(function.constant, "");
    }
    return written;
}

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

/// What a kernel reads of an operand: a tensor with a dimension for each label, that of the operand at functions of the
/// labels.
struct operand_read {
    std::size_t operand = 0;
    std::vector<label_id> labels;
    std::vector<index_function> at{};       ///< by dimension of the operand; none: its dimensions are the labels
    std::vector<index> bounds{};            ///< of the operand, where it is read at functions
    std::vector<index_function> where{};    ///< conditions that hold where it is read
    std::vector<operand_read> elsewhere{};  ///< what is read where they do not, or functions are outside the bounds:
                                            ///< the first one whose own conditions hold

    /// A function runs through several dimensions.
    [[nodiscard]] bool is_reshaped() const { return detail::any_in(at, &index_function::is_fused); }

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
/// A label may stand twice in one operand (the diagonal). The output holds each label at most once. Where an operand is
/// read at functions of labels, its labels are those that stand in them, each once, and `reads` says what the kernel
/// reads of the operands, one of them several times maybe; else `reads` is empty, and it reads each as it is.
struct einsum_form {
    std::vector<std::string> names;
    std::vector<std::vector<label_id>> operands;
    std::vector<label_id> output;
    std::vector<operand_read> reads{};
    running_labels running{};
    bool reads_at_once = false;  ///< a rank's call sees all that it reads: no operand lies in pieces

    friend bool operator==(const einsum_form&, const einsum_form&) = default;

    [[nodiscard]] std::size_t label_count() const { return names.size(); }

    [[nodiscard]] bool in_operand(std::size_t operand, label_id label) const {
        return detail::found_in(label, operands[operand]);
    }
    [[nodiscard]] bool in_output(label_id label) const { return detail::found_in(label, output); }

    /// By kernel's operand, and behind them what is read outside their bounds.
    [[nodiscard]] std::vector<const operand_read*> all_reads() const {
        std::vector<const operand_read*> all = detail::list_of(reads, [](const operand_read& read) { return &read; });
        for (const operand_read& read : reads) {
            for (const operand_read& other : read.elsewhere) {
                all.push_back(&other);
            }
        }
        return all;
    }

    /// An operand that is read at functions of labels.
    [[nodiscard]] bool is_viewed(std::size_t operand) const {
        return !reads.empty() && detail::any_in(all_reads(), [&](const operand_read* read) {
            return read->operand == operand && !read->at.empty();
        });
    }

    /// A viewed operand of which a rank has what it reads in several buffers, its own block and a halo. One that is
    /// read through several dimensions at once lies in rows that follow each other.
    [[nodiscard]] bool lies_in_pieces(std::size_t operand) const {
        return is_viewed(operand) && !reads_at_once && !detail::any_in(all_reads(), [&](const operand_read* read) {
                   return read->operand == operand && read->is_reshaped();
               });
    }

    [[nodiscard]] label_class class_of(label_id label) const {
        return classify(
            operands.size(), [&](std::size_t operand) { return in_operand(operand, label); }, in_output(label));
    }

    /// The einsum as a reader would write it: `ij,jk->ik`, with spaces between labels where a name is longer than a
    /// letter; with commas between functions of labels, `[i + r, j],[r]->[i, j]`.
    [[nodiscard]] std::string text() const {
        if (reads.empty()) {
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
            written += read.at.empty()
                           ? listed(read.labels, name)
                           : listed(read.at, [this](const auto& at) { return detail::function_text(at, names); });
        }
        return written + "->" + listed(output, name);
    }
};

}  // namespace einparallel
