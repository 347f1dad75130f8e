#pragma once

#include <einparallel/graph/network.hpp>

#include <einparallel/notation/search_range.hpp>

#include <string>
#include <tuple>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM void append(operand_list& list, unranked_operand operand) {
    if (list == nullptr || list.use_count() > 1) {
        list = list == nullptr ? std::make_shared<std::vector<unranked_operand>>()
                               : std::make_shared<std::vector<unranked_operand>>(*list);
    }
    if (operand.strides.empty()) {
        operand.strides = operand.extents;
        dense_strides(operand.extents, operand.strides.data());
    }
    list->push_back(std::move(operand));
}

EINPARALLEL_SELDOM std::shared_ptr<unranked_result> new_result(std::vector<index> extents, std::size_t element_bytes) {
    auto made = std::make_shared<unranked_result>();
    made->elements.reset(new_elements(extents, element_bytes, first_elements::zeros));
    made->extents = std::move(extents);
    return made;
}

EINPARALLEL_SELDOM void check_assigned(const unranked_result& made, std::size_t rank, bool to_array) {
    expect(to_array == (made.node == nullptr),
           to_array ? "ep::unranked: this result was recorded, not computed: assign it to an ep::tensor"
                    : "ep::unranked: this result was computed, not recorded: assign it to an ep::array");
    expect(made.extents.size() == rank, "ep::unranked: a result of rank " + std::to_string(made.extents.size()) +
                                            " is assigned to one of rank " + std::to_string(rank));
}

/// Reads a subscript string into a table. @throws error for the first mistake in the string
EINPARALLEL_SELDOM subscript_table<size_at_run_time> checked_subscripts(std::string_view text, bool has_numbers,
                                                                        std::span<const unranked_operand> operands) {
    std::vector<std::size_t> ranks;
    std::size_t most = text.size() + operands.size() + 2;
    for (const unranked_operand& operand : operands) {
        most += ranks.emplace_back(operand.extents.size());
    }
    subscript_table<size_at_run_time> table;
    table.has_numbers = has_numbers;
    std::apply([&](auto&... row) { (row.resize(most), ...); },
               std::tie(table.names, table.is_ellipsis, table.dimensions, table.functions, table.terms, table.operand,
                        table.first, table.output));
    table.problem = read_string(table, text, ranks.data(), ranks.size());
    if (table.problem == subscript_problem::none) {
        return table;
    }
    constexpr const char* sentences[] = {
        EINPARALLEL_DETAIL_SUBSCRIPT_character,
        EINPARALLEL_DETAIL_SUBSCRIPT_function,
        EINPARALLEL_DETAIL_SUBSCRIPT_arrow,
        EINPARALLEL_DETAIL_SUBSCRIPT_dots,
        EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_more,
        EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_less,
        EINPARALLEL_DETAIL_SUBSCRIPT_rank,
        EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_rank,
        EINPARALLEL_DETAIL_SUBSCRIPT_label_count,
        EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_output,
        EINPARALLEL_DETAIL_SUBSCRIPT_output_function,
        EINPARALLEL_DETAIL_SUBSCRIPT_output_unknown,
        EINPARALLEL_DETAIL_SUBSCRIPT_output_repeated,
    };
    const bool of_operand = table.culprit_operand < ranks.size();
    std::string what(of_operand ? input_subscript(text, table.culprit_operand) : text);
    what = table.culprit == label_name() ? "'" + what + "'" : "label " + std::string(table.culprit.view());
    what += of_operand ? ", operand " + std::to_string(table.culprit_operand + 1) + " of rank " +
                             std::to_string(ranks[table.culprit_operand])
                       : "";
    throw error("ep::einsum: " + std::string(sentences[std::size_t(table.problem)]) + ": " + what);
}

EINPARALLEL_SELDOM std::shared_ptr<unranked_result> einsum_of(
    std::string_view text, bool has_numbers, const operand_list& list,
    std::shared_ptr<const kernel> (*make_product)(std::size_t operands), std::size_t most_bytes) {
    expect(list != nullptr, "ep::network: a network without tensors has no result: net.add(A, \"ij\")");
    const std::vector<unranked_operand>& operands = *list;
    const auto table = checked_subscripts(text, has_numbers, operands);
    std::vector<std::shared_ptr<vertex>> nodes;
    std::vector<string_operand> shapes;
    for (const unranked_operand& operand : operands) {
        expect((operand.node == nullptr) == (operands[0].node == nullptr),
               "ep::einsum: the operands must be arrays and views only, or tensors only");
        nodes.push_back(operand.node);
        shapes.push_back({operand.data, operand.extents});
    }
    std::vector<std::string_view> names;
    for (std::size_t label = 0; label < table.label_count; ++label) {
        names.push_back(table.names[label].view());
    }
    const std::shared_ptr<const kernel> all = make_product(operands.size());
    const auto made = std::make_shared<unranked_result>();
    if (operands[0].node != nullptr) {
        using operand = recording_builder::operand_type;
        made->node = record_string(table, nodes, [&](label_span out, const std::vector<operand>& read) {
            const std::shared_ptr<const kernel> pair = make_product(2);
            return recording_builder(names).contract_pairwise(recording_builder::last_vertex{}, out, read, all, pair,
                                                              pair);
        });
        made->extents = made->node->bounds;
        return made;
    }
    subscript_labels labels(table, shapes);
    expect(labels.failure().empty(), labels.failure());
    made->extents = list_of(labels.output(), [&](label_id label) { return labels.extent(label); });
    const element_type element = all->program().type();
    made->elements.reset(new_elements(made->extents, element.bytes, first_elements::unwritten));
    std::vector<index> strides(made->extents);
    dense_strides(made->extents, strides.data());
    std::vector<strided_block> read;
    std::vector<statement_leaf> leaves;
    for (const unranked_operand& operand : operands) {
        const strided_block given{operand.data, operand.extents, operand.strides.data(), element};
        read.push_back({labels.seen(read.size(), given), labels.of(read.size())});
        leaves.push_back({read.back(), false, read.size() == operands.size()});
    }
    immediate_builder builder(names, {{made->elements.get(), made->extents, strides.data(), element}, labels.output()},
                              leaves, nullptr);
    builder.network(read, most_bytes, [&](const block_call& block) { all->contract(block); });
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
