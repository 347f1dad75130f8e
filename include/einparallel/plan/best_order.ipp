#pragma once
// The order of contractions whose plan is fastest: products in other orders, a plan for each.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/contraction_order.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/order_choices.ipp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/product_tree.ipp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Products of equal extents, known by the vertices that the user's handles refer to.
struct alike_products {
    product_tree first;
    std::vector<const vertex*> roots;
};

EINPARALLEL_INLINE std::vector<alike_products> products_of(const einsum_graph& graph) {
    std::vector<alike_products> found;
    for (product_tree& tree : product_finder(graph).all()) {
        const vertex* root = graph.origin_of(tree.root).get();
        const auto known = std::find_if(found.begin(), found.end(), [&](const alike_products& other) {
            return is_alike(other.first, tree) &&
                   graph.vertices[other.first.root]->element == graph.vertices[tree.root]->element;
        });
        if (known != found.end()) {
            known->roots.push_back(root);
        } else {
            found.push_back({std::move(tree), {root}});
        }
    }
    return found;
}

/// Tries orders of one kind of product.
template <class PlanOf>
class order_search {
public:
    /// `best` is the plan of the graph as it stands.
    order_search(einsum_graph graph, plan best, const alike_products& product, const PlanOf& plan_of)
        : before_(std::move(graph)), graph_(before_), best_(std::move(best)), plan_of_(plan_of) {
        for (product_tree& tree : product_finder(before_).all()) {
            if (std::ranges::find(product.roots, before_.origin_of(tree.root).get()) != product.roots.end()) {
                trees_.push_back(std::move(tree));
            }
        }
    }

    void run(const options& asked) {
        const vertex& root = *before_.vertices[trees_.front().root];
        for (const std::vector<tensor_pair>& steps :
             order_choices(trees_.front(), root.element.bytes, root.work->operations_per_point(), asked)) {
            consider(steps);
        }
        // From the best of them on, as long as a turn makes it better.
        for (bool changed = true; changed && !steps_.empty();) {
            changed = false;
            for (const std::vector<tensor_pair>& steps : turned_orders(steps_)) {
                changed = consider(steps) || changed;
            }
        }
    }

    [[nodiscard]] einsum_graph& graph() { return graph_; }
    [[nodiscard]] plan& best() { return best_; }

private:
    static constexpr std::size_t most_plans = 200;

    bool consider(const std::vector<tensor_pair>& steps) {
        const product_tree& tree = trees_.front();
        std::vector<index> key;
        for (const tensor_pair& step : steps) {
            key.insert(key.end(), {static_cast<index>(step.left), static_cast<index>(step.right)});
        }
        if (!tried_.number_of(key).second || tried_.size() > most_plans) {
            return false;
        }
        einsum_graph other =
            reordered(before_, trees_, with_labels(steps, tree.labels, tree.output, tree.extents.size()));
        plan made = plan_of_(other);
        if (!better(made.seconds(), best_.seconds())) {
            return false;
        }
        best_ = std::move(made);
        graph_ = std::move(other);
        steps_ = steps;
        return true;
    }

    einsum_graph before_;
    einsum_graph graph_;
    plan best_;
    const PlanOf& plan_of_;
    std::vector<product_tree> trees_;
    std::vector<tensor_pair> steps_;  // of the best one
    numbering tried_;
};

/// The plan with the fewest seconds among those for the orders that are tried, product by product, products of equal
/// extents together. Every order of up to four tensors is; of more tensors the best by several measures, and what is
/// found from there on by turning one contraction at a time. Each order takes a plan of the whole graph, at most 200
/// for one kind of product. Of a graph without products of three tensors and more, the plan.
template <class PlanOf>
plan plan_of_best_order(einsum_graph graph, const options& asked, const PlanOf& plan_of) {
    plan best = plan_of(graph);
    for (const alike_products& product : products_of(graph)) {
        order_search<PlanOf> search(std::move(graph), std::move(best), product, plan_of);
        search.run(asked);
        graph = std::move(search.graph());
        best = std::move(search.best());
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
