#pragma once

#include <einparallel/graph/network.hpp>

#include <array>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string spelled_numbers(std::span<const index> labels) {
    std::string text;
    for (const index label : labels) {
        expect(label >= 0, "ep::network: label " + std::to_string(label) + " is negative: numbers begin with 0");
        text += std::to_string(label) + " ";
    }
    return text;
}

EINPARALLEL_SELDOM void check_assigned(const unranked_result& made, std::size_t rank, bool to_array) {
    expect(to_array || made.node != nullptr, "ep::unranked: a result that was computed is assigned to an ep::array");
    expect(!to_array || made.node == nullptr, "ep::unranked: a result that was recorded is assigned to an ep::tensor");
    expect(made.extents.size() == rank, "ep::unranked: a result of rank " + std::to_string(made.extents.size()) +
                                            " is assigned to " + (to_array ? "an array" : "a tensor") + " of rank " +
                                            std::to_string(rank));
}

/// @throws error for a mistake in the string
EINPARALLEL_SELDOM subscript_table<size_at_run_time> checked_subscripts(std::string_view text, bool has_numbers,
                                                                        std::span<const std::size_t> ranks) {
    std::size_t most = text.size() + ranks.size() + 2;
    for_each_in(ranks, [&](std::size_t rank) { most += rank; });
    subscript_table<size_at_run_time> table;
    table.has_numbers = has_numbers;
    table.names.resize(most);
    table.is_ellipsis.resize(most);
    table.dimensions.resize(most);
    table.operand.resize(most);
    table.first.resize(most);
    table.output.resize(most);
    const subscript_problem problem = read_string(table, text, ranks.data(), ranks.size());
    if (problem == subscript_problem::none) {
        return table;
    }
#define EINPARALLEL_DETAIL_SENTENCE(name, sentence) sentence,
    constexpr const char* sentences[] = {
        EINPARALLEL_DETAIL_SUBSCRIPT_PROBLEMS(EINPARALLEL_DETAIL_SENTENCE, EINPARALLEL_DETAIL_SENTENCE)};
#undef EINPARALLEL_DETAIL_SENTENCE
    const std::size_t operand = table.culprit_operand;
    const std::string subscript(input_subscript(text, std::min(operand, input_count(text) - 1)));
    throw error("ep::einsum: " + std::string(sentences[std::size_t(problem)]) +
                (problem >= subscript_problem::output_unknown ? ": " + std::string(table.culprit.view())
                 : problem == subscript_problem::operand_count_more || problem == subscript_problem::operand_count_less
                     ? ": " + std::to_string(ranks.size()) + " and " + std::to_string(input_count(text))
                 : operand < ranks.size() ? ": '" + subscript + "' of operand " + std::to_string(operand + 1) +
                                                ", which has rank " + std::to_string(ranks[operand])
                                          : ": '" + std::string(text) + "'"));
}

EINPARALLEL_SELDOM unranked_result einsum_of(std::string_view text, bool has_numbers,
                                             std::span<const unranked_operand> operands, const element_product& product,
                                             std::size_t most_bytes) {
    expect(!operands.empty(), "ep::network: a network without tensors has no result: net.add(A, \"ij\") adds one");
    std::vector<std::size_t> ranks;
    std::vector<const index*> extents_of;
    for (const unranked_operand& operand : operands) {
        expect((operand.node == nullptr) == (operands[0].node == nullptr),
               "ep::network: tensors are all recorded, or all of them arrays and views");
        ranks.push_back(operand.extents.size());
        extents_of.push_back(operand.extents.data());
    }
    const subscript_table<size_at_run_time> table = checked_subscripts(text, has_numbers, ranks);
    const subscript_labels labels(table, extents_of.data());
    std::vector<std::string_view> names;
    for (std::size_t label = 0; label < table.label_count; ++label) {
        names.push_back(table.names[label].view());
    }
    if (operands[0].node != nullptr) {
        std::vector<recording_builder::operand_type> read;
        for (const unranked_operand& operand : operands) {
            read.push_back({operand.node, labels.of(read.size())});
        }
        const std::shared_ptr<const kernel> pair = product.make_kernel(2);
        auto node = recording_builder(names).contract_pairwise(recording_builder::last_vertex{}, labels.output(), read,
                                                               product.make_kernel(read.size()), pair, pair);
        return {node->bounds, nullptr, node};
    }
    unranked_result made;
    const std::vector<index> longest = extents_by_label(table, extents_of.data());
    for (const label_id label : labels.output()) {
        made.extents.push_back(longest[std::size_t(label)]);
    }
    made.elements.reset(new_elements(made.extents, product.bytes, first_elements::unwritten));
    std::vector<std::vector<index>> strides(operands.size() + 1);
    std::vector<block_handle> blocks;
    const auto add = [&](const void* data, std::span<const index> extents, const std::vector<index>& known) {
        std::vector<index>& own = strides[blocks.size()] = known;
        if (own.size() != extents.size()) {
            own.resize(extents.size());
            dense_strides(extents, own.data());
        }
        blocks.push_back({data, extents, own.data(), product.bytes});
    };
    add(made.elements.get(), made.extents, {});
    for (const unranked_operand& operand : operands) {
        add(operand.data, operand.extents, operand.strides);
    }
    run_network(labels.form(names), blocks, product.contract, most_bytes);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
