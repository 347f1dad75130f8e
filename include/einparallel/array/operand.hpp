#pragma once
// Arrays and views as operands of an expression, and as its left-hand side.

#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/leaves.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes the row-major strides of a dense tensor to `strides`. Returns its number of elements.
constexpr index dense_strides(index_span extents, index* strides) {
    index count = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        strides[dimension] = count;
        count *= extents[dimension];
    }
    return count;
}
template <std::size_t Rank>
constexpr std::array<index, Rank> row_major(const std::array<index, Rank>& extents) {
    std::array<index, Rank> strides{};
    dense_strides(extents, strides.data());
    return strides;
}

/// True where T is a type of the class template Of: is_a<T, array>.
template <class T, template <class, std::size_t> class Of>
inline constexpr bool is_a = false;
template <class T, std::size_t Rank, template <class, std::size_t> class Of>
inline constexpr bool is_a<Of<T, Rank>, Of> = true;

/// The address of the element that is `distance` elements behind `first`. Null if `first` is null, so that later checks
/// find it.
template <class T>
constexpr T* element_behind(T* first, index distance) {
    return first == nullptr ? first : first + distance;
}

/// The application's strided memory, as an operand of an expression.
template <Element T, std::size_t Rank>
struct array_operand {
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    const T* data = nullptr;
    std::array<index, Rank> extents{};
    std::array<index, Rank> strides{};
};

/// An rvalue array as an operand of an expression. It keeps the elements alive. It is a type of its own, so that copies
/// of array_operand stay cheap.
template <Element T, std::size_t Rank>
struct owned_operand : array_operand<T, Rank> {
    std::shared_ptr<const void> owner;
};

/// The indices along a label. They are not in memory.
struct counted_operand : array_operand<index, 1> {
    index from = 0;
};

/// A tensor made of arrays in some of its boxes. All elements outside of these boxes are `value`; no memory holds them.
template <Element T, std::size_t Rank>
struct joined_operand {
    using value_type = T;
    static constexpr std::size_t rank = Rank;
    struct block {
        owned_operand<T, Rank> operand;
        std::array<index, Rank> lower{};  ///< index of its first element
    };

    std::vector<block> blocks;
    std::array<index, Rank> extents{};
    T value{};
};

/// True where the arguments are Rank integers, or Rank labels, functions of labels and indices that are data.
template <std::size_t Rank, class... Indices>
inline constexpr bool addresses = are_labels<Rank, Indices...> || are_indices<Rank, Indices...>;

/// The result of operator() for other arguments, which do not compile.
template <std::size_t Rank, class... Indices>
struct other_access : refused_node {
    using refused_node::operator=;
    static_assert(sizeof...(Indices) == Rank,
                  "einparallel: wrong number of labels: an array needs one label (or index) for each of its "
                  "dimensions");
    static_assert(
        sizeof...(Indices) != Rank,
        "einparallel: an index is an integer, a label, or a sum of labels times integers, as in A(2 * i + r, 3); an "
        "index that is data is an expression of integers without reductions, as in W(token(i), d)");
};

/// A leaf that can be assigned to. It checks the statement, and then calls Target::take<How>(right). `Handle` is the
/// type of the array or tensor that has the labels. `Recorded`: Target is a recorded tensor. It gets its extents from
/// the right-hand side, unless `Broadcasts`.
template <class Target, class T, class Leaf, class Handle, bool Recorded, bool Broadcasts = !Recorded>
class written_leaf : public Leaf {
public:
    written_leaf(Leaf read, Handle* handle) : Leaf(std::move(read)), handle_(handle) {}
    written_leaf(const written_leaf&) = default;
    written_leaf(written_leaf&&) noexcept = default;
    ~written_leaf() = default;

    /// Assigns an expression; or, to an array, one number for every element: s() = 2.0.
    template <ExpressionOrNumber E, assignment How = assignment::set>
    const Target& operator=(const E& right) const {
        const auto& assigned = as_node<T>(right);
        using node_type = std::remove_cvref_t<decltype(assigned)>;
        using wrong = mistakes<typename Leaf::labels, node_type>;
        static_assert(stands_once<typename wrong::repeated>, "einsum: this output label is repeated");
        static_assert(Broadcasts || (is_in_an_operand<typename wrong::unknown> && !is_constant<node_type>),
                      "einsum: this output label appears in no operand, or is reduced on the right, as by max(k, ...), "
                      "or is misspelt: to repeat the values along a new label, multiply by "
                      "ep::generate<double>({extent}, [](auto) { return 1.0; }) with this label");
        static_assert(
            (!Broadcasts && !is_in_an_operand<typename wrong::unknown>) || is_in_each_sum<typename wrong::absent>,
            "einsum: this output label appears in no operand of a term that is summed, or is misspelt: to repeat the "
            "sums along the label, write ep::sum(term)");
        static_assert(
            wrong::sound_terms,
            "einsum: the operands of a +, -, max or min inside a term have different labels that are missing on the "
            "left: write what is summed as ep::sum(label, expr), and what is reduced as ep::max(label, expr)");
        static_assert(
            is_summed_inside<typename wrong::escaping>,
            "softmax: a label of its argument is missing on the left and would be summed outside the softmax, or the "
            "cumprod; write softmax(t, sum(d, ...)), or put the whole term into sum(d, ...)");
        static_assert(keeps_imaginary<typename node_type::value_type, T>,
                      "einsum: complex values cannot be assigned to real elements: take a part of them with ep::map");
        static_assert(keeps_fraction<typename node_type::value_type, T>,
                      "einsum: floating-point values cannot be assigned to integer elements: round them with ep::map; "
                      "for a bool write x(i) != 0");
        static_assert(is_in_range<node_type, T>,
                      "einsum: integers beyond the largest number of the left-hand side (65,504 of float16, 57,344 of "
                      "float8_e5m2, 448 of float8_e4m3) cannot be assigned to it: multiply them by 1.0F");
        static_assert(leaves_stand_in<Recorded, node_type>,
                      "einsum: arrays and tensors cannot be mixed in one expression: bring arrays into the graph with "
                      "ep::from_root or ep::placeholder and ep::bind");
        if constexpr (is_sound<typename Leaf::labels, node_type, Broadcasts> && is_storable<node_type, T> &&
                      leaves_stand_in<Recorded, node_type> && (Broadcasts || !is_constant<node_type>)) {
            static_cast<const Target&>(*this).template take<How>(assigned);
        }
        return static_cast<const Target&>(*this);
    }
    template <class E>
        requires(Expression<E> || (Scalar<E> && Broadcasts))
    const Target& operator+=(const E& right) const { return this->template operator=<E, assignment::add>(right); }
    template <class E>
        requires(Expression<E> || (Scalar<E> && Broadcasts))
    const Target& operator-=(const E& right) const { return this->template operator=<E, assignment::subtract>(right); }
    /// C *= e means C = C · e; /= and %= work alike. `e` is one term; it is summed over its labels that C lacks.
    ///@{
    const Target& operator*=(const ExpressionOrNumber auto& right) const { return by<times>(as_node<T>(right)); }
    const Target& operator/=(const ExpressionOrNumber auto& right) const { return by<over>(as_node<T>(right)); }
    const Target& operator%=(const ExpressionOrNumber auto& right) const { return by<modulo>(as_node<T>(right)); }
    ///@}
    /// A(i, j) = B(i, j) assigns elements, also where both sides have the same type.
    const Target& operator=(const written_leaf& right) const { return *this = right.read(); }
    written_leaf& operator=(const written_leaf& right) {
        std::as_const(*this).operator=(right);
        return *this;
    }

protected:
    [[nodiscard]] const Leaf& read() const { return *this; }

    Handle* handle_;

private:
    template <class Function, class E>
    const Target& by(const E& term) const {
        constexpr bool names_each_once = !waits<typename Leaf::operand_type>;
        static_assert(names_each_once,
                      "einsum: *=, /= and %= take whole arrays, tensors and views only: at functions of labels, and at "
                      "indices that are data, write the product, A(i + 1) = A(i + 1) * B(i)");
        if constexpr (!names_each_once) {
            return static_cast<const Target&>(*this);
        } else if constexpr (statement<typename Leaf::labels, E>::template aggregates<E>) {
            return *this = make_join(Function{}, read(), reduce_node<op::sum_type, missing_labels, E>(op::sum, term));
        } else {
            return *this = make_join(Function{}, read(), term);
        }
    }
};

template <class T, class Operand, class Labels>
class target;  // a leaf that can be assigned to: array/assign.hpp

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

template <class T, std::size_t Rank>
class array;

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// An operand with labels. If T is not const, it can also be assigned to.
template <class T, class Operand, class... Indices>
auto labelled(Operand held, [[maybe_unused]] array<std::remove_const_t<T>, Operand::rank>* grows,
              [[maybe_unused]] const Indices&... indices) {
    constexpr bool is_whole = are_labels<Operand::rank, Indices...>;
    if constexpr (is_whole && std::is_const_v<T>) {
        return leaf<Operand, label_list<Indices...>>(std::move(held));
    } else if constexpr (is_whole) {
        return target<T, Operand, label_list<Indices...>>(std::move(held), grows);
    } else if constexpr (std::is_const_v<T>) {
        return indexed(std::move(held), indices...);
    } else {
        auto made = indexed(std::move(held), indices...);
        return target<T, decltype(made.operand), typename decltype(made)::labels>(std::move(made.operand));
    }
}

/// The operator() of arrays and views. Integers give an element; labels give a leaf. `grows` is the array, if it may
/// take its extents from the right-hand side; else null.
template <class T, std::size_t Rank, class... Indices>
decltype(auto) access(T* data, const std::array<index, Rank>& extents, const std::array<index, Rank>& strides,
                      [[maybe_unused]] array<std::remove_const_t<T>, Rank>* grows, const Indices&... indices) {
    if constexpr (Rank > 0 && (std::integral<Indices> && ...)) {
        const std::array<index, Rank> at{index(indices)...};
        index offset = 0;
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            offset += at[dimension] * strides[dimension];
        }
        return static_cast<T&>(data[offset]);
    } else {
        return labelled<T>(array_operand<std::remove_const_t<T>, Rank>{data, extents, strides}, grows, indices...);
    }
}

/// The operator() of an rvalue array, whose elements `owner` keeps alive. Integers give a copy of an element; labels
/// give an operand that owns the elements.
template <class T, std::size_t Rank, class... Indices>
auto owned_access(const T* data, const std::array<index, Rank>& extents, std::shared_ptr<const void> owner,
                  const Indices&... indices) {
    if constexpr (Rank > 0 && (std::integral<Indices> && ...)) {
        return access<const T, Rank>(data, extents, row_major(extents), nullptr, indices...);
    } else {
        return labelled<const T>(owned_operand<T, Rank>{{data, extents, row_major(extents)}, std::move(owner)}, nullptr,
                                 indices...);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
