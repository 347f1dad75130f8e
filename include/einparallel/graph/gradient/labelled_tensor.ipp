#pragma once

#include <einparallel/graph/gradient/labelled_tensor.hpp>

#include <einparallel/graph/gradient/term_statement.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::shared_ptr<vertex> scalar_vertex(element_type element, std::complex<double> value,
                                                         std::vector<index> extents) {
    std::shared_ptr<vertex> made;
    with_element(element, [&]<class T>(std::type_identity<T> /*type*/) {
        if constexpr (is_complex<T>::value) {
            const T number = converted<T>(value);
            made = constant_vertex(element, &number, std::move(extents));
        } else if constexpr (std::is_floating_point_v<T> || is_half<T>) {
            const T number = T(value.real());
            made = constant_vertex(element, &number, std::move(extents));
        }
    });
    return made;
}

EINPARALLEL_SELDOM std::vector<std::string> names_of_dimensions(const vertex& of) {
    std::vector<std::string> names;
    for (std::size_t dimension = 0; dimension < of.bounds.size(); ++dimension) {
        names.push_back(of.form.output.empty() ? std::to_string(dimension)
                                               : of.form.names[std::size_t(of.form.output[dimension])]);
    }
    return names;
}

EINPARALLEL_SELDOM std::vector<interval> ranges_of(label_span labels, const std::vector<index>& extents) {
    return list_of(labels, [&](label_id label) { return interval{0, extents[std::size_t(label)]}; });
}

EINPARALLEL_SELDOM labelled_tensor with_dimension(const labelled_tensor& tensor) {
    return tensor.handle->bounds.empty()
               ? labelled_tensor{copied({tensor.handle, {}}, {"0"}, {1}, first_labels(1)), {}, tensor.scale}
               : tensor;
}

EINPARALLEL_SELDOM labelled_tensor seen_at(const labelled_tensor& of, affine_map at,
                                           const std::vector<index>& extents) {
    const labelled_tensor tensor = with_dimension(of);
    at.bounds = tensor.handle->bounds;
    at.functions.resize(at.bounds.size());
    if (tensor.handle->is_view()) {  // which is within another tensor
        const std::vector<index_function> inside = at.inside();
        at.where.insert(at.where.begin(), inside.begin(), inside.end());
    }
    const std::vector<label_id> labels = at.labels();
    const std::vector<interval> ranges = ranges_of(labels, extents);
    const affine_map nowhere{std::vector<index_function>(1)};
    const auto zeros = view_vertex(scalar_vertex(tensor.handle->element, 0), nowhere, labels, ranges);
    return {view_vertex(tensor.handle, at, labels, ranges, zeros), labels, tensor.scale};
}

EINPARALLEL_SELDOM labelled_tensor broadcast(const labelled_tensor& tensor, label_span labels,
                                             const std::vector<index>& extents) {
    if (equal_in(tensor.labels, labels, std::equal_to<>())) {
        return tensor;
    }
    affine_map at = affine_map::at_labels(tensor.labels);
    at.functions.resize(tensor.handle->bounds.size());
    return {view_vertex(tensor.handle, at, labels, ranges_of(labels, extents)),
            {labels.begin(), labels.end()},
            tensor.scale};
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> copied(const labelled_tensor& tensor, const std::vector<std::string>& names,
                                                  const std::vector<index>& extents, label_span labels) {
    const element_type element = computed(tensor.handle->element);
    term_statement copy(names, extents);
    copy.add(tensor.labels.size() == labels.size() ? tensor : broadcast(tensor, labels, extents), element);
    return copy.contract(labels, std::array{std::size_t(0)}, element, tensor.scale);
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> whole_tensor(labelled_tensor term, const vertex& of) {
    const std::vector<label_id> all = first_labels(of.bounds.size());
    if (term.handle != nullptr && term.labels == all && term.scale == 1.0 && !term.handle->is_view()) {
        return term.handle;
    }
    if (term.handle == nullptr) {
        term.handle = scalar_vertex(computed(of.element), 1, std::vector<index>(all.empty() ? 0 : 1, 1));
    }
    return copied(term, names_of_dimensions(of), of.bounds, all);
}

EINPARALLEL_SELDOM labelled_tensor read_of(const vertex& made, const operand_read& read) {
    if (read.at.is_plain()) {
        return {made.operands[read.operand], read.labels};
    }
    std::shared_ptr<vertex> seen;
    const auto see = [&](const operand_read& each) {
        seen =
            view_vertex(made.operands[each.operand], each.at.is_plain() ? affine_map::at_labels(each.labels) : each.at,
                        read.labels, ranges_of(read.labels, made.extents), std::move(seen));
    };
    std::for_each(read.elsewhere.rbegin(), read.elsewhere.rend(), see);
    see(read);
    return {seen, read.labels};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
