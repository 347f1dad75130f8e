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
    bool is_bound = false;             ///< at the run: its maker decides where
    std::vector<tensor_reader> readers;
    std::size_t first = 0;  ///< number of the first of these readers among those of the tensor
};

/// How moves between exact places are counted: as they are, or as what they cost at least. To or from an open place,
/// which may be any that is cut so, they cost what they do at least.
enum class counting : std::uint8_t { exact, at_least };

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
        double sum = 0;
        places_.clear();
        for (std::size_t reader = 0; reader < wanted.size(); ++reader) {
            const wanted_places& to = *wanted[reader];
            const bool has_own = from != wherever(tensor.first + reader);
            if (!has_own && !found_in(anywhere, to)) {
                return forbidden_move;  // it is wanted elsewhere
            }
            if (from < 0) {
                continue;
            }
            for (const place_id place : to) {
                if (asked_.objective == objective::paper) {
                    sum += in_numbers(from, place, tensor.runs, tensor.readers[reader].is_marked);
                } else if (tensor.readers[reader].is_marked) {
                    const double cost = one(from, place, tensor.element_bytes, how);
                    sum += cost > 0 && cost < forbidden_move ? forbidden_move : 0;
                }
            }
            places_.insert(places_.end(), to.begin(), to.end());
        }
        return from < 0 || asked_.objective == objective::paper
                   ? sum
                   : sum + tensor.runs * to_all(from, tensor.element_bytes, how);
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

    /// Looks up exactly what the moves between chosen states cost; true where some were estimates.
    EINPARALLEL_INLINE bool settle(const std::vector<factor>& factors, const std::vector<state>& chosen) {
        from_ = anywhere;
        bool changed = false;
        for (const factor& tensor : factors) {
            const place_id from = tensor.maker ? chosen[*tensor.maker].output : tensor.from;
            for (const tensor_reader& reader : tensor.readers) {
                const std::vector<place_id>& wanted = chosen[reader.variable].operands;
                for (std::size_t at = 0; at < reader.operands.size() && !wanted.empty(); ++at) {  // else the rest
                    changed = table_.settle(from, wanted[reader.operands[at]]) || changed;
                }
            }
        }
        return changed;
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
        if (table_.bounds(from) != table_.bounds(to)) {
            return forbidden_move;  // a tensor in summands is read in as many; one that is finished is read as it is
        }
        const bool is_least = how == counting::at_least || table_.is_open(from) || table_.is_open(to);
        const traffic moving = is_least ? table_.at_least(from, to) : table_.between(from, to);
        return asked_.objective == objective::bytes ? moving.elements * static_cast<double>(element_bytes)
                                                    : redistribution_seconds(moving, element_bytes, asked_.machine);
    }

    EINPARALLEL_INLINE double in_numbers(place_id from, place_id to, double runs, bool marked) {
        if (to < 0 || !table_.is_open(from)) {
            return 0;
        }
        const double numbers = cost::repartition(table_.bounds(from), table_.parts(from), table_.parts(to));
        return runs * numbers + (marked && table_.at_least(from, to).elements > 0 ? forbidden_move : 0);
    }

    /// To places_; of open ones, which may be the same as others that are cut alike, those that surely differ.
    EINPARALLEL_INLINE double to_all(place_id from, std::size_t element_bytes, counting how) {
        if (places_.size() > 1) {
            sort_unique(places_);
        }
        const auto is_open = [&](place_id to) { return to >= 0 && table_.is_open(to); };
        double sum = 0;
        if (places_.size() == 1 || !any_in(places_, is_open)) {
            for (const place_id to : places_) {
                sum += one(from, to, element_bytes, how);
            }
            return sum;
        }
        costs_.clear();
        for (const place_id to : places_) {
            if (to >= 0) {
                constexpr double infinity = std::numeric_limits<double>::infinity();
                costs_.emplace_back(is_open(to) ? -one(from, to, element_bytes, how) : -infinity, to);
            }
        }
        sort_range(costs_);
        counted_.clear();
        for (const auto& [cost, to] : costs_) {
            const auto same = [&, place = to](place_id other) { return table_.may_be_one(place, other); };
            if (!any_in(counted_, same)) {
                sum += is_open(to) ? -cost : one(from, to, element_bytes, how);
                counted_.push_back(to);
            }
        }
        return sum;
    }

    const options& asked_;
    place_table& table_;
    place_id from_ = anywhere;  // of the moves that are known, by where they go
    std::size_t element_bytes_ = 0;
    counting how_ = counting::exact;
    std::size_t origin_ = 0;
    std::vector<std::pair<std::size_t, double>> known_;
    wanted_places places_;                            // scratch
    wanted_places counted_;                           // scratch
    std::vector<std::pair<double, place_id>> costs_;  // scratch: exact places first, then the dearest
};

}  // namespace einparallel::EINPARALLEL_DETAIL
