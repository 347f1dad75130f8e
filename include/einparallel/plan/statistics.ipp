#pragma once

#include <einparallel/plan/statistics.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/program.ipp>
#include <einparallel/plan/traffic.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace einparallel {

EINPARALLEL_INLINE std::optional<double> vertex_statistics::over_least(int ranks) const {
    if (!least_bytes) {
        return std::nullopt;
    }
    const double sent = static_cast<double>(gathered_bytes + aggregated_bytes) / ranks;
    return sent == 0 && *least_bytes == 0 ? 1 : sent / *least_bytes;
}

EINPARALLEL_INLINE std::vector<vertex_statistics> statistics_of(const plan& shown) {
    std::vector<vertex_statistics> statistics(shown.vertices().size());
    const std::vector<std::size_t> held = detail::held_by_vertex(shown, 0);
    for (std::size_t number = 0; number < statistics.size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        if (each.is_input()) {
            continue;
        }
        vertex_statistics& made = statistics[number];
        made.gathered_bytes = static_cast<std::size_t>(std::llround(detail::gathered_bytes(each.work)));
        made.aggregated_bytes = static_cast<std::size_t>(std::llround(detail::aggregated_bytes(each.work)));
        made.repartitioned_bytes = each.bytes - std::min(each.bytes, made.gathered_bytes + made.aggregated_bytes);
        made.held_bytes = held[number];
        const bool is_contraction =
            each.origin != nullptr && each.origin->work != nullptr && each.origin->work->is_contraction();
        const bool one_size =
            detail::all_in(each.work.operand_bytes, [&](std::size_t bytes) { return bytes == each.work.output_bytes; });
        // A sum that is not finished here, or not begun, is no contraction by itself; and what feeds workers from one
        // rank is none between blocks at rest.
        const bool whole = each.work.carried == no_label && each.work.pending == no_label &&
                           each.algorithm != algorithm::master_worker;
        const std::optional<contraction_shape> shape = contraction_shape_of(each.work.form, each.work.extents);
        if (is_contraction && one_size && whole && shape) {
            made.least_bytes =
                lower_bound_words(*shape, each.work.ranks.size()) * static_cast<double>(each.work.output_bytes);
        }
    }
    return statistics;
}

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

namespace einparallel::EINPARALLEL_DETAIL {

/// A layer that is repeated: `length` vertices from `first` on, `times` of them one after the other.
struct repetition {
    std::size_t first = 0;
    std::size_t length = 1;
    std::size_t times = 1;
};

/// Equal but for names and for whom they read.
EINPARALLEL_INLINE bool is_alike(const plan& shown, std::size_t a, std::size_t b) {
    const planned_vertex& one = shown.vertices()[a];
    const planned_vertex& other = shown.vertices()[b];
    const auto program = [](const planned_vertex& of) {
        return of.origin != nullptr && of.origin->work != nullptr ? of.origin->work->program() : op_program();
    };
    const auto is_output = [&](std::size_t number) { return found_in(number, shown.outputs()); };
    if (is_output(a) != is_output(b) ||
        !(static_cast<const vertex_constraints&>(one.constraints) ==
          static_cast<const vertex_constraints&>(other.constraints)) ||
        program(one) != program(other) || source_text(one) != source_text(other)) {
        return false;
    }
    planned_vertex like = other;
    like.name = one.name;
    like.inputs = one.inputs;
    return like == one;
}

/// The runs of three and more equal layers, as they come: vertices equal in placement, costs and statistics, each of
/// which reads what the one before it reads, or what comes as many vertices later.
EINPARALLEL_INLINE std::vector<repetition> repetitions_of(const plan& shown,
                                                          const std::vector<vertex_statistics>& statistics) {
    const std::size_t count = shown.vertices().size();
    std::vector<std::size_t> kind;  // the first vertex that is alike
    std::vector<std::size_t> kinds;
    for (std::size_t number = 0; number < count; ++number) {
        const auto known = std::ranges::find_if(kinds, [&](std::size_t other) {
            return statistics[number] == statistics[other] && is_alike(shown, number, other);
        });
        kind.push_back(known == kinds.end() ? number : *known);
        if (kind.back() == number) {
            kinds.push_back(number);
        }
    }
    const auto repeats = [&](std::size_t number, std::size_t length) {
        return kind[number] == kind[number + length] &&
               std::ranges::equal(shown.vertices()[number].inputs, shown.vertices()[number + length].inputs,
                                  [&](std::size_t a, std::size_t b) { return a == b || a + length == b; });
    };
    std::vector<repetition> found;
    for (std::size_t first = 0; first < count;) {
        repetition best{first, 1, 1};
        bool computes = false;
        for (std::size_t length = 1; first + 3 * length <= count; ++length) {
            computes = computes || !shown.vertices()[first + length - 1].is_input();
            std::size_t run = 0;
            while (computes && first + run + length < count && repeats(first + run, length)) {
                ++run;
            }
            const std::size_t times = run / length + 1;
            if (times > 2 && (times - 1) * length > (best.times - 1) * best.length) {
                best = {first, length, times};
            }
        }
        if (best.times > 1) {
            found.push_back(best);
        }
        first += best.length * best.times;
    }
    return found;
}

/// By vertex: the one that is shown for it.
EINPARALLEL_INLINE std::vector<std::size_t> shown_for(std::size_t count, const std::vector<repetition>& repeated) {
    std::vector<std::size_t> by_number(count);
    for (std::size_t number = 0; number < count; ++number) {
        by_number[number] = number;
    }
    for (const repetition& each : repeated) {
        for (std::size_t place = 0; place < each.length * each.times; ++place) {
            by_number[each.first + place] = each.first + place % each.length;
        }
    }
    return by_number;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
