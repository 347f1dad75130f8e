#pragma once
// A measurement in a child process, with limits on its processor time and its memory.

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <type_traits>

namespace bench {

struct child_limits {
    int seconds = 0;         ///< of the processor; 0: none
    std::size_t memory = 0;  ///< bytes of address space; 0: none
};

template <class Value>
struct child_result {
    std::optional<Value> value;
    double megabytes = 0;  ///< largest resident set
    bool late = false;     ///< killed at the limit of seconds
    std::string failure;   ///< the reason for no value
};

/// measure() in a child. @pre Value is plain data: it goes through a pipe
template <class Measure>
auto in_child(const child_limits& limits, Measure&& measure) -> child_result<decltype(measure())> {
    using value_type = decltype(measure());
    static_assert(std::is_trivially_copyable_v<value_type>);
    child_result<value_type> result;
    std::array<int, 2> ends{};
    std::cout.flush();
    const bool open = pipe(ends.data()) == 0;
    const pid_t child = open ? fork() : -1;
    if (child < 0) {
        result.failure = "no process could be started";
        return result;
    }
    if (child == 0) {
        const auto limit = [](auto resource, rlim_t most) {
            rlimit bounds{};
            const bool known = getrlimit(resource, &bounds) == 0;
            bounds.rlim_cur = std::min(most, bounds.rlim_max);
            return known && setrlimit(resource, &bounds) == 0;
        };
        if ((limits.seconds > 0 && !limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds))) ||
            (limits.memory > 0 && !limit(RLIMIT_AS, static_cast<rlim_t>(limits.memory))) ||
            !limit(RLIMIT_CORE, 0)) {  // SIGXCPU would dump one
            _exit(1);
        }
        const value_type value = measure();
        _exit(write(ends[1], &value, sizeof value) == static_cast<ssize_t>(sizeof value) ? 0 : 1);
    }
    close(ends[1]);
    value_type value{};
    const bool complete = read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value);
    close(ends[0]);
    int status = 0;
    rusage used{};
    wait4(child, &status, 0, &used);
    result.megabytes = static_cast<double>(used.ru_maxrss) * 1024e-6;  // Linux counts in KiB
    if (complete) {
        result.value = value;
    } else {
        result.late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
        result.failure = result.late ? "no plan within " + std::to_string(limits.seconds) + " s"
                                     : "the process ended with status " + std::to_string(status);
    }
    return result;
}

}  // namespace bench
