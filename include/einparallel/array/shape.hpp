#pragma once
// Operands of other shapes than the arrays that they read: ep::padded, slice, concatenate and reshape.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

/// The result of padded, concatenate, slice and reshape. With labels it is an operand of an expression.
template <class Operand>
class operand_view {
public:
    using value_type = typename Operand::value_type;    ///< of its elements
    static constexpr std::size_t rank = Operand::rank;  ///< number of dimensions

    /// Holds the operand that one of these functions made.
    explicit operand_view(Operand held) : held_(std::move(held)) {}

    /// Extents of all dimensions.
    [[nodiscard]] std::array<index, rank> extents() const {
        if constexpr (requires { held_.extents; }) {
            return held_.extents;
        } else {
            return detail::listed_extents<rank>(held_.node->bounds);
        }
    }

    /// An operand with these labels, which is read in place.
    template <class... Indices>
        requires detail::addresses<rank, Indices...>
    auto operator()(const Indices&... indices) const { return detail::indexed(held_, indices...); }
    /// Other arguments do not compile.
    template <class... Indices>
        requires(!detail::addresses<rank, Indices...>)
    detail::other_access<rank, Indices...>
    operator()(const Indices&... /*indices*/) const { return {}; }

    /// The operand that this object holds.
    [[nodiscard]] const Operand& held() const { return held_; }

private:
    Operand held_;
};

namespace EINPARALLEL_DETAIL {

template <std::size_t Rank>
using padding = per_dimension<Rank, list_of_numbers::of_padded>;
template <std::size_t Rank>
using corner = per_dimension<Rank, list_of_numbers::of_slice>;

/// The extents with `before` and `after` added. @throws error where a number is negative
template <std::size_t Rank>
std::array<index, Rank> padded_extents(std::array<index, Rank> extents, const padding<Rank>& before,
                                       const padding<Rank>& after) {
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
        expect(before[dimension] >= 0 && after[dimension] >= 0,
               "ep::padded: the number of elements before or after is negative");
        extents[dimension] += before[dimension] + after[dimension];
    }
    return extents;
}

/// The extents of the box from `begin` to `end`. @throws error where the box is not inside the tensor
template <std::size_t Rank>
std::array<index, Rank> sliced_extents(const std::array<index, Rank>& extents, const corner<Rank>& begin,
                                       const corner<Rank>& end) {
    std::array<index, Rank> made{};
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
        made[dimension] = end[dimension] - begin[dimension];
        require(begin[dimension] >= 0 && made[dimension] >= 0 && end[dimension] <= extents[dimension],
                {"ep::slice: dimension ", dimension, " from ", begin[dimension], " to ", end[dimension],
                 " is not inside the extent ", extents[dimension]});
    }
    return made;
}

/// Adds the extent of the next tensor along `dimension` to `all`, the extents of the joined tensor. Returns the index
/// at which the next tensor begins.
template <std::size_t Rank>
std::array<index, Rank> append_extents(std::array<index, Rank>& all, std::size_t dimension,
                                       const std::array<index, Rank>& next, bool is_first) {
    require(dimension < Rank, {"ep::concatenate: there is no dimension ", dimension, ", the tensors have ", Rank,
                               " dimensions, numbered from 0"});
    for (std::size_t each = 0; each < Rank; ++each) {
        require(is_first || each == dimension || next[each] == all[each],
                {"ep::concatenate: extents ", all[each], " and ", next[each], " of dimension ", each, " differ"});
    }
    std::array<index, Rank> lower{};
    lower[dimension] = is_first ? 0 : all[dimension];
    all = next;
    all[dimension] += lower[dimension];
    return lower;
}

/// Returns affine_map::reshaping(bounds, extents). @throws error where the numbers of elements differ
inline affine_map checked_reshaping(index_span bounds, index_span extents) {
    const std::string negative = negative_extent(extents);
    require(negative.empty(), {"ep::reshape: ", negative});
    require(is_countable(extents) && element_count(bounds) == element_count(extents),
            {"ep::reshape: ", element_count(bounds), " elements cannot have extents of which the product is ",
             is_countable(extents) ? std::to_string(element_count(extents)) : "beyond 2^59"});
    return affine_map::reshaping(bounds, extents);
}

/// An array or a view as an operand. The operand owns a temporary array.
template <class A>
auto kept_operand(A&& tensor) {
    const auto seen = readable(tensor);
    using T = typename decltype(seen)::value_type;
    constexpr std::size_t rank = std::remove_const_t<decltype(seen)>::rank;
    const array_operand<T, rank> operand{seen.data(), seen.extents(), seen.strides()};
    if constexpr (std::is_same_v<A, array<T, rank>>) {
        return owned_operand<T, rank>{operand, std::make_shared<const array<T, rank>>(std::move(tensor))};
    } else {
        return owned_operand<T, rank>{operand, nullptr};
    }
}

/// The elements of `tensor` with these extents and strides, beginning `first` elements behind its first one in memory:
/// as a view, or as an operand that owns a temporary array.
template <class A, std::size_t Rank>
auto view_of(A&& tensor, index first, const std::array<index, Rank>& extents, const std::array<index, Rank>& strides) {
    if constexpr (is_a<A, array>) {
        const auto held = kept_operand(std::forward<A>(tensor));
        using T = typename A::value_type;
        return operand_view(owned_operand<T, Rank>{{element_behind(held.data, first), extents, strides}, held.owner});
    } else {
        const view seen(tensor);
        return view<std::remove_pointer_t<decltype(seen.data())>, Rank>(element_behind(seen.data(), first), extents,
                                                                        strides);
    }
}

template <std::size_t Rank, class A>
auto reshaped(A&& tensor, const std::array<index, Rank>& extents) {
    const auto seen = readable(tensor);
    const affine_map at = checked_reshaping(seen.extents(), extents);
    std::array<index, Rank> strides = row_major(extents);
    std::array<label_id, Rank> labels{};
    std::iota(labels.begin(), labels.end(), label_id{0});
    if (seen.size() > 0) {
        require(at.has_rows(seen.strides()),
                {"ep::reshape: dimensions of this view have gaps between their rows: assign it to an array first"});
        at.strides_along(labels, whole_box(at.bounds), seen.strides(), strides);
    }
    return view_of(std::forward<A>(tensor), 0, extents, strides);
}

template <class... Arguments>
struct other_than_tensors : refused {
    static_assert(fits<Arguments...>,
                  "ep::concatenate, slice, reshape: ep::concatenate takes the number of a dimension, then arrays or "
                  "views, or recorded tensors, of one element type and rank; the others take an array, a view or a "
                  "tensor, then numbers for its dimensions in braces");
    refused_node operator()(const auto&... /*indices*/) const { return {}; }
};

}  // namespace EINPARALLEL_DETAIL

/// The tensor A, extended along each dimension by `before` elements in front and `after` elements behind, all equal to
/// `value`: ep::padded(A, {1, 1}, {1, 1}, 0.0)(i + r, j + s). Its extents are before + n + after; its index 0 is the
/// first element in front of A. Nothing is copied: an expression that reads it is computed block by block. A temporary
/// array is kept alive. Throws ep::error for a negative number of elements.
template <detail::DenseOperand A, detail::Scalar Value>
auto padded(A&& tensor, const detail::padding<detail::readable_t<A>::rank>& before,
            const detail::padding<detail::readable_t<A>::rank>& after, Value value) {
    auto held = detail::kept_operand(std::forward<A>(tensor));
    using T = typename decltype(held)::value_type;
    const auto extents = detail::padded_extents(held.extents, before, after);
    return operand_view(detail::joined_operand<T, decltype(held)::rank>{
        {{std::move(held), before}}, extents, detail::converted<T>(value)});
}

/// The elements of A from `begin` to below `end` along each dimension: ep::slice(A, {2, 0}, {5, 4}). Returns a view, or
/// an operand if A is a temporary array; nothing is copied. Throws ep::error for a box that is not inside A.
template <detail::DenseOperand A>
auto slice(A&& tensor, const detail::corner<detail::readable_t<A>::rank>& begin,
           const detail::corner<detail::readable_t<A>::rank>& end) {
    const auto seen = detail::readable(tensor);
    const auto extents = detail::sliced_extents(seen.extents(), begin, end);
    const std::array<index, decltype(extents){}.size()>& at = begin;
    return detail::view_of(std::forward<A>(tensor),
                           std::inner_product(at.begin(), at.end(), seen.strides().begin(), index{0}), extents,
                           seen.strides());
}

/// Arrays joined one behind the other along dimension `dimension`: ep::concatenate(0, A, B, C)(i, j). Nothing is
/// copied: an expression that reads the result is computed block by block. Temporary arrays are kept alive. Throws
/// ep::error if the extents of another dimension differ.
template <detail::DenseOperand A, detail::DenseOperand... More>
    requires(std::is_same_v<detail::readable_t<A>, detail::readable_t<More>>&&...)
auto concatenate(std::size_t dimension, A&& first, More&&... more) {
    using Seen = detail::readable_t<A>;
    detail::joined_operand<typename Seen::value_type, Seen::rank> made;
    const auto add = [&](auto held) {
        const auto lower = detail::append_extents(made.extents, dimension, held.extents, made.blocks.empty());
        made.blocks.push_back({std::move(held), lower});
    };
    add(detail::kept_operand(std::forward<A>(first)));
    (add(detail::kept_operand(std::forward<More>(more))), ...);
    return operand_view(std::move(made));
}
/// Other arguments do not compile.
template <class... Arguments>
detail::other_than_tensors<Arguments...> concatenate(std::size_t /*dimension*/, const Arguments&... /*arguments*/) {
    return {};
}

/// The elements of A, in row-major order, with other extents: ep::reshape(A, {m, n}). Returns a view, or an operand if
/// A is a temporary array; nothing is copied. Throws ep::error if the number of elements differs, or if the strides of
/// a view do not allow these extents.
template <detail::DenseOperand A, std::size_t Rank>
auto reshape(A&& tensor, const extent (&extents)[Rank]) {
    return detail::reshaped(std::forward<A>(tensor), detail::listed_extents<Rank>(extents));
}
/// Like the function above, with extents in a std::array. ep::reshape(A, {}) has rank 0.
template <detail::DenseOperand A, detail::NumberArray Extents = std::array<extent, 0>>
auto reshape(A&& tensor, const Extents& extents) {
    return detail::reshaped(std::forward<A>(tensor), detail::listed_extents<std::tuple_size_v<Extents>>(extents));
}

}  // namespace einparallel
