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

/// A reader of a tensor: its variable and the operands by which it reads it.
struct tensor_reader {
    std::size_t variable = 0;
    std::vector<std::size_t> operands;
    bool is_marked = false;  ///< nothing may move to it
};

/// A tensor that moves, over its maker and its readers.
struct factor {
    std::size_t tensor = 0;  ///< number of its vertex
    std::size_t element_bytes = 0;
    double runs = 1;                   ///< in which it moves
    std::optional<std::size_t> maker;  ///< its variable
    place_id from = anywhere;          ///< where it lies, without a maker
    std::vector<tensor_reader> readers;
    std::optional<std::size_t> binder{};  ///< the reader that wants it where it is bound at the run
};

/// How moves are counted whose traffic is an estimate: by that, or not at all, so that a sum of costs is a bound.
enum class counting : std::uint8_t { estimated, at_least };

/// The places that one reader wants a tensor at, by operand.
using wanted_places = std::vector<place_id>;

/// What moves cost.
class move_cost {
public:
    EINPARALLEL_INLINE move_cost(const options& asked, place_table& table) : asked_(asked), table_(table) {}

    /// From one place to all that the readers want: under bytes and time to each place once, under paper, which knows
    /// no places, by the paper's formula for every reading.
    EINPARALLEL_INLINE double of(const factor& tensor, place_id from, std::span<const wanted_places* const> wanted,
                                 counting how) {
        if (tensor.binder && (from = wanted[*tensor.binder]->front()) >= 0) {
            from = table_.whole_of(from);
        }
        const bool is_paper = asked_.objective == objective::paper;
        double sum = 0;
        places_.clear();
        for (std::size_t reader = 0; reader < wanted.size() && from >= 0; ++reader) {
            for (const place_id to : *wanted[reader]) {
                places_.push_back(to);
                const double cost = tensor.readers[reader].is_marked ? one(from, to, tensor.element_bytes, how) : 0;
                const bool is_moved = cost > 0 || (is_paper && from != to && to >= 0);
                sum += tensor.readers[reader].is_marked && is_moved && cost < forbidden_move ? forbidden_move : 0;
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

    /// Between chosen states, by variable.
    EINPARALLEL_INLINE double of(const factor& tensor, const std::vector<const state*>& chosen, counting how) {
        std::vector<wanted_places> places(tensor.readers.size());
        std::vector<const wanted_places*> wanted;
        for (std::size_t reader = 0; reader < places.size(); ++reader) {
            const state& reading = *chosen[tensor.readers[reader].variable];
            for (const std::size_t operand : tensor.readers[reader].operands) {
                places[reader].push_back(reading.operands.empty() ? anywhere : reading.operands[operand]);
            }
            wanted.push_back(&places[reader]);
        }
        return of(tensor, tensor.maker ? chosen[*tensor.maker]->output : tensor.from, wanted, how);
    }

    /// Counts what moves between chosen states, by variable, where that was an estimate.
    EINPARALLEL_INLINE void settle(const std::vector<factor>& factors, const std::vector<state>& chosen) {
        from_ = anywhere;
        for (const factor& tensor : factors) {
            for (const tensor_reader& reader : tensor.readers) {
                for (const std::size_t operand : reader.operands) {
                    table_.settle(tensor.maker ? chosen[*tensor.maker].output : tensor.from,
                                  chosen[reader.variable].operands[operand]);
                }
            }
        }
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
        const auto at = static_cast<std::size_t>(to);
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
        const bool is_free = how == counting::at_least && table_.is_estimated(from, to);
        const traffic moving = is_free ? traffic{} : table_.between(from, to);
        return asked_.objective == objective::bytes ? moving.elements * static_cast<double>(element_bytes)
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
