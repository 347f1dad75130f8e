#pragma once
// One vertex of the TaskGraph: an einsum with its partition vector, mesh, resting distributions and ring.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel {

/// How a vertex is run. In options `automatic` leaves the choice to the planner; in a task it never stands.
enum class algorithm : std::uint8_t { automatic, c, mn, k, master_worker };

/// Which tensor travels round a ring while the arithmetic goes on.
inline constexpr int nothing_travels = -2;
inline constexpr int output_travels = -1;  ///< the k ring; otherwise the number of an operand: the m/n ring

/// Everything that a schedule needs to know of a vertex, as a value.
struct task {
    einsum_form form;
    std::vector<index> extents;              ///< by label
    std::vector<std::size_t> operand_bytes;  ///< bytes of one element of each operand
    std::size_t output_bytes = 0;            ///< bytes of one element of the output
    mesh ranks;                              ///< the cuts, and the order of the axes
    std::vector<distribution> operands;      ///< where each operand rests before the vertex starts
    distribution output;                     ///< where the output rests when the vertex has ended
    int travelling = nothing_travels;

    friend bool operator==(const task&, const task&) = default;
};

}  // namespace einparallel
