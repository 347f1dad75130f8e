#pragma once
// The exception that a failed MPI call becomes.

#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <string>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
#if defined(SMPI_H)
#define EINPARALLEL_DETAIL_MPI_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _smpi)
#elif defined(OPEN_MPI)
#define EINPARALLEL_DETAIL_MPI_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _openmpi)
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
#define EINPARALLEL_DETAIL_MPI_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _mpich)
#else
#define EINPARALLEL_DETAIL_MPI_ABI EINPARALLEL_DETAIL_VERSIONED(einparallel_compiled, _mpi)
#endif
EINPARALLEL_DETAIL_REFER_TO(EINPARALLEL_DETAIL_MPI_ABI)
#endif

namespace einparallel {

/// The error of an MPI call on one of the library's own communicators. The text names the call, the peer where the call
/// is about a message, and MPI's own description. (MPICH reports failures of messages in flight on MPI_COMM_WORLD.
/// Where the application left MPI_ERRORS_ARE_FATAL there, MPI ends the job instead.)
class mpi_error : public error {
public:
    /// Makes an error with MPI's own description of the code.
    mpi_error(const std::string& call, int code) : error(sentence(call, code)), code_(code) {}

    /// MPI's error code.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    EINPARALLEL_INLINE static std::string sentence(const std::string& call, int code);

    int code_;
};

namespace EINPARALLEL_DETAIL {

/// Throws mpi_error where `code` is not MPI_SUCCESS. `call` is the name of the MPI function.
EINPARALLEL_INLINE void check_mpi(int code, const char* call);

/// True between MPI_Init and MPI_Finalize, the only time in which handles may be made, used or freed.
EINPARALLEL_INLINE bool mpi_is_running() noexcept;

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
