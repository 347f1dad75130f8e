#pragma once
// Einsums of tensors in files that are larger than memory, on one process.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel {

/// What ep::einsum_files may use.
struct file_options {
    std::size_t memory_limit = 0;  ///< bytes of tensors that are in memory at one time; 0 is no limit
    bool overwrite = false;        ///< true: an older file of the output's name is replaced
    std::string scratch{};         ///< folder for intermediate results that wait; empty: the folder of the output
};

/// The einsum of tensors in .npy files, written to a .npy file, in the language of ep::einsum("ij,jk->ik", A, B). Parts
/// of the tensors are read, some of them several times, and parts of the output written while this process computes.
/// The output is written beside its place and takes its name when it is whole. Elements have one type in all files.
///
///     ep::einsum_files("ki,kj->ij", {"a.npy", "a.npy"}, "g.npy", {.memory_limit = std::size_t{1} << 30});
///
/// It needs MPI to be initialised, and communicates with nobody.
/// @throws error for a mistake in the string, where files cannot be read, differ in their element types or do not fit
/// each other or are halves, where the output is one of the inputs or exists and overwrite is false, where no plan
/// keeps to the limit, and where the disk is full. The output's file is then as it was before.
EINPARALLEL_INLINE void einsum_files(std::string_view text, const std::vector<std::string>& inputs,
                                     const std::string& output, const file_options& how = {});

}  // namespace einparallel
