#pragma once

#include <einparallel/plan/lower_bound.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace einparallel {

EINPARALLEL_INLINE std::optional<contraction_shape> contraction_shape_of(const einsum_form& form,
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

EINPARALLEL_INLINE double lower_bound_words(const contraction_shape& shape, int processes) {
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

EINPARALLEL_INLINE integer_grid grid_of(const contraction_shape& shape, int c, int m, int n, int k) {
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

EINPARALLEL_INLINE integer_grid best_grid(const contraction_shape& shape, int processes) {
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
