#pragma once
// Where a tensor may lie, and what moving it from one place to another costs.

#include <einparallel/cost/machine.hpp>
#include <einparallel/cost/numbering.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a redistribution moves across the groups of one level of a machine.
struct crossing {
    double elements = 0;  ///< elements that leave groups in all
    double busiest = 0;   ///< most elements that leave, or come into, one group
    double of_rank = 0;   ///< most elements with which one rank takes part in this

    friend bool operator==(const crossing&, const crossing&) = default;
};

/// What a redistribution moves: in all, and for the rank with the most to move.
struct traffic {
    double elements = 0;                ///< elements that move in all
    double busiest = 0;                 ///< most elements that one rank sends or receives
    double messages = 0;                ///< most messages that one rank sends or receives
    std::vector<crossing> crossings{};  ///< by level; empty where nothing moves or all ranks are alike

    /// Elements that leave groups of a level; all elements that move below level 0.
    [[nodiscard]] double beyond(int level) const {
        return level < 0                               ? elements
               : std::size_t(level) < crossings.size() ? crossings[std::size_t(level)].elements
                                                       : 0;
    }
    friend bool operator==(const traffic&, const traffic&) = default;
};

/// Number of a place in a place_table.
using place_id = int;

/// The place of a tensor that no rank has to move, and of states that stand for any placement. Moving from it or to it
/// is free.
inline constexpr place_id anywhere = -1;

/// Seconds of a redistribution: of the busiest rank, or of the links of the busiest group of a level, if these take
/// longer.
inline double redistribution_seconds(const traffic& moving, std::size_t element_bytes, const wired_machine& on) {
    std::size_t outermost = 0;
    double bytes = moving.busiest * double(element_bytes) * on.level(0).seconds_per_byte;
    for (std::size_t level = 0; level < std::min(moving.crossings.size(), on.groups().levels()); ++level) {
        const crossing& each = moving.crossings[level];
        const double one = double(element_bytes) * on.level(level + 1).seconds_per_byte;
        outermost = each.elements > 0 ? level + 1 : outermost;
        bytes = std::max(bytes, std::max(each.of_rank, each.busiest / on.level(level + 1).transfers) * one);
    }
    return moving.messages * on.level(outermost).seconds_per_message + bytes;
}

/// Number of ranks whose boxes are compared to find a traffic (all ranks, where there are fewer): first for any pair of
/// places, and closely where the traffic of a pair has to be settled.
inline constexpr int looked_at_first = 32;
inline constexpr int looked_at_closely = 1024;
inline constexpr int every_rank = std::numeric_limits<int>::max();

/// True where every group of every level has the same power of two of ranks, which follow each other.
EINPARALLEL_INLINE bool are_binary(const rank_groups& groups);

/// Traffic from one place to another, as far as it is known.
struct pair_traffic : traffic {
    int looked_at = 0;  ///< number of ranks whose boxes were compared
    bool elements_only = false;
};

/// Ranks whose boxes are compared to find what leaves groups: whole groups, spread over the machine.
struct rank_sample {
    /// Larger groups are not looked through.
    static constexpr int most_together = 64;

    rank_sample() = default;
    /// @param all  ranks in all  @param most  that are looked at
    EINPARALLEL_INLINE rank_sample(const rank_groups& groups, int all, int most);

    int ranks = 0;
    int tried = 0;
    std::size_t levels = 0;                                  ///< whose groups are looked through
    std::vector<int> members;                                ///< the ranks, group by group
    std::array<std::vector<std::size_t>, most_levels> ends;  ///< by level: where each group ends among them
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
    /// The result holds until the next call.
    const pair_traffic& between(place_id from, place_id to, int most = looked_at_first) {
        return looked_up(from, to, most, elements_only_);
    }

    /// The exact traffic from one place to another, counted over all ranks. Time: ranks.
    traffic counted(place_id from, place_id to) { return looked_up(from, to, every_rank, false); }

    /// Number of pairs of places whose traffic was counted, not taken from the closed form.
    [[nodiscard]] std::size_t compared() const { return compared_; }

    /// With `elements_only` only the elements in all are counted; messages and the busiest rank may not be worked out.
    explicit place_table(const machine& on = {}, bool elements_only = false) : elements_only_(elements_only), on_(on) {}

    /// The machine whose ranks have the places; while they are priced flat, as if all were alike.
    [[nodiscard]] const wired_machine& on() const { return flat_ ? *flat_ : on_; }
    /// Prices moves as if all ranks were alike, or no more. What they are counted from stays the same.
    void price_flat(bool flat) { flat_ = flat ? std::optional(wired_machine(on_.as_one_level())) : std::nullopt; }

private:
    [[nodiscard]] static std::size_t at(place_id number) { return std::size_t(number); }
    EINPARALLEL_INLINE place_id add(distribution resting, place_id whole = anywhere);
    EINPARALLEL_INLINE const pair_traffic& looked_up(place_id from, place_id to, int most, bool elements_only);

    bool elements_only_;
    wired_machine on_;
    std::optional<wired_machine> flat_;
    std::vector<place> places_;
    memo<place_id> known_;
    memo<rank_sample> samples_;
    pair_traffic closed_;  // the last one in closed form
    std::size_t compared_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
