#pragma once
// Plans of random graphs on small integers: the value of every vertex by definition, and what a played program needs.

#include "random_graph.hpp"

#include <einparallel/plan/plan.hpp>

#include <support/play.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::testing {

/// A tensor of small integers, so that every order of summation gives the same double.
struct whole_tensor {
    std::vector<index> bounds;
    std::vector<double> elements;

    [[nodiscard]] std::size_t offset(const std::vector<index>& point) const {
        index at = 0;
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            at = at * bounds[dimension] + point[dimension];
        }
        return static_cast<std::size_t>(at);
    }
};

inline bool adds_terms(const planned_vertex& each) {
    return static_cast<const test::paper_kernel&>(*each.origin->work).join() == test::paper_join::terms;
}

/// The value of every vertex of a plan, by definition.
inline std::vector<whole_tensor> evaluate_all(const plan& made, test::random_graphs& random) {
    std::vector<whole_tensor> values;
    for (const planned_vertex& each : made.vertices()) {
        whole_tensor value{each.bounds, {}};
        for_each_point(each.bounds, [&](const std::vector<index>&) {
            value.elements.push_back(each.is_input() ? random.between(-2, 2) : 0);
        });
        if (!each.is_input()) {
            const einsum_form& form = each.origin->form;
            const auto point_of = [](const std::vector<label_id>& labels, const std::vector<index>& point) {
                std::vector<index> at;
                for (const label_id label : labels) {
                    at.push_back(point[static_cast<std::size_t>(label)]);
                }
                return at;
            };
            for_each_point(each.origin->extents, [&](const std::vector<index>& point) {
                double joined = adds_terms(each) ? 0 : 1;
                for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
                    const whole_tensor& read = values[each.inputs[operand]];
                    const double element = read.elements[read.offset(point_of(form.operands[operand], point))];
                    joined = adds_terms(each) ? joined + element : joined * element;
                }
                value.elements[value.offset(point_of(form.output, point))] += joined;
            });
        }
        values.push_back(std::move(value));
    }
    return values;
}

/// What a player needs of each vertex. Refers to the values.
inline std::vector<played_vertex> played_vertices(const plan& made, const std::vector<whole_tensor>& values) {
    static const loop_kernel products(played_operators::sum_of_products);
    static const loop_kernel sums(played_operators::sum_of_sums);
    std::vector<played_vertex> vertices;
    for (std::size_t number = 0; number < made.vertices().size(); ++number) {
        const planned_vertex& each = made.vertices()[number];
        const loop_kernel& loops = !each.is_input() && adds_terms(each) ? sums : products;
        vertices.push_back({each.work.form, &loops, [&values, number](const box& region, double* destination) {
                                for_each_point(region, [&](const std::vector<index>& point) {
                                    *destination++ = values[number].elements[values[number].offset(point)];
                                });
                            }});
    }
    return vertices;
}

}  // namespace einparallel::testing
