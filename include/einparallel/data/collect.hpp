#pragma once
// Sends elements of a distributed tensor to the ranks that ask for them: all to one, all to all, or a box to each.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Collects the whole tensor on rank `root`, or on every rank without `root`, in dense memory that allocate() returns
/// there. Collective.
EINPARALLEL_INLINE void gather_tensor(const local_tensor& local, std::optional<int> root,
                                      function_ref<std::byte*()> allocate);

/// Copies the box `mine` of a tensor into the memory that target() returns, and may allocate (distributed::fetch_into).
/// Every rank gives its own box, and learns the others' here. `mistake` says what this rank has already found wrong; it
/// is empty where nothing is. Collective. Returns the bytes that this rank sent. @throws error, the same on every rank
EINPARALLEL_INLINE std::size_t fetch_tensor(const local_tensor& local, const box& mine, const std::string& mistake,
                                            function_ref<strided_box()> target);

/// Copies a tensor into the memory of `there`, in the distribution of `there`, which all ranks know. Collective.
EINPARALLEL_INLINE void fetch_like(const local_tensor& local, const local_tensor& there);

}  // namespace einparallel::EINPARALLEL_DETAIL
