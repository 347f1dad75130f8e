#pragma once
// NumPy's .npy files: what a file holds, any box of it, and writing one.

#include <einparallel/io/npy_header.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

class input_file;  // io/file.hpp

}  // namespace EINPARALLEL_DETAIL

/// An open .npy file: its element type, its shape, and any box of its elements. It reads formats 1.0 to 3.0, C and
/// Fortran order, and bool, integers, floats and complex numbers in either byte order. A copy refers to the same open
/// file. A file that is replaced by another one of its name is still read as it was. Several threads may read at the
/// same time.
class npy_file {
public:
    /// Opens the file and reads its header. Bytes behind the elements are ignored, as in NumPy.
    /// @throws error that begins with the path, where there is no such file, it is no .npy file, its type cannot be
    /// read, or it is shorter than its shape needs (then with both numbers of bytes)
    EINPARALLEL_INLINE explicit npy_file(std::string path);

    EINPARALLEL_INLINE [[nodiscard]] const std::string& path() const;  ///< The path, as it was given.
    [[nodiscard]] element_type type() const { return header_.type; }   ///< The type of the elements.
    /// Extents in the array's own order of dimensions, also where the file is in Fortran order.
    [[nodiscard]] const std::vector<index>& shape() const { return header_.shape; }
    [[nodiscard]] bool fortran_order() const { return header_.fortran_order; }  ///< True: the first index is fastest.
    /// True where the byte order of the file is not that of this machine (">f8"); read_box swaps the bytes.
    [[nodiscard]] bool other_byte_order() const { return header_.is_swapped; }
    /// Where the elements begin, in bytes from the beginning of the file.
    [[nodiscard]] std::uint64_t data_offset() const { return data_offset_; }

    /// Checks that the file holds a tensor of this type and rank.
    /// @throws error that names the file, what it holds and what was asked for
    EINPARALLEL_INLINE void require(element_type type, std::size_t rank) const;

    /// Copies the elements of `region` to `destination`, dense and row-major whatever the order of the file. It takes
    /// one system call for each contiguous run in the file, or one for many short runs that lie close together. With
    /// `drops` the elements are not wanted again soon, and the system need not hold them in its cache.
    /// @pre destination has region.size() * type().bytes bytes
    /// @throws error where the region is no box of the tensor, or reading fails
    EINPARALLEL_INLINE void read_box(const box& region, void* destination, bool drops = false) const;

private:
    EINPARALLEL_INLINE void check(bool holds, std::initializer_list<detail::word> otherwise) const;

    EINPARALLEL_INLINE [[nodiscard]] std::string shape_text() const;

    std::shared_ptr<const detail::input_file> file_;
    detail::npy_header header_;
    std::uint64_t data_offset_ = 0;
};

/// Writes dense row-major elements as an .npy file in C order; an older file of this name is replaced.
/// @throws error where the file cannot be written
EINPARALLEL_INLINE void write_npy(const std::string& path, element_type type, const std::vector<index>& shape,
                                  const void* data);

/// Like the function above, for elements of a type known to the compiler.
/// @pre data.size() is the product of the extents
template <Element T>
void write_npy(const std::string& path, const std::vector<index>& shape, std::span<const T> data) {
    detail::require(index(data.size()) == whole_box(shape).size(),
                    {"write_npy: '", path, "' needs ", whole_box(shape).size(), " elements for its shape, and ",
                     data.size(), " are given"});
    write_npy(path, element_type_of<T>(), shape, static_cast<const void*>(data.data()));
}

}  // namespace einparallel
