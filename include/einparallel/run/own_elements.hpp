#pragma once
// This rank's part of a tensor in memory, as messages and copies take it.

#include <einparallel/kernel/copy.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Elements of a box in memory, wherever they lie.
struct strided_box {
    std::byte* data = nullptr;  ///< the element at the lower corner of `held`
    box held;
    std::vector<index> strides;  ///< in elements
    std::size_t element_bytes = 1;

    /// The first element of a part. @pre contains(held, region)
    [[nodiscard]] std::byte* first(const box& region) const { return data + offset(region); }

    /// The elements of a part, counted from `data`, as a message takes them.
    /// @pre contains(held, region), no stride is negative
    [[nodiscard]] box_type elements(const box& region) const {
        if (region.empty()) {
            return type_of_box(no_box(0), no_box(0), element_bytes);
        }
        std::vector<index> byte_strides = strides;
        for (index& stride : byte_strides) {
            stride *= static_cast<index>(element_bytes);
        }
        return type_of_strided(extents_of(region), byte_strides, element_bytes, offset(region));
    }

    /// True where some elements lie before the first: Open MPI 4.1 gets messages of those wrong for elements of a byte.
    [[nodiscard]] bool backwards() const {
        return std::ranges::any_of(strides, [](index stride) { return stride < 0; });
    }

    /// True where both touch some of the same memory, or lie between each other's elements.
    [[nodiscard]] bool meets(const strided_box& other) const {
        const auto [begin, end] = memory();
        const auto [other_begin, other_end] = other.memory();
        return std::less<>()(begin, other_end) && std::less<>()(other_begin, end);
    }

    static std::vector<index> extents_of(const box& region) {
        std::vector<index> extents;
        for (const interval& side : region.sides) {
            extents.push_back(side.size());
        }
        return extents;
    }

private:
    [[nodiscard]] std::ptrdiff_t offset(const box& region) const {
        index elements = 0;
        for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) {
            elements += (region.sides[dimension].begin - held.sides[dimension].begin) * strides[dimension];
        }
        return elements * static_cast<index>(element_bytes);
    }

    /// From the lowest byte to behind the highest; nothing where there is no element.
    [[nodiscard]] std::pair<const std::byte*, const std::byte*> memory() const {
        if (held.empty()) {
            return {data, data};
        }
        index low = 0;
        index high = 1;
        for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) {
            const index reach = (held.sides[dimension].size() - 1) * strides[dimension];
            (reach < 0 ? low : high) += reach;
        }
        const index bytes = static_cast<index>(element_bytes);
        return {data + low * bytes, data + high * bytes};
    }
};

/// into = from, over the whole box. @pre the same extents; no element of one is an element of the other
inline void copy_part(const strided_box& into, const strided_box& from, const box& region) {
    if (!region.empty()) {
        copy_box(strided_box::extents_of(region), into.element_bytes, into.first(region), into.strides,
                 from.first(region), from.strides);
    }
}

/// Memory for the elements of a box, dense and row-major, beside where they belong.
class dense_stand_in {
public:
    /// @throws std::bad_alloc
    strided_box of(const strided_box& original) {
        memory_.resize(static_cast<std::size_t>(original.held.size()) * original.element_bytes);
        return {memory_.data(), original.held, dense_strides(original.held), original.element_bytes};
    }

private:
    std::vector<std::byte> memory_;
};

/// The elements of a box as messages send them: from where they lie, or from a dense copy where the order of memory is
/// backwards or the elements may be overwritten meanwhile.
class elements_to_send {
public:
    elements_to_send() = default;
    elements_to_send(elements_to_send&&) = default;
    elements_to_send& operator=(elements_to_send&&) = default;
    elements_to_send(const elements_to_send&) = delete;
    elements_to_send& operator=(const elements_to_send&) = delete;
    ~elements_to_send() = default;

    /// @throws std::bad_alloc
    explicit elements_to_send(const strided_box& original, bool copied = false) : seen_(original) {
        if (!original.held.empty() && (copied || original.backwards())) {
            seen_ = stand_in_.of(original);
            copy_part(seen_, original, original.held);
        }
    }

    [[nodiscard]] const strided_box& seen() const { return seen_; }

private:
    dense_stand_in stand_in_;
    strided_box seen_;
};

}  // namespace einparallel::detail
