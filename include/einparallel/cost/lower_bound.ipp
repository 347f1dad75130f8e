#pragma once

#include <einparallel/cost/lower_bound.hpp>

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
    std::array<index, 4> of_class{1, 1, 1, 1};  // c, m, n, k
    for (std::size_t label = 0; label < extents.size(); ++label) {
        const auto kind = static_cast<std::size_t>(form.class_of(static_cast<label_id>(label)));
        if (extents[label] != 1 && kind >= of_class.size()) {
            return std::nullopt;
        }
        (extents[label] == 1 ? of_class[0] : of_class[kind]) *= extents[label];
    }
    return contraction_shape{of_class[0], of_class[1], of_class[2], of_class[3]};
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

}  // namespace einparallel
