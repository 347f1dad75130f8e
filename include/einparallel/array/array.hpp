#pragma once
// A tensor that owns its elements.

#include <einparallel/array/operand.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/expression.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {
/// The element type of an empty list of extents.
struct no_extent {};

/// Initializer lists of T, nested to depth Rank.
template <class T, std::size_t Rank>
struct nested : std::type_identity<std::initializer_list<typename nested<T, Rank - 1>::type>> {};
template <class T>
struct nested<T, 0> : std::type_identity<T> {};
template <class T, std::size_t Rank>
using nested_list = typename nested<T, Rank>::type;

template <class T, std::size_t Rank>
using row_of = nested_list<T, (Rank > 0 ? Rank - 1 : 0)>;

/// Writes the extents of nested lists to `extents`: for each depth, the length of its first list.
template <class T, std::size_t Rank>
void shape_of([[maybe_unused]] const nested_list<T, Rank>& rows, [[maybe_unused]] index* extents) {
    if constexpr (Rank > 0) {
        *extents = index(rows.size());
        if (rows.size() > 0) {
            shape_of<T, Rank - 1>(*rows.begin(), extents + 1);
        }
    }
}

/// Copies nested lists to dense memory from `next` on. Returns the address behind the last element. Throws where the
/// lists of a depth differ in length.
template <class T, std::size_t Rank>
T* flatten(const nested_list<T, Rank>& rows, [[maybe_unused]] const index* extents, T* next) {
    if constexpr (Rank == 0) {
        *next++ = rows;
    } else {
        require(*extents == index(rows.size()),
                {"ep::array: lists of one depth have different lengths, ", rows.size(), " and ", *extents});
        for (const auto& row : rows) {
            next = flatten<T, Rank - 1>(row, extents + 1, next);
        }
    }
    return next;
}
}  // namespace EINPARALLEL_DETAIL

/// A tensor that owns its elements. They are dense, row-major and aligned to a cache line. New elements are zero; all
/// threads write those of a large array. Value semantics: a copy copies the elements. An array of rank 0 holds one
/// element.
template <class T, std::size_t Rank>
class array {
    static_assert(detail::is_element<T>,
                  "ep::array: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    /// An array without elements, or with one zero if Rank is 0.
    array() { reserve(); }

    /// An array with these extents: ep::array<double, 2> A({m, k}). The braces may mix integral types. Throws ep::error
    /// for a negative extent.
    template <std::size_t Count>
    explicit array(const einparallel::extent (&extents)[Count]) : extents_(detail::listed_extents<Rank>(extents)) {
        static_assert(Count == Rank, "ep::array: the number of extents differs from the rank");
        reserve();
    }
    /// An array of rank 0: `ep::array<double, 0> s({})`.
    explicit array(std::initializer_list<detail::no_extent> /*none*/) requires(Rank == 0) { reserve(); }
    /// An array with extents from a std::array. (A template, so that a braced list never selects this constructor.)
    template <detail::NumberArray Extents>
    explicit array(const Extents& extents, detail::first_elements are = detail::first_elements::zeros)
        : extents_(detail::listed_extents<Rank>(extents)) {
        static_assert(std::tuple_size_v<Extents> == Rank, "ep::array: the number of extents differs from the rank");
        reserve(are);
    }

    /// An array with these elements, in two to eight rows: ep::array<double, 2> A{{1, 2}, {3, 4}}. (A single list gives
    /// extents.) Throws ep::error for rows of different lengths.
    array(const detail::row_of<T, Rank>& first, const detail::row_of<T, Rank>& second,
          const detail::row_of<T, Rank>& third = {}, const detail::row_of<T, Rank>& fourth = {},
          const detail::row_of<T, Rank>& fifth = {}, const detail::row_of<T, Rank>& sixth = {},
          const detail::row_of<T, Rank>& seventh = {}, const detail::row_of<T, Rank>& eighth = {}) requires(Rank >= 2) {
        const std::array<detail::row_of<T, Rank>, 8> rows{first, second, third, fourth, fifth, sixth, seventh, eighth};
        detail::shape_of<T, Rank - 1>(first, &extents_[1]);
        extents_[0] = 2;
        while (extents_[0] < 8 && rows[std::size_t(extents_[0])].size() > 0) {
            ++extents_[0];
        }
        reserve(detail::first_elements::unwritten);
        T* next = data();
        for (index row = 0; row < extents_[0]; ++row) {
            next = detail::flatten<T, Rank - 1>(rows[std::size_t(row)], &extents_[1], next);
        }
    }
    /// An array with these elements, two or more: ep::array<double, 1> x{1, 2, 3}.
    template <detail::Scalar... Numbers>
    array(Numbers... elements) requires(Rank == 1 && sizeof...(Numbers) >= 2) : extents_{sizeof...(Numbers)} {
        reserve(detail::first_elements::unwritten);
        T* next = data();
        ((*next++ = T(elements)), ...);
    }

    /// A copy of the elements.
    array(const array& other) : extents_(other.extents_) {
        reserve(other.data() == nullptr ? detail::first_elements::zeros : detail::first_elements::copies, other.data());
    }
    /// Takes the elements; the other array has none afterwards.
    array(array&& other) noexcept
        : extents_(std::exchange(other.extents_, {})), elements_(std::move(other.elements_)) {}
    /// Assigns extents and elements: takes those of an rvalue, or copies them. The old elements are freed.
    array& operator=(array other) noexcept {
        extents_ = std::exchange(other.extents_, {});
        elements_ = std::move(other.elements_);
        return *this;
    }
    /// An expression assigned to an array without labels does not compile.
    template <Expression E>
    array& operator=(const E& /*right*/) {
        static_assert(detail::is_refused<E>,
                      "ep::array: on the left of a statement stand labels, too: C(i, k) = A(i, j) * B(j, k)");
        return *this;
    }
    ~array() = default;

    /// The address of the first element, aligned to a cache line. The elements are row-major.
    [[nodiscard]] T* data() { return static_cast<T*>(elements_.get()); }
    /// Like the function above, for reading only.
    [[nodiscard]] const T* data() const { return static_cast<const T*>(elements_.get()); }
    /// Number of elements; 0 for an array that was moved from.
    [[nodiscard]] index size() const { return elements_.get() == nullptr ? 0 : detail::element_count(extents_); }
    /// Extent of one dimension. @pre dimension < Rank
    [[nodiscard]] index extent(std::size_t dimension) const { return extents_[dimension]; }
    /// Extents of all dimensions.
    [[nodiscard]] const std::array<index, Rank>& extents() const { return extents_; }
    /// Strides of the dimensions, in elements. They are row-major.
    [[nodiscard]] std::array<index, Rank> strides() const { return detail::row_major(extents_); }

    /// With indices: one element. With labels: an operand, or the left-hand side of an einsum. Labels on an rvalue move
    /// the array into the expression.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    decltype(auto) operator()(const Indices&... indices) & {
        return detail::access<T, Rank>(data(), extents_, strides(), this, indices...);
    }
    /// Like the function above, for reading only.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    decltype(auto) operator()(const Indices&... indices) const& {
        return detail::access<const T, Rank>(data(), extents_, strides(), nullptr, indices...);
    }
    /// Like the function above, for a temporary array.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    auto operator()(const Indices&... indices) && {
        const T* const first = data();
        const std::array<index, Rank> shape = extents_;
        auto owner = std::make_shared<const array>(std::move(*this));
        return detail::owned_access<T>(first, shape, std::move(owner), indices...);
    }

    /// Other arguments do not compile.
    template <class... Indices>
        requires(!detail::addresses<Rank, Indices...>)
    detail::other_access<Rank, Indices...>
    operator()(const Indices&... /*indices*/) const& { return {}; }

    /// The element of an array of rank 0.
    [[nodiscard]] T& value() requires(Rank == 0) { return *data(); }
    /// Like the function above, for reading only.
    [[nodiscard]] const T& value() const requires(Rank == 0) { return *data(); }
    /// The element of an array of rank 0: `double(s)`.
    [[nodiscard]] explicit operator T() const requires(Rank == 0) { return value(); }

    /// A view of all elements.
    operator view<T, Rank>() { return {data(), extents_, strides()}; }
    /// Like the function above, for reading only.
    operator view<const T, Rank>() const { return {data(), extents_, strides()}; }

private:
    template <std::same_as<detail::lines_owner> Lines>
    array(const std::array<index, Rank>& extents, Lines elements) : extents_(extents), elements_(std::move(elements)) {}

    template <class, class, class>
    friend class detail::target;
    template <class>
    friend class unranked;

    void reserve(detail::first_elements are = detail::first_elements::zeros, const T* from = nullptr) {
        elements_.reset(detail::new_elements(extents_, sizeof(T), are, from));
    }

    std::array<index, Rank> extents_{};
    detail::lines_owner elements_;
};

/// ep::view(array): a view of all elements.
template <class T, std::size_t Rank>
view(array<T, Rank>&) -> view<T, Rank>;
/// ep::view(const array): a view of all elements, for reading.
template <class T, std::size_t Rank>
view(const array<T, Rank>&) -> view<const T, Rank>;

}  // namespace einparallel
