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

/// Vertices in topological order, inputs just before they are read first.
struct einsum_graph {
    std::vector<std::shared_ptr<vertex>> vertices;
    std::vector<std::vector<std::size_t>> inputs;  ///< numbers of each vertex's operands
    std::vector<std::size_t> outputs;
    std::vector<std::size_t> result_of;  ///< of each vertex's statement; itself where it is no intermediate
    std::vector<std::size_t> step_of;    ///< of an intermediate: which one of its statement, from 1
    std::vector<std::vector<std::shared_ptr<vertex>>> origins;  ///< the user's vertices that each is computed for

    /// Appends a vertex that is no intermediate, or is step number `step` of a statement. Returns its number.
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

/// Vertices by their new numbers.
EINPARALLEL_INLINE std::vector<std::size_t> renumbered(const std::vector<std::size_t>& numbers,
                                                       const std::vector<std::size_t>& number_of);

/// The same graph with its einsums in another order, and inputs just before they are read first. Names stay.
/// @param einsums numbers of all einsums, each after those that it reads
/// @param number_of becomes the new number of every vertex
EINPARALLEL_INLINE einsum_graph in_order(const einsum_graph& graph, const std::vector<std::size_t>& einsums,
                                         std::vector<std::size_t>& number_of);

/// Computes what is equal once: inputs of the same source, and einsums of the same operands, labels, extents and
/// functions, in every statement. Their constraints must not differ, unless one has none. What results from equal
/// vertices is equal in turn.
EINPARALLEL_INLINE void share_equal(einsum_graph& graph);

/// Collects the vertices that the outputs depend on, operands in order. It does not recurse, so that chains may have
/// any length.
/// @throws error, whose sentence begins with `who`, where nothing was assigned to an output, where recording a vertex
/// failed, or where vertices depend on each other in a circle
EINPARALLEL_INLINE einsum_graph collect(const std::vector<std::shared_ptr<vertex>>& outputs,
                                        std::string_view who = "decompose: ");

}  // namespace einparallel::EINPARALLEL_DETAIL
