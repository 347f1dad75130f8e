#pragma once
// Tensors with labels that are known at run time, as operands: broadcast, read at functions of labels.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// scale · tensor, which is constant along labels that it lacks. Without a tensor it is the number `scale`.
struct labelled_tensor {
    std::shared_ptr<vertex> handle;
    std::vector<label_id> labels;
    std::complex<double> scale = 1;
};

/// An input whose elements are this value. By default it has one dimension of extent 1, so that it can be read as a
/// view; with empty `extents` it has rank 0.
EINPARALLEL_SELDOM std::shared_ptr<vertex> scalar_vertex(element_type element, std::complex<double> value,
                                                         std::vector<index> extents = {1}) {
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

/// Names of the labels that stand for the dimensions of a tensor: the names in the einsum that makes it; "0", "1", …
/// for an input.
EINPARALLEL_SELDOM std::vector<std::string> names_of_dimensions(const vertex& of) {
    return list_of(first_labels(of.bounds.size()), [&](label_id dimension) {
        return of.form.output.empty() ? std::to_string(dimension)
                                      : of.form.names[std::size_t(of.form.output[std::size_t(dimension)])];
    });
}

/// The tensor with each of its labels replaced by the label's position in `labels`.
EINPARALLEL_SELDOM labelled_tensor by_position(labelled_tensor tensor, const std::vector<label_id>& labels) {
    const auto position = [&](label_id label) { return label_id(find_in(labels, label) - labels.begin()); };
    return {std::move(tensor.handle), list_of(tensor.labels, position), tensor.scale};
}

/// The range of each label: from 0 to below its extent.
EINPARALLEL_SELDOM std::vector<interval> ranges_of(label_span labels, const std::vector<index>& extents) {
    return list_of(labels, [&](label_id label) { return interval{0, extents[std::size_t(label)]}; });
}

/// The same tensor with these labels: its own and others, along which it is constant.
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

/// The tensor or view that the kernel of a vertex reads as one operand, with its labels.
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
