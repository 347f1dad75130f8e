#pragma once
// What an MPI call that fails turns into.

#include <einparallel/notation/error.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

namespace einparallel {

/// An MPI call on one of the library's own communicators returned an error code. The text names the call and holds
/// MPI's own words.
class mpi_error : public error {
public:
    mpi_error(const char* call, int code) : error(sentence(call, code)), code_(code) {}

    /// MPI's error code.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    static std::string sentence(const char* call, int code) {
        std::array<char, MPI_MAX_ERROR_STRING + 1> words{};
        int length = 0;
        if (MPI_Error_string(code, words.data(), &length) != MPI_SUCCESS) {
            return std::string(call) + " failed with code " + std::to_string(code);
        }
        return std::string(call) + " failed: " + std::string(words.data(), static_cast<std::size_t>(length));
    }

    int code_;
};

namespace detail {

/// Throws where `code` is not MPI_SUCCESS. `call` is the name of the MPI function.
inline void check_mpi(int code, const char* call) {
    if (code != MPI_SUCCESS) {
        throw mpi_error(call, code);
    }
}

/// True between MPI_Init and MPI_Finalize, the only time in which handles may be made, used or freed.
inline bool mpi_is_running() noexcept {
    int initialized = 0;
    int finalized = 0;
    return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
           MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

}  // namespace detail

}  // namespace einparallel
