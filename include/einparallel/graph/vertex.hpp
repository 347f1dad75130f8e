#pragma once
// The EinGraph: a run-time DAG of (bound, einsum, inputs). Untyped; the typed handle is graph/tensor.hpp.

#include <einparallel/graph/source.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

/// How one dimension of a tensor is cut: into how many parts, and at which indices. The dimension is named by its label
/// in the einsum that makes the tensor, or by its number from 0 (inputs have no labels of their own).
struct pinned_part {
    std::string label;            ///< label of the dimension; empty where its number is given
    int dimension = 0;            ///< number of the dimension; used where `label` is empty
    int parts = 1;                ///< 1: the dimension is not cut
    std::vector<index> points{};  ///< parts + 1 cut points; empty: blocks that differ by at most one index

    /// The dimension with this label.
    pinned_part(std::string along, int count) : label(std::move(along)), parts(count) {}
    /// Dimension number `along`.
    pinned_part(int along, int count) : dimension(along), parts(count) {}
    /// The dimension with this label, cut at these points.
    pinned_part(std::string along, cut_points where)
        : label(std::move(along)), parts(int(where.at.size()) - 1), points(std::move(where.at)) {}
    /// Dimension number `along`, cut at these points.
    pinned_part(int along, cut_points where)
        : dimension(along), parts(int(where.at.size()) - 1), points(std::move(where.at)) {}

    /// The dimension as text: `label i` or `dimension 0`.
    EINPARALLEL_INLINE [[nodiscard]] std::string where() const {
        return label.empty() ? "dimension " + std::to_string(dimension) : "label " + label;
    }

    friend bool operator==(const pinned_part&, const pinned_part&) = default;
};

/// Cut points as text: ` at 0,3,10`; empty where there are no cut points.
EINPARALLEL_INLINE std::string points_text(const std::vector<index>& points);

/// Constraints that every plan obeys; see tensor::pinned and tensor::without_communication.
struct vertex_constraints {
    std::optional<std::vector<pinned_part>> pin;  ///< the exact cut; the outermost axis of the mesh first
    bool without_communication = false;           ///< the statement that makes the tensor sends nothing

    /// The pin as `i:4 k:2`, `0:4 1:2` or `i:2 at 0,3,10`; "one block" for a tensor that is not cut.
    EINPARALLEL_INLINE [[nodiscard]] std::string pin_text() const;

    friend bool operator==(const vertex_constraints&, const vertex_constraints&) = default;
};

/// One vertex: an input (it has a source and no operands), an einsum over other vertices (it has a kernel), or a view
/// of them (it has operands and no kernel). Only its name and constraints change after it was recorded.
struct vertex : detail::not_copied {
    std::string name;                               ///< the user's name for errors and tables; may be empty
    vertex_constraints constraints;                 ///< what the user demands of every plan
    std::vector<index> bounds;                      ///< extents of the tensor that the vertex makes
    element_type element;                           ///< element type of that tensor
    std::shared_ptr<const source> origin;           ///< inputs only
    einsum_form form;                               ///< einsums only: labels of operands and output
    std::vector<index> extents;                     ///< einsums only: extents by label
    std::shared_ptr<const kernel> work;             ///< einsums only: ⊕ and ⊗
    std::vector<std::shared_ptr<vertex>> operands;  ///< the vertex of each operand; one vertex may stand twice
    /// Views only: where the first operand is read; its labels are the numbers of the view's dimensions. A second
    /// operand is read where `at` lies outside of the first one, or its conditions do not hold.
    affine_map at;
    bool is_intermediate = false;  ///< an intermediate result of a statement: no handle refers to it
    bool is_again = false;         ///< einsums only: computes another one again, for its later readers
    std::string failure;           ///< why recording failed; the next decompose throws this text

    ~vertex();

    /// True for an input of the graph.
    [[nodiscard]] bool is_input() const { return work == nullptr && operands.empty(); }
    /// True for a view: an operand that is read at functions of labels. A view is no tensor, and no einsum_graph
    /// contains it.
    [[nodiscard]] bool is_view() const { return work == nullptr && !operands.empty(); }
    /// True for a label of an einsum that may be cut (kernel::may_cut).
    [[nodiscard]] bool may_cut(label_id label) const { return work->may_cut(form, label); }
    /// True for a contraction of two tensors that has no constraints.
    [[nodiscard]] bool is_free_contraction() const {
        return work != nullptr && work->is_contraction() && form.is_plain() && !constraints.pin &&
               !constraints.without_communication;
    }
};

namespace EINPARALLEL_DETAIL {

/// Where the elements of an input are; `everywhere` for a vertex that is no input.
inline source_kind kind_of(const vertex& input) {
    return input.origin == nullptr ? source_kind::everywhere : input.origin->kind();
}

/// True for a tensor that has to be brought to its readers: the result of an einsum, or an input that not every rank
/// can read by itself.
inline bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || kind_of(tensor) != source_kind::everywhere;
}

/// The name of an input in errors: `'A' (from_root(0))`, or `from_root(0)` where the user gave it no name.
EINPARALLEL_INLINE std::string name_of_input(const vertex& input);

/// Marks the last vertex of a statement, and its intermediate vertices, to run without communication. No other
/// statement reads the intermediate ones, for no handle refers to them.
EINPARALLEL_INLINE void mark_statement(vertex& last);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
