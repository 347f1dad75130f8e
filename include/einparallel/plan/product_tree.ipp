#pragma once
// Products of three tensors and more as the graph has them, contracted pair by pair, and the graph with another order.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/contraction_order.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/plan/einsum_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Σ of a product as a tree of contractions of two operands. Vertices by their number in the graph, labels of all of
/// them by one numbering.
struct product_tree {
    std::size_t root = 0;
    std::vector<std::size_t> inner;             ///< contractions on the way: nobody else reads them
    std::vector<std::size_t> leaves;            ///< what is multiplied
    std::vector<std::vector<label_id>> labels;  ///< of the leaves
    std::vector<label_id> output;
    std::vector<index> extents;  ///< by label
    std::vector<std::string> names;
};

/// Equal for trees that multiply tensors of equal extents in the same way.
EINPARALLEL_INLINE bool is_alike(const product_tree& a, const product_tree& b) {
    return a.labels == b.labels && a.output == b.output && a.extents == b.extents;
}

/// Finds the products of a graph that may be contracted in another order.
EINPARALLEL_INLINE class product_finder {
public:
    explicit product_finder(const einsum_graph& graph) : graph_(graph), readings_(graph.vertices.size(), 0) {
        for (const std::vector<std::size_t>& inputs : graph.inputs) {
            for (const std::size_t input : inputs) {
                ++readings_[input];
            }
        }
        for (const std::size_t output : graph.outputs) {
            ++readings_[output];
        }
    }

    /// Those of three tensors and more, none of them a part of another.
    [[nodiscard]] std::vector<product_tree> all() const {
        std::vector<product_tree> found;
        std::vector<bool> taken(graph_.vertices.size(), false);
        for (std::size_t number = graph_.vertices.size(); number-- > 0;) {
            if (!taken[number] && is_free(*graph_.vertices[number])) {
                product_tree tree = tree_at(number);
                for (const std::size_t inner : tree.inner) {
                    taken[inner] = true;
                }
                if (tree.leaves.size() > 2) {
                    found.push_back(std::move(tree));
                }
            }
        }
        std::reverse(found.begin(), found.end());
        return found;
    }

private:
    /// A contraction of two tensors of which the user fixed nothing.
    static bool is_free(const vertex& made) {
        return !made.is_input() && made.work->is_contraction() && !made.wishes.pin &&
               !made.wishes.without_communication;
    }

    /// True where a contraction of one element type reads the result of another that it may be merged with.
    [[nodiscard]] bool is_inner(std::size_t number, const vertex& reader, const std::vector<label_id>& read_as) const {
        const vertex& made = *graph_.vertices[number];
        return is_free(made) && made.is_intermediate && readings_[number] == 1 && made.element == reader.element &&
               std::ranges::find(read_as, no_label) == read_as.end();
    }

    /// The tree of contractions below a vertex. Labels that an inner contraction sums keep their names, with a stroke
    /// where another label has it.
    [[nodiscard]] product_tree tree_at(std::size_t root) const {
        product_tree tree;
        tree.root = root;
        const vertex& whole = *graph_.vertices[root];
        tree.extents = whole.extents;
        tree.names = whole.form.names;
        tree.output = whole.form.output;
        std::vector<label_id> own(whole.extents.size());
        for (std::size_t label = 0; label < own.size(); ++label) {
            own[label] = static_cast<label_id>(label);
        }
        struct part {
            std::size_t number;
            std::vector<label_id> labels;  // of the tree, by label of the vertex
        };
        std::vector<part> parts{{root, std::move(own)}};
        while (!parts.empty()) {
            const part next = std::move(parts.back());
            parts.pop_back();
            const vertex& each = *graph_.vertices[next.number];
            for (std::size_t operand = 0; operand < each.form.operands.size(); ++operand) {
                const std::size_t input = graph_.inputs[next.number][operand];
                std::vector<label_id> read_as;
                for (const label_id label : each.form.operands[operand]) {
                    read_as.push_back(label == no_label ? no_label : next.labels[static_cast<std::size_t>(label)]);
                }
                if (!is_inner(input, each, read_as)) {
                    tree.leaves.push_back(input);
                    tree.labels.push_back(std::move(read_as));
                    continue;
                }
                const vertex& below = *graph_.vertices[input];
                std::vector<label_id> labels(below.extents.size(), no_label);
                for (std::size_t dimension = 0; dimension < read_as.size(); ++dimension) {
                    labels[static_cast<std::size_t>(below.form.output[dimension])] = read_as[dimension];
                }
                for (std::size_t label = 0; label < labels.size(); ++label) {
                    if (labels[label] == no_label) {
                        labels[label] = static_cast<label_id>(tree.extents.size());
                        tree.extents.push_back(below.extents[label]);
                        std::string name = below.form.names[label];
                        while (std::ranges::find(tree.names, name) != tree.names.end()) {
                            name += "'";
                        }
                        tree.names.push_back(std::move(name));
                    }
                }
                tree.inner.push_back(input);
                parts.push_back({input, std::move(labels)});
            }
        }
        return tree;
    }

    const einsum_graph& graph_;
    std::vector<std::size_t> readings_;
};

/// A contraction of two vertices: what recording would have made of it.
EINPARALLEL_INLINE std::shared_ptr<vertex> contraction_of(const product_tree& tree,
                                                          std::vector<std::shared_ptr<vertex>> operands,
                                                          const std::vector<std::vector<label_id>>& labels,
                                                          const std::vector<label_id>& output,
                                                          std::shared_ptr<const kernel> work) {
    auto made = std::make_shared<vertex>();
    std::vector<label_id> dense(tree.extents.size(), no_label);
    const auto number = [&](label_id label) {
        if (label == no_label) {
            return no_label;
        }
        label_id& known = dense[static_cast<std::size_t>(label)];
        if (known == no_label) {
            known = static_cast<label_id>(made->extents.size());
            made->form.names.push_back(tree.names[static_cast<std::size_t>(label)]);
            made->extents.push_back(tree.extents[static_cast<std::size_t>(label)]);
        }
        return known;
    };
    for (const std::vector<label_id>& read : labels) {
        made->form.operands.emplace_back();
        for (const label_id label : read) {
            made->form.operands.back().push_back(number(label));
        }
    }
    for (const label_id label : output) {
        made->form.output.push_back(number(label));
        made->bounds.push_back(tree.extents[static_cast<std::size_t>(label)]);
    }
    made->operands = std::move(operands);
    made->element = work->output_type();
    made->work = std::move(work);
    made->is_intermediate = true;
    return made;
}

/// The graph with some products in other orders. The vertex that a product's handle refers to is replaced by another
/// that computes the same; `origins` still says which handle that is.
EINPARALLEL_INLINE einsum_graph reordered(const einsum_graph& graph, const std::vector<product_tree>& trees,
                                          const std::vector<pairwise_contraction>& steps) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> tree_of(graph.vertices.size(), none);  // by root
    std::vector<bool> gone(graph.vertices.size(), false);
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
        tree_of[trees[tree].root] = tree;
        for (const std::size_t inner : trees[tree].inner) {
            gone[inner] = true;
        }
    }
    einsum_graph made;
    std::vector<std::size_t> number_of(graph.vertices.size(), none);
    const auto add = [&](std::shared_ptr<vertex> next, std::shared_ptr<vertex> origin,
                         std::vector<std::size_t> inputs) {
        made.vertices.push_back(std::move(next));
        made.origins.push_back(std::move(origin));
        made.inputs.push_back(std::move(inputs));
        return made.vertices.size() - 1;
    };
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        if (gone[number]) {
            continue;
        }
        if (tree_of[number] == none) {
            std::vector<std::size_t> inputs;
            for (const std::size_t input : graph.inputs[number]) {
                inputs.push_back(number_of[input]);
            }
            number_of[number] = add(graph.vertices[number], graph.origin_of(number), std::move(inputs));
            continue;
        }
        const product_tree& tree = trees[tree_of[number]];
        std::vector<std::size_t> known;
        for (const std::size_t leaf : tree.leaves) {
            known.push_back(number_of[leaf]);
        }
        std::vector<std::vector<label_id>> labels = tree.labels;
        for (std::size_t step = 0; step < steps.size(); ++step) {
            const auto [left, right, kept] = steps[step];
            const bool is_last = step + 1 == steps.size();
            const vertex& like = *graph.vertices[is_last ? number : tree.inner[step]];
            std::shared_ptr<vertex> next =
                contraction_of(tree, {made.vertices[known[left]], made.vertices[known[right]]},
                               {labels[left], labels[right]}, is_last ? tree.output : kept, like.work);
            next->name = like.name;
            next->is_intermediate = like.is_intermediate;
            const std::shared_ptr<vertex> origin = is_last ? graph.origin_of(number) : next;
            known.push_back(add(std::move(next), origin, {known[left], known[right]}));
            labels.push_back(kept);
        }
        number_of[number] = known.back();
    }
    for (const std::size_t output : graph.outputs) {
        made.outputs.push_back(number_of[output]);
    }
    find_results(made);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
