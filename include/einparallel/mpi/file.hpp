#pragma once
// A file that the ranks of a communicator write together (MPI-IO).

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/compiled.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace einparallel {

/// An existing file, open for writing on all ranks of a communicator. Every call is collective and may throw on some
/// ranks only: the others must be told before the next one that is not close().
class shared_file {
public:
    /// @throws mpi_error
    EINPARALLEL_INLINE shared_file(const communicator& ranks, const std::string& path);
    shared_file(const shared_file&) = delete;
    shared_file& operator=(const shared_file&) = delete;

    /// Leaves a file open that was not closed: closing is collective, and nobody knows whether the others come.
    ~shared_file() = default;

    /// Writes the elements that `here` describes in memory, from `data` on, to where `there` has them in the file, from
    /// byte `offset` on. Both describe as many elements of so many bytes, on this rank perhaps none.
    /// @pre elements in row-major order do not go back in the file; they are 2 GiB at most
    /// @throws mpi_error, error
    EINPARALLEL_INLINE void write(std::uint64_t offset, const box_type& there, const void* data, const box_type& here,
                                  std::size_t element_bytes);

    /// @throws mpi_error
    EINPARALLEL_INLINE void close();

private:
    MPI_File handle_ = MPI_FILE_NULL;
};

}  // namespace einparallel
