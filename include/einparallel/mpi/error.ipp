#pragma once

#include <einparallel/mpi/error.hpp>

#include <array>
#include <cstddef>

namespace einparallel {

EINPARALLEL_SELDOM std::string mpi_error::sentence(const std::string& call, int code) {
    std::array<char, MPI_MAX_ERROR_STRING + 1> words{};
    int length = 0;
    if (MPI_Error_string(code, words.data(), &length) != MPI_SUCCESS) {
        return call + " failed with code " + std::to_string(code);
    }
    return call + " failed: " + std::string(words.data(), std::size_t(length));
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM void check_mpi(int code, const char* call) {
    if (code != MPI_SUCCESS) {
        throw mpi_error(call, code);
    }
}

EINPARALLEL_SELDOM bool mpi_is_running() noexcept {
    int initialized = 0;
    int finalized = 0;
    return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
           MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
