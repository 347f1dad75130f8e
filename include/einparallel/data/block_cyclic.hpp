#pragma once
// A matrix that lies block-cyclic in the application's memory, as ScaLAPACK has it.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/context.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace einparallel {

/// The order of a context's ranks on a grid of processes: BLACS's "R" and "C".
enum class grid_order : std::uint8_t {
    row_major,     ///< rank 1 is to the right of rank 0
    column_major,  ///< rank 1 is below rank 0
};

/// A grid of processes: the first rows · columns ranks of a context.
struct process_grid {
    int rows = 1;                              ///< rows of processes, which share the rows of the matrix
    int columns = 1;                           ///< columns of processes, which share its columns
    grid_order order = grid_order::row_major;  ///< order of the ranks on the grid
};

namespace EINPARALLEL_DETAIL {

/// Makes this rank's local tensor of a block-cyclic matrix from its descriptor. Collective. @throws error, the same on
/// every rank
EINPARALLEL_INLINE std::shared_ptr<const local_tensor> deal(context& world, const std::array<index, 9>& descriptor,
                                                            const process_grid& grid, void* local,
                                                            element_type element);

}  // namespace EINPARALLEL_DETAIL

/// A matrix of the application that is distributed block-cyclically over a grid of processes. Its ScaLAPACK descriptor
/// (DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD) and this rank's local array describe it; the array is column-major with
/// leading dimension LLD. The first ranks of the context are the processes, in the order of the grid; the other ranks
/// hold nothing. Nothing is copied: a run reads the array if it is bound to a placeholder, and writes it if it is given
/// for an output.
///
///     ep::block_cyclic<double> a(world, desca, {.rows = 2, .columns = 3}, local_a), g(world, descg, …);
///     ep::results r = plan.run(world, ep::bind(A, a), ep::into(G, g));
template <class T>
class block_cyclic {
public:
    /// Collective. The numbers may have any integral type; LLD may differ between ranks. A rank that holds nothing may
    /// give a null pointer.
    /// @throws error, the same on every rank, where the descriptor makes no sense or is not the same on all of them, or
    /// a rank with elements gives a null pointer
    template <std::integral I>
    block_cyclic(context& world, const I (&descriptor)[9], const process_grid& grid, T* local) {
        std::array<index, 9> numbers{};
        std::transform(descriptor, descriptor + 9, numbers.begin(), [](I number) { return index(number); });
        local_ = detail::deal(world, numbers, grid, local, element_type_of<T>());
    }

    /// For the library's own use.
    [[nodiscard]] const std::shared_ptr<const detail::local_tensor>& memory() const { return local_; }
    /// ep::bind calls this.
    [[nodiscard]] auto bound_to(const tensor<T, 2>& placeholder) const {
        return binding{placeholder.node(), detail::input_in_memory(*local_)};
    }

private:
    std::shared_ptr<const detail::local_tensor> local_;
};

inline namespace EINPARALLEL_WAY {

/// Gives a run a block-cyclic matrix as the memory for one of its outputs. The run writes the matrix when the work is
/// done. results.get(Z) is not a handle to the matrix, but to the elements where the plan left them.
template <class T>
[[nodiscard]] binding into(const tensor<T, 2>& output, const block_cyclic<T>& matrix) {
    return {output.node(), nullptr, matrix.memory()};
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
