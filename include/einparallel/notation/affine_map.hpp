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

/// Stands for a dimension without a label. Its extent is 1, and it is broadcast: an ellipsis dimension of extent 1
/// beside a longer one.
inline constexpr label_id no_label = -1;

/// A label and its coefficient.
struct index_term {
    label_id label = no_label;
    index coefficient = 1;

    friend bool operator==(const index_term&, const index_term&) = default;
};

/// An index along one dimension: Σ coefficient · label + constant. Most often it is a single label.
struct index_function {
    std::vector<index_term> terms{};
    index constant = 0;
    bool is_fused = false;  ///< true: the function of the dimension before runs on through this one, row-major
    index extent = 1;       ///< for a condition: it holds where 0 <= function < extent

    friend bool operator==(const index_function&, const index_function&) = default;
};

namespace detail {

/// a + b · c. @throws error where the result does not fit an index
constexpr index fused(index a, index b, index c) {
    index product = 0;
    index sum = 0;
    if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &sum)) {
        throw error("einsum: the coefficients of an index are beyond 2^63");
    }
    return sum;
}

/// a · b + c. Sets `is_beyond` where this may be beyond 2^62, and then returns 0. (nvcc knows no __builtin_mul_overflow
/// in constant expressions.)
constexpr index bounded(index a, index b, index c, bool& is_beyond) {
    const double made = double(a) * double(b) + double(c);
    is_beyond = is_beyond || made > 0x1p62 || made < -0x1p62;
    return is_beyond ? 0 : a * b + c;
}

/// The interval from the lowest value of the function to behind the highest one, where each label runs through its
/// range. `ranges` are by label id.
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

/// The function as text, such as `2*i + r - 1`.
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

/// The ids 0, 1, …, count − 1, which number dimensions or labels.
EINPARALLEL_INLINE std::vector<label_id> first_labels(std::size_t count);
/// The labels that stand in these functions, each once.
EINPARALLEL_INLINE std::vector<label_id> labels_in(std::span<const index_function> functions);

}  // namespace EINPARALLEL_DETAIL

/// Maps a point, which is a value for each label of an einsum, to an element of a tensor. A plain map has no functions:
/// it reads each dimension of the tensor at a label, which is listed elsewhere.
struct affine_map {
    std::vector<index_function> functions{};  ///< by dimension; empty in a plain map
    std::vector<index> bounds{};              ///< extents of the tensor; it is read where the functions are within them
    std::vector<index_function> where{};      ///< further conditions, which hold where the tensor is read

    /// The map that reads dimension d at labels[d], or at 0 where this is no_label.
    EINPARALLEL_INLINE static affine_map at_labels(label_span labels);
    /// The map of a reshape. It reads a tensor with extents `bounds` as a tensor with extents `extents`, whose
    /// dimensions are the labels of the map. An element is at the same place in row-major order in both.
    /// @pre both tensors have the same number of elements
    EINPARALLEL_INLINE static affine_map reshaping(index_span bounds, index_span extents);

    [[nodiscard]] bool is_plain() const { return functions.empty(); }
    /// True where a function runs through several dimensions.
    [[nodiscard]] bool is_reshaped() const { return detail::any_in(functions, &index_function::is_fused); }
    /// The functions as conditions that hold where they are within the bounds.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<index_function> inside() const;
    /// All labels of the functions and of the conditions, each once.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<label_id> labels() const;
    /// The label that is itself the index of this dimension and runs through all of it; else no_label. `extents` are
    /// those of labels, by id.
    EINPARALLEL_INLINE [[nodiscard]] label_id label_of(std::size_t dimension, index_span extents) const;

    /// This map with rename(label) in place of each label.
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
    /// This map with the position in `among` in place of each label.
    [[nodiscard]] affine_map numbered(label_span among) const {
        return renamed([&](label_id label) { return label_id(detail::find_in(among, label) - among.begin()); });
    }
    /// The composition of `inner` and this map: the labels of this map are the dimensions of `inner`.
    EINPARALLEL_INLINE [[nodiscard]] affine_map after(const affine_map& inner) const;
    /// This map with its functions changed for labels that run from 0. In this map each label runs from
    /// begin_of(label).
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

    /// The box that is read where labels run through these ranges. It may reach beyond the bounds.
    /// @pre the map is not plain
    EINPARALLEL_INLINE [[nodiscard]] box reach(const std::vector<interval>& ranges) const;
    /// Narrows the ranges of labels to where conditions on a single label hold. Returns false where a condition holds
    /// nowhere in ranges that are not empty.
    EINPARALLEL_INLINE [[nodiscard]] bool narrow(std::vector<interval>& ranges) const;
    /// Computes the strides along `labels`, in elements, into `made`. The memory has `strides` by dimension and begins
    /// with the first element of `region`. Returns the offset, in elements, of the element where all labels are 0.
    EINPARALLEL_INLINE index strides_along(label_span labels, const box& region, index_span strides,
                                           std::span<index> made) const;

    /// The box with one interval for each function, which is stored at its first dimension. For a function that runs
    /// through several dimensions, it reaches in row-major numbers from the first element of `region` to behind its
    /// last one.
    EINPARALLEL_INLINE [[nodiscard]] box in_rows(box region) const;
    /// The inverse of in_rows: the smallest box that contains the elements of `rows`.
    EINPARALLEL_INLINE [[nodiscard]] box around(box rows) const;
    /// True where, with these strides, the dimensions that one function runs through lie in memory as in a dense
    /// row-major tensor.
    EINPARALLEL_INLINE [[nodiscard]] bool has_rows(index_span strides) const;
    /// The labels, slowest first, where they run through the whole tensor once in row-major order; else an empty list.
    /// `extents` are those of labels, by id.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<label_id> row_major(index_span extents) const;

    friend bool operator==(const affine_map&, const affine_map&) = default;
};

namespace EINPARALLEL_DETAIL {

/// The inverse of a map: each label as a function of the dimensions, and of the labels that remain unsolved. These have
/// numbers behind the dimensions.
struct inverse_map {
    affine_map at;              ///< functions by label; conditions that hold at the elements that the map reaches
    std::vector<index> summed;  ///< extents by label; 1 for a label that is solved
    bool is_solved = true;      ///< false where a condition still contains labels

    /// True where the map takes no two points to the same element.
    [[nodiscard]] bool is_injective() const {
        return all_in(summed, [](index extent) { return extent <= 1; });
    }
};

/// Solves the map for the labels that have the coefficient 1 or −1 in some dimension.
/// @param extents  of the labels, by id
EINPARALLEL_INLINE inverse_map inverse(const affine_map& map, index_span extents);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
