#pragma once
// What a term adds to the gradient of a tensor that it was read from: at functions of labels solved for the labels,
// where these are ±1 · label + …; else through indices that are data.

#include <einparallel/graph/gradient/term_statement.ipp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/section.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// `made`, but 0 where one of the reads `before` replaces `read`, and where the conditions of `read` do not hold.
EINPARALLEL_SELDOM labelled_tensor masked(labelled_tensor made, const operand_read& read,
                                          std::span<const operand_read* const> before,
                                          const std::vector<index>& extents, element_type element) {
    made = before.empty() ? std::move(made) : with_dimension(made);
    for (const operand_read* const other : before) {
        affine_map unless{std::vector<index_function>(1), {}, other->at.where};
        const std::vector<index_function> inside = other->at.inside();
        unless.where.insert(unless.where.end(), inside.begin(), inside.end());
        std::vector<label_id> labels = unless.labels();
        append_new(labels, made.labels);
        const std::complex<double> scale = made.scale;
        made = {view_vertex(scalar_vertex(element, 0), unless, labels, ranges_of(labels, extents),
                            broadcast(made, labels, extents).handle),
                labels, scale};
    }
    if (read.at.where.empty()) {
        return made;
    }
    affine_map at = affine_map::at_labels(made.labels);
    at.where = read.at.where;
    return seen_at(made, std::move(at), extents);
}

/// The indices along one dimension: a function of labels, minus `lowest`. Where the function runs through several
/// dimensions in row-major order, they are the indices along one of these.
struct dimension_indices {
    index_function function;
    index lowest = 0;
    index behind = 1;  ///< elements of the dimensions behind this one
    index extent = 0;  ///< extent of this dimension; 0: it is the only one
    index all = 0;     ///< elements of all of them: indices outside become the nearest one
};

/// An integer tensor of these indices.
EINPARALLEL_SELDOM std::shared_ptr<vertex> indices_vertex(const dimension_indices& along, label_span labels,
                                                          const std::vector<index>& extents) {
    const std::vector<index> steps = list_of(
        labels, [&](label_id label) { return find_in(along.function.terms, label, &index_term::label)->coefficient; });
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

/// Adds `made` into a tensor like `tensor`, through integer tensors of the indices. This serves functions that cannot
/// be solved for the labels.
EINPARALLEL_SELDOM labelled_tensor through_indices(const labelled_tensor& made, const term_statement& statement,
                                                   const vertex& tensor, const affine_map& map) {
    const std::vector<index_function>& left = map.functions;
    const std::vector<label_id> own = labels_in(left);
    const std::vector<index>& extents = statement.extents();
    std::vector<std::string_view> names(statement.names().begin(), statement.names().end());
    const std::vector<interval> ranges = ranges_of(first_labels(extents.size()), extents);
    if (any_in(ranges_of(own, extents), &interval::empty)) {
        return {nullptr, {}, 0};
    }
    std::vector<recording_builder::operand_type> operands(1);
    affine_map inside;
    std::vector<std::vector<label_id>> labels(left.size());
    std::vector<data_index> indices;
    std::vector<label_id> out;
    affine_map back;  // of dimensions of the tensor: where in what is made
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
                inside.where.push_back(along.function);
                inside.where.back().extent = along.all;
            }
            reached = {0, along.extent};
        }
        along.lowest = reached.begin;
        labels[dimension] = labels_in({&along.function, 1});
        operands.push_back({indices_vertex(along, labels[dimension], extents), labels[dimension]});
        indices.push_back({element_type_of<index>(), reached.size(), std::to_string(dimension)});
        out.push_back(label_id(names.size() + dimension));
        back.functions.push_back({{{label_id(dimension), 1}}, -reached.begin});
        back.bounds.push_back(reached.size());
    }
    const element_type element = made.handle->element;
    labelled_tensor x = broadcast(made, own, extents);
    if (!inside.where.empty()) {
        inside.functions = affine_map::at_labels(x.labels).functions;
        x = seen_at(x, inside, extents);
    }
    operands[0] = {x.handle, x.labels};
    labelled_tensor summed{nullptr, first_labels(out.size()), made.scale};
    with_element(element, [&]<class T>(std::type_identity<T> /*type*/) {
        if constexpr (!std::is_integral_v<T>) {
            summed.handle = record_selection(names_with(names, indices), recording_builder::last_vertex{}, out,
                                             operands, nullptr, select_work_of<T>(indices, false));
        }
    });
    const bool is_all =
        back.bounds == tensor.bounds && all_in(back.functions, [](const auto& each) { return each.constant == 0; });
    return is_all ? summed : seen_at(summed, back, tensor.bounds);
}

/// What a term adds to the gradient of `tensor`: Σ of the term over the labels of `space` that `read` lacks. The labels
/// of the result are numbers of the tensor's dimensions. @param before  reads that replace `read` where they are inside
EINPARALLEL_SELDOM labelled_tensor scattered(term_statement statement, term_id term, const vertex& tensor,
                                             const operand_read& read, std::span<const operand_read* const> before,
                                             const std::vector<label_id>& space) {
    const element_type element = computed(tensor.element);
    affine_map left = read.at.is_plain() ? affine_map::at_labels(read.labels) : read.at;
    left.bounds = tensor.bounds;
    std::vector<label_id> own = labels_in(left.functions);
    std::stable_sort(own.begin(), own.end(), [&](label_id a, label_id b) {  // few points are left to be summed then
        return statement.extents()[std::size_t(a)] > statement.extents()[std::size_t(b)];
    });
    std::vector<label_id> summed = those_in(space, [&](label_id label) { return !found_in(label, own); });
    // A label alone in each dimension, and each in one: these are the dimensions.
    const std::vector<label_id> alone = list_of(first_labels(left.functions.size()), [&](label_id dimension) {
        return left.label_of(std::size_t(dimension), statement.extents());
    });
    const bool is_plain = own.size() + std::size_t(count_in(alone, no_label)) == alone.size() &&
                          (read.at.is_plain() || !found_in(no_label, alone));
    const bool is_masked = !before.empty() || !read.at.where.empty();
    if (is_plain && !is_masked) {
        return by_position(statement.sum(term, alone, summed), alone);
    }
    const std::vector<label_id> row = read.at.row_major(statement.extents());
    const bool strides = any_in(left.functions, [](const index_function& each) {
        return each.is_fused || any_in(each.terms, [](const index_term& one) { return std::abs(one.coefficient) > 1; });
    });
    const std::vector<term_id> factors = statement.terms().factors_of(term).factors;
    const bool is_product =
        all_in(factors, [&](term_id factor) { return statement.terms().as_operand(factor).has_value(); });
    if (!row.empty() || strides || !is_product || factors.empty() || is_masked) {
        // Labels that decide whether the tensor is read are summed after the term was masked by them.
        std::vector<label_id> kept = own;
        append_new(kept, labels_in(read.at.where));
        for_each_in(before, [&](const operand_read* other) { append_new(kept, other->at.labels()); });
        std::vector<label_id> later(kept.begin() + std::ptrdiff_t(own.size()), kept.end());
        std::erase_if(summed, [&](label_id label) { return found_in(label, later); });
        labelled_tensor made = statement.sum(term, kept, summed);
        if (made.handle == nullptr) {
            made.handle = scalar_vertex(element, 1);
        }
        term_statement apart(statement.names(), statement.extents());
        term = apart.add(masked(std::move(made), read, before, statement.extents(), element), element);
        if (is_plain) {
            return by_position(apart.sum(term, alone, later), alone);
        }
        if (!row.empty()) {
            const std::shared_ptr<vertex> dense =
                copied(apart.sum(term, own, later), apart.names(), apart.extents(), row);
            const std::vector<label_id> dimensions = first_labels(tensor.bounds.size());
            const affine_map at = affine_map::reshaping(dense->bounds, tensor.bounds);
            return {view_vertex(dense, at, dimensions, ranges_of(dimensions, tensor.bounds)), dimensions};
        }
        if (strides) {
            return through_indices(apart.sum(term, own, later), apart, tensor, left);
        }
        statement = std::move(apart);
        summed = std::move(later);
    }

    // Solved for labels, by their positions in `own`.
    const std::vector<index> own_extents =
        list_of(own, [&](label_id label) { return statement.extents()[std::size_t(label)]; });
    const inverse_map section = inverse(left.numbered(own), own_extents);
    const std::string failure = failure_of_section(section, false);
    expect(failure.empty(), failure);
    const std::vector<index_function>& solved_at = section.at.functions;
    const std::size_t rank = left.functions.size();
    std::vector<label_id> dimensions(rank, no_label);
    std::vector<bool> stays(own.size());  // a label that is a dimension's number
    for (std::size_t label = 0; label < own.size(); ++label) {
        const index_function& solved = solved_at[label];
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
            const auto number = std::size_t(each.label);
            each.label = number < rank ? dimensions[number] : own[number - rank];
        }
        function.extent = extent;
        return function;
    };
    const std::vector<std::size_t> read_by_term = statement.terms().operands_of(term);
    std::vector<index_function> conditions;
    for (std::size_t label = 0; label < own.size(); ++label) {
        const bool is_carried = any_in(
            read_by_term, [&](std::size_t operand) { return found_in(own[label], statement.operand(operand).labels); });
        if (!stays[label] && !is_carried && section.summed[label] == 1) {
            conditions.push_back(relabelled(solved_at[label], own_extents[label]));
        }
    }
    for (const index_function& each : section.at.where) {
        if (!each.terms.empty() || each.constant != 0) {
            conditions.push_back(relabelled(each, 1));
        }
    }
    for (const std::size_t operand : read_by_term) {
        const labelled_tensor seen = statement.operand(operand);
        affine_map at = affine_map::at_labels(seen.labels);
        bool changes = !conditions.empty();
        for (index_function& each : at.functions) {
            const auto known = each.terms.empty() ? own.end() : find_in(own, each.terms[0].label);
            if (known != own.end() && !stays[std::size_t(known - own.begin())]) {
                each = relabelled(solved_at[std::size_t(known - own.begin())], 1);
                changes = true;
            }
        }
        if (changes) {
            at.where = std::exchange(conditions, {});
            statement.set_operand(operand, seen_at(seen, std::move(at), statement.extents()));
        }
    }
    for (std::size_t label = 0; label < own.size(); ++label) {
        if (section.summed[label] > 1) {
            summed.push_back(own[label]);
        }
    }
    return by_position(statement.sum(term, dimensions, summed), dimensions);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
