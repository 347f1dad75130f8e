#pragma once
// The order of contractions whose plan is fastest: orders that are worth a plan each, and those plans.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/product_tree.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/order/contraction_order.hpp>
#include <einparallel/order/exact_order.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/solve.hpp>
#include <einparallel/plan/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Seconds of one contraction on all ranks: its share of the arithmetic, and `weight` times the least that some rank
/// has to send or receive for it (plan/statistics.hpp).
struct contraction_seconds {
    int processes = 1;
    double seconds_per_operation = 0;  ///< of one multiply-add
    double seconds_per_element = 0;
    double weight = 1;

    double operator()(const product_network& net, const std::uint64_t* left, const std::uint64_t* right,
                      const std::uint64_t* joined, const std::uint64_t* result) const {
        const std::size_t words = net.labels.words();
        std::vector<std::uint64_t> of_class(4 * words);
        for (std::size_t word = 0; word < words; ++word) {
            const std::uint64_t both = left[word] & right[word];
            of_class[word] = both & result[word];
            of_class[words + word] = left[word] & ~right[word];
            of_class[2 * words + word] = right[word] & ~left[word];
            of_class[3 * words + word] = both & ~result[word];
        }
        constexpr double largest = 1e17;  // what an extent can be
        const auto size = [&](std::size_t kind) {
            return static_cast<index>(std::min(net.size_of(of_class.data() + kind * words, words), largest));
        };
        const contraction_shape shape{size(0), size(1), size(2), size(3)};
        return net.size_of(joined, words) / processes * seconds_per_operation +
               weight * lower_bound_words(shape, processes) * seconds_per_element;
    }

    [[nodiscard]] double at_least(double elements) const { return elements / processes * seconds_per_operation; }
};

/// The orders that differ from one by a single turn: where the product of x and y meets z, x meets z first, or y does.
EINPARALLEL_INLINE std::vector<std::vector<tensor_pair>> turned_orders(const std::vector<tensor_pair>& steps) {
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

/// Up to four tensors: every order, 3 or 15. Up to exact_order_limit: the cheapest orders by operations and
/// communication together, with several weights of the one against the other. Beyond: greedy orders with several
/// weights, and the annealed one.
EINPARALLEL_INLINE std::vector<std::vector<tensor_pair>> order_choices(const product_tree& tree,
                                                                       double operations_per_point,
                                                                       const options& asked) {
    constexpr std::size_t few = 4;
    const product_network net = make_network(tree.labels, tree.output, tree.extents);
    std::vector<std::vector<tensor_pair>> found;
    if (tree.leaves.size() <= few) {
        found.push_back(greedy_order(net, 1).steps);  // turns lead from every order to every other
        found.front() = in_order(std::move(found.front()));
        for (std::size_t known = 0; known < found.size(); ++known) {
            for (std::vector<tensor_pair>& turned : turned_orders(found[known])) {
                if (!found_in(turned, found)) {
                    found.push_back(std::move(turned));
                }
            }
        }
    } else if (tree.leaves.size() <= exact_order_limit) {
        for (const double weight : {0.25, 1.0, 4.0, 1e6}) {
            const contraction_seconds cost{asked.processes, operations_per_point * asked.machine.seconds_per_flop,
                                           static_cast<double>(tree.element.bytes) * asked.machine.seconds_per_byte,
                                           weight};
            found.push_back(exact_order(net, cost).steps(std::numeric_limits<double>::infinity()));
        }
        std::erase_if(found, [](const std::vector<tensor_pair>& steps) { return steps.empty(); });
    } else {
        for (const double weight : {1.0, 0.5, 0.0, 2.0}) {
            found.push_back(greedy_order(net, weight).steps);
        }
        found.push_back(annealed_order(net).steps);
    }
    return found;
}

/// The plan with the fewest seconds among those for the orders that are tried, product by product, products of equal
/// extents together. Every order of up to four tensors is; of more tensors the best by several measures, and what is
/// found from there on by turning one contraction at a time. Each order takes a plan of the whole graph, at most 200
/// for one kind of product. Of a graph without products of three tensors and more, the plan.
template <class PlanOf>
plan plan_of_best_order(einsum_graph graph, const options& asked, const PlanOf& plan_of) {
    constexpr std::size_t most_plans = 200;
    plan best = plan_of(graph);
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
        std::vector<tensor_pair> best_steps;
        numbering tried;
        const auto consider = [&](const std::vector<tensor_pair>& steps) {
            std::vector<index> key;
            for (const tensor_pair& step : steps) {
                key.insert(key.end(), {static_cast<index>(step.left), static_cast<index>(step.right)});
            }
            if (!tried.number_of(key).second || tried.size() > most_plans) {
                return false;
            }
            einsum_graph other =
                reordered(before, trees, with_labels(steps, tree.labels, tree.output, tree.extents.size()));
            plan made = plan_of(other);
            if (!better(made.seconds(), best.seconds())) {
                return false;
            }
            best = std::move(made);
            graph = std::move(other);
            best_steps = steps;
            return true;
        };
        const double operations = before.vertices[tree.root]->work->operations_per_point();
        std::ranges::for_each(order_choices(tree, operations, asked), consider);
        // From the best of them on, as long as a turn makes it better.
        for (bool changed = !best_steps.empty(); std::exchange(changed, false);) {
            for (const std::vector<tensor_pair>& steps : turned_orders(best_steps)) {
                changed = consider(steps) || changed;
            }
        }
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
