#pragma once
// The most memory that the process has had.

#include <cstddef>
#include <fstream>
#include <string>

namespace einparallel::testing {

/// In bytes; 0 where the system does not say.
inline std::size_t most_resident() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        if (word == "VmHWM:") {
            std::size_t kibibytes = 0;
            status >> kibibytes;
            return kibibytes << 10;
        }
    }
    return 0;
}

}  // namespace einparallel::testing
