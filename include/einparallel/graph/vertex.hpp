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

/// Into how many parts one dimension of a tensor is cut, and where. The dimension is named by its label in the einsum
/// that makes the tensor, or by its number from 0 (inputs have no labels of their own).
struct pinned_part {
    std::string label;            ///< empty where the dimension is named by its number
    int dimension = 0;            ///< counts where `label` is empty
    int parts = 1;                ///< 1 is uncut
    std::vector<index> points{};  ///< parts + 1 cut points; none: blocks that differ by at most one

    /// The dimension with this label.
    pinned_part(std::string along, int count) : label(std::move(along)), parts(count) {}
    /// Dimension number `along`.
    pinned_part(int along, int count) : dimension(along), parts(count) {}
    /// The dimension with this label, cut there.
    pinned_part(std::string along, cut_points where)
        : label(std::move(along)), parts(int(where.at.size()) - 1), points(std::move(where.at)) {}
    /// Dimension number `along`, cut there.
    pinned_part(int along, cut_points where)
        : dimension(along), parts(int(where.at.size()) - 1), points(std::move(where.at)) {}

    /// `i` or `dimension 0`.
    EINPARALLEL_INLINE [[nodiscard]] std::string where() const {
        return label.empty() ? "dimension " + std::to_string(dimension) : "label " + label;
    }

    friend bool operator==(const pinned_part&, const pinned_part&) = default;
};

/// ` at 0,3,10`; nothing where there are no cut points.
EINPARALLEL_INLINE std::string points_text(const std::vector<index>& points);

/// Constraints that every plan obeys; see tensor::pinned and tensor::without_communication.
struct vertex_constraints {
    std::optional<std::vector<pinned_part>> pin;  ///< exactly this cut, outermost axis of the mesh first
    bool without_communication = false;           ///< the statement that makes it sends nothing

    /// The pin as `i:4 k:2`, `0:4 1:2` or `i:2 at 0,3,10`; "one block" for a tensor that is not cut.
    EINPARALLEL_INLINE [[nodiscard]] std::string pin_text() const;

    friend bool operator==(const vertex_constraints&, const vertex_constraints&) = default;
};

/// One vertex: an input (it has a source and no operands) or an einsum over other vertices (it has a kernel).
/// Immutable once recorded, but for its name and constraints.
struct vertex : detail::not_copied {
    std::string name;                               ///< the user's name for errors and tables; may be empty
    vertex_constraints constraints;                 ///< what the user fixes of every plan
    std::vector<index> bounds;                      ///< extents of the tensor that the vertex makes
    element_type element;                           ///< its element type
    std::shared_ptr<const source> origin;           ///< inputs only
    einsum_form form;                               ///< einsums only: labels of operands and output
    std::vector<index> extents;                     ///< einsums only: by label
    std::shared_ptr<const kernel> work;             ///< einsums only: ⊕ and ⊗
    std::vector<std::shared_ptr<vertex>> operands;  ///< einsums only: who makes operand r; one vertex may stand twice
    affine_map at;                                  ///< views only: where its operand is read; labels are numbers of
                                                    ///< the view's dimensions. A second operand is the view of what is
                                                    ///< read outside
    bool is_intermediate = false;                   ///< made on the way to a statement's result: no handle refers to it
    bool is_again = false;                          ///< einsums: the same as another one, for its later readers
    std::string failure;                            ///< why recording failed; the next decompose throws it

    ~vertex();

    /// True for an input of the graph.
    [[nodiscard]] bool is_input() const { return work == nullptr && operands.empty(); }
    /// True for an operand that is read at functions of labels, which is no tensor and stands in no graph.
    [[nodiscard]] bool is_view() const { return work == nullptr && !operands.empty(); }
    /// An einsum's label that may be cut: ⊕ puts results of its parts together.
    [[nodiscard]] bool may_cut(label_id label) const { return work->may_cut(form, label); }
    /// A contraction of two tensors of which the user fixed nothing.
    [[nodiscard]] bool is_free_contraction() const {
        return work != nullptr && work->is_contraction() && form.is_plain() && !constraints.pin &&
               !constraints.without_communication;
    }
};

namespace EINPARALLEL_DETAIL {

/// Who has the elements of an input; of what an einsum makes, everywhere.
inline source_kind kind_of(const vertex& input) {
    return input.origin == nullptr ? source_kind::everywhere : input.origin->kind();
}

/// A tensor that is brought from one place to its readers: what an einsum makes, and inputs that every rank cannot read
/// as it needs them, at no cost.
inline bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || kind_of(tensor) != source_kind::everywhere;
}

/// An input as sentences call it: `'A' (from_root(0))`, or `from_root(0)` where it has no name.
EINPARALLEL_INLINE std::string name_of_input(const vertex& input);

/// Marks the last vertex of a statement, and its intermediate vertices, to run without communication. No other
/// statement reads the intermediate ones, for no handle refers to them.
EINPARALLEL_INLINE void mark_statement(vertex& last);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
