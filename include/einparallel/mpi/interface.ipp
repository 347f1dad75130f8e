#pragma once

#include <einparallel/mpi/interface.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string mpi_library() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> said{};
    int length = 0;
    MPI_Get_library_version(said.data(), &length);
    std::string line;
    for (const char letter : std::string_view(said.data(), std::size_t(length))) {
        const bool is_blank = letter == ' ' || letter == '\t';
        if (letter == '\n' || letter == '\0') {  // Open MPI counts the end of its text
            break;
        } else if (!is_blank || (!line.empty() && line.back() != ' ')) {
            line += is_blank ? ' ' : letter;
        }
    }
    return line;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
