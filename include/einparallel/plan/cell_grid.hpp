#pragma once
// Traffic between distributions that are grids of cells, however uneven: counted message by message, without asking
// every rank for its box again.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/bit_grid.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The boxes of a distribution as cells of a grid: along every dimension its intervals are disjoint, and each cell
/// belongs to one rank or to none. Pieces of blocks are cells too. Not valid where the boxes do not line up, or leave
/// most cells empty.
struct cell_grid {
    std::vector<std::vector<interval>> cuts;  ///< by dimension, ascending
    std::vector<int> owner;                   ///< by cell, row-major; nobody where nobody holds it
    std::vector<int> cells;                   ///< by rank: its position in the cuts of each dimension
    std::vector<bool> holds;                  ///< by rank
    bool valid = false;

    static constexpr int nobody = -1;

    [[nodiscard]] int ranks() const { return static_cast<int>(holds.size()); }
    [[nodiscard]] std::size_t dimensions() const { return cuts.size(); }
    EINPARALLEL_INLINE [[nodiscard]] const interval& side(int rank, std::size_t dimension) const;
};

/// The grid of a distribution. Time: ranks · log(ranks).
EINPARALLEL_INLINE cell_grid cells_of(const distribution& resting);

/// Elements that ranks want and do not have. @pre both valid
EINPARALLEL_INLINE double moved_between(const cell_grid& from, const cell_grid& to);

/// All traffic, from what every rank sends and receives.
EINPARALLEL_INLINE traffic busiest_of(const std::vector<traffic>& sent, const std::vector<traffic>& received);

/// Counts the messages between two grids. Scratch memory is kept from call to call.
class cell_traffic {
public:
    /// @pre both valid
    EINPARALLEL_INLINE traffic between(const cell_grid& from, const cell_grid& to);

private:
    /// The intervals of the one side that meet one interval of the other, and how much of it each has.
    struct meeting {
        std::size_t first = 0;
        std::size_t lengths = 0;  ///< position of the first one's
        std::size_t count = 0;
    };

    EINPARALLEL_INLINE void meet(const cell_grid& from, const cell_grid& to);

    EINPARALLEL_INLINE void read(const cell_grid& from, const cell_grid& to, int reader);

    std::vector<traffic> sent_;
    std::vector<traffic> received_;
    std::vector<std::vector<meeting>> meetings_;  // by dimension, by interval of the reader's side
    std::vector<double> lengths_;
    std::vector<meeting> met_;
    std::vector<std::size_t> at_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
