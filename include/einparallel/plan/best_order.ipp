#pragma once
// The order of contractions whose plan is fastest: which orders deserve a plan, and these plans.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/product_tree.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/order/contraction_order.hpp>
#include <einparallel/plan/memory.ipp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/solver/solve.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The orders that differ from `steps` by a single turn: where the product of x and y is contracted with z, x or y is
/// contracted with z first.
EINPARALLEL_SELDOM std::vector<std::vector<tensor_pair>> turned_orders(const std::vector<tensor_pair>& steps) {
    const std::size_t operands = steps.size() + 1;
    std::vector<std::vector<tensor_pair>> found;
    for (std::size_t upper = 0; upper < steps.size(); ++upper) {
        for (const std::size_t side : {steps[upper].left, steps[upper].right}) {
            if (side < operands) {
                continue;
            }
            const std::size_t z = steps[upper].left == side ? steps[upper].right : steps[upper].left;
            const auto [x, y] = steps[side - operands];
            for (const auto& [first, then] : {tensor_pair{x, y}, tensor_pair{y, x}}) {
                std::vector<tensor_pair> turned = steps;
                turned[side - operands] = {first, z};
                turned[upper] = {side, then};
                found.push_back(in_order(std::move(turned)));
            }
        }
    }
    return found;
}

/// What a rank of a plan that pages holds and moves.
struct rank_pages {
    plan_memory memory{};
    std::size_t again = 0;  ///< bytes_paged_again
    double exposed = 0;     ///< exposed_seconds
};

/// A plan; under a memory limit also the bytes that it holds, and by how many it exceeds the limit.
struct limited_plan {
    plan made;
    std::vector<std::size_t> held{};  ///< bytes held during each vertex, on the rank that holds most then (most_held)
    std::size_t excess = 0;           ///< bytes by which the largest of these exceeds the limit
    std::vector<std::size_t>
        paged{};  ///< bytes moved to and from storage during each vertex, on the rank with the most
    std::map<std::vector<std::size_t>, rank_pages> ranks{};  ///< by the shape of their programs (shape_of)

    /// Number of the vertex during which most is held; most() is how much.
    [[nodiscard]] std::size_t heaviest() const {
        return std::size_t(std::max_element(held.begin(), held.end()) - held.begin());
    }
    [[nodiscard]] std::size_t most() const { return held[heaviest()]; }
};

/// The plan with the least excess, and among equals the fewest seconds, of the orders that are tried. Products are
/// ordered one after the other, products of equal extents together. The first orders are the best ones by several
/// measures. One turn of a contraction gives further orders: for up to four tensors from every order, for more tensors
/// from each order that is better than all before. Each order takes a plan of the whole graph, at most 200 for one kind
/// of product. A graph without products of three or more tensors has one plan.
limited_plan plan_of_best_order(einsum_graph graph, const auto& plan_of) {
    constexpr std::size_t most_plans = 200;
    constexpr std::size_t few = 4;  // tensors: turns then lead from every order to every other (3 or 15)
    limited_plan best = plan_of(graph);
    std::vector<product_tree> kinds;
    for (product_tree& tree : products_of(graph)) {
        if (!any_in(kinds, [&](const product_tree& known) { return known.is_alike(tree); })) {
            kinds.push_back(std::move(tree));
        }
    }
    for (const product_tree& kind : kinds) {
        const einsum_graph before = graph;
        std::vector<product_tree> trees = products_of(before);
        std::erase_if(trees, [&](const product_tree& other) { return !kind.is_alike(other); });
        const product_tree& tree = trees.front();
        const product_network net = make_network(tree.labels, tree.output, tree.extents);
        std::vector<std::vector<tensor_pair>> orders;
        const auto add = [&](const std::vector<tensor_pair>& steps) {
            if (orders.size() < most_plans && !found_in(steps, orders)) {
                orders.push_back(steps);
            }
        };
        for (const double weight : {1.0, 0.5, 0.0, 2.0}) {  // weights of what is read against what is made
            add(in_order(greedy_order(net, weight).steps));
        }
        add(in_order(annealed_order(net).steps));
        for (std::size_t number = 0; number < orders.size(); ++number) {
            einsum_graph other =
                reordered(before, trees, with_labels(orders[number], tree.labels, tree.output, tree.extents.size()));
            limited_plan found = plan_of(other);
            const bool is_best = found.excess < best.excess ||
                                 (found.excess == best.excess && better(found.made.seconds(), best.made.seconds()));
            if (is_best) {
                best = std::move(found);
                graph = std::move(other);
            }
            if (is_best || tree.leaves.size() <= few) {
                for_each_in(turned_orders(orders[number]), add);
            }
        }
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
