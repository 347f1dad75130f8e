#pragma once
// Which vertices of a plan are equal layers, one after the other: tables and pictures show the first of them.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where two vertices are equal except for their names and the vertices that they read.
EINPARALLEL_SELDOM bool is_alike(const plan& shown, std::size_t a, std::size_t b) {
    const planned_vertex& one = shown.vertices()[a];
    planned_vertex like = shown.vertices()[b];
    const vertex_constraints& fixed = like.constraints;
    like.name = one.name;
    like.inputs = one.inputs;
    return like == one && fixed == one.constraints && source_text(one) == source_text(like) &&
           found_in(a, shown.outputs()) == found_in(b, shown.outputs()) &&
           (one.is_input() || one.origin->work->program() == like.origin->work->program());
}

/// Equal layers that follow each other: `times` layers of `length` vertices each, from vertex `first` on.
struct repetition {
    std::size_t first = 0;
    std::size_t length = 1;
    std::size_t times = 1;

    /// The number of the layer in which a vertex is, from 0.
    std::size_t layer_of(std::size_t number) const { return (number - first) / length; }
    /// The vertex of the first layer that is shown in place of this vertex. It may be the vertex itself.
    std::size_t shown_for(std::size_t number) const { return first + (number - first) % length; }
};

/// By vertex: the run of three or more equal layers to which it belongs; without one, a layer of this vertex alone.
/// Layers are equal where their vertices have equal placements, costs, bytes held and bytes paged, and each vertex
/// reads either the same vertices as the one in the layer before, or vertices that are one layer further on.
EINPARALLEL_SELDOM std::vector<repetition> layers_of(const plan& shown,
                                                     const std::vector<vertex_statistics>& statistics) {
    const std::size_t count = shown.vertices().size();
    std::vector<std::size_t> kind;  // the first vertex that is alike
    for (std::size_t number = 0; number < count; ++number) {
        std::size_t first = 0;
        while (first < number &&
               (kind[first] != first || statistics[number].held_bytes != statistics[first].held_bytes ||
                statistics[number].paged_bytes != statistics[first].paged_bytes || !is_alike(shown, number, first))) {
            ++first;
        }
        kind.push_back(first);
    }
    const auto repeats = [&](std::size_t number, std::size_t length) {
        return kind[number] == kind[number + length] &&
               equal_in(shown.vertices()[number].inputs, shown.vertices()[number + length].inputs,
                        [&](std::size_t a, std::size_t b) { return a == b || a + length == b; });
    };
    std::vector<repetition> found;
    while (found.size() < count) {
        const std::size_t first = found.size();
        repetition best{first};
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
        found.insert(found.end(), best.length * best.times, best);
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
