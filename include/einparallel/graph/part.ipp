#pragma once

#include <einparallel/graph/part.hpp>

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM written_part part_of(std::span<const index_function> left, index_span assigned, bool once) {
    // Each label as a function of dimensions of the whole and of labels, which are numbered behind these; of itself
    // first.
    const std::size_t rank = left.size();
    const std::size_t constant = rank + assigned.size();
    using row = std::vector<index>;
    std::vector<row> value(assigned.size(), row(constant + 1));
    for (std::size_t label = 0; label < assigned.size(); ++label) {
        value[label][rank + label] = 1;
    }
    const auto add = [](row& to, index factor, const row& other) {
        for (std::size_t place = 0; place < to.size(); ++place) {
            to[place] = fused(to[place], factor, other[place]);
        }
    };
    written_part made{{}, {assigned.begin(), assigned.end()}, {}};
    std::vector<row> zero;
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        row rest(constant + 1);  // 0 = left − dimension
        rest[dimension] = -1;
        rest[constant] = left[dimension].constant;
        for (const index_term& term : left[dimension].terms) {
            add(rest, term.coefficient, value[std::size_t(term.label)]);
        }
        std::size_t solved = rank;
        while (solved < constant && std::abs(rest[solved]) != 1) {
            ++solved;
        }
        if (solved == constant) {
            zero.push_back(std::move(rest));
            continue;
        }
        made.summed[solved - rank] = 1;
        const index sign = -rest[solved];
        rest[solved] = 0;
        for (row& each : value) {
            const index factor = std::exchange(each[solved], 0);
            add(each, fused(0, factor, sign), rest);
        }
        for (row& each : zero) {
            const index factor = std::exchange(each[solved], 0);
            add(each, fused(0, factor, sign), rest);
        }
    }
    const auto function = [&](const row& of) {
        index_function written{{}, of[constant], false};
        for (std::size_t place = 0; place < constant; ++place) {
            if (of[place] != 0 && (place < rank || made.summed[place - rank] > 1)) {
                written.terms.push_back({label_id(place), of[place]});
            }
        }
        return written;
    };
    for (const std::vector<row>& rows : {value, zero}) {
        std::transform(rows.begin(), rows.end(), std::back_inserter(made.at), function);
    }
    for (const row& each : zero) {
        if (std::any_of(each.begin() + std::ptrdiff_t(rank), each.end() - 1,
                        [](index factor) { return factor != 0; })) {
            made.failure =
                "einsum: on the left of what is recorded a label stands with 1 or -1 in some dimension: elsewhere an "
                "integer tensor of indices says where elements go";
        }
    }
    if (made.failure.empty() && once && any_in(made.summed, [](index extent) { return extent > 1; })) {
        made.failure = "einsum: several indices on the left name one element: say += to add up what is assigned to it";
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
