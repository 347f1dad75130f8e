#pragma once
// Extents, intervals and boxes: the integers that every room counts with.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

/// Signed type of every extent, stride and element index.
using index = std::int64_t;
/// Extents, strides or indices that somebody else holds.
using index_span = std::span<const index>;

/// An extent in a braced list: implicit from any integral type, so that `{m, k}` may mix `int` and `std::size_t`.
struct extent {
    index value = 0;  ///< the number

    constexpr extent() = default;
    /// From any integral type.
    template <std::integral I>
    constexpr extent(I number) : value(index(number)) {}  // implicit by design: braced lists mix types
    /// The number.
    constexpr operator index() const { return value; }

    friend constexpr bool operator==(extent, extent) = default;
};

/// True where the elements of a tensor with these extents, and their bytes and strides, can be counted in an index:
/// at most 2^59 elements, extents of 0 not counted. @pre no extent is negative
constexpr bool is_countable(const auto& extents) {
    index room = index{1} << 59U;
    for (const index length : extents) {
        room /= length == 0 ? index{1} : length;
    }
    return room > 0;
}

namespace detail {

/// True for a std::array of numbers, of any integral type, which may stand in place of a braced list.
template <class T>
inline constexpr bool is_number_array = false;
template <std::convertible_to<extent> I, std::size_t Count>
inline constexpr bool is_number_array<std::array<I, Count>> = true;
template <class T>
concept NumberArray = is_number_array<T>;

/// The numbers of a braced list or a std::array, for `Rank` dimensions.
template <std::size_t Rank, class List>
constexpr std::array<index, Rank> listed_extents(const List& list) {
    std::array<index, Rank> extents{};
    for (std::size_t dimension = 0; dimension < Rank && dimension < std::size(list); ++dimension) {
        extents[dimension] = extent(list[dimension]);
    }
    return extents;
}

/// The function that takes a number for each dimension. It selects the message about too few or too many numbers.
enum class list_of_numbers : std::uint8_t { of_distributed, of_padded, of_slice };

/// A number for each dimension, in braces or in a std::array: extents, or the lower corner of a box.
template <std::size_t Rank, list_of_numbers Of = list_of_numbers::of_distributed>
struct per_dimension : std::array<index, Rank> {
    template <std::convertible_to<extent> I>
    per_dimension(const std::array<I, Rank>& numbers) : std::array<index, Rank>(listed_extents<Rank>(numbers)) {}
    template <std::convertible_to<extent>... Numbers>
    per_dimension(Numbers... numbers)
        : std::array<index, Rank>(listed_extents<Rank>(std::array<extent, sizeof...(Numbers)>{numbers...})) {
        constexpr bool fits = sizeof...(Numbers) == Rank;
        static_assert(
            fits || Of != list_of_numbers::of_distributed,
            "ep::distributed: give one extent, and one index of the corner, for each dimension of the tensor");
        static_assert(fits || Of != list_of_numbers::of_padded,
                      "ep::padded: before and after have a number for each dimension");
        static_assert(fits || Of != list_of_numbers::of_slice,
                      "ep::slice: begin and end have a number for each dimension");
    }
};

/// The product of the extents.
constexpr index element_count(index_span extents) {
    return product_in(extents, index{1});
}

}  // namespace detail

/// Half-open range of indices [begin, end) along one dimension.
struct interval {
    index begin = 0;  ///< first index
    index end = 0;    ///< one past the last

    /// Number of indices.
    [[nodiscard]] constexpr index size() const { return end - begin; }
    /// True where there is no index.
    [[nodiscard]] constexpr bool empty() const { return end <= begin; }
    friend constexpr bool operator==(const interval&, const interval&) = default;
};

/// The indices that both intervals hold; empty (begin == end) where they do not meet.
constexpr interval intersect(interval a, interval b) {
    const index begin = a.begin > b.begin ? a.begin : b.begin;
    const index end = a.end < b.end ? a.end : b.end;
    return {begin, end < begin ? begin : end};
}

/// Part `part` of `parts` of [0, bound): blocks differ by at most one element, the larger ones first (14 over 4 is
/// 4,4,3,3).
/// @pre 0 <= part < parts
constexpr interval block_of(index bound, int parts, int part) {
    const index small = bound / parts;
    const index larger = bound % parts;
    const index begin = part * small + (part < larger ? part : larger);
    return {begin, begin + small + (part < larger ? 1 : 0)};
}

/// The same rule inside an interval: part `part` of `parts` of `whole`.
constexpr interval block_of(interval whole, int parts, int part) {
    const interval inner = block_of(whole.size(), parts, part);
    return {whole.begin + inner.begin, whole.begin + inner.end};
}

/// The positions along one dimension where blocks begin, and where the last block ends: `{0, 3, 3, 10, 12}` are blocks
/// of 3, 0, 7 and 2 elements. PETSc calls them ownership ranges; MPI's displacements are these without the last one.
struct cut_points {
    std::vector<index> at;  ///< ascending, from 0 to the extent; one more than there are blocks

    /// From numbers of any integral types.
    cut_points(std::initializer_list<extent> points) : at(points.begin(), points.end()) {}
    /// From a list of numbers.
    template <std::integral I>
    explicit cut_points(const std::vector<I>& points) : at(points.begin(), points.end()) {}
};

/// A box of a tensor: one interval per dimension, in the tensor's own (global) indices.
/// Rank 0 is the box of one element. Storage of a box is dense and row-major wherever nothing else is said.
struct box {
    std::vector<interval> sides;  ///< by dimension
    bool nothing = false;         ///< true: empty whatever the sides are; a box of rank 0 is empty only so

    /// Number of dimensions.
    [[nodiscard]] std::size_t rank() const { return sides.size(); }
    /// Number of elements.
    [[nodiscard]] index size() const {
        return detail::product_in(sides, index{nothing ? 0 : 1},
                                  [](const interval& side) { return side.empty() ? 0 : side.size(); });
    }
    /// True where there is no element. It tests the sides one by one, because their product may overflow an index in a
    /// box that nobody has checked yet.
    [[nodiscard]] bool empty() const { return nothing || detail::any_in(sides, &interval::empty); }
    friend bool operator==(const box&, const box&) = default;
};

/// The elements that both boxes hold.
/// @pre a.rank() == b.rank()
EINPARALLEL_INLINE box intersect(const box& a, const box& b);

/// The elements of the boxes `whole` that are not in `taken`, as boxes, none of them empty. Each box of `whole` becomes
/// at most two boxes for each dimension. The boxes are disjoint where those of `whole` are.
EINPARALLEL_INLINE std::vector<box> difference(const std::vector<box>& whole, const box& taken);

/// The box of a whole tensor with these bounds.
EINPARALLEL_INLINE box whole_box(const std::vector<index>& bounds);

/// A box of this rank without any element.
inline box no_box(std::size_t rank) {
    return {std::vector<interval>(rank), true};
}

/// True where every element of `inner` lies in `outer` (an empty box lies in every box).
EINPARALLEL_INLINE bool contains(const box& outer, const box& inner);

/// Row-major strides, in elements, of dense storage for `shape`.
EINPARALLEL_INLINE std::vector<index> dense_strides(const box& shape);

namespace EINPARALLEL_DETAIL {

/// The extents of a box.
EINPARALLEL_INLINE std::vector<index> extents_of(const box& region);

/// The offset, in elements, of the first element of `region` from the first element of `whole`, which has these
/// strides.
/// @pre contains(whole, region)
EINPARALLEL_INLINE index offset_of(const box& region, const box& whole, const std::vector<index>& strides);

/// A text that names the first negative extent; empty where none is negative.
EINPARALLEL_INLINE std::string negative_extent(index_span extents);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
