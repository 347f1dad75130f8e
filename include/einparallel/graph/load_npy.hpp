#pragma once
// An input whose elements lie in a .npy file.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The vertex of load_npy; one that failed where the file does not hold such a tensor.
EINPARALLEL_INLINE std::shared_ptr<vertex> npy_vertex(const std::string& path, element_type element, std::size_t rank);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// An input read from a .npy file, in C or Fortran order: every rank opens the file and reads its own part of it at
/// each run. A file that is missing, truncated, or of another element type or rank fails the next decompose, on every
/// rank alike, even where only one rank sees it so.
template <Element T, std::size_t Rank>
tensor<T, Rank> load_npy(const std::string& path) {
    return tensor<T, Rank>(detail::npy_vertex(path, element_type_of<T>(), Rank));
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
