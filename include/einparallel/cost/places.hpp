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

/// Of a tensor that nobody has to move, and of states that stand for any placement: moving from and to it is free.
inline constexpr place_id anywhere = -1;

/// Seconds of a redistribution on the busiest rank.
EINPARALLEL_INLINE double redistribution_seconds(const traffic& moving, std::size_t element_bytes,
                                                 const machine& constants);

/// Places, numbered by where they put what (the labels that got them there do not matter), and the traffic between any
/// two of them.
class place_table {
public:
    /// The regular distribution of a tensor with these bounds and labels over a mesh.
    EINPARALLEL_INLINE place_id exact(const std::vector<index>& bounds, const mesh& ranks,
                                      const std::vector<label_id>& labels, std::size_t cut);

    /// A distribution that may be irregular; such ones are not compared with each other.
    EINPARALLEL_INLINE place_id exact(distribution irregular);

    /// All of a tensor on one rank.
    EINPARALLEL_INLINE place_id on_rank(const std::vector<index>& bounds, int rank);

    /// Stands for all places of a tensor that is cut into the same parts, whatever the order of the axes and the
    /// dimension that pieces lie along: what the paper knows of a place.
    EINPARALLEL_INLINE place_id cut_like(distribution one);

    [[nodiscard]] const distribution& resting(place_id number) const { return places_[at(number)].grid.resting; }
    [[nodiscard]] const std::vector<index>& bounds(place_id number) const { return resting(number).bounds(); }

    /// Parts of every dimension. @pre not irregular
    [[nodiscard]] const std::vector<int>& parts(place_id number) const { return places_[at(number)].parts; }

    /// The place itself where it has all elements of its tensor. Otherwise (somebody reads the blocks on a diagonal)
    /// one that has all of them: every rank's block is completed along the dimensions in which a label stands again.
    EINPARALLEL_INLINE place_id whole_of(place_id number);

    /// What moves: of few ranks by all their boxes, of many in closed form where both places cut evenly into powers of
    /// two, otherwise an estimate: as if they did, or by the boxes of some ranks.
    EINPARALLEL_INLINE traffic between(place_id from, place_id to);

    /// True where between() is an estimate.
    EINPARALLEL_INLINE [[nodiscard]] bool is_estimated(place_id from, place_id to) const;

    /// Looks at more ranks for an estimate; true where that changes it.
    EINPARALLEL_INLINE bool settle(place_id from, place_id to);

    /// The same by all ranks, however many. Time: ranks.
    EINPARALLEL_INLINE traffic counted(place_id from, place_id to);

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
        place_id whole = anywhere;  ///< itself where nothing
        std::vector<int> parts{};
        std::map<std::pair<int, int>, std::vector<double>> cells{};  ///< of so many ranks, of those that are looked at
    };

    struct pair_traffic {
        traffic moving;
        int looked_at = 0;  ///< ranks
        bool elements_only = false;
    };

    [[nodiscard]] static std::size_t at(place_id number) { return static_cast<std::size_t>(number); }
    EINPARALLEL_INLINE [[nodiscard]] std::vector<index> key_of(const distribution& resting) const;
    EINPARALLEL_INLINE place_id add(distribution resting, place_id whole = anywhere);
    EINPARALLEL_INLINE [[nodiscard]] int ranks(place_id from, place_id to) const;
    EINPARALLEL_INLINE traffic by_ranks(place_id from, place_id to, int most, bool elements_only);
    EINPARALLEL_INLINE traffic looked_up(place_id from, place_id to, int most, bool elements_only);

    bool elements_only_;
    std::vector<place> places_;
    memo<place_id> cuts_;
    memo<place_id> described_;
    memo<place_id> boxes_;
    memo<place_id> lone_;
    numbering pairs_;
    std::vector<pair_traffic> by_pair_;
    numbering exact_;  ///< pairs of many ranks that were counted by all of them
};

}  // namespace einparallel::EINPARALLEL_DETAIL
