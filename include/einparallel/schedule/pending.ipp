#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/pending.hpp>

#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE int sharers(const std::vector<label_id>& labels, const mesh& ranks) {
    return product_in(ranks.axes, 1,
                      [&](const mesh_axis& axis) { return found_in(axis.label, labels) ? 1 : axis.parts; });
}

/// Adds a label with the given extent, named `+`, or `++` where the einsum has a label `+` already.
EINPARALLEL_INLINE label_id add_summands(summed_einsum& to, index extent) {
    std::string name = "+";
    while (found_in(name, to.form.names)) {
        name += '+';
    }
    to.form.names.push_back(std::move(name));
    to.extents.push_back(extent);
    return label_id(to.form.names.size() - 1);
}

EINPARALLEL_INLINE mesh axes_of_summands(mesh ranks, const std::vector<label_id>& output) {
    for (mesh_axis& axis : ranks.axes) {
        if (!found_in(axis.label, output)) {
            axis.label = output.front();
            axis.points.clear();  // of another label
        }
    }
    return ranks;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE summed_einsum with_sums(const einsum_form& form, const std::vector<index>& extents,
                                           const pending_sums& sums, const mesh& ranks) {
    summed_einsum made{form, extents, no_label, no_label};
    if (sums.operands != 0) {
        made.carried = detail::add_summands(made, sums.summands);
        for (std::size_t operand = 0; operand < made.form.operands.size(); ++operand) {
            std::vector<label_id>& labels = made.form.operands[operand];
            if (sums.reads(operand)) {
                labels.insert(labels.begin(), made.carried);
            }
        }
    }
    if (sums.output) {
        made.pending = detail::add_summands(made, detail::sharers(made.form.output, ranks));
        made.form.output.insert(made.form.output.begin(), made.pending);
    }
    return made;
}

}  // namespace einparallel
