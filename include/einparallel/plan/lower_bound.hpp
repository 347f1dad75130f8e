#pragma once
// How little any distribution of one contraction can communicate, and the best that a grid of ranks reaches.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// A contraction of X (c·m × k) and Y (c·k × n) to Z (c·m × n), labels of one class fused into one extent.
struct contraction_shape {
    index c = 1;
    index m = 1;
    index n = 1;
    index k = 1;

    friend bool operator==(const contraction_shape&, const contraction_shape&) = default;
};

/// The shape of an einsum; nothing where it is no contraction of two operands, or has labels that stand twice in one
/// operand or are summed in one operand alone. Labels of extent 1 do not count. `extents` are by label of `form`.
[[nodiscard]] inline std::optional<contraction_shape> contraction_shape_of(const einsum_form& form,
                                                                           const std::vector<index>& extents) {
    if (form.operands.size() != 2) {
        return std::nullopt;
    }
    for (const std::vector<label_id>& labels : form.operands) {
        for (const label_id label : labels) {
            if (label != no_label && std::ranges::count(labels, label) > 1) {
                return std::nullopt;
            }
        }
    }
    contraction_shape shape;
    for (std::size_t label = 0; label < extents.size(); ++label) {
        if (extents[label] == 1) {
            continue;
        }
        switch (form.class_of(static_cast<label_id>(label))) {
            case label_class::c:
                shape.c *= extents[label];
                break;
            case label_class::m:
                shape.m *= extents[label];
                break;
            case label_class::n:
                shape.n *= extents[label];
                break;
            case label_class::k:
                shape.k *= extents[label];
                break;
            default:
                return std::nullopt;
        }
    }
    return shape;
}

/// Words that some rank at least has to send or receive where `processes` ranks share the operands, the output and the
/// multiplications of a contraction evenly and each element is held once: the tight bound, whatever the memory, of Al
/// Daas, Ballard, Grigori, Kumar and Rouse (2022), in three cases by the aspect ratio. Attained where the ideal grid is
/// integral.
/// Batches: the multiplications of one rank touch least if they fill whole batches and the rest lies in one (their
/// least number of elements touched is a concave function of the number of multiplications), so nothing has to move
/// where the number of batches is a multiple of `processes`.
[[nodiscard]] inline double lower_bound_words(const contraction_shape& shape, int processes) {
    std::array<double, 3> sorted{static_cast<double>(shape.m), static_cast<double>(shape.n),
                                 static_cast<double>(shape.k)};
    std::sort(sorted.begin(), sorted.end());
    const double k = sorted[0];
    const double n = sorted[1];
    const double m = sorted[2];
    const auto c = static_cast<double>(shape.c);
    if (c * k == 0 || processes <= 1) {
        return 0;
    }
    const double all = m * n + m * k + n * k;
    // Elements of one batch that a rank has to touch for a share 1/p of its multiplications.
    const auto touched = [&](double p) {
        if (p <= m / n) {
            return n * k + (m * n + m * k) / p;
        }
        if (p <= m * n / (k * k)) {
            return 2 * std::sqrt(m * n * k * k / p) + m * n / p;
        }
        return 3 * std::cbrt(m * n * k / p * (m * n * k / p));
    };
    const double batches = c / processes;
    const double whole = std::floor(batches);
    const double rest = batches - whole;
    const double most = whole * all + (rest > 0 ? touched(1 / rest) : 0);
    return std::max(0.0, most - batches * all);
}

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
[[nodiscard]] inline integer_grid grid_of(const contraction_shape& shape, int c, int m, int n, int k) {
    integer_grid grid{c, m, n, k};
    const auto block = [](index extent, int parts) { return static_cast<double>(block_of(extent, parts, 0).size()); };
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

/// The grid of `processes` ranks (where the extents allow none: of as many as they allow) that moves least per rank, by
/// trying all of them.
[[nodiscard]] inline integer_grid best_grid(const contraction_shape& shape, int processes) {
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

}  // namespace einparallel
