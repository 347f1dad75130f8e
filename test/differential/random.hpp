#pragma once
// Random numbers that are the same with every standard library: std::mt19937 is pinned, std's distributions are not.

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace differential {

class random_numbers {
public:
    explicit random_numbers(unsigned seed) : engine_(seed) {}

    /// One of low … high.
    int between(int low, int high) { return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1)); }
    bool chance(int percent) { return between(1, 100) <= percent; }

    template <class T>
    const T& one_of(const std::vector<T>& things) {
        return things[static_cast<std::size_t>(between(0, static_cast<int>(things.size()) - 1))];
    }
    template <class List>
    void shuffle(List& things) {
        for (std::size_t last = things.size(); last > 1; --last) {
            std::swap(things[last - 1], things[static_cast<std::size_t>(between(0, static_cast<int>(last) - 1))]);
        }
    }

private:
    std::mt19937 engine_;
};

}  // namespace differential
