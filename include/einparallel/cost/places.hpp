#pragma once
// Where a tensor may lie, and what moving it from one place to another costs.

#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/numbering.hpp>
#include <einparallel/cost/redistribution_traffic.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Number of a place in a place_table.
using place_id = int;

/// Of a tensor that nobody has to move, and of a state that stands for any placement: moving from and to it is free.
inline constexpr place_id anywhere = -1;

/// The same, where a reader's state that stands for any placement wants it: the reader with this number.
constexpr place_id wherever(std::size_t reader) {
    return -2 - static_cast<place_id>(reader);
}

/// Seconds of a redistribution on the busiest rank.
EINPARALLEL_INLINE double redistribution_seconds(const traffic& moving, std::size_t element_bytes,
                                                 const machine& constants);

/// Places, numbered by where they put what (the labels that got them there do not matter), and the traffic between any
/// two of them. A place is exact, or open: any place whose tensor is cut so.
class place_table {
public:
    /// The regular distribution of a tensor with these bounds and labels over a mesh.
    EINPARALLEL_INLINE place_id exact(const std::vector<index>& bounds, const mesh& ranks,
                                      const std::vector<label_id>& labels, std::size_t cut);

    /// A distribution that may be irregular; such ones are not compared with each other.
    EINPARALLEL_INLINE place_id exact(distribution irregular);

    /// All of a tensor on one rank.
    EINPARALLEL_INLINE place_id on_rank(const std::vector<index>& bounds, int rank);

    /// Any place of a tensor that is cut like this one, whatever the order of the axes and the dimension that pieces
    /// lie along.
    EINPARALLEL_INLINE place_id open(distribution like);

    [[nodiscard]] bool is_open(place_id number) const { return places_[at(number)].is_open; }
    /// Of an open place one that it stands for.
    [[nodiscard]] const distribution& resting(place_id number) const { return places_[at(number)].grid.resting; }
    [[nodiscard]] const std::vector<index>& bounds(place_id number) const { return resting(number).bounds(); }
    /// Parts of every dimension. @pre not irregular
    [[nodiscard]] const std::vector<int>& parts(place_id number) const { return places_[at(number)].parts; }
    /// True where two places may put the same boxes on the same ranks: an open one may be any that is cut so.
    EINPARALLEL_INLINE [[nodiscard]] bool may_be_one(place_id a, place_id b) const;

    /// True where blocks lie on a diagonal: a place that has not all elements of its tensor.
    [[nodiscard]] bool is_diagonal(place_id number) const { return resting(number).is_diagonal(); }

    /// The place itself where it has all elements of its tensor. Otherwise (somebody reads the blocks on a diagonal)
    /// one that has all of them: every rank's block is completed along the dimensions in which a label stands again.
    EINPARALLEL_INLINE place_id whole_of(place_id number);

    /// What moves: of few ranks by all their boxes, of many in closed form where both places cut evenly into powers of
    /// two, otherwise an estimate: as if they did, or by the boxes of some ranks. @pre both exact
    EINPARALLEL_INLINE traffic between(place_id from, place_id to);

    /// Looks at more ranks for the elements of an estimate; true where that changes it.
    EINPARALLEL_INLINE bool settle(place_id from, place_id to);

    /// The same by all ranks, however many. Time: ranks.
    EINPARALLEL_INLINE traffic counted(place_id from, place_id to);

    /// No more than what moves: between any two places that the numbers stand for.
    EINPARALLEL_INLINE traffic at_least(place_id from, place_id to);

    /// Pairs of places whose traffic was worked out, not in closed form.
    [[nodiscard]] std::size_t compared() const { return by_pair_.size(); }

    /// Where only elements count: messages and the busiest rank are not looked for.
    explicit place_table(bool elements_only = false) : elements_only_(elements_only) {}

private:
    /// Ranks up to which all of them are looked at, and of more, how many: of any pair, and of one that is settled.
    static constexpr int looked_at = 32;
    static constexpr int looked_at_closely = 1024;

    struct place {
        rank_grid grid;
        bool is_open = false;
        std::vector<int> parts{};
        std::vector<index> grids{};  ///< how many cells every dimension may be cut into: numbers of such grids
        place_id whole = anywhere;   ///< itself where nothing
        std::map<std::pair<int, int>, std::vector<double>> cells{};  ///< of so many ranks, of those that are looked at
    };

    [[nodiscard]] static std::size_t at(place_id number) { return static_cast<std::size_t>(number); }
    EINPARALLEL_INLINE [[nodiscard]] std::vector<index> key_of(const distribution& resting) const;
    EINPARALLEL_INLINE place_id add(distribution resting, bool is_open, place_id whole);
    EINPARALLEL_INLINE traffic by_ranks(place_id from, place_id to, int most, bool elements_only);

    bool elements_only_;
    std::vector<place> places_;

    /// True where between() may be an estimate. @pre both exact
    EINPARALLEL_INLINE [[nodiscard]] bool is_estimated(const rank_grid& from, const rank_grid& to) const;

    numbering grids_;
    memo<place_id> open_;
    memo<place_id> described_;
    memo<place_id> boxes_;
    memo<place_id> lone_;
    numbering pairs_;
    struct pair_traffic {
        traffic moving;
        bool is_settled = false;  ///< looked up closely
        bool is_exact = false;    ///< its elements are
    };
    std::vector<pair_traffic> by_pair_;
    memo<traffic> counted_;

    /// No more than what moves, by the cuts alone.
    EINPARALLEL_INLINE [[nodiscard]] traffic by_cuts(place_id from, place_id to) const;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
