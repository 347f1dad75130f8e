#pragma once
// A matrix in uneven blocks of the application's own.

#include <einparallel/array/view.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/run/context.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace einparallel::testing {

inline constexpr double unused = -99;

/// Rows of a matrix: 3, 7, 0, 2 on four ranks and so on, `gap` elements behind each row.
struct uneven_rows {
    index first = 0, count = 0, all = 0, width, stride;
    std::vector<double> memory;
    std::vector<index> points{0};

    uneven_rows(const context& world, index wide, index gap) : width(wide), stride(wide + gap) {
        constexpr std::array<index, 4> lengths{3, 7, 0, 2};
        for (int rank = 0; rank < world.size(); ++rank) {
            points.push_back(points.back() + lengths[static_cast<std::size_t>(rank % 4)]);
        }
        const auto mine = static_cast<std::size_t>(world.rank());
        first = points[mine];
        count = points[mine + 1] - first;
        all = points.back();
        memory.assign(static_cast<std::size_t>(count * stride + 1), unused);
    }
    [[nodiscard]] einparallel::view<double, 2> view() { return {memory.data(), {count, width}, {stride, 1}}; }
    [[nodiscard]] distributed<double, 2> on(context& world) { return {world, {all, width}, {first, 0}, view()}; }

    template <class F>
    void fill(F f) {
        for (index row = 0; row < count; ++row) {
            for (index column = 0; column < width; ++column) {
                view()(row, column) = f(first + row, column);
            }
        }
    }
    /// True where the elements are these, and nothing was written between the rows.
    template <class F>
    [[nodiscard]] bool holds(F f) const {
        for (index place = 0; place < static_cast<index>(memory.size()); ++place) {
            const bool inside = place / stride < count && place % stride < width;
            const double wanted = inside ? f(first + place / stride, place % stride) : unused;
            if (memory[static_cast<std::size_t>(place)] != wanted) {
                return false;
            }
        }
        return true;
    }
};

}  // namespace einparallel::testing
