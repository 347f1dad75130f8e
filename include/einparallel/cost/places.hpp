#pragma once
// Where a tensor may lie, and what moving it from one place to another costs.

#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/numbering.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a redistribution moves: in all, and for the rank with the most to move.
struct traffic {
    double elements = 0;  ///< elements that move in all
    double busiest = 0;   ///< most elements that one rank sends or receives
    double messages = 0;  ///< most messages that one rank sends or receives

    friend bool operator==(const traffic&, const traffic&) = default;
};

/// Number of a place in a place_table.
using place_id = int;

/// The place of a tensor that no rank has to move, and of states that stand for any placement. Moving from it or to it
/// is free.
inline constexpr place_id anywhere = -1;

/// Seconds of a redistribution on the busiest rank.
inline double redistribution_seconds(const traffic& moving, std::size_t element_bytes, const machine& constants) {
    return moving.messages * constants.seconds_per_message +
           moving.busiest * double(element_bytes) * constants.seconds_per_byte;
}

/// Number of ranks whose boxes are compared to find a traffic (all ranks, where there are fewer): first for any pair of
/// places, and closely where the traffic of a pair has to be settled.
inline constexpr int looked_at_first = 32;
inline constexpr int looked_at_closely = 1024;
inline constexpr int every_rank = std::numeric_limits<int>::max();

/// Traffic from one place to another, as far as it is known.
struct pair_traffic : traffic {
    int looked_at = 0;  ///< number of ranks whose boxes were compared
    bool elements_only = false;
};

/// Where a tensor may lie, with values for counting its traffic that are worked out once.
struct place {
    distribution resting;
    place_id whole;              ///< the place with all elements of the tensor (place_table::whole_of)
    place_id pieces = anywhere;  ///< of gathered blocks: the place of their pieces
    double gathered = 0;         ///< of gathered blocks: elements that all ranks receive
    int ranks = 1;
    bool is_valid = false;                 ///< each element is on one rank, by the digits of its number
    bool is_binary = false;                ///< valid, the digits are powers of two, no cut points
    bool is_even = false;                  ///< binary, and all cells of a dimension are equally long
    std::vector<int> parts{};              ///< parts of every dimension
    std::vector<std::vector<int>> bits{};  ///< binary: by dimension, bits of a rank's number, highest first
    std::map<std::pair<int, int>, std::vector<interval>> cells{};  ///< by numbers of ranks: in all, and compared
    std::unordered_map<place_id, pair_traffic> pairs{};            ///< to other places, unless in closed form

    EINPARALLEL_INLINE place(distribution of, place_id all);
};

/// Numbered places, and the traffic between any two of them. A place is known by the elements that it puts on each
/// rank; the labels of its einsum do not matter.
class place_table {
public:
    /// The place of the regular distribution of a tensor with these bounds and labels over a mesh.
    EINPARALLEL_INLINE place_id exact(const std::vector<index>& bounds, const mesh& ranks,
                                      const std::vector<label_id>& labels, std::size_t cut);

    /// The place of a distribution that may be irregular. Irregular distributions with the same boxes have one place.
    /// @param whole  what whole_of() returns for the place; `anywhere`: the place itself
    EINPARALLEL_INLINE place_id exact(distribution irregular, place_id whole = anywhere);

    /// The place of whole blocks that are gathered from pieces. Readers of the same blocks gather them once. The place
    /// of the pieces tells from where they are brought, and what moving them costs.
    /// @param of  distribution of the pieces  @param elements  that all ranks together receive to gather the blocks
    EINPARALLEL_INLINE place_id gathered(place_id pieces, const distribution& of, double elements);

    /// The place of a whole tensor on one rank.
    EINPARALLEL_INLINE place_id on_rank(const std::vector<index>& bounds, int rank) {
        return rank == 0 ? exact(bounds, mesh{}, std::vector<label_id>(bounds.size(), no_label), 0)
                         : exact(held_by_one(bounds, rank));
    }

    /// One place for all that cut a tensor into the same parts, whatever the order of the axes and the dimension along
    /// which pieces lie. The paper's cost knows no more of a place.
    EINPARALLEL_INLINE place_id cut_like(distribution one);

    [[nodiscard]] const distribution& resting(place_id number) const { return places_[at(number)].resting; }
    [[nodiscard]] const std::vector<index>& bounds(place_id number) const { return resting(number).bounds(); }

    /// Parts of every dimension. @pre not irregular
    [[nodiscard]] const std::vector<int>& parts(place_id number) const { return places_[at(number)].parts; }

    /// The place itself, where it has all elements of its tensor. A place that has only the blocks on a diagonal
    /// returns another one, where every rank's block is completed along the dimensions in which a label stands again.
    [[nodiscard]] place_id whole_of(place_id number) const { return places_[at(number)].whole; }

    /// For a place of gathered blocks the place of their pieces, else the place itself.
    [[nodiscard]] place_id pieces_of(place_id number) const {
        const place_id pieces = places_[at(number)].pieces;
        return pieces == anywhere ? number : pieces;
    }
    /// Elements that all ranks together receive to gather the blocks of a place; 0 for other places.
    [[nodiscard]] double gathered_at(place_id number) const { return places_[at(number)].gathered; }

    /// The traffic from one place to another. It has a closed form where both places cut evenly into powers of two.
    /// Otherwise the boxes of all ranks are compared, where there are at most `most`. Of more ranks it is an estimate:
    /// by the closed form, or by the boxes of `most` ranks. A closer count is kept, and used from then on.
    pair_traffic between(place_id from, place_id to, int most = looked_at_first) {
        return looked_up(from, to, most, elements_only_);
    }

    /// The exact traffic from one place to another, counted over all ranks. Time: ranks.
    traffic counted(place_id from, place_id to) { return looked_up(from, to, every_rank, false); }

    /// Number of pairs of places whose traffic was counted, not taken from the closed form.
    [[nodiscard]] std::size_t compared() const { return compared_; }

    /// With `elements_only` only the elements in all are counted; messages and the busiest rank may not be worked out.
    explicit place_table(bool elements_only = false) : elements_only_(elements_only) {}

private:
    [[nodiscard]] static std::size_t at(place_id number) { return std::size_t(number); }
    EINPARALLEL_INLINE place_id add(distribution resting, place_id whole = anywhere);
    EINPARALLEL_INLINE pair_traffic looked_up(place_id from, place_id to, int most, bool elements_only);

    bool elements_only_;
    std::vector<place> places_;
    memo<place_id> known_;
    std::size_t compared_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
