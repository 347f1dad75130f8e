#pragma once

#include <einparallel/graph/record.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/order/contraction_order.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr const char* nothing_assigned = "a tensor was used before anything was assigned to it";

EINPARALLEL_SELDOM std::shared_ptr<vertex> unassigned_vertex(std::size_t rank, element_type element) {
    auto made = std::make_shared<vertex>();
    made->bounds.resize(rank);
    made->element = element;
    made->failure = nothing_assigned;
    return made;
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> view_vertex(std::shared_ptr<vertex> of, const affine_map& at,
                                                       label_span labels, std::span<const interval> ranges,
                                                       std::shared_ptr<vertex> elsewhere) {
    if (of->is_view() && at.is_plain() && !of->bounds.empty()) {
        const std::vector<label_id> dimensions = first_labels(of->bounds.size());
        return view_vertex(std::move(of), affine_map::at_labels(dimensions), dimensions, ranges, std::move(elsewhere));
    }
    if (of->is_view()) {  // its dimensions are functions themselves
        if (of->operands.size() > 1) {
            elsewhere = view_vertex(of->operands.back(), at, labels, ranges, std::move(elsewhere));
        }
        return view_vertex(of->operands.front(), of->at.after(at), labels, ranges, std::move(elsewhere));
    }
    auto made = std::make_shared<vertex>();
    made->bounds = list_of(ranges, &interval::size);
    made->element = of->element;
    made->at = at.numbered(labels);
    made->at.bounds = of->bounds;
    made->failure = of->failure;
    made->operands.push_back(std::move(of));
    if (elsewhere != nullptr) {
        made->operands.push_back(std::move(elsewhere));
    }
    return made;
}

/// The tensor that an operand reads.
inline const std::shared_ptr<vertex>& read_by(const std::shared_ptr<vertex>& handle) {
    return handle->is_view() ? handle->operands.front() : handle;
}

/// The operand in errors: "operand 2 ('B')", "operand 2 (generate)".
EINPARALLEL_SELDOM std::string operand_name(std::span<const recording_builder::operand_type> operands,
                                            std::size_t position) {
    const vertex& read = *read_by(operands[position].handle);
    const std::string name = !read.name.empty()       ? "'" + read.name + "'"
                             : read.origin != nullptr ? name_of_input(read)
                                                      : "";
    return "operand " + std::to_string(position + 1) + (name.empty() ? "" : " (" + name + ")");
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> recording_builder::record(destination sink, label_span out,
                                                                     std::span<const operand_type> operands,
                                                                     std::shared_ptr<const kernel> work) const {
    auto made = std::make_shared<vertex>();
    std::vector<label_id> dense(names_.size(), no_label);
    const auto number = [&](label_id label) {
        label_id& known = dense[std::size_t(label)];
        if (known == no_label) {
            known = label_id(made->form.names.size());
            made->form.names.emplace_back(names_[std::size_t(label)]);
            made->extents.push_back(-1);
        }
        return known;
    };
    std::vector<std::size_t> first(names_.size(), 0);  // by dense label: the operand that its extent is from
    // Tensors that are read at functions of labels. Each is one operand, however often it is read.
    std::vector<const vertex*> viewed;
    for (const operand_type& read : operands) {
        for (const vertex* view = read.handle.get(); view != nullptr && view->is_view();) {
            viewed.push_back(view->operands.front().get());
            view = view->operands.size() > 1 ? view->operands.back().get() : nullptr;
            if (view != nullptr && !view->is_view()) {
                viewed.push_back(view);  // a plain tensor that is read outside of the first one
            }
        }
    }
    const auto read_at = [&](const auto& self, const std::shared_ptr<vertex>& of,
                             std::vector<label_id> labels) -> operand_read {
        const std::shared_ptr<vertex>& tensor = read_by(of);
        const bool is_viewed = found_in(tensor.get(), viewed);
        const auto known = is_viewed ? find_in(made->operands, tensor) : made->operands.end();
        const auto operand = std::size_t(known - made->operands.begin());
        if (known == made->operands.end()) {
            made->operands.push_back(tensor);
            made->form.operands.emplace_back();
        }
        operand_read as{operand, labels, of->at};
        if (is_viewed) {
            as.at = as.at.is_plain() && !tensor->bounds.empty()
                        ? affine_map::at_labels(labels)
                        : as.at.renamed([&](label_id dimension) { return labels[std::size_t(dimension)]; });
            as.at.bounds = tensor->bounds;
            if (of->operands.size() > 1 && of->is_view()) {
                operand_read next = self(self, of->operands.back(), labels);
                std::vector<operand_read> others = std::exchange(next.elsewhere, {});
                as.elsewhere.push_back(std::move(next));
                as.elsewhere.insert(as.elsewhere.end(), others.begin(), others.end());
            }
            sort_unique(labels);
            as.labels = as.at.is_plain() ? std::vector<label_id>() : labels;
        }
        std::vector<label_id>& all = made->form.operands[operand];
        const std::vector<label_id> own = labels_in(as.at.functions);
        for (const label_id label : labels) {
            if (!is_viewed || (!found_in(label, all) && found_in(label, own))) {
                all.push_back(label);
            }
        }
        return as;
    };
    const auto fail = [&](vertex& failed, const std::string& what) {
        const auto labels_of = [&](std::size_t operand) { return operands[operand].labels; };
        failed.failure = "einsum " + einsum_text(names_, operands.size(), labels_of, out) + ": " + what;
    };
    for (std::size_t position = 0; position < operands.size(); ++position) {
        const operand_type& read = operands[position];
        if (read.handle->failure == nothing_assigned) {
            fail(*read.handle, "nothing was assigned to " + operand_name(operands, position) + " before");
        }
        std::vector<label_id> labels;
        for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
            const label_id label = read.labels[dimension] == no_label ? no_label : number(read.labels[dimension]);
            labels.push_back(label);
            if (label == no_label || !read.handle->failure.empty()) {
                continue;  // the extents of a vertex that failed mean nothing: the user must hear of its own failure
            }
            index& known = made->extents[std::size_t(label)];
            const index extent = read.handle->bounds[dimension];
            if (known >= 0 && known != extent && made->failure.empty()) {
                fail(*made, "label " + made->form.names[std::size_t(label)] + " has extent " + std::to_string(known) +
                                " in " + operand_name(operands, first[std::size_t(label)]) + " and " +
                                std::to_string(extent) + " in " + operand_name(operands, position));
            }
            if (known < 0) {
                first[std::size_t(label)] = position;
            }
            known = known < 0 ? extent : known;
        }
        made->form.reads.push_back(read_at(read_at, read.handle, std::move(labels)));
    }
    if (made->form.reads.size() == made->form.operands.size() &&
        all_in(made->form.reads, [](const operand_read& each) { return each.at.is_plain(); })) {
        made->form.reads.clear();
    }
    for (index& extent : made->extents) {
        extent = extent < 0 ? 0 : extent;
    }
    const auto is_position = [](const op_instruction& each) { return each.code == op_code::position; };
    if (made->failure.empty() && any_in(work->program().instructions(), is_position)) {
        for (std::size_t label = 0; label < dense.size() && made->failure.empty(); ++label) {
            if (dense[label] != no_label && made->extents[std::size_t(dense[label])] == 0 &&
                !found_in(label_id(label), out)) {
                fail(*made, "argmax or argmin over label " + std::string(names_[label]) + ", which has extent 0");
            }
        }
    }
    for (const label_id label : out) {
        made->form.output.push_back(number(label));
        made->bounds.push_back(made->extents[std::size_t(made->form.output.back())]);
    }
    made->is_intermediate = !sink;
    made->element = work->program().type();
    made->work = std::move(work);
    return made;
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> recording_builder::running(destination sink, label_span out,
                                                                      const operand_type& x, label_id along,
                                                                      const running_work& work) const {
    const index extent = x.handle->bounds[std::size_t(find_in(x.labels, along) - x.labels.begin())];
    std::shared_ptr<vertex> made = record(sink, out, {&x, 1}, make_running_kernel(work, extent));
    einsum_form& form = made->form;
    const auto sums = label_id(find_in(form.names, names_[std::size_t(along)]) - form.names.begin());
    form.running = {label_id(form.names.size()), sums};
    form.names.push_back(form.names[std::size_t(sums)] + "'");
    made->extents.push_back(made->extents[std::size_t(sums)]);
    form.reads.push_back({0, form.operands.front()});
    std::replace(form.reads.front().labels.begin(), form.reads.front().labels.end(), sums, form.running.terms);
    return made;
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> recording_builder::ranked(destination sink, label_span out,
                                                                     const std::array<operand_type, 2>& operands,
                                                                     const ranked_work& work) const {
    const index count = operands[1].handle->bounds[0];
    std::shared_ptr<vertex> made = record(sink, out, operands, make_ranked_kernel(work, count));
    for (std::size_t label = 0; label < made->extents.size(); ++label) {
        if (!made->form.in_output(label_id(label)) && made->failure.empty()) {
            made->failure = too_many_ranks(count, made->extents[label]);
        }
    }
    return made;
}

EINPARALLEL_SELDOM recording_builder::handle recording_builder::contract_pairwise(
    destination sink, label_span out, std::span<const operand_type> operands, const std::shared_ptr<const kernel>& all,
    const std::shared_ptr<const kernel>& last, const std::shared_ptr<const kernel>& earlier) const {
    std::vector<index> extents(names_.size(), 1);  // as far as the operands' vertices know them
    for (const operand_type& read : operands) {
        for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
            if (read.labels[dimension] != no_label) {
                extents[std::size_t(read.labels[dimension])] = read.handle->bounds[dimension];
            }
        }
    }
    return contract_in_order(order_of_operands(extents, out, labels_of(operands)), out, operands,
                             [&](bool is_last, label_span labels, std::span<const operand_type> read) {
                                 return record(is_last ? sink : std::nullopt, labels, read,
                                               !is_last           ? earlier
                                               : read.size() == 2 ? last
                                                                  : all);
                             });
}

EINPARALLEL_SELDOM whole_read::whole_read(const recording_builder::operand_type& read)
    : handle(read.handle), labels(read.labels.begin(), read.labels.end()) {
    if (!handle->is_view() || handle->at.is_plain() || handle->operands.size() > 1) {
        return;
    }
    std::vector<label_id> own;
    for (std::size_t dimension = 0; dimension < handle->at.functions.size(); ++dimension) {
        const label_id label = handle->at.label_of(dimension, handle->bounds);
        if (label == no_label || found_in(labels[std::size_t(label)], own)) {
            return;
        }
        own.push_back(labels[std::size_t(label)]);
    }
    labels = std::move(own);
    handle = std::shared_ptr<vertex>(read_by(handle));
}

EINPARALLEL_SELDOM std::vector<std::string_view> names_with(std::span<const std::string_view> names,
                                                            const std::vector<data_index>& indices) {
    std::vector<std::string_view> all(names.begin(), names.end());
    for_each_in(indices, [&](const data_index& each) { all.emplace_back(each.name); });
    return all;
}

EINPARALLEL_SELDOM std::vector<label_id> written_labels(const std::vector<label_id>& all,
                                                        std::span<const recording_builder::operand_type> operands,
                                                        std::size_t first_position) {
    return those_in(all, [&](label_id label) {
        return std::size_t(label) >= first_position ||
               any_in(operands, [&](const auto& each) { return found_in(label, each.labels); });
    });
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> record_selection(std::span<const std::string_view> names_and_positions,
                                                            recording_builder::destination sink, label_span out,
                                                            std::span<const recording_builder::operand_type> operands,
                                                            const whole_read* old, const select_work& work) {
    const std::size_t count = work.indices.size();
    const whole_read x(operands.front());
    std::vector<recording_builder::operand_type> all(operands.begin(), operands.end());
    all.front() = {x.handle, x.labels};
    std::vector<label_id> positions(count);
    for (std::size_t each = 0; each < count; ++each) {
        positions[each] = label_id(names_and_positions.size() - count + each);
        all.push_back({iota_vertex(work.indices[each].extent), {&positions[each], 1}});
    }
    if (old != nullptr) {
        // They are read as views, which no ring hands round in pieces: one call must see all indices of an element.
        for (auto& [read, labels] : all) {
            read = read->is_view() ? read : view_vertex(read, {}, {}, whole_box(read->bounds).sides);
        }
        all.push_back({old->handle, old->labels});
    }
    std::shared_ptr<vertex> made =
        recording_builder(names_and_positions).record(sink, out, all, make_select_kernel(work));
    made->form.reads_at_once = old != nullptr;
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
