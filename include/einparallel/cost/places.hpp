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
    double elements = 0;  ///< moved in all
    double busiest = 0;   ///< elements sent or received by one rank
    double messages = 0;  ///< sent or received by one rank

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

/// How many ranks are looked at (all of them, where there are no more): for any pair of places, and for a pair whose
/// traffic is settled.
inline constexpr int looked_at_first = 32;
inline constexpr int looked_at_closely = 1024;
inline constexpr int every_rank = std::numeric_limits<int>::max();

/// Traffic from one place to another, as far as it was looked at.
struct pair_traffic : traffic {
    int looked_at = 0;  ///< ranks
    bool elements_only = false;
};

/// Where a tensor may lie, with what counting its traffic needs, worked out once.
struct place {
    distribution resting;
    place_id whole;              ///< the place with all elements of the tensor (place_table::whole_of)
    place_id pieces = anywhere;  ///< of blocks that are gathered: where their pieces are
    double gathered = 0;         ///< elements that all ranks receive then
    int ranks = 1;
    bool is_valid = false;                 ///< every element belongs to one rank, by the digits of the ranks' numbers
    bool is_binary = false;                ///< and all digits are powers of two, of even parts
    bool is_even = false;                  ///< and these cut their dimensions evenly
    std::vector<int> parts{};              ///< of every dimension
    std::vector<std::vector<int>> bits{};  ///< binary: by dimension, of the rank's number, most significant first
    std::map<std::pair<int, int>, std::vector<interval>> cells{};  ///< of so many ranks, of those that are looked at
    std::unordered_map<place_id, pair_traffic> pairs{};            ///< to others, not in closed form

    EINPARALLEL_INLINE place(distribution of, place_id all);
};

/// Places, numbered by where they put what (the labels that got them there do not matter), and the traffic between any
/// two of them.
class place_table {
public:
    /// The regular distribution of a tensor with these bounds and labels over a mesh.
    EINPARALLEL_INLINE place_id exact(const std::vector<index>& bounds, const mesh& ranks,
                                      const std::vector<label_id>& labels, std::size_t cut);

    /// A distribution that may be irregular; irregular ones with the same boxes are one.
    /// @param whole  the place that whole_of() is, where that is another
    EINPARALLEL_INLINE place_id exact(distribution irregular, place_id whole = anywhere);

    /// The whole blocks of what rests in pieces: readers of the same blocks gather them once. Where they are brought
    /// from, and what moving the pieces costs, the place of the pieces says.
    /// @param of  what rests there  @param elements  that all ranks together receive
    EINPARALLEL_INLINE place_id gathered(place_id pieces, const distribution& of, double elements);

    /// All of a tensor on one rank.
    EINPARALLEL_INLINE place_id on_rank(const std::vector<index>& bounds, int rank) {
        return rank == 0 ? exact(bounds, mesh{}, std::vector<label_id>(bounds.size(), no_label), 0)
                         : exact(held_by_one(bounds, rank));
    }

    /// Stands for all places of a tensor that is cut into the same parts, whatever the order of the axes and the
    /// dimension that pieces lie along: what the paper knows of a place.
    EINPARALLEL_INLINE place_id cut_like(distribution one);

    [[nodiscard]] const distribution& resting(place_id number) const { return places_[at(number)].resting; }
    [[nodiscard]] const std::vector<index>& bounds(place_id number) const { return resting(number).bounds(); }

    /// Parts of every dimension. @pre not irregular
    [[nodiscard]] const std::vector<int>& parts(place_id number) const { return places_[at(number)].parts; }

    /// The place itself where it has all elements of its tensor. Otherwise (somebody reads the blocks on a diagonal)
    /// one that has all of them: every rank's block is completed along the dimensions in which a label stands again.
    [[nodiscard]] place_id whole_of(place_id number) const { return places_[at(number)].whole; }

    /// For a place of gathered blocks the place of their pieces, else the place itself.
    [[nodiscard]] place_id pieces_of(place_id number) const {
        const place_id pieces = places_[at(number)].pieces;
        return pieces == anywhere ? number : pieces;
    }
    /// Elements that all ranks together receive to gather blocks; 0 of what rests.
    [[nodiscard]] double gathered_at(place_id number) const { return places_[at(number)].gathered; }

    /// What moves from one place to another. Of few ranks all boxes are compared. Of many ranks it is a closed form
    /// where both places cut evenly into powers of two, otherwise an estimate: as if they did, or by the boxes of
    /// `most` ranks. What was looked at more closely is used from then on.
    pair_traffic between(place_id from, place_id to, int most = looked_at_first) {
        return looked_up(from, to, most, elements_only_);
    }

    /// What moves from one place to another, counted over all ranks, however many. Time: ranks.
    traffic counted(place_id from, place_id to) { return looked_up(from, to, every_rank, false); }

    /// Pairs of places whose traffic was worked out, not in closed form.
    [[nodiscard]] std::size_t compared() const { return compared_; }

    /// With `elements_only` only elements count: messages and the busiest rank are not worked out.
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
