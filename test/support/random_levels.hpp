#pragma once
// Random machines with levels: nodes and switches of equal or unequal sizes, ranks in any order on them.

#include <einparallel/cost/machine.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace test {

namespace ep = einparallel;

class random_machines {
public:
    explicit random_machines(unsigned seed) : engine_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
    bool one_in(int count) { return between(1, count) == 1; }

    /// One to three levels for so many ranks. @param even  groups of one size, in the order of ranks
    ep::machine any(int ranks, bool even) {
        ep::machine made;
        std::vector<int> ends;  // of the groups of the level before
        for (int rank = 1; rank <= ranks; ++rank) {
            ends.push_back(rank);
        }
        const int levels = between(1, 2);
        std::size_t level = 0;
        for (int number = 0; number < levels; ++number) {
            ep::machine_level& each = made.levels[level++];
            each = constants();
            if (even || one_in(2)) {
                // A multiple of the groups inside that divides the ranks; uneven groups inside have none.
                const int inside = ends.front();
                std::vector<int> sizes;
                for (int size = inside; size <= ranks; size += inside) {
                    const bool fits = ranks % size == 0 && std::ranges::all_of(steps(size, ranks), [&](int end) {
                                          return std::ranges::find(ends, end) != ends.end();
                                      });
                    if (fits) {
                        sizes.push_back(size);
                    }
                }
                each.ranks = sizes.empty() ? ranks : sizes[static_cast<std::size_t>(between(0, int(sizes.size()) - 1))];
                ends = steps(each.ranks, ranks);
            } else {
                std::vector<int> kept;
                for (const int end : ends) {
                    if (end == ranks || (one_in(2) && kept.size() < 6)) {
                        kept.push_back(end);
                    }
                }
                ends = kept;
                int before = 0;
                std::size_t run = 0;
                for (const int end : ends) {
                    const int size = end - before;
                    if (run > 0 && each.uneven[run - 1].ranks == size) {
                        ++each.uneven[run - 1].count;
                    } else {
                        each.uneven[run++] = {1, size};
                    }
                    before = end;
                }
            }
        }
        made.levels[level] = constants();
        made.levels[level].ranks = one_in(2) ? 0 : ranks;
        if (!even && one_in(2)) {
            int filled = 0;
            std::vector<int> node_of_rank;
            for (int rank = 0; rank < ranks; ++rank) {
                filled += rank >= ends_of(made.levels[0], ranks)[static_cast<std::size_t>(filled)] ? 1 : 0;
                node_of_rank.push_back(filled);
            }
            std::shuffle(node_of_rank.begin(), node_of_rank.end(), engine_);
            made.node_of_rank = node_of_rank;
        }
        return made;
    }

    ep::machine_level constants() {
        return {0, 1e-6 * between(0, 9), 1e-11 * between(1, 30), static_cast<double>(between(1, 3)), {}};
    }

private:
    static std::vector<int> steps(int size, int ranks) {
        std::vector<int> made;
        for (int end = size; end <= ranks; end += size) {
            made.push_back(end);
        }
        return made;
    }
    static std::vector<int> ends_of(const ep::machine_level& level, int ranks) {
        if (!level.is_uneven()) {
            return steps(level.ranks, ranks);
        }
        std::vector<int> made;
        int end = 0;
        for (const ep::group_run& run : level.uneven) {
            for (int group = 0; group < run.count; ++group) {
                made.push_back(end += run.ranks);
            }
        }
        return made;
    }

    std::mt19937 engine_;
};

}  // namespace test
