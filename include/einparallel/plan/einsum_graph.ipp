#pragma once

#include <einparallel/plan/einsum_graph.hpp>

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>

#include <map>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE const std::shared_ptr<vertex>& einsum_graph::origin_of(std::size_t number) const {
    return origins.empty() ? vertices[number] : origins[number];
}

EINPARALLEL_INLINE std::string einsum_graph::name_of(std::size_t number) const {
    if (!vertices[number]->name.empty()) {
        return vertices[number]->name;
    }
    if (number < result_of.size() && result_of[number] != number) {
        return name_of(result_of[number]) + "." + std::to_string(step_of[number]);
    }
    return "v" + std::to_string(number);
}

EINPARALLEL_INLINE void find_results(einsum_graph& graph) {
    const std::size_t count = graph.vertices.size();
    constexpr std::size_t unknown = static_cast<std::size_t>(-1);
    graph.result_of.assign(count, unknown);
    graph.step_of.assign(count, 0);
    for (std::size_t number = count; number-- > 0;) {
        std::size_t& result = graph.result_of[number];
        result = result == unknown || !graph.vertices[number]->is_intermediate ? number : result;
        for (const std::size_t input : graph.inputs[number]) {
            graph.result_of[input] = result;
        }
    }
    std::vector<std::size_t> steps(count, 0);
    for (std::size_t number = 0; number < count; ++number) {
        if (graph.result_of[number] != number) {
            graph.step_of[number] = ++steps[graph.result_of[number]];
        }
    }
}

EINPARALLEL_INLINE einsum_graph collect(const std::vector<std::shared_ptr<vertex>>& outputs) {
    if (outputs.empty()) {
        throw error("decompose: there is no output to plan for");
    }
    einsum_graph graph;
    constexpr std::size_t open = static_cast<std::size_t>(-1);  // its operands are being visited
    std::map<const vertex*, std::size_t> number_of;
    std::vector<std::pair<std::shared_ptr<vertex>, std::size_t>> path;  // a vertex and its operand to visit next
    const auto visit = [&](const std::shared_ptr<vertex>& next) {
        const auto [known, fresh] = number_of.try_emplace(next.get(), open);
        if (fresh) {
            path.emplace_back(next, std::size_t{0});
        } else if (known->second == open) {
            throw error("decompose: the vertices of the graph depend on each other in a circle");
        }
    };
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        if (outputs[output] == nullptr) {
            throw error("decompose: output " + std::to_string(output) + " is a tensor that nothing was assigned to");
        }
        visit(outputs[output]);
        while (!path.empty()) {
            auto& [current, operand] = path.back();
            if (operand < current->operands.size()) {
                const std::shared_ptr<vertex> next = current->operands[operand++];
                if (next == nullptr) {
                    throw error(current->failure.empty()
                                    ? "decompose: a vertex reads a tensor that nothing was assigned to"
                                    : current->failure);
                }
                visit(next);
                continue;
            }
            if (!current->failure.empty()) {
                throw error("decompose: " + (current->name.empty() ? "" : "vertex '" + current->name + "', ") +
                            current->failure);
            }
            if (!is_countable(current->bounds)) {
                throw error("decompose: " + (current->name.empty() ? "a tensor" : "'" + current->name + "'") +
                            " has more than 2^59 elements");
            }
            std::vector<std::size_t> inputs;
            for (const std::shared_ptr<vertex>& read : current->operands) {
                inputs.push_back(number_of.at(read.get()));
            }
            number_of[current.get()] = graph.vertices.size();
            graph.vertices.push_back(std::move(current));
            graph.inputs.push_back(std::move(inputs));
            path.pop_back();
        }
        graph.outputs.push_back(number_of.at(outputs[output].get()));
    }
    find_results(graph);
    return graph;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
