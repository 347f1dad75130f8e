#pragma once
// The gradients of vertices that are no ⊕ over ⊗: softmax, running sums, ranks, and what indices select.

#include <einparallel/graph/gradient/term_statement.ipp>
#include <einparallel/graph/record.hpp>
#include <einparallel/kernel/simd/coded_row.hpp>
#include <einparallel/kernel/work/ranked.hpp>
#include <einparallel/kernel/work/running.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A term that is added to the gradient of an operand. The operand is the one that `reader` reads by `read`, and the
/// term has labels of `reader`.
struct read_gradient {
    const vertex* reader;
    operand_read read;
    labelled_tensor term;
};

/// The gradient of a softmax y = exp(x − max x) / Σ exp(x − max x) by x: y · (g − Σ g · y). It skips the intermediate
/// vertices. Empty where the vertex is no softmax.
EINPARALLEL_SELDOM std::vector<read_gradient> softmax_gradient(const std::shared_ptr<vertex>& made,
                                                               const labelled_tensor& gradient) {
    const auto code_of = [](const vertex& of) {
        return of.work == nullptr ? op_code::operand : of.work->program().instructions().back().code;
    };
    const auto operand = [](const vertex& of, std::size_t number) -> const vertex& { return *of.operands[number]; };
    if (code_of(*made) != op_code::divide || made->operands.size() != 2 ||
        code_of(operand(*made, 0)) != op_code::shifted_exponential ||
        operand(*made, 1).operands != std::vector{made->operands[0]} || !made->form.is_plain()) {
        return {};
    }
    const vertex& exponentials = operand(*made, 0);
    // Labels of the output and of the exponentials' operands are in the order of the same dimensions.
    const std::vector<label_id>& out = made->form.output;
    const std::vector<label_id>& rows = made->form.operands[1];
    const std::vector<label_id> along = those_in(out, [&](label_id label) { return !found_in(label, rows); });
    term_statement statement(made->form.names, made->extents);
    const term_id y = statement.add({made, out}, made->element);
    const term_id g = statement.add(gradient, made->element);
    derivation& terms = statement.terms();
    const term_id sums = statement.add(statement.sum(terms.times(g, y), rows, along), made->element);
    const term_id term = terms.times(y, terms.plus(g, terms.scaled(-1, sums)));
    // The same labels in the exponentials' own numbers.
    labelled_tensor x = statement.sum(term, out, {});
    for (label_id& label : x.labels) {
        const auto dimension = find_in(made->form.operands[0], label) - made->form.operands[0].begin();
        label = exponentials.form.output[std::size_t(dimension)];
    }
    return {{&exponentials, exponentials.form.listed_reads()[0], std::move(x)}};
}

/// The gradient of running sums: running sums of `gradient` in the opposite direction. That of running products is made
/// of such sums.
EINPARALLEL_SELDOM std::vector<read_gradient> running_gradient(const std::shared_ptr<vertex>& made,
                                                               const labelled_tensor& gradient) {
    const running_work& sums = *made->work->as<running_work>();
    const label_id along = made->form.running.sums;
    const std::vector<label_id>& read_at = made->form.operands.front();
    std::vector<label_id> labels;  // each once: of a diagonal, its own
    std::copy_if(read_at.begin(), read_at.end(), std::back_inserter(labels),
                 [&](label_id label) { return label == no_label || !found_in(label, labels); });
    const index extent = made->extents[std::size_t(along)];
    const std::vector<std::string_view> names(made->form.names.begin(), made->form.names.end());
    const auto backwards = [&](const std::shared_ptr<vertex>& tensor) {
        affine_map at = affine_map::at_labels(labels);
        at.functions[std::size_t(find_in(labels, along) - labels.begin())] = {{{along, -1}}, extent - 1};
        return view_vertex(tensor, at, labels, ranges_of(labels, made->extents));
    };
    running_work adding = sums;
    adding.by = reduction::sum;
    adding.sum = coded_reduction(reduction::sum, adding.element);
    with_element(adding.element,
                 [&]<class T>(std::type_identity<T> /*element*/) { adding.rows = &run_rows<T, op::sum_type>; });
    const auto copy = [&](const labelled_tensor& tensor) {
        return copied(tensor, made->form.names, made->extents, labels);
    };
    const auto summed_backwards = [&](term_statement& statement, term_id term) {
        const labelled_tensor terms = statement.sum(term, labels, {});
        const std::shared_ptr<vertex> back =
            copy({backwards(copy(terms.handle != nullptr
                                     ? terms
                                     : labelled_tensor{scalar_vertex(computed(made->element), 1), {}, terms.scale})),
                  labels});
        const recording_builder::operand_type x{back, labels};
        return labelled_tensor{
            backwards(recording_builder(names).running(recording_builder::last_vertex{}, labels, x, along, adding)),
            labels};
    };
    term_statement statement(made->form.names, made->extents);
    derivation& terms = statement.terms();
    const element_type type = computed(made->element);
    const term_id g = statement.add(gradient, type);
    const operand_read read{0, read_at};
    if (sums.by == reduction::sum) {
        return {{made.get(), read, summed_backwards(statement, g)}};
    }
    // Products: results behind the first zero change with this zero alone, those behind the second one with nothing.
    const auto chosen = [&](term_id count, double what, term_id value) {
        const term_id is = terms.call(op_code::equal, element_type_of<bool>(), {count, terms.number(type, what)});
        return terms.call(op_code::choice, type, {is, value, terms.number(type, 0)});
    };
    const term_id x = statement.add({made->operands[0], read_at}, type);
    const term_id one = terms.number(type, 1);
    const term_id is_zero = terms.call(op_code::equal, element_type_of<bool>(), {x, terms.number(type, 0)});
    const auto running = [&](term_id term, const running_work& work) {
        const recording_builder::operand_type of{statement.reduce(term, reduction::sum, labels), labels};
        const recording_builder builder(names);
        return statement.add({builder.running(recording_builder::last_vertex{}, labels, of, along, work), labels},
                             type);
    };
    const term_id products = running(terms.call(op_code::choice, type, {is_zero, one, x}), sums);
    const term_id zeros = running(terms.call(op_code::choice, type, {is_zero, one, terms.number(type, 0)}), adding);
    const term_id scaled = terms.times(g, terms.call(op_code::conjugate, type, {products}));
    const term_id before = statement.add(summed_backwards(statement, chosen(zeros, 0, scaled)), type);
    const term_id at_first = statement.add(summed_backwards(statement, chosen(zeros, 1, scaled)), type);
    const term_id quotient = terms.call(op_code::divide, type, {before, terms.call(op_code::conjugate, type, {x})});
    const term_id term = terms.call(op_code::choice, type, {is_zero, chosen(zeros, 1, at_first), quotient});
    return {{made.get(), read, statement.sum(term, labels, {})}};
}

/// The labels of a selection, renumbered so that the positions, which the indices name, come last.
struct selection_labels {
    std::vector<std::string> names;
    std::vector<label_id> numbers;  ///< new number of each label of the vertex
    std::vector<index> extents;
};
EINPARALLEL_SELDOM selection_labels labels_of_selection(const vertex& made, std::size_t indices) {
    std::vector<label_id> positions;
    for (std::size_t each = 0; each < indices; ++each) {
        positions.push_back(made.form.operands[1 + indices + each][0]);
    }
    selection_labels all{{}, std::vector<label_id>(made.extents.size()), {}};
    for (const bool of_positions : {false, true}) {
        for (std::size_t label = 0; label < made.extents.size(); ++label) {
            if (found_in(label_id(label), positions) == of_positions) {
                all.numbers[label] = label_id(all.names.size());
                all.names.push_back(made.form.names[label]);
                all.extents.push_back(made.extents[label]);
            }
        }
    }
    return all;
}

/// The gradient of Σ x · [token = v]: a selection, too, in which x and the result are exchanged.
EINPARALLEL_SELDOM std::vector<read_gradient> selection_gradient(const vertex& made, const labelled_tensor& gradient) {
    select_work work = *made.work->as<select_work>();
    if (is_half_type(work.element)) {
        work = select_work_of<float>(std::move(work.indices), work.replaces);
    }
    const std::size_t count = work.indices.size();
    const selection_labels all = labels_of_selection(made, count);
    const std::vector<std::string_view> names(all.names.begin(), all.names.end());
    const std::vector<operand_read> reads = made.form.listed_reads();
    const auto numbered = [&](const std::vector<label_id>& labels) {
        const auto number = [&](label_id label) { return label == no_label ? label : all.numbers[std::size_t(label)]; };
        return list_of(labels, number);
    };
    std::vector<labelled_tensor> operands;
    for (std::size_t number = 0; number <= count; ++number) {
        operands.push_back(read_of(made, reads[number]));
        operands.back().labels = numbered(operands.back().labels);
    }
    const std::vector<label_id> out = numbered(made.form.output);
    const std::vector<label_id> x = operands[0].labels;
    const auto record = [&](const std::vector<label_id>& labels, const whole_read* old) {
        std::vector<recording_builder::operand_type> read;
        for_each_in(operands, [&](const labelled_tensor& each) { read.push_back({each.handle, each.labels}); });
        return record_selection(names, recording_builder::last_vertex{}, labels, read, old, work);
    };
    // What is the same along a label of the tokens is added up along it.
    const bool is_direct = !work.replaces && gradient.handle != nullptr && !gradient.handle->is_view();
    const labelled_tensor g = is_direct
                                  ? labelled_tensor{gradient.handle, numbered(gradient.labels), gradient.scale}
                                  : labelled_tensor{whole_tensor(by_position(gradient, made.form.output), made), out};
    std::vector<read_gradient> gradients;
    if (work.replaces) {
        labelled_tensor zero{scalar_vertex(computed(made.element), 0), {}};
        operands[0] = broadcast(zero, x, all.extents);
        const whole_read old({g.handle, out});
        gradients.push_back({&made, reads.back(), {record(out, &old), made.form.output}});
        work.replaces = false;
    }
    operands[0] = g;
    std::vector<label_id> kept;
    std::vector<label_id> own;  // the same in the vertex's numbers
    for (std::size_t dimension = 0; dimension < x.size(); ++dimension) {
        const bool is_known = any_in(operands, [&](const auto& each) { return found_in(x[dimension], each.labels); });
        const bool is_position = std::size_t(x[dimension]) + count >= names.size();
        if (x[dimension] != no_label && (is_known || is_position) && !found_in(x[dimension], kept)) {
            kept.push_back(x[dimension]);
            own.push_back(reads[0].labels[dimension]);
        }
    }
    gradients.push_back({&made, reads[0], {record(kept, nullptr), own, g.scale}});
    return gradients;
}

/// The gradient of elements that are chosen by their rank. It goes to the positions of these elements.
EINPARALLEL_SELDOM std::vector<read_gradient> rank_gradient(const vertex& made, const labelled_tensor& gradient) {
    const std::vector<operand_read> reads = made.form.listed_reads();
    const std::vector<label_id>& out = made.form.output;
    const std::vector<label_id>& x = made.form.operands[0];
    const label_id along = *find_if_in(x, [&](label_id label) { return !made.form.in_output(label); });
    const std::vector<std::string_view> own_names(made.form.names.begin(), made.form.names.end());
    std::vector<read_gradient> gradients;
    with_element(computed(made.element), [&]<class T>(std::type_identity<T> /*element*/) {
        if constexpr (std::is_floating_point_v<T>) {
            const std::array<recording_builder::operand_type, 2> read{
                recording_builder::operand_type{made.operands[0], x}, {made.operands[1], made.form.operands[1]}};
            const std::shared_ptr<vertex> positions = recording_builder(own_names).ranked(
                recording_builder::last_vertex{}, out, read, ranked_work_of<T, position_of_rank>());
            const std::vector<data_index> indices{{element_type_of<index>(), made.extents[std::size_t(along)],
                                                   made.form.names[std::size_t(along)] + "'"}};
            std::vector<label_id> into = x;
            std::replace(into.begin(), into.end(), along, label_id(own_names.size()));
            const std::vector<recording_builder::operand_type> operands{
                {whole_tensor(by_position(gradient, out), made), out}, {positions, out}};
            gradients.push_back({&made,
                                 reads[0],
                                 {record_selection(names_with(own_names, indices), recording_builder::last_vertex{},
                                                   into, operands, nullptr, select_work_of<T>(indices, false)),
                                  x}});
        }
    });
    return gradients;
}

/// The terms that a vertex adds to the gradients of its operands. `gradient` is that of the vertex, with the vertex's
/// labels. None where the vertex is ⊕ over ⊗.
EINPARALLEL_SELDOM std::optional<std::vector<read_gradient>> row_gradients(const std::shared_ptr<vertex>& made,
                                                                           const labelled_tensor& gradient) {
    if (made->work->as<select_work>() != nullptr) {
        return selection_gradient(*made, gradient);
    }
    if (made->work->as<ranked_work>() != nullptr) {
        return rank_gradient(*made, gradient);
    }
    if (made->work->as<running_work>() != nullptr) {
        return running_gradient(made, gradient);
    }
    std::vector<read_gradient> gradients = softmax_gradient(made, gradient);
    return gradients.empty() ? std::nullopt : std::optional(std::move(gradients));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
