#pragma once
// Measures two pieces of work in turns on one thread.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Median seconds of a call of each, over rounds of at least a hundredth of a second, after one that is not counted.
template <class First, class Second>
std::pair<double, double> in_turns(int rounds, double points, const First& first, const Second& second) {
    const int calls = std::max(1, int(1e7 / points));
    const auto seconds = [&](const auto& work) {
        const double start = processor_seconds();
        for (int call = 0; call < calls; ++call) {
            work();
        }
        return (processor_seconds() - start) / calls;
    };
    std::vector<double> of_first;
    std::vector<double> of_second;
    for (int round = -1; round < rounds; ++round) {
        const double one = seconds(first);
        const double other = seconds(second);
        if (round >= 0) {
            of_first.push_back(one);
            of_second.push_back(other);
        }
    }
    const auto median = [](std::vector<double>& all) {
        std::nth_element(all.begin(), all.begin() + std::ptrdiff_t(all.size() / 2), all.end());
        return all[all.size() / 2];
    };
    return {median(of_first), median(of_second)};
}

/// --rounds r, --sides n,n,…
struct options {
    int rounds = 9;
    std::vector<long> sides;

    options(int count, char** arguments, std::vector<long> usual) : sides(std::move(usual)) {
        for (int at = 1; at + 1 < count; at += 2) {
            const std::string name = arguments[at];
            char* rest = arguments[at + 1];
            if (name == "--rounds") {
                rounds = std::atoi(rest);
            } else if (name == "--sides") {
                for (sides.clear(); *rest != 0; rest += *rest == ',' ? 1 : 0) {
                    sides.push_back(std::strtol(rest, &rest, 10));
                }
            }
        }
    }
};

}  // namespace bench
