#pragma once
// The cost of bringing a tensor from where it is made or lies to all its readers, in the unit of the objective.

#include <einparallel/cost/paper.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/search/domain.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How a move is counted while its traffic is only an estimate. estimated: by this estimate. at_least: as 0, so that a
/// sum of costs is a lower bound. settled: exactly, from then on, if there are not too many ranks.
enum class counting : std::uint8_t { estimated, at_least, settled };

/// The places where one user has or wants a tensor, by operand.
using wanted_places = std::vector<place_id>;

/// A variable that uses a tensor: as the operands in `operands`, or, where these are none, as its output.
struct tensor_user {
    std::size_t variable = 0;
    std::vector<std::size_t> operands;
    bool is_marked = false;  ///< it is marked to run without communication: nothing may move to it
    int sharing = 0;         ///< how many of its operands may hold the same blocks as other readers

    /// The places of the tensor in a state; `anywhere` for operands of a state that stands for others.
    EINPARALLEL_INLINE wanted_places places_in(const state& of) const {
        wanted_places places(operands.empty() ? 1 : operands.size(), of.output);
        for (std::size_t position = 0; position < operands.size(); ++position) {
            places[position] = of.operands.empty() ? anywhere : of.operands[operands[position]];
        }
        return places;
    }
};

/// A tensor that moves, with the variables that make and read it.
struct factor {
    std::size_t tensor = 0;  ///< number of its vertex
    std::size_t element_bytes = 0;
    double runs = 1;           ///< number of runs in which it moves
    place_id from = anywhere;  ///< where it lies; `anywhere`: where its first user, which makes or binds it, has it
    std::vector<tensor_user> users;
    int sharers = 0;  ///< readings that may hold the same blocks; each is charged an equal share of its blocks' cost
};

/// The costs of moves.
class move_cost {
public:
    EINPARALLEL_INLINE move_cost(const options& asked, place_table& table) : asked_(asked), table_(table) {}

    /// The cost of bringing the tensor from one place to all places that its users want. The objectives bytes and time
    /// count each place once. The objective paper knows no places: it counts every reading by the paper's formula.
    /// Blocks that several readers may hold are gathered once. The cost of the state of each reader that holds them
    /// includes an equal share; this function adds the shares of the other readers. With at_least, readers whose state
    /// is not known count as holding them.
    EINPARALLEL_INLINE double of(const factor& tensor, const std::vector<const wanted_places*>& wanted, counting how) {
        const bool is_paper = asked_.objective == objective::paper;
        place_id from = tensor.from == anywhere ? wanted.front()->front() : tensor.from;
        from = from == anywhere ? anywhere : table_.whole_of(from);
        double sum = 0;
        ++call_;
        blocks_.clear();
        int known = 0;  // readings
        for (std::size_t user = 0; user < wanted.size() && from >= 0; ++user) {
            known += wanted[user]->front() < 0 ? 0 : tensor.users[user].sharing;
            for (const place_id at : *wanted[user]) {
                const place_id to = at < 0 ? anywhere : table_.pieces_of(at);
                if (to != at) {
                    blocks_.push_back(at);
                }
                if (to < 0 || to == from) {
                    continue;
                }
                known_move& move = one(from, to, tensor.element_bytes, how);
                const bool is_moved = move.cost > 0 || is_paper;
                sum += tensor.users[user].is_marked && is_moved && move.cost < forbidden_move ? forbidden_move : 0;
                sum += is_paper || move.call != call_ ? tensor.runs * move.cost : 0;
                move.call = call_;
            }
        }
        std::sort(blocks_.begin(), blocks_.end());
        for (auto first = blocks_.begin(), end = first; first != blocks_.end(); first = end) {
            end = std::upper_bound(first, blocks_.end(), *first);
            const auto others = double((how == counting::at_least ? known : tensor.sharers) - (end - first));
            sum += tensor.runs * table_.gathered_at(*first) * double(tensor.element_bytes) * others / tensor.sharers;
        }
        return sum;
    }

    /// The cost of bringing the tensor to its users in their states. @param state_of  the state of a variable
    template <class StateOf>
    double between_states(const factor& tensor, const StateOf& state_of, counting how) {
        std::vector<wanted_places> places(tensor.users.size());
        std::vector<const wanted_places*> wanted;
        for (std::size_t user = 0; user < places.size(); ++user) {
            places[user] = tensor.users[user].places_in(state_of(tensor.users[user].variable));
            wanted.push_back(&places[user]);
        }
        return of(tensor, wanted, how);
    }

private:
    /// The cost of a move, in a list by the place to which it goes. The place from which it comes, and how it is
    /// counted, are those of all known moves.
    struct known_move {
        std::size_t origin = 0;
        std::size_t call = 0;  ///< number of the call of `of` that counted it last
        double cost = 0;
    };

    /// The cost of one move, which is looked up only once. Tables ask for many moves from one place, in all
    /// combinations, before they go on to the next place.
    EINPARALLEL_INLINE known_move& one(place_id from, place_id to, std::size_t element_bytes, counting how) {
        if (from_ != from || element_bytes_ != element_bytes || how_ != how) {
            from_ = from;
            element_bytes_ = element_bytes;
            how_ = how;
            ++origin_;
        }
        const auto at = std::size_t(to);
        if (known_.size() <= at) {
            known_.resize(2 * at + 1);
        }
        if (known_[at].origin != origin_) {
            known_[at] = {origin_, 0, between(from, to, element_bytes, how)};
        }
        return known_[at];
    }

    EINPARALLEL_INLINE double between(place_id from, place_id to, std::size_t element_bytes, counting how) {
        if (asked_.objective == objective::paper) {
            return cost::repartition(table_.bounds(from), table_.parts(from), table_.parts(to));
        }
        if (table_.bounds(from) != table_.bounds(to)) {
            return forbidden_move;  // a reader takes as many summands as the maker leaves, or the finished sum
        }
        const int most = how == counting::settled ? looked_at_closely : looked_at_first;
        const pair_traffic moving = table_.between(from, to, most);
        if (how == counting::at_least && moving.looked_at != every_rank) {
            return 0;
        }
        return asked_.objective == objective::bytes ? moving.beyond(asked_.level) * double(element_bytes)
                                                    : redistribution_seconds(moving, element_bytes, table_.on());
    }

    const options& asked_;
    place_table& table_;
    place_id from_ = anywhere;  // where the known moves come from
    std::size_t element_bytes_ = 0;
    counting how_ = counting::estimated;
    std::size_t origin_ = 0;
    std::size_t call_ = 0;
    std::vector<known_move> known_;
    std::vector<place_id> blocks_;  // gathered places in the present call
};

}  // namespace einparallel::EINPARALLEL_DETAIL
