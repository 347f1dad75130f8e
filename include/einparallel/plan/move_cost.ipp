#pragma once
// What bringing a tensor from one place to all its readers costs, in the unit of the objective.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What bringing tensors from place to place costs.
class move_cost {
public:
    EINPARALLEL_INLINE move_cost(const options& asked, place_table& table) : asked_(asked), table_(table) {}

    /// From one place to several, each of them once; to `marked` ones, of readers without communication, nothing may
    /// move. With `at_least`, no more than that: open places may be the same as others that are cut alike.
    EINPARALLEL_INLINE double of(place_id from, std::vector<place_id>& wanted, const std::vector<place_id>& marked,
                                 std::size_t element_bytes, bool at_least);

    /// Numbers by the paper's formula, for one reading.
    EINPARALLEL_INLINE double in_numbers(place_id from, place_id to, bool marked);

private:
    EINPARALLEL_INLINE double one(place_id from, place_id to, std::size_t element_bytes, bool at_least);

    const options& asked_;
    place_table& table_;

public:
    bool cuts_only = false;  ///< whether what moves at least is counted by the cuts alone
};

EINPARALLEL_INLINE double move_cost::one(place_id from, place_id to, std::size_t element_bytes, bool at_least) {
    if (from == to || from < 0 || to < 0) {
        return 0;
    }
    if (table_.bounds(from) != table_.bounds(to)) {
        return forbidden_move;  // a tensor in summands is read in as many; one that is finished is read as it is
    }
    const traffic moving = cuts_only  ? table_.by_cuts(from, to)
                           : at_least ? table_.at_least(from, to)
                                      : table_.between(from, to);
    return asked_.objective == objective::bytes ? moving.elements * static_cast<double>(element_bytes)
                                                : redistribution_seconds(moving, element_bytes, asked_.machine);
}

EINPARALLEL_INLINE double move_cost::of(place_id from, std::vector<place_id>& wanted,
                                        const std::vector<place_id>& marked, std::size_t element_bytes, bool at_least) {
    if (from < 0) {
        return 0;
    }
    if (wanted.size() > 1) {
        sort_range(wanted);
        wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    }
    double sum = 0;
    bool any_open = false;
    for (const place_id to : wanted) {
        any_open = any_open || (wanted.size() > 1 && to >= 0 && table_.is_open(to));
    }
    if (!any_open) {
        for (const place_id to : wanted) {
            sum += one(from, to, element_bytes, at_least);
        }
    } else {
        // Places that are surely different, exact ones first, then the dearest.
        std::vector<std::pair<double, place_id>> costs;
        for (const place_id to : wanted) {
            if (to >= 0) {
                costs.emplace_back(table_.is_open(to) ? -one(from, to, element_bytes, at_least)
                                                      : -std::numeric_limits<double>::infinity(),
                                   to);
            }
        }
        sort_range(costs);
        std::vector<place_id> counted;
        for (const auto& [cost, to] : costs) {
            if (std::ranges::none_of(counted,
                                     [&, place = to](place_id other) { return table_.may_be_one(place, other); })) {
                sum += table_.is_open(to) ? -cost : one(from, to, element_bytes, at_least);
                counted.push_back(to);
            }
        }
    }
    for (const place_id to : marked) {
        const double cost = one(from, to, element_bytes, at_least);
        sum += cost > 0 && cost < forbidden_move ? forbidden_move : 0;
    }
    return sum;
}

EINPARALLEL_INLINE double move_cost::in_numbers(place_id from, place_id to, bool marked) {
    if (from < 0 || to < 0 || !table_.is_open(from)) {
        return 0;
    }
    const double numbers = cost::repartition(table_.bounds(from), table_.parts(from), table_.parts(to));
    return numbers + (marked && table_.at_least(from, to).elements > 0 ? forbidden_move : 0);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
