#pragma once

#include <einparallel/graph/product_tree.hpp>

#include <einparallel/graph/einsum_graph.ipp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// True for a contraction that may be done in any order with the others of a product. Contractions that read halves may
/// not: their kernels know which of the operands these are.
EINPARALLEL_SELDOM bool may_take_turns(const vertex& each) {
    return each.is_free_contraction() && !any_in(each.operands, [](const std::shared_ptr<vertex>& operand) {
               return is_half_type(operand->element);
           });
}

/// The tree of contractions below a vertex. Labels that an inner contraction sums keep their names, with a prime added
/// where another label has that name. @param readings  how often each vertex is read, as an operand or an output
EINPARALLEL_SELDOM product_tree product_at(const einsum_graph& graph, const std::vector<std::size_t>& readings,
                                           std::size_t root) {
    const vertex& whole = *graph.vertices[root];
    product_tree tree{root, {}, {}, {}, whole.form.output, whole.extents, whole.form.names, whole.element};
    std::vector<std::pair<std::size_t, std::vector<label_id>>>
        open;  // vertices, and the tree's label for each of theirs
    open.emplace_back(root, first_labels(whole.extents.size()));
    while (!open.empty()) {
        const auto [number, known] = std::move(open.back());
        open.pop_back();
        const vertex& each = *graph.vertices[number];
        for (std::size_t operand = 0; operand < each.form.operands.size(); ++operand) {
            const std::size_t input = graph.inputs[number][operand];
            const vertex& below = *graph.vertices[input];
            std::vector<label_id> read_as = list_of(each.form.operands[operand], [&known = known](label_id label) {
                return label == no_label ? no_label : known[std::size_t(label)];
            });
            if (!may_take_turns(below) || !below.is_intermediate || readings[input] > 1 ||
                below.element != each.element || found_in(no_label, read_as)) {
                tree.leaves.push_back(input);
                tree.labels.push_back(std::move(read_as));
                continue;
            }
            std::vector<label_id> labels(below.extents.size(), no_label);
            for (std::size_t dimension = 0; dimension < read_as.size(); ++dimension) {
                labels[std::size_t(below.form.output[dimension])] = read_as[dimension];
            }
            for (std::size_t label = 0; label < labels.size(); ++label) {
                if (labels[label] == no_label) {
                    labels[label] = label_id(tree.extents.size());
                    tree.extents.push_back(below.extents[label]);
                    std::string name = below.form.names[label];
                    while (found_in(name, tree.names)) {
                        name += "'";
                    }
                    tree.names.push_back(std::move(name));
                }
            }
            tree.inner.push_back(input);
            open.emplace_back(input, std::move(labels));
        }
    }
    return tree;
}

EINPARALLEL_SELDOM std::vector<product_tree> products_of(const einsum_graph& graph) {
    std::vector<std::size_t> readings(graph.vertices.size(), 0);
    for (const std::vector<std::size_t>& inputs : graph.inputs) {
        for_each_in(inputs, [&](std::size_t input) { ++readings[input]; });
    }
    for_each_in(graph.outputs, [&](std::size_t output) { ++readings[output]; });
    std::vector<product_tree> found;
    std::vector<bool> taken(graph.vertices.size(), false);
    for (std::size_t number = graph.vertices.size(); number-- > 0;) {
        if (!taken[number] && may_take_turns(*graph.vertices[number])) {
            product_tree tree = product_at(graph, readings, number);
            for_each_in(tree.inner, [&](std::size_t inner) { taken[inner] = true; });
            if (tree.leaves.size() > 2) {
                found.push_back(std::move(tree));
            }
        }
    }
    std::reverse(found.begin(), found.end());
    return found;
}

EINPARALLEL_SELDOM einsum_graph reordered(const einsum_graph& graph, const std::vector<product_tree>& trees,
                                          const std::vector<pairwise_contraction>& steps) {
    std::vector<const product_tree*> tree_of(graph.vertices.size(), nullptr);  // by root
    std::vector<bool> gone(graph.vertices.size(), false);
    for (const product_tree& tree : trees) {
        tree_of[tree.root] = &tree;
        for_each_in(tree.inner, [&](std::size_t inner) { gone[inner] = true; });
    }
    einsum_graph made;
    std::vector<std::size_t> number_of(graph.vertices.size(), 0);
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        if (gone[number]) {
            continue;
        }
        if (tree_of[number] == nullptr) {
            number_of[number] =
                made.add(graph.vertices[number], graph.origins[number], renumbered(graph.inputs[number], number_of));
            continue;
        }
        const product_tree& tree = *tree_of[number];
        std::vector<std::size_t> known = renumbered(tree.leaves, number_of);
        std::vector<std::vector<label_id>> labels = tree.labels;
        const std::vector<std::string_view> names(tree.names.begin(), tree.names.end());
        const recording_builder recording(names);
        for (std::size_t step = 0; step < steps.size(); ++step) {
            const auto& [left, right, kept] = steps[step];
            const bool is_last = step + 1 == steps.size();
            const vertex& like = *graph.vertices[is_last ? number : tree.inner[step]];
            const std::array<recording_builder::operand_type, 2> operands{
                {{made.vertices[known[left]], labels[left]}, {made.vertices[known[right]], labels[right]}}};
            const std::shared_ptr<vertex> next =
                recording.record(std::nullopt, is_last ? tree.output : kept, operands, like.work);
            next->name = like.name;
            next->is_intermediate = like.is_intermediate;
            known.push_back(
                made.add(next, is_last ? graph.origins[number] : std::vector{next}, {known[left], known[right]}));
            labels.push_back(kept);
        }
        number_of[number] = known.back();
    }
    made.outputs = renumbered(graph.outputs, number_of);
    find_results(made);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
