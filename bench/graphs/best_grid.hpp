#pragma once
// The best that a grid of ranks reaches for one contraction, by trying all of them.

#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/notation/box.hpp>

#include <optional>

namespace bench {

using einparallel::contraction_shape;
using einparallel::index;

/// A grid of ranks over a contraction, and what it moves.
struct integer_grid {
    int c = 1;
    int m = 1;
    int n = 1;
    int k = 1;
    double words = 0;        ///< sent by the rank with the largest blocks
    double total_words = 0;  ///< sent by all ranks together

    [[nodiscard]] int size() const { return c * m * n * k; }
};

/// What a grid moves. A block that q ranks compute with is stored in q pieces: whoever has one sends it to, or receives
/// the others from, q − 1 ranks, so a rank moves (1 − 1/q) of every block. Extents that do not divide count by their
/// largest block.
inline integer_grid grid_of(const contraction_shape& shape, int c, int m, int n, int k) {
    integer_grid grid{c, m, n, k};
    const auto block = [](index extent, int parts) {
        return static_cast<double>(einparallel::block_of(extent, parts, 0).size());
    };
    const auto add = [&](index rows, int row_parts, index columns, int column_parts, int sharers) {
        const double held = block(shape.c, c) * block(rows, row_parts) * block(columns, column_parts);
        const double all = static_cast<double>(shape.c) * static_cast<double>(rows) * static_cast<double>(columns);
        grid.words += held * (sharers - 1) / sharers;
        grid.total_words += all * (sharers - 1);
    };
    add(shape.m, m, shape.k, k, n);
    add(shape.k, k, shape.n, n, m);
    add(shape.m, m, shape.n, n, k);
    return grid;
}

/// The grid of `processes` ranks (where the extents allow none: of as many as they allow) that moves least per rank.
inline integer_grid best_grid(const contraction_shape& shape, int processes) {
    const auto fits = [](int parts, index extent) { return parts == 1 || parts <= extent; };
    for (int ranks = processes; ranks > 1; --ranks) {
        std::optional<integer_grid> best;
        for (int c = 1; c <= ranks; ++c) {
            if (ranks % c != 0 || !fits(c, shape.c)) {
                continue;
            }
            for (int m = 1; m <= ranks / c; ++m) {
                if (ranks / c % m != 0 || !fits(m, shape.m)) {
                    continue;
                }
                const int others = ranks / c / m;
                for (int n = 1; n <= others; ++n) {
                    if (others % n == 0 && fits(n, shape.n) && fits(others / n, shape.k)) {
                        const integer_grid grid = grid_of(shape, c, m, n, others / n);
                        if (!best || grid.words < best->words ||
                            (grid.words == best->words && grid.total_words < best->total_words)) {
                            best = grid;
                        }
                    }
                }
            }
        }
        if (best) {
            return *best;
        }
    }
    return {};
}

}  // namespace bench
