#pragma once
// The EinGraph behind some outputs, numbered: every vertex once, after the vertices that it reads.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Vertices in topological order, inputs just before they are read first.
struct einsum_graph {
    std::vector<std::shared_ptr<vertex>> vertices;
    std::vector<std::vector<std::size_t>> inputs;  ///< numbers of each vertex's operands
    std::vector<std::size_t> outputs;

    /// The user's name of a vertex, or "v3" by its number.
    [[nodiscard]] std::string name_of(std::size_t number) const {
        return vertices[number]->name.empty() ? "v" + std::to_string(number) : vertices[number]->name;
    }
};

/// Collects what the outputs depend on, operands in order. Chains of any length: nothing recurses.
/// @throws error where an output has no tensor behind it, where recording a vertex failed, or where vertices depend on
/// each other in a circle
template <class Lazy = void>
einsum_graph collect(const std::vector<std::shared_ptr<vertex>>& outputs) {
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
    return graph;
}

}  // namespace einparallel::detail
