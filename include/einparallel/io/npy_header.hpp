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

/// The contents of the dictionary.
struct npy_header {
    element_type type;
    bool fortran_order = false;
    std::vector<index> shape;
    bool is_swapped = false;  ///< the byte order is not that of this machine
};

/// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }: three entries in any order and any Python
/// spelling. Versions 1 and 2 may also have the long integers (3L, 4L) of Python 2. Of repeated entries the last one
/// counts, as in Python. @throws error for anything else; it begins with the path of the file
EINPARALLEL_INLINE npy_header parse_npy_header(const std::string& path, std::string_view text, unsigned version = 1);

/// NumPy's spelling of a type: "<f8", "|b1".
EINPARALLEL_INLINE std::string npy_type_name(element_type type);

/// The bytes before the elements of a file in C order, in format 1.0, or 2.0 where the shape is too long for 1.0. Their
/// number is a multiple of 64, so that elements are aligned in a mapped file.
EINPARALLEL_INLINE std::string npy_preamble(element_type type, const std::vector<index>& shape);

}  // namespace einparallel::EINPARALLEL_DETAIL
