#pragma once
// The EinGraph behind some outputs, numbered: every vertex once, after the vertices that it reads.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The vertices of a graph in topological order. Inputs stand just before the einsum that reads them first.
struct einsum_graph {
    std::vector<std::shared_ptr<vertex>> vertices;
    std::vector<std::vector<std::size_t>> inputs;  ///< numbers of each vertex's operands
    std::vector<std::size_t> outputs;
    std::vector<std::size_t> result_of;  ///< by vertex: the result of its statement; itself if no intermediate
    std::vector<std::size_t> step_of;    ///< number of an intermediate within its statement, from 1; 0 for others
    std::vector<std::vector<std::shared_ptr<vertex>>> origins;  ///< the recorded vertices that each one is computed for

    /// Appends a vertex and returns its number. @param step  the number of an intermediate within its statement, from
    /// 1; 0: the vertex is no intermediate
    EINPARALLEL_INLINE std::size_t add(std::shared_ptr<vertex> next, std::vector<std::shared_ptr<vertex>> computed_for,
                                       std::vector<std::size_t> reads, std::size_t step = 0) {
        vertices.push_back(std::move(next));
        origins.push_back(std::move(computed_for));
        inputs.push_back(std::move(reads));
        step_of.push_back(step);
        result_of.push_back(vertices.size() - 1);
        return vertices.size() - 1;
    }

    /// The user's names of a vertex (Z = W), or "v3" by its number. The intermediate results of a statement with result
    /// Z are Z.1, Z.2, ….
    EINPARALLEL_INLINE [[nodiscard]] std::string name_of(std::size_t number) const;
};

/// The new numbers of vertices: number_of[number] for each of `numbers`.
EINPARALLEL_INLINE std::vector<std::size_t> renumbered(const std::vector<std::size_t>& numbers,
                                                       const std::vector<std::size_t>& number_of);

/// The same graph with its einsums in another order. Inputs stand just before the einsum that reads them first. Names
/// stay.
/// @param einsums numbers of all einsums, each after those that it reads
/// @param number_of becomes the new number of every vertex
EINPARALLEL_INLINE einsum_graph in_order(const einsum_graph& graph, const std::vector<std::size_t>& einsums,
                                         std::vector<std::size_t>& number_of);

/// Merges vertices that are equal, in all statements, so that they are computed once. Inputs are equal if they have the
/// same source and extents, and the source lasts. Einsums are equal if they have the same operands, labels, extents and
/// functions. Vertices are not merged where both have constraints and these differ. Results of merged vertices may be
/// equal in turn.
EINPARALLEL_INLINE void share_equal(einsum_graph& graph);

/// Collects the vertices that the outputs depend on. Operands stand before their readers. The function does not
/// recurse, so chains may have any length.
/// @param who  how errors about a vertex begin
/// @throws error where there is no output, where nothing was assigned to one, where recording a vertex failed, where a
/// tensor has more than 2^59 elements, or where vertices depend on each other in a circle
EINPARALLEL_INLINE einsum_graph collect(const std::vector<std::shared_ptr<vertex>>& outputs,
                                        std::string_view who = "decompose: ");

}  // namespace einparallel::EINPARALLEL_DETAIL
