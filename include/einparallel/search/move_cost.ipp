#pragma once
// What bringing a tensor from where it is made, or lies, to all its readers costs, in the unit of the objective.

#include <einparallel/cost/paper.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/domain.ipp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// How moves are counted whose traffic is an estimate: by that; not at all, so that a sum of costs is a bound; or
/// exactly, from then on, where ranks are not too many.
enum class counting : std::uint8_t { estimated, at_least, settled };

/// Where one user has a tensor, or wants it, by operand.
using wanted_places = std::vector<place_id>;

/// A variable that has a tensor: as operands, or without any as its output.
struct tensor_user {
    std::size_t variable = 0;
    std::vector<std::size_t> operands;
    bool is_marked = false;  ///< nothing may move to it

    /// Where it has the tensor in a state; nowhere in particular in one that stands for others.
    EINPARALLEL_INLINE wanted_places places_in(const state& of) const {
        wanted_places places(operands.empty() ? 1 : operands.size(), of.output);
        for (std::size_t place = 0; place < operands.size(); ++place) {
            places[place] = of.operands.empty() ? anywhere : of.operands[operands[place]];
        }
        return places;
    }
};

/// A tensor that moves, over those who have it.
struct factor {
    std::size_t tensor = 0;  ///< number of its vertex
    std::size_t element_bytes = 0;
    double runs = 1;           ///< in which it moves
    place_id from = anywhere;  ///< where it lies; anywhere: where the first user has it, its maker or who binds it
    std::vector<tensor_user> users;
};

/// What moves cost.
class move_cost {
public:
    EINPARALLEL_INLINE move_cost(const options& asked, place_table& table) : asked_(asked), table_(table) {}

    /// From one place to all that the users want: under bytes and time to each place once, under paper, which knows
    /// no places, by the paper's formula for every reading.
    EINPARALLEL_INLINE double of(const factor& tensor, std::span<const wanted_places* const> wanted, counting how) {
        const bool is_paper = asked_.objective == objective::paper;
        place_id from = tensor.from == anywhere ? wanted.front()->front() : tensor.from;
        from = from == anywhere ? anywhere : table_.whole_of(from);
        double sum = 0;
        places_.clear();
        for (std::size_t user = 0; user < wanted.size() && from != anywhere; ++user) {
            for (const place_id to : *wanted[user]) {
                places_.push_back(to);
                const double cost = tensor.users[user].is_marked ? one(from, to, tensor.element_bytes, how) : 0;
                const bool is_moved = cost > 0 || (is_paper && from != to && to >= 0);
                sum += tensor.users[user].is_marked && is_moved && cost < forbidden_move ? forbidden_move : 0;
            }
        }
        if (!is_paper) {
            sort_unique(places_);
        }
        for (const place_id to : places_) {
            sum += tensor.runs * one(from, to, tensor.element_bytes, how);
        }
        return sum;
    }

    /// The same between states. @param state_of the state of a variable
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
    /// Tables are written from one place to many after another, combined in every way: each is looked up once.
    EINPARALLEL_INLINE double one(place_id from, place_id to, std::size_t element_bytes, counting how) {
        if (from == to || from < 0 || to < 0) {
            return 0;
        }
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
        if (known_[at].first != origin_) {
            known_[at] = {origin_, between(from, to, element_bytes, how)};
        }
        return known_[at].second;
    }

    EINPARALLEL_INLINE double between(place_id from, place_id to, std::size_t element_bytes, counting how) {
        if (asked_.objective == objective::paper) {
            return cost::repartition(table_.bounds(from), table_.parts(from), table_.parts(to));
        }
        if (table_.bounds(from) != table_.bounds(to)) {
            return forbidden_move;  // a tensor in summands is read in as many; one that is finished is read as it is
        }
        const int most = how == counting::settled ? looked_at_closely : looked_at_first;
        const pair_traffic moving = table_.between(from, to, most);
        if (how == counting::at_least && moving.looked_at != every_rank) {
            return 0;
        }
        return asked_.objective == objective::bytes ? moving.elements * double(element_bytes)
                                                    : redistribution_seconds(moving, element_bytes, asked_.machine);
    }

    const options& asked_;
    place_table& table_;
    place_id from_ = anywhere;  // of the moves that are known, by where they go
    std::size_t element_bytes_ = 0;
    counting how_ = counting::estimated;
    std::size_t origin_ = 0;
    std::vector<std::pair<std::size_t, double>> known_;
    wanted_places places_;  // scratch
};

}  // namespace einparallel::EINPARALLEL_DETAIL
