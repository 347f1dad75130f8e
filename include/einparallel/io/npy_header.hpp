#pragma once
// The header of an .npy file (NumPy's format, versions 1.0 to 3.0): a Python dictionary of three entries, read and
// written.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What the dictionary says.
struct npy_header {
    element_type type;
    bool fortran_order = false;
    std::vector<index> shape;
    bool is_swapped = false;  ///< bytes are in the order of another machine
};

/// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }: three entries in any order, in any spelling of
/// Python's; in versions 1 and 2 the long integers (3L, 4L) of Python 2, too. Of entries of one name the last counts,
/// as in Python. @throws error for anything else; its sentence begins with the file's path
EINPARALLEL_INLINE npy_header parse_npy_header(const std::string& path, std::string_view text, unsigned version = 1);

/// NumPy's spelling of a type: "<f8", "|b1".
EINPARALLEL_INLINE std::string npy_type_name(element_type type);

/// Everything that stands before the elements of a file in C order: format 1.0, or 2.0 where the shape is too long for
/// it. Its length is a multiple of 64, so that elements are aligned in a mapped file.
EINPARALLEL_INLINE std::string npy_preamble(element_type type, const std::vector<index>& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
