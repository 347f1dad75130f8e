#pragma once
// What an MPI call that fails turns into.

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

/// An MPI call on one of the library's own communicators returned an error code. The text names the call, for messages
/// the peer, and holds MPI's own words. (MPICH reports what fails on the way on MPI_COMM_WORLD: where the application
/// left MPI_ERRORS_ARE_FATAL there, MPI ends the job instead.)
class mpi_error : public error {
public:
    /// With MPI's own words for the code.
    mpi_error(const std::string& call, int code) : error(sentence(call, code)), code_(code) {}

    /// MPI's error code.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    EINPARALLEL_INLINE static std::string sentence(const std::string& call, int code);

    int code_;
};

namespace EINPARALLEL_DETAIL {

/// Throws where `code` is not MPI_SUCCESS. `call` is the name of the MPI function.
EINPARALLEL_INLINE void check_mpi(int code, const char* call);

/// True between MPI_Init and MPI_Finalize, the only time in which handles may be made, used or freed.
EINPARALLEL_INLINE bool mpi_is_running() noexcept;

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
