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
/// What a list of no extents holds.
struct no_extent {};

/// Braces within braces.
template <class T, std::size_t Rank>
struct nested : std::type_identity<std::initializer_list<typename nested<T, Rank - 1>::type>> {};
template <class T>
struct nested<T, 0> : std::type_identity<T> {};
template <class T, std::size_t Rank>
using nested_list = typename nested<T, Rank>::type;

template <class T, std::size_t Rank>
using row_of = nested_list<T, (Rank > 0 ? Rank - 1 : 0)>;

/// The extents of nested lists, as the first list of each depth has them.
template <class T, std::size_t Rank>
void shape_of([[maybe_unused]] const nested_list<T, Rank>& rows, [[maybe_unused]] index* extents) {
    if constexpr (Rank > 0) {
        *extents = index(rows.size());
        if (rows.size() > 0) {
            shape_of<T, Rank - 1>(*rows.begin(), extents + 1);
        }
    }
}

/// Copies nested lists to dense memory; returns what follows. Throws where the lists of a depth differ in length.
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

/// Owning, dense, row-major, zeroed (large ones by all threads); aligned to a cache line. Value semantics: a copy
/// copies the elements. An array of rank 0 holds one element.
template <class T, std::size_t Rank>
class array {
    static_assert(detail::is_element<T>,
                  "ep::array: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    /// No elements; one for rank 0.
    array() { reserve(); }

    /// ep::array<double, 2> A({m, k}): any mix of integral types in the braces. A negative extent is an ep::error.
    template <std::size_t Count>
    explicit array(const einparallel::extent (&extents)[Count]) : extents_(detail::listed_extents<Rank>(extents)) {
        static_assert(Count == Rank, "ep::array: the number of extents differs from the rank");
        reserve();
    }
    /// Rank 0: `ep::array<double, 0> s({})`.
    explicit array(std::initializer_list<detail::no_extent> /*none*/) requires(Rank == 0) { reserve(); }
    /// From extents in a std::array. A template, so that a braced list never means this one.
    template <detail::NumberArray Extents>
    explicit array(const Extents& extents, detail::first_elements are = detail::first_elements::zeros)
        : extents_(detail::listed_extents<Rank>(extents)) {
        static_assert(std::tuple_size_v<Extents> == Rank, "ep::array: the number of extents differs from the rank");
        reserve(are);
    }

    /// The elements themselves, in two to eight rows: ep::array<double, 2> A{{1, 2}, {3, 4}}. (One list is extents.)
    /// Rows of different lengths are an ep::error.
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
    /// ep::array<double, 1> x{1, 2, 3}, of two elements and more.
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
    /// Takes extents and elements, those of an rvalue or a copy; the array's own ones go.
    array& operator=(array other) noexcept {
        extents_ = std::exchange(other.extents_, {});
        elements_ = std::move(other.elements_);
        return *this;
    }
    /// What labels should stand beside: refused.
    template <Expression E>
    array& operator=(const E& /*right*/) {
        static_assert(detail::is_refused<E>,
                      "ep::array: on the left of a statement stand labels, too: C(i, k) = A(i, j) * B(j, k)");
        return *this;
    }
    ~array() = default;

    /// The first element; row-major, aligned to a cache line.
    [[nodiscard]] T* data() { return static_cast<T*>(elements_.get()); }
    /// The same for reading.
    [[nodiscard]] const T* data() const { return static_cast<const T*>(elements_.get()); }
    /// Number of elements; 0 for an array that was moved from.
    [[nodiscard]] index size() const { return elements_.get() == nullptr ? 0 : detail::element_count(extents_); }
    /// Extent of one dimension. @pre dimension < Rank
    [[nodiscard]] index extent(std::size_t dimension) const { return extents_[dimension]; }
    /// Extents of all dimensions.
    [[nodiscard]] const std::array<index, Rank>& extents() const { return extents_; }
    /// Row-major, in elements.
    [[nodiscard]] std::array<index, Rank> strides() const { return detail::row_major(extents_); }

    /// One element, by indices; or with labels an operand or the left-hand side of an einsum. Labels on an rvalue move
    /// the array into the expression.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    decltype(auto) operator()(const Indices&... indices) & {
        return detail::access<T, Rank>(data(), extents_, strides(), this, indices...);
    }
    /// The same for reading.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    decltype(auto) operator()(const Indices&... indices) const& {
        return detail::access<const T, Rank>(data(), extents_, strides(), nullptr, indices...);
    }
    /// The same of a temporary.
    template <class... Indices>
        requires detail::addresses<Rank, Indices...>
    auto operator()(const Indices&... indices) && {
        const T* const first = data();
        const std::array<index, Rank> shape = extents_;
        auto owner = std::make_shared<const array>(std::move(*this));
        return detail::owned_access<T>(first, shape, std::move(owner), indices...);
    }

    /// Other arguments: refused.
    template <class... Indices>
        requires(!detail::addresses<Rank, Indices...>)
    detail::other_access<Rank, Indices...>
    operator()(const Indices&... /*indices*/) const& { return {}; }

    /// The element of an array of rank 0.
    [[nodiscard]] T& value() requires(Rank == 0) { return *data(); }
    /// The same for reading.
    [[nodiscard]] const T& value() const requires(Rank == 0) { return *data(); }
    /// The element of an array of rank 0: `double(s)`.
    [[nodiscard]] explicit operator T() const requires(Rank == 0) { return value(); }

    /// A view of all elements.
    operator view<T, Rank>() { return {data(), extents_, strides()}; }
    /// The same for reading.
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

/// ep::view(array): all elements.
template <class T, std::size_t Rank>
view(array<T, Rank>&) -> view<T, Rank>;
/// The same for reading.
template <class T, std::size_t Rank>
view(const array<T, Rank>&) -> view<const T, Rank>;

}  // namespace einparallel
