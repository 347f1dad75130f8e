#pragma once
// Boxes of an array that lies dense in a file, in C order.

#include <einparallel/io/file.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Where an array lies in a file.
struct array_in_file {
    const open_file& file;
    std::uint64_t offset = 0;  ///< of its first element, in bytes
    std::size_t element_bytes = 0;
    box whole{};         ///< the array, in the indices in which boxes of it are given
    bool drops = false;  ///< the system need not hold in its cache what is read or written
};

/// Copies a box to dense memory. @throws error where reading fails
EINPARALLEL_INLINE void read_box(const array_in_file& from, box region, void* into);

/// Copies a box from dense memory to the file. @throws error where writing fails
EINPARALLEL_INLINE void write_box(const array_in_file& into, const box& region, const void* from);

}  // namespace einparallel::EINPARALLEL_DETAIL
