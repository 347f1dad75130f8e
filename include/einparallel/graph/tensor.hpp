#pragma once
// The typed handle on a vertex of the EinGraph. Assigning to it records; nothing runs.

#include <einparallel/array/lower.hpp>
#include <einparallel/array/one_hot.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/array/terms.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/section.hpp>
#include <einparallel/graph/tensor_leaves.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/notation/search_range.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_UNIT {

template <class T, std::size_t Rank, class Leaf>
class selection_target;

}  // namespace EINPARALLEL_UNIT

namespace EINPARALLEL_DETAIL {

/// Returned by operator() for other arguments; it does not compile, and says why.
template <std::size_t Rank, class... Labels>
struct other_labels : refused_node {
    using refused_node::operator=;
    static_assert(sizeof...(Labels) == Rank,
                  "einparallel: wrong number of labels: a tensor needs one label for each of its dimensions");
    static_assert(sizeof...(Labels) != Rank,
                  "einparallel: an index of a tensor is a label, a sum of labels and integers, or data, and not all of "
                  "them may be integers: EINPARALLEL_LABELS(i, j) declares labels; an index that is data is an "
                  "expression of integers without reductions, as in W(token(i), d)");
};

/// True for indices of which at least one is no plain label, and at least one has a label or is data.
template <std::size_t Rank, class... Indices>
inline constexpr bool reads_section = are_indices<Rank, Indices...> &&
                                      ((AffineIndex<Indices> || DataIndex<Indices>) || ...);
/// True where every one of these indices is a label or is data.
template <std::size_t Rank, class... Indices>
inline constexpr bool names_data = reads_section<Rank, Indices...> && ((Label<Indices> || DataIndex<Indices>)&&...);
/// True where none of these indices is data.
template <std::size_t Rank, class... Indices>
inline constexpr bool writes_section = reads_section<Rank, Indices...> && !(DataIndex<Indices> || ...);
/// Returned by assignments to a section of a tensor that cannot be assigned to; it does not compile, and says why.
template <class... Right>
struct assigned_section : refused {
    static_assert(fits<Right...>,
                  "einsum: this part of a tensor cannot be assigned to: the tensor is const, or its indices mix data "
                  "and functions of labels; indices may be data and plain labels, as in H(token(i)) += x(i), or labels "
                  "and functions of them; parts of arrays can be assigned to");
};
template <class Leaf>
struct section_of_tensor : Leaf {
    explicit section_of_tensor(Leaf read) : Leaf(std::move(read)) {}
    section_of_tensor(const section_of_tensor&) = default;
    section_of_tensor(section_of_tensor&&) noexcept = default;
    ~section_of_tensor() = default;
    assigned_section<Leaf> operator=(const section_of_tensor& /*right*/) const { return {}; }
    template <class E>
    assigned_section<E> operator=(const E& /*right*/) const {
        return {};
    }
    template <class E>
    assigned_section<E> operator+=(const E& /*right*/) const {
        return {};
    }
    template <class E>
    assigned_section<E> operator-=(const E& /*right*/) const {
        return {};
    }
};

template <class... Arguments>
struct other_than_pins : refused {
    static_assert(fits<Arguments...>,
                  "pinned: dimensions stand in a list: Z.pinned({{i, 4}}), Z.pinned({{0, 2}, {1, 2}})");
};

}  // namespace EINPARALLEL_DETAIL

/// The handle of a tensor that a graph computes, or of an input. Copying a handle copies the reference. Assigning
/// through labels records a vertex, and the handle then refers to this vertex. So a loop may write `X(i, k) = X(i, j) *
/// W(j, k)`.
template <class T, std::size_t Rank>
class tensor {
    static_assert(detail::is_element<T>,
                  "ep::tensor: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    /// An empty handle, to be assigned to.
    tensor() = default;
    explicit tensor(std::shared_ptr<vertex> made_by) : node_(std::move(made_by)) {}

    /// Refused: a tensor takes its extents from what is assigned to it.
    template <std::size_t Count>
    explicit tensor(const einparallel::extent (&/*extents*/)[Count]) {
        static_assert(
            detail::fits<T>,
            "ep::tensor: extents come from what is assigned, or from an input: ep::placeholder<double>({m, n}), "
            "ep::generate<double>({m, n}, f)");
    }
    /// Refused: the assigned value is no tensor of this type. The compiler's error says what can be assigned.
    template <class Other>
        requires(!std::convertible_to<const Other&, tensor>)
    tensor& operator=(const Other& /*other*/) {
        static_assert(
            detail::is_refused<Other>,
            "ep::tensor: on the left of a statement stand labels, too: C(i, k) = A(i, j) * B(j, k); without labels "
            "only a tensor of the same element type and rank can be assigned, which ep::from_root makes of an array");
        return *this;
    }

    /// The tensor with one label for each dimension. It is an operand, and an einsum can be assigned to it.
    template <class... Labels, class Way = detail::way>
        requires detail::are_labels<Rank, Labels...>
    auto operator()(const Labels&... /*labels*/) {
        return detail::tensor_target<T, Rank, detail::label_list<Labels...>>(*this);
    }
    /// The tensor with one label for each dimension, as an operand.
    template <class... Labels>
        requires detail::are_labels<Rank, Labels...>
    auto operator()(const Labels&... /*labels*/) const {
        return detail::leaf<detail::tensor_operand<T, Rank>, detail::label_list<Labels...>>({node_});
    }
    /// A section of the tensor, at functions of labels. It is an operand, and an einsum can be assigned to it.
    template <class... Indices, class Way = detail::way>
        requires detail::writes_section<Rank, Indices...>
    auto operator()(const Indices&... indices) {
        auto read = detail::indexed(detail::tensor_operand<T, Rank>{node_}, indices...);
        return detail::tensor_section<T, Rank, decltype(read), Indices...>(std::move(read), this);
    }
    /// Elements at indices that are data. They are an operand, and can be assigned to: H(token(i)) += x(i).
    template <class... Indices, class Way = detail::way>
        requires detail::names_data<Rank, Indices...>
    auto operator()(const Indices&... indices) {
        const auto read = detail::indexed(detail::tensor_operand<T, Rank>{node_}, indices...);
        return detail::selection_target<T, Rank, std::remove_const_t<decltype(read)>>(read, this);
    }
    /// An operand that is read at functions of labels, or at indices that are data.
    template <class... Indices>
        requires detail::reads_section<Rank, Indices...>
    auto operator()(const Indices&... indices) const {
        return detail::section_of_tensor(detail::indexed(detail::tensor_operand<T, Rank>{node_}, indices...));
    }
    /// Other arguments: refused.
    template <class... Labels>
        requires(!detail::are_labels<Rank, Labels...> && !detail::reads_section<Rank, Labels...>)
    detail::other_labels<Rank, Labels...>
    operator()(const Labels&... /*labels*/) const { return {}; }

    /// Names the vertex for tables and errors. Returns the handle. @throws error for an empty handle, which has no
    /// vertex yet to keep the name
    tensor& named(std::string name) & {
        assigned("named").name = std::move(name);
        return *this;
    }
    tensor named(std::string name) && { return std::move(named(std::move(name))); }

    /// Pins the cuts of the tensor: the dimensions in the list are cut into exactly these parts, and the others are not
    /// cut. The first one in the list is cut along the outermost axis of the mesh. `Z.pinned({{i, 4}, {"k", 2}})` names
    /// dimensions by their labels in the einsum that makes Z, `X.pinned({{0, 4}, {1, 2}})` by their numbers. Where no
    /// contracted label is cut, block (a, b) of Z is then on rank a · 2 + b. `{"i", ep::cut_points{0, 3, 3, 10, 12}}`
    /// cuts at these points, into blocks of 3, 0, 7 and 2; readers may then be cut at the same points. The planner may
    /// still cut contracted labels: Z's blocks are then stored in pieces. A placeholder rests in its pinned blocks, and
    /// is brought from there to its readers. A new pin replaces the last one; plans that exist do not change. Returns
    /// the handle.
    /// @throws error for an empty handle; the next decompose throws for a dimension that the tensor does not have, for
    /// more parts than its extent or the ranks allow, for cut points that do not ascend from 0 to the extent, and for
    /// inputs other than placeholders
    tensor& pinned(std::vector<pinned_part> parts) & {
        assigned("pinned").constraints.pin = std::move(parts);
        return *this;
    }
    tensor pinned(std::vector<pinned_part> parts) && { return std::move(pinned(std::move(parts))); }
    /// Refused: one dimension without the outer braces, and other arguments that are no list.
    ///@{
    detail::other_than_pins<T> pinned(pinned_part /*part*/) const& { return {}; }
    template <class... Arguments>
        requires(sizeof...(Arguments) != 1)
    detail::other_than_pins<Arguments...> pinned(const Arguments&... /*arguments*/)
    const& { return {}; }
    ///@}

    /// Marks the statement that makes the tensor: when it runs, it sends nothing. The statement may consist of several
    /// einsums, as a softmax, a product of three tensors or more, or a sum of products does. None of them sends
    /// anything: the planner cuts only labels that the output and every operand of an einsum have, no block is shared
    /// or summed up, and every operand is read where it rests. Sending the result to its readers is not part of the
    /// statement. The planner may choose any number of ranks for each einsum, down to one. Products are contracted in
    /// the order of fewest operations. Returns the handle.
    /// @throws error for an empty handle; the next decompose throws where it finds no such plan
    tensor& without_communication() & {
        detail::mark_statement(assigned("without_communication"));
        return *this;
    }
    tensor without_communication() && { return std::move(without_communication()); }

    /// Extents of the tensor; empty for an empty handle.
    [[nodiscard]] std::vector<index> extents() const { return node_ == nullptr ? std::vector<index>{} : node_->bounds; }

    /// The extent of one dimension. @pre dimension < Rank
    [[nodiscard]] index extent(std::size_t dimension) const { return assigned("extent").bounds[dimension]; }

    /// The vertex, null for an empty handle.
    [[nodiscard]] const std::shared_ptr<vertex>& node() const { return node_; }

private:
    vertex& assigned(const char* word) const {
        detail::require(node_ != nullptr, {word, ": nothing was assigned to this tensor"});
        return *node_;
    }

    std::shared_ptr<vertex> node_;
};

namespace EINPARALLEL_DETAIL {

template <class T>
concept TensorOperand = is_a<std::remove_cvref_t<T>, tensor>;

/// True for a std::vector of tensors of one type, such as the weights of all layers.
template <class T>
inline constexpr bool is_tensor_list = false;
template <class T, std::size_t Rank>
inline constexpr bool is_tensor_list<std::vector<tensor<T, Rank>>> = true;
template <class T>
concept Tensors = TensorOperand<T> || is_tensor_list<T>;

/// Calls visit(tensor) for each tensor, and for each one in a std::vector.
template <class Visit>
void for_each_tensor(const Visit& visit, const Tensors auto&... given) {
    const auto one = [&]<class Given>(const Given& tensors) {
        if constexpr (is_tensor_list<Given>) {
            for_each_in(tensors, visit);
        } else {
            visit(tensors);
        }
    };
    (one(given), ...);
}
/// The vertices of these tensors.
std::vector<std::shared_ptr<vertex>> nodes_of(const Tensors auto&... given) {
    std::vector<std::shared_ptr<vertex>> nodes;
    for_each_tensor([&](const auto& tensor) { nodes.push_back(tensor.node()); }, given...);
    return nodes;
}

}  // namespace EINPARALLEL_DETAIL

namespace EINPARALLEL_UNIT {

/// A labelled tensor. It is an operand, and an einsum can be assigned to it.
template <class T, std::size_t Rank, class Labels>
class tensor_target : public written_leaf<tensor_target<T, Rank, Labels>, T, leaf<tensor_operand<T, Rank>, Labels>,
                                          tensor<T, Rank>, true> {
public:
    explicit tensor_target(tensor<T, Rank>& handle)
        : tensor_target::written_leaf(typename tensor_target::node({handle.node()}), &handle) {}

    using tensor_target::written_leaf::operator=;
    /// Records Z' = Z + …. The handle then refers to Z'. Statements that read Z before still read Z.
    const tensor_target& operator+=(const Expression auto& right) const {
        return *this = make_join(plus{}, *this, right);
    }
    const tensor_target& operator-=(const Expression auto& right) const {
        return *this = make_join(minus{}, *this, right);
    }

    /// Records Z = …. The handle then refers to the new vertex.
    template <assignment How, class E>
    void take(const E& right) const {
        if constexpr (has_selections<Labels, E>) {
            take<How>(with_selections<Labels, E>(right));
        } else if constexpr (waits_for_extents<E>) {
            const resolution<statement<Labels, E>, tensor_leaves> found(this->read(), right);
            if constexpr (is_selection<E> && std::is_same_v<typename E::value_type, T>) {
                *this->handle_ = tensor<T, Rank>(tensor_leaves::gather(found, right, unit_builder::last_vertex{},
                                                                       decltype(found)::ids::template ids<Labels>));
            } else {
                take<How>(found.resolved(right));
            }
            if (!found.failure().empty()) {
                this->handle_->node()->failure = found.failure();
            }
        } else {
            *this->handle_ = tensor<T, Rank>(record_statement<T, Labels>(right));
        }
    }
};

/// The elements of a tensor at indices that are data. They are an operand. On the left of a statement, values are added
/// to them or replace them.
template <class T, std::size_t Rank, class Leaf>
class selection_target : public written_leaf<selection_target<T, Rank, Leaf>, T, Leaf, tensor<T, Rank>, true, true> {
public:
    using selection_target::written_leaf::written_leaf;
    using selection_target::written_leaf::operator=;

    /// Records Z', which is Z with the values added at these indices, or in their place. The handle then refers to Z'.
    template <assignment How, class E>
    void take(const E& right) const {
        const resolution<statement<typename Leaf::labels, E>, tensor_leaves> found(this->read(), right);
        *this->handle_ = tensor<T, Rank>(tensor_leaves::scatter<How>(found, this->read(), right));
        if (!found.failure().empty()) {
            this->handle_->node()->failure = found.failure();
        }
    }
};

}  // namespace EINPARALLEL_UNIT

}  // namespace einparallel
