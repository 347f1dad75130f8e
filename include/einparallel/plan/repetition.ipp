#pragma once
// Repeated layers of a plan, for readers: runs of vertices whose placements and costs are equal, read alike.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/figures.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/words.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// `length` vertices from `first` on, `times` of them one after the other.
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
        !(static_cast<const vertex_wishes&>(one.wishes) == static_cast<const vertex_wishes&>(other.wishes)) ||
        program(one) != program(other) || source_text(one) != source_text(other)) {
        return false;
    }
    planned_vertex like = other;
    like.name = one.name;
    like.inputs = one.inputs;
    return like == one;
}

/// The runs of three and more equal layers, as they come: vertices equal in placement, costs and figures, each of which
/// reads what the one before it reads, or what comes as many vertices later.
EINPARALLEL_INLINE std::vector<repetition> repetitions_of(const plan& shown,
                                                          const std::vector<vertex_figures>& figures) {
    const std::size_t count = shown.vertices().size();
    std::vector<std::size_t> kind;  // the first vertex that is alike
    std::vector<std::size_t> kinds;
    for (std::size_t number = 0; number < count; ++number) {
        const auto known = std::ranges::find_if(kinds, [&](std::size_t other) {
            return figures[number] == figures[other] && is_alike(shown, number, other);
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
