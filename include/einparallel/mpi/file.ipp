#pragma once

#include <einparallel/mpi/file.hpp>

#include <einparallel/notation/error.hpp>

namespace einparallel {

EINPARALLEL_INLINE shared_file::shared_file(const communicator& ranks, const std::string& path) {
#if defined(SMPI_H)
    throw error("'" + path + "' cannot be opened by ranks that SimGrid simulates (" + std::to_string(ranks.size()) +
                "): their files are simulated, too");
#else
    detail::check_mpi(MPI_File_open(ranks.native(), path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &handle_),
                      "MPI_File_open");
    MPI_File_set_errhandler(handle_, MPI_ERRORS_RETURN);
#endif
}

EINPARALLEL_INLINE void shared_file::write(std::uint64_t offset, const box_type& there, const void* data,
                                           const box_type& here, std::size_t element_bytes) {
    const auto [unit, unit_bytes] = detail::unit_of(element_bytes);
    const auto type_of = [unit = unit](const box_type& of) { return of.count > 0 ? of.type.native() : unit; };
    const int viewed = MPI_File_set_view(handle_, static_cast<MPI_Offset>(offset) + there.offset, unit, type_of(there),
                                         "native", MPI_INFO_NULL);
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

EINPARALLEL_INLINE void shared_file::close() {
    detail::check_mpi(MPI_File_close(&handle_), "MPI_File_close");
}

}  // namespace einparallel
