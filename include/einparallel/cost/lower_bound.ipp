#pragma once

#include <einparallel/cost/lower_bound.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace einparallel {

EINPARALLEL_INLINE std::optional<contraction_shape> contraction_shape_of(const einsum_form& form,
                                                                         const std::vector<index>& extents) {
    if (form.operands.size() != 2 || !form.is_plain()) {
        return std::nullopt;
    }
    std::array<index, 6> of_class{1, 1, 1, 1, 1, 1};
    for (std::size_t number = 0; number < extents.size(); ++number) {
        const auto label = label_id(number);
        if (detail::any_in(form.operands, [&](const auto& own) { return detail::count_in(own, label) > 1; })) {
            return std::nullopt;
        }
        of_class[form.class_of(label)] *= extents[number];
    }
    if (of_class[label_class::x_only] != 1 || of_class[label_class::y_only] != 1) {
        return std::nullopt;
    }
    return contraction_shape{of_class[label_class::c], of_class[label_class::m], of_class[label_class::n],
                             of_class[label_class::k]};
}

EINPARALLEL_INLINE double lower_bound_words(const contraction_shape& shape, int processes) {
    std::array<double, 3> sorted{double(shape.m), double(shape.n), double(shape.k)};
    detail::sort_range(sorted);
    const double k = sorted[0];
    const double n = sorted[1];
    const double m = sorted[2];
    const auto c = double(shape.c);
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
