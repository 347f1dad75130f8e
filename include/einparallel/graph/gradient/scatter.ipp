#pragma once

#include <einparallel/graph/gradient/scatter.hpp>

#include <einparallel/array/pieces.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/part.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Without what is read in the place of others, and where the read's own conditions do not hold.
EINPARALLEL_SELDOM labelled_tensor masked(labelled_tensor made, const operand_read& read,
                                          std::span<const operand_read* const> before,
                                          const std::vector<index>& extents, element_type element) {
    made = before.empty() ? std::move(made) : with_dimension(made);
    for (const operand_read* const other : before) {
        std::vector<index_function> conditions = other->where;
        for (std::size_t dimension = 0; dimension < other->at.size(); ++dimension) {
            conditions.push_back(other->at[dimension]);
            conditions.back().extent = other->bounds[dimension];
        }
        std::vector<label_id> labels = labels_in(conditions);
        for (const label_id label : made.labels) {
            found_in(label, labels) ? void() : labels.push_back(label);
        }
        const std::complex<double> scale = made.scale;
        conditions.insert(conditions.begin(), index_function());
        made = {view_vertex(scalar_vertex(element, 0), conditions, labels, ranges_of(labels, extents),
                            broadcast(made, labels, extents).handle),
                labels, scale};
    }
    return read.where.empty() ? made : seen_at(made, at_labels(made.labels), read.where, extents);
}

/// The labels of a read in the order in which they run through the tensor, if they do so once, row-major; else none.
EINPARALLEL_SELDOM std::vector<label_id> row_major_labels(const operand_read& read, const vertex& tensor,
                                                          const std::vector<index>& extents) {
    std::vector<index_term> steps;
    index behind = 1;  // elements of the dimensions after those of a function
    index here = 1;    // of all that are passed
    for (std::size_t dimension = read.at.size(); dimension-- > 0;) {
        here *= tensor.bounds[dimension];
        if (!read.at[dimension].is_fused) {
            for (const index_term& term : read.at[dimension].terms) {
                steps.push_back({term.label, term.coefficient * behind});
            }
            behind = read.at[dimension].constant == 0 ? here : 0;
        }
    }
    std::sort(steps.begin(), steps.end(),
              [](const index_term& a, const index_term& b) { return a.coefficient > b.coefficient; });
    index step = 1;
    bool is_row = behind == element_count(tensor.bounds) && behind > 0;
    for (std::size_t number = steps.size(); number-- > 0;) {
        is_row = is_row && steps[number].coefficient == step;
        step *= extents[std::size_t(steps[number].label)];
    }
    return is_row && step == behind ? list_of(steps, &index_term::label) : std::vector<label_id>();
}

/// The indices along one dimension: a function of labels less `lowest`, or of that over several dimensions which it
/// runs through, row-major, this one's.
struct dimension_indices {
    index_function function;
    index lowest = 0;
    index behind = 1;  ///< elements of the dimensions behind this one
    index extent = 0;  ///< of this one; 0: there is no other
    index all = 0;     ///< elements of all of them: what is outside is taken to the nearest one
};

/// An integer tensor of them.
EINPARALLEL_SELDOM std::shared_ptr<vertex> indices_vertex(const dimension_indices& along, label_span labels,
                                                          const std::vector<index>& extents) {
    std::vector<index> steps;
    for (const label_id label : labels) {
        steps.push_back(find_in(along.function.terms, label, &index_term::label)->coefficient);
    }
    const auto write = [steps, along](const box& region, void* destination) {
        auto* next = static_cast<index*>(destination);
        const std::vector<index> sizes = list_of(region.sides, &interval::size);
        for (index number = 0; number < region.size(); ++number) {
            index value = along.function.constant - along.lowest;
            index rest = number;
            for (std::size_t dimension = steps.size(); dimension-- > 0;) {
                value += steps[dimension] * (region.sides[dimension].begin + rest % sizes[dimension]);
                rest /= sizes[dimension];
            }
            *next++ = along.all > 0 ? std::clamp<index>(value, 0, along.all - 1) / along.behind % along.extent : value;
        }
    };
    return input_vertex(list_of(labels, [&](label_id label) { return extents[std::size_t(label)]; }),
                        element_type_of<index>(), std::make_shared<function_source>("index", write));
}

/// Where no label can be solved for, through integer tensors of the indices.
EINPARALLEL_SELDOM labelled_tensor through_indices(const labelled_tensor& made, const term_statement& statement,
                                                   const vertex& tensor, std::span<const index_function> left) {
    const std::vector<label_id> own = labels_in(left);
    const std::vector<index>& extents = statement.extents();
    std::vector<std::string_view> names(statement.names().begin(), statement.names().end());
    const std::vector<interval> ranges = ranges_of(first_labels(extents.size()), extents);
    if (any_in(ranges_of(own, extents), &interval::empty)) {
        return {nullptr, {}, 0};
    }
    std::vector<recording_builder::operand_type> operands(1);
    std::vector<index_function> inside;  // conditions
    std::vector<std::vector<label_id>> labels(left.size());
    std::vector<data_index> indices;
    std::vector<label_id> out;
    std::vector<index_function> back;  // of dimensions of the tensor: where in what is made
    std::vector<index> bounds;
    for (std::size_t dimension = 0; dimension < left.size(); ++dimension) {
        std::size_t first = dimension;
        while (left[first].is_fused) {
            --first;
        }
        std::size_t end = dimension + 1;
        dimension_indices along{left[first]};
        while (end < left.size() && left[end].is_fused) {
            along.behind *= tensor.bounds[end++];
        }
        interval reached = range_of(along.function, ranges);
        if (end > first + 1) {
            along.all = element_count(index_span(tensor.bounds).subspan(first, end - first));
            along.extent = tensor.bounds[dimension];
            if (first == dimension && (reached.begin < 0 || reached.end > along.all)) {
                inside.push_back(along.function);
                inside.back().extent = along.all;
            }
            reached = {0, along.extent};
        }
        along.lowest = reached.begin;
        labels[dimension] = labels_in({&along.function, 1});
        operands.push_back({indices_vertex(along, labels[dimension], extents), labels[dimension]});
        indices.push_back({element_type_of<index>(), reached.size(), std::to_string(dimension)});
        out.push_back(label_id(names.size() + dimension));
        back.push_back({{{label_id(dimension), 1}}, -reached.begin});
        bounds.push_back(reached.size());
    }
    const element_type element = made.handle->element;
    labelled_tensor x = broadcast(made, own, extents);
    if (!inside.empty()) {
        x = seen_at(x, at_labels(x.labels), inside, extents);
    }
    operands[0] = {x.handle, x.labels};
    labelled_tensor summed{nullptr, first_labels(out.size()), made.scale};
    with_element(element, [&]<class T>(std::type_identity<T> /*type*/) {
        if constexpr (!std::is_integral_v<T>) {
            summed.handle = record_selection(names_with(names, indices), recording_builder::last_vertex{}, out,
                                             operands, nullptr, select_work_of<T>(indices, false));
        }
    });
    return bounds == tensor.bounds && all_in(back, [](const index_function& each) { return each.constant == 0; })
               ? summed
               : seen_at(summed, back, {}, tensor.bounds);
}

EINPARALLEL_SELDOM labelled_tensor scattered(term_statement statement, term_id term, const vertex& tensor,
                                             const operand_read& read, std::span<const operand_read* const> before,
                                             const std::vector<label_id>& space) {
    const element_type element = computed(tensor.element);
    const std::vector<index_function> left = read.at.empty() ? at_labels(read.labels) : read.at;
    std::vector<label_id> own = labels_in(left);
    std::stable_sort(own.begin(), own.end(), [&](label_id a, label_id b) {  // few points are left to be summed then
        return statement.extents()[std::size_t(a)] > statement.extents()[std::size_t(b)];
    });
    std::vector<label_id> summed;
    std::copy_if(space.begin(), space.end(), std::back_inserter(summed),
                 [&](label_id label) { return !found_in(label, own); });
    const auto by_dimension = [](labelled_tensor made, const std::vector<label_id>& dimensions) {
        for (label_id& label : made.labels) {
            label = label_id(find_in(dimensions, label) - dimensions.begin());
        }
        return made;
    };
    // A label alone in each dimension, and each in one: these are the dimensions.
    std::vector<label_id> alone;
    for (const index_function& each : left) {
        const bool is_label = each.terms.size() == 1 && each.terms[0].coefficient == 1 && each.constant == 0 &&
                              statement.extents()[std::size_t(each.terms[0].label)] == tensor.bounds[alone.size()];
        alone.push_back(is_label ? each.terms[0].label : no_label);
    }
    const bool is_plain = own.size() + std::size_t(std::count(alone.begin(), alone.end(), no_label)) == left.size() &&
                          (read.at.empty() || !found_in(no_label, alone));
    const bool is_masked = !before.empty() || !read.where.empty();
    if (is_plain && !is_masked) {
        return by_dimension(statement.sum(term, alone, summed), alone);
    }
    const std::vector<label_id> row = row_major_labels(read, tensor, statement.extents());
    const bool strides = any_in(left, [](const index_function& each) {
        return each.is_fused || any_in(each.terms, [](const index_term& one) { return std::abs(one.coefficient) > 1; });
    });
    const std::vector<term_id> factors = statement.terms().factors_of(term).factors;
    const bool is_product =
        all_in(factors, [&](term_id factor) { return statement.terms().as_operand(factor).has_value(); });
    if (!row.empty() || strides || !is_product || factors.empty() || is_masked) {
        // Labels that decide whether the tensor is read are summed once that is known.
        std::vector<label_id> kept = own;
        const auto decide = [&](std::span<const index_function> functions) {
            for (const label_id label : labels_in(functions)) {
                found_in(label, kept) ? void() : kept.push_back(label);
            }
        };
        decide(read.where);
        for (const operand_read* const other : before) {
            decide(other->at);
            decide(other->where);
        }
        std::vector<label_id> later;
        std::copy(kept.begin() + std::ptrdiff_t(own.size()), kept.end(), std::back_inserter(later));
        std::erase_if(summed, [&](label_id label) { return found_in(label, later); });
        labelled_tensor made = statement.sum(term, kept, summed);
        if (made.handle == nullptr) {
            made.handle = scalar_vertex(element, 1);
        }
        term_statement apart(statement.names(), statement.extents());
        term = apart.add(masked(std::move(made), read, before, statement.extents(), element), element);
        if (is_plain) {
            return by_dimension(apart.sum(term, alone, later), alone);
        }
        if (!row.empty()) {
            const std::shared_ptr<vertex> dense =
                copied(apart.sum(term, own, later), apart.names(), apart.extents(), row);
            const std::vector<label_id> dimensions = first_labels(tensor.bounds.size());
            const std::vector<index_function> at = reshaping(dense->bounds, tensor.bounds);
            return {view_vertex(dense, at, dimensions, ranges_of(dimensions, tensor.bounds)), dimensions};
        }
        if (strides) {
            return through_indices(apart.sum(term, own, later), apart, tensor, left);
        }
        statement = std::move(apart);
        summed = std::move(later);
    }

    // Solved for labels, by their places in `own`.
    std::vector<index_function> at = left;
    for (index_function& each : at) {
        for (index_term& function_term : each.terms) {
            function_term.label = label_id(find_in(own, function_term.label) - own.begin());
        }
    }
    const std::vector<index> own_extents =
        list_of(own, [&](label_id label) { return statement.extents()[std::size_t(label)]; });
    const written_part part = part_of(at, own_extents, false);
    expect(part.failure.empty(), part.failure);
    const std::size_t rank = left.size();
    std::vector<label_id> dimensions(rank, no_label);
    std::vector<bool> stays(own.size());  // a label that is a dimension's number
    for (std::size_t label = 0; label < own.size(); ++label) {
        const index_function& solved = part.at[label];
        const bool is_one = solved.terms.size() == 1 && solved.constant == 0 && solved.terms[0].coefficient == 1 &&
                            std::size_t(solved.terms[0].label) < rank;
        if (is_one && tensor.bounds[std::size_t(solved.terms[0].label)] == own_extents[label]) {
            label_id& dimension = dimensions[std::size_t(solved.terms[0].label)];
            stays[label] = dimension == no_label;
            dimension = stays[label] ? own[label] : dimension;
        }
    }
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        if (dimensions[dimension] == no_label) {
            dimensions[dimension] = statement.add_label(std::to_string(dimension), tensor.bounds[dimension]);
        }
    }
    const auto relabelled = [&](index_function function, index extent) {
        for (index_term& each : function.terms) {
            const auto place = std::size_t(each.label);
            each.label = place < rank ? dimensions[place] : own[place - rank];
        }
        function.extent = extent;
        return function;
    };
    const std::vector<std::size_t> read_by_term = statement.terms().operands_of(term);
    std::vector<index_function> conditions;
    for (std::size_t label = 0; label < part.at.size(); ++label) {
        const bool is_carried = label < own.size() && any_in(read_by_term, [&](std::size_t operand) {
                                    return found_in(own[label], statement.operand(operand).labels);
                                });
        const bool is_zero = label >= own.size() && part.at[label].terms.empty() && part.at[label].constant == 0;
        if (label < own.size() ? !stays[label] && !is_carried && part.summed[label] == 1 : !is_zero) {
            conditions.push_back(relabelled(part.at[label], label < own.size() ? own_extents[label] : 1));
        }
    }
    for (const std::size_t operand : read_by_term) {
        const labelled_tensor seen = statement.operand(operand);
        std::vector<index_function> functions = at_labels(seen.labels);
        bool changes = !conditions.empty();
        for (index_function& each : functions) {
            const auto place = each.terms.empty() ? own.end() : find_in(own, each.terms[0].label);
            if (place != own.end() && !stays[std::size_t(place - own.begin())]) {
                each = relabelled(part.at[std::size_t(place - own.begin())], 1);
                changes = true;
            }
        }
        if (changes) {
            statement.place(operand, seen_at(seen, functions, std::exchange(conditions, {}), statement.extents()));
        }
    }
    for (std::size_t label = 0; label < own.size(); ++label) {
        if (part.summed[label] > 1) {
            summed.push_back(own[label]);
        }
    }
    return by_dimension(statement.sum(term, dimensions, summed), dimensions);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
