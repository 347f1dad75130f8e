#pragma once
// A file that the ranks of a communicator write together (MPI-IO).

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace einparallel {

/// An existing file, open for writing on all ranks of a communicator. Every call is collective and may throw on some
/// ranks only: the others must be told before the next one that is not close(). A file that was not closed is left
/// open: closing is collective, and nobody knows whether the others come.
class shared_file {
public:
    /// @throws mpi_error
    EINPARALLEL_INLINE shared_file(const communicator& ranks, const std::string& path) {
#if defined(SMPI_H)
        throw error("'" + path + "' cannot be opened by ranks that SimGrid simulates (" + std::to_string(ranks.size()) +
                    "): their files are simulated, too");
#else
        detail::check_mpi(MPI_File_open(ranks.native(), path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &handle_),
                          "MPI_File_open");
        MPI_File_set_errhandler(handle_, MPI_ERRORS_RETURN);
#endif
    }
    shared_file(const shared_file&) = delete;
    shared_file& operator=(const shared_file&) = delete;
    ~shared_file() = default;

    /// Writes the elements that `here` describes in memory, from `data` on, to where `there` has them in the file, from
    /// byte `offset` on. Both describe as many elements of so many bytes, on this rank perhaps none.
    /// @pre elements in row-major order do not go back in the file; they are 2 GiB at most
    /// @throws mpi_error, error
    EINPARALLEL_INLINE void write(std::uint64_t offset, const box_type& there, const void* data, const box_type& here,
                                  std::size_t element_bytes) {
        const auto [unit, unit_bytes] = detail::unit_of(element_bytes);
        const auto type_of = [unit = unit](const box_type& of) { return of.count > 0 ? of.type.native() : unit; };
        const int viewed = MPI_File_set_view(handle_, static_cast<MPI_Offset>(offset) + there.offset, unit,
                                             type_of(there), "native", MPI_INFO_NULL);
        const auto* first = static_cast<const std::byte*>(data) + here.offset;
        MPI_Status status;
        const int code = MPI_File_write_all(handle_, first, static_cast<int>(here.count), type_of(here), &status);
        detail::check_mpi(viewed, "MPI_File_set_view");
        detail::check_mpi(code, "MPI_File_write_all");
        MPI_Count written = 0;
        detail::check_mpi(MPI_Get_elements_x(&status, unit, &written), "MPI_Get_elements_x");
        if (static_cast<std::size_t>(written) * static_cast<std::size_t>(unit_bytes) != here.bytes) {
            throw error("MPI_File_write_all wrote " + std::to_string(written * unit_bytes) + " of " +
                        std::to_string(here.bytes) + " bytes");
        }
    }

    /// @throws mpi_error
    EINPARALLEL_INLINE void close() {
        detail::check_mpi(MPI_File_close(&handle_), "MPI_File_close");
    }

private:
    MPI_File handle_ = MPI_FILE_NULL;
};

}  // namespace einparallel
