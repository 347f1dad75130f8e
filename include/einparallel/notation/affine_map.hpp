#pragma once
// Where a tensor is read or written: from the labels of an einsum to the tensor's dimensions, as one value.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
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

/// An index along one dimension: Σ coefficient · label + constant. A plain label is the commonest.
struct index_function {
    std::vector<index_term> terms{};
    index constant = 0;
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

/// a · b + c. Sets `is_beyond` where this may be beyond 2^62. (nvcc's constants know no __builtin_mul_overflow.)
constexpr index bounded(index a, index b, index c, bool& is_beyond) {
    const double made = double(a) * double(b) + double(c);
    is_beyond = is_beyond || made > 0x1p62 || made < -0x1p62;
    return is_beyond ? 0 : a * b + c;
}

/// The interval from the lowest index to behind the highest, where each label, by id, runs through its range.
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

/// ⌈a / b⌉. @pre b > 0
constexpr index quotient_above(index a, index b) {
    return a / b + (a % b > 0 ? 1 : 0);
}

}  // namespace detail

namespace EINPARALLEL_DETAIL {

/// 0, 1, …: numbers of dimensions, or of all labels there are.
EINPARALLEL_INLINE std::vector<label_id> first_labels(std::size_t count);
/// Labels that stand in functions, each once.
EINPARALLEL_INLINE std::vector<label_id> labels_in(std::span<const index_function> functions);

}  // namespace EINPARALLEL_DETAIL

/// Which element of a tensor belongs to a point of an einsum's labels. Plain: the tensor's dimensions are labels, and
/// nothing is said here.
struct affine_map {
    std::vector<index_function> functions{};  ///< by dimension; none: plain
    std::vector<index> bounds{};              ///< extents of the tensor, where functions are within these
    std::vector<index_function> where{};      ///< conditions that hold where it is read

    /// Each dimension at its label, at 0 where that is none.
    EINPARALLEL_INLINE static affine_map at_labels(label_span labels);
    /// A tensor with these bounds, where the elements of one with these extents are that has them in row-major order,
    /// too; labels are the latter's dimensions. @pre as many elements
    EINPARALLEL_INLINE static affine_map reshaping(index_span bounds, index_span extents);

    [[nodiscard]] bool is_plain() const { return functions.empty(); }
    /// A function runs through several dimensions.
    [[nodiscard]] bool is_reshaped() const { return detail::any_in(functions, &index_function::is_fused); }
    /// The functions as conditions: within the bounds.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<index_function> inside() const;
    /// All labels, those of conditions too.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<label_id> labels() const;
    /// The label that alone is the index of a dimension, from its first element to its last one; else none.
    EINPARALLEL_INLINE [[nodiscard]] label_id label_of(std::size_t dimension, index_span extents) const;

    /// This map with other labels.
    template <class Rename>
    [[nodiscard]] affine_map renamed(const Rename& rename) const {
        affine_map made = *this;
        for (std::vector<index_function>* const all : {&made.functions, &made.where}) {
            for (index_function& each : *all) {
                for (index_term& term : each.terms) {
                    term.label = rename(term.label);
                }
            }
        }
        return made;
    }
    /// This map with positions in `among` instead of labels.
    [[nodiscard]] affine_map numbered(label_span among) const {
        return renamed([&](label_id label) { return label_id(detail::find_in(among, label) - among.begin()); });
    }
    /// This of what is read at `inner`, whose dimensions are this one's labels.
    EINPARALLEL_INLINE [[nodiscard]] affine_map after(const affine_map& inner) const;
    /// This map for labels that run from 0, each of which ran from begin_of(label) before.
    template <class BeginOf>
    [[nodiscard]] affine_map shifted(const BeginOf& begin_of) const {
        affine_map made = *this;
        for (index_function& each : made.functions) {
            for (const index_term& term : each.terms) {
                each.constant += term.coefficient * begin_of(term.label);
            }
        }
        return made;
    }

    /// The box that is read where labels run through these ranges, outside of the bounds, too. @pre not plain
    EINPARALLEL_INLINE [[nodiscard]] box reach(const std::vector<interval>& ranges) const;
    /// Takes from ranges of labels where a condition on one alone does not hold; false where conditions never hold.
    EINPARALLEL_INLINE [[nodiscard]] bool narrow(std::vector<interval>& ranges) const;
    /// What lies in memory with these strides, the first element being that of `region`: strides along these labels,
    /// in elements. Returns how far from there the element is where all labels are 0.
    EINPARALLEL_INLINE index strides_along(label_span labels, const box& region, index_span strides,
                                           std::span<index> made) const;

    /// A box by what functions run through: of several dimensions from its first element to behind its last one.
    EINPARALLEL_INLINE [[nodiscard]] box in_rows(box region) const;
    /// The other way round: the smallest box around these elements.
    EINPARALLEL_INLINE [[nodiscard]] box around(box rows) const;
    /// Dimensions that are read together lie behind one another, as rows of a dense tensor do.
    EINPARALLEL_INLINE [[nodiscard]] bool has_rows(index_span strides) const;
    /// The labels in the order in which they run through the tensor, if they do so once, row-major; else none.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<label_id> row_major(index_span extents) const;

    friend bool operator==(const affine_map&, const affine_map&) = default;
};

namespace EINPARALLEL_DETAIL {

/// A map the other way round: labels as functions of dimensions, and of labels that are left, numbered behind these.
struct inverse_map {
    affine_map at;              ///< by label; conditions: what is 0 at the elements that the map reaches
    std::vector<index> summed;  ///< extents along labels: 1 where the dimensions say the label
    bool is_solved = true;      ///< false where conditions have labels

    /// No element has several points.
    [[nodiscard]] bool is_injective() const {
        return all_in(summed, [](index extent) { return extent <= 1; });
    }
};

/// Solves for labels that stand with 1 or -1 in some dimension. @param extents  of the labels, 0, 1, …
EINPARALLEL_INLINE inverse_map inverse(const affine_map& map, index_span extents);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
