#pragma once
// This rank's part of a tensor in memory.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Elements of a box in memory, wherever they lie.
struct strided_box {
    std::byte* data = nullptr;  ///< the element at the lower corner of `held`
    box held;
    std::vector<index> strides;  ///< in elements
    std::size_t element_bytes = 1;

    /// The first element of a part. @pre contains(held, region)
    EINPARALLEL_INLINE [[nodiscard]] std::byte* first(const box& region) const;

    /// Copies a part, dense and row-major. @throws error, which begins with `what`, where it is not held here
    EINPARALLEL_INLINE void read(const box& region, void* destination, std::string_view what) const;

    /// The elements of a part where they lie dense and row-major; null where they do not.
    EINPARALLEL_INLINE [[nodiscard]] const void* borrow(const box& region) const;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
