#pragma once

#include <einparallel/notation/affine_map.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<label_id> first_labels(std::size_t count) {
    std::vector<label_id> all(count);
    std::iota(all.begin(), all.end(), label_id{0});
    return all;
}

EINPARALLEL_INLINE std::vector<label_id> labels_in(std::span<const index_function> functions) {
    std::vector<label_id> all;
    for (const index_function& each : functions) {
        for (const index_term& term : each.terms) {
            if (!found_in(term.label, all)) {
                all.push_back(term.label);
            }
        }
    }
    return all;
}

/// The last dimension that the function of `dimension` runs through.
EINPARALLEL_INLINE std::size_t last_fused(std::span<const index_function> functions, std::size_t dimension) {
    while (dimension + 1 < functions.size() && functions[dimension + 1].is_fused) {
        ++dimension;
    }
    return dimension;
}

/// `outer` with the function inner[label] in place of each label.
EINPARALLEL_INLINE index_function composed(index_function outer, const std::vector<index_function>& inner) {
    for (const index_term& term : std::exchange(outer.terms, {})) {
        const index_function& own = inner[std::size_t(term.label)];
        outer.constant = fused(outer.constant, term.coefficient, own.constant);
        for (const index_term& each : own.terms) {
            auto known = find_in(outer.terms, each.label, &index_term::label);
            known = known != outer.terms.end() ? known : outer.terms.insert(known, {each.label, 0});
            known->coefficient = fused(known->coefficient, term.coefficient, each.coefficient);
        }
    }
    std::erase_if(outer.terms, [](const index_term& term) { return term.coefficient == 0; });
    return outer;
}

EINPARALLEL_INLINE inverse_map inverse(const affine_map& map, index_span extents) {
    // Each label is a function of the dimensions and of labels, which are numbered behind the dimensions. At first it
    // is the function of itself.
    const std::size_t rank = map.functions.size();
    const std::size_t constant = rank + extents.size();
    using row = std::vector<index>;
    std::vector<row> rows(extents.size(), row(constant + 1));  // of labels, and behind them what is 0
    for (std::size_t label = 0; label < extents.size(); ++label) {
        rows[label][rank + label] = 1;
    }
    const auto add = [](row& to, index factor, const row& other) {
        for (std::size_t column = 0; column < to.size(); ++column) {
            to[column] = fused(to[column], factor, other[column]);
        }
    };
    inverse_map made{{}, {extents.begin(), extents.end()}};
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        row rest(constant + 1);  // 0 = function − dimension
        rest[dimension] = -1;
        rest[constant] = map.functions[dimension].constant;
        for (const index_term& term : map.functions[dimension].terms) {
            add(rest, term.coefficient, rows[std::size_t(term.label)]);
        }
        std::size_t solved = rank;
        while (solved < constant && std::abs(rest[solved]) != 1) {
            ++solved;
        }
        if (solved == constant) {
            rows.push_back(std::move(rest));
            continue;
        }
        made.summed[solved - rank] = 1;
        const index sign = -rest[solved];
        rest[solved] = 0;
        for (row& each : rows) {
            const index factor = std::exchange(each[solved], 0);
            add(each, fused(0, factor, sign), rest);
        }
    }
    for (std::size_t number = 0; number < rows.size(); ++number) {
        const row& of = rows[number];
        const bool is_condition = number >= extents.size();
        index_function written{{}, of[constant]};
        for (std::size_t column = 0; column < constant; ++column) {
            made.is_solved = made.is_solved && !(is_condition && column >= rank && of[column] != 0);
            if (of[column] != 0 && (column < rank || made.summed[column - rank] > 1)) {
                written.terms.push_back({label_id(column), of[column]});
            }
        }
        (is_condition ? made.at.where : made.at.functions).push_back(std::move(written));
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE affine_map affine_map::at_labels(label_span labels) {
    return {detail::list_of(labels, [](label_id label) {
        return label == no_label ? index_function{} : index_function{{{label, 1}}};
    })};
}

EINPARALLEL_INLINE affine_map affine_map::reshaping(index_span bounds, index_span extents) {
    affine_map made{std::vector<index_function>(bounds.size()), {bounds.begin(), bounds.end()}};
    std::size_t label = 0;
    for (std::size_t dimension = 0; dimension < bounds.size() && detail::element_count(bounds) > 0; ++dimension) {
        index_function& function = made.functions[dimension];
        const std::size_t first = label;
        index here = bounds[dimension];
        for (index there = 1; here > 1 && there != here;) {  // as many elements on both sides
            if (there < here) {
                there *= extents[label++];
            } else {
                made.functions[++dimension].is_fused = true;
                here *= bounds[dimension];
            }
        }
        index stride = here;
        for (std::size_t each = first; each < label; ++each) {
            stride /= extents[each];
            if (extents[each] > 1) {
                function.terms.push_back({label_id(each), stride});
            }
        }
    }
    return made;
}

EINPARALLEL_INLINE std::vector<index_function> affine_map::inside() const {
    std::vector<index_function> conditions = functions;
    for (std::size_t dimension = 0; dimension < functions.size(); ++dimension) {
        conditions[dimension].extent = bounds[dimension];
    }
    return conditions;
}

EINPARALLEL_INLINE std::vector<label_id> affine_map::labels() const {
    std::vector<label_id> all = detail::labels_in(functions);
    for (const label_id label : detail::labels_in(where)) {
        detail::found_in(label, all) ? void() : all.push_back(label);
    }
    return all;
}

EINPARALLEL_INLINE label_id affine_map::label_of(std::size_t dimension, index_span extents) const {
    const index_function& at = functions[dimension];
    const bool is_label = at.terms.size() == 1 && at.terms[0].coefficient == 1 && at.constant == 0 &&
                          extents[std::size_t(at.terms[0].label)] == bounds[dimension];
    return is_label ? at.terms[0].label : no_label;
}

EINPARALLEL_INLINE affine_map affine_map::after(const affine_map& inner) const {
    const bool is_first = is_plain() && !bounds.empty();
    const auto seen = [&](const index_function& each) { return detail::composed(each, inner.functions); };
    affine_map made{is_first ? inner.functions : detail::list_of(functions, seen), bounds, inner.where};
    std::transform(where.begin(), where.end(), std::back_inserter(made.where), seen);
    return made;
}

EINPARALLEL_INLINE box affine_map::reach(const std::vector<interval>& ranges) const {
    return around(
        {detail::list_of(functions, [&](const index_function& each) { return detail::range_of(each, ranges); })});
}

EINPARALLEL_INLINE bool affine_map::narrow(std::vector<interval>& ranges) const {
    return detail::all_in(where, [&](const index_function& condition) {
        if (condition.terms.size() == 1) {
            const index_term& term = condition.terms[0];
            const bool rises = term.coefficient > 0;
            const index low = rises ? -condition.constant : condition.constant - condition.extent + 1;
            const index each = rises ? term.coefficient : -term.coefficient;
            interval& range = ranges[std::size_t(term.label)];
            range = intersect(
                range, {detail::quotient_above(low, each), detail::quotient_above(low + condition.extent, each)});
        }
        return detail::any_in(ranges, &interval::empty) ||
               !intersect(detail::range_of(condition, ranges), {0, condition.extent}).empty();
    });
}

EINPARALLEL_INLINE index affine_map::strides_along(label_span labels, const box& region, index_span strides,
                                                   std::span<index> made) const {
    std::fill(made.begin(), made.end(), 0);
    index first = 0;
    for (std::size_t dimension = 0; dimension < functions.size(); ++dimension) {
        const index_function& function = functions[dimension];
        index begin = region.sides[dimension].begin;
        for (const std::size_t last = detail::last_fused(functions, dimension); dimension < last;) {
            ++dimension;
            begin = begin * bounds[dimension] + region.sides[dimension].begin;
        }
        first += (function.constant - begin) * strides[dimension];
        for (const index_term& term : function.terms) {
            made[std::size_t(detail::find_in(labels, term.label) - labels.begin())] +=
                term.coefficient * strides[dimension];
        }
    }
    return first;
}

EINPARALLEL_INLINE box affine_map::in_rows(box region) const {
    for (std::size_t dimension = 0; dimension < functions.size(); ++dimension) {
        interval& side = region.sides[dimension];
        for (const std::size_t last = detail::last_fused(functions, dimension); dimension < last;) {
            const interval next = std::exchange(region.sides[++dimension], {0, 1});
            side = side.empty() || next.empty() ? interval{}
                                                : interval{side.begin * bounds[dimension] + next.begin,
                                                           (side.end - 1) * bounds[dimension] + next.end};
        }
    }
    return region;
}

EINPARALLEL_INLINE box affine_map::around(box rows) const {
    for (std::size_t dimension = 0; dimension < functions.size(); ++dimension) {
        const std::size_t last = detail::last_fused(functions, dimension);
        if (last == dimension) {
            continue;
        }
        index inner = detail::element_count(index_span(bounds).subspan(dimension, last + 1 - dimension));
        interval rest = intersect(rows.sides[dimension], {0, inner});
        bool is_whole = false;  // of rows that follow each other, all
        for (; dimension <= last; ++dimension) {
            interval& side = rows.sides[dimension];
            inner /= bounds[dimension];
            side = is_whole ? interval{0, bounds[dimension]} : interval{rest.begin / inner, (rest.end - 1) / inner + 1};
            side.end = rest.empty() ? side.begin : side.end;
            is_whole = is_whole || side.size() > 1;
            rest = {rest.begin - side.begin * inner, rest.end - side.begin * inner};
        }
        dimension = last;
    }
    return rows;
}

EINPARALLEL_INLINE bool affine_map::has_rows(index_span strides) const {
    index wanted = 0;
    bool all = true;
    for (std::size_t dimension = functions.size(); dimension-- > 0;) {
        if (bounds[dimension] > 1) {
            all = all && (wanted == 0 || strides[dimension] == wanted);
            wanted = functions[dimension].is_fused ? strides[dimension] * bounds[dimension] : 0;
        }
    }
    return all;
}

EINPARALLEL_INLINE std::vector<label_id> affine_map::row_major(index_span extents) const {
    std::vector<index_term> steps;
    index behind = 1;  // elements of the dimensions after those of a function
    index here = 1;    // of all that are passed
    for (std::size_t dimension = functions.size(); dimension-- > 0;) {
        here *= bounds[dimension];
        if (!functions[dimension].is_fused) {
            for (const index_term& term : functions[dimension].terms) {
                steps.push_back({term.label, term.coefficient * behind});
            }
            behind = functions[dimension].constant == 0 ? here : 0;
        }
    }
    detail::sort_range(steps, [](const index_term& a, const index_term& b) { return a.coefficient > b.coefficient; });
    index step = 1;
    bool is_row = behind == detail::element_count(bounds) && behind > 0;
    for (std::size_t number = steps.size(); number-- > 0;) {
        is_row = is_row && steps[number].coefficient == step;
        step *= extents[std::size_t(steps[number].label)];
    }
    return is_row && step == behind ? detail::list_of(steps, &index_term::label) : std::vector<label_id>();
}

}  // namespace einparallel
