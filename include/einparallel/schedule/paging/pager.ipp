#pragma once
// Writes a program that pages: which elements are where in which step, and when moves begin and end.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/paging/paged_items.ipp>
#include <einparallel/schedule/paging/paging.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Seconds that a step's arithmetic takes.
EINPARALLEL_INLINE double arithmetic_seconds(const program& of_rank, const step& each, double seconds_per_flop) {
    return seconds_per_flop * sum_in(each.work, 0.0, [&](const action& done) {
               const auto* const call = std::get_if<contraction>(&done);
               const kernel* const work = call == nullptr ? nullptr : of_rank.vertex_of(*call).work;
               return work == nullptr ? 0
                                      : product_in(call->ranges, work->operations_per_point(),
                                                   [](const interval& range) { return double(range.size()); });
           });
}

/// Writes a program that pages.
class pager : paged_items {
public:
    EINPARALLEL_INLINE pager(program& of_rank, const paging_rule& rule) : paged_items(of_rank, rule) {}

    EINPARALLEL_INLINE void run() {
        decide();
        spread_moves();
        emit();
    }

private:
    /// Lets loads begin earlier and evictions end later, as far as memory allows and arithmetic needs it.
    EINPARALLEL_INLINE void spread_moves() {
        const std::size_t positions = 3 * program_.steps.size();
        held_.assign(positions + 1, results_);
        for (const stay& each : stays_) {
            for (std::size_t position = each.first; position <= each.last; ++position) {
                held_[position] += items_[each.item].bytes;
            }
        }
        std::vector<double> times(positions + 2, 0);  // by position: seconds of arithmetic before it
        for (std::size_t position = 0; position <= positions; ++position) {
            const bool is_step = position % 3 == 1;
            times[position + 1] =
                times[position] +
                (is_step ? arithmetic_seconds(program_, program_.steps[position / 3], rule_.seconds_per_flop) : 0);
        }
        std::stable_sort(moves_.begin(), moves_.end(),
                         [](const auto& a, const auto& b) { return a.needed < b.needed; });
        if (rule_.early_share == 0) {
            return;
        }
        const std::vector<double> wanted = wanted_begins(times);
        std::vector<std::size_t> stored_at(program_.stored.size(), 0);  // end of the last eviction or use
        std::size_t last_begin = 0;
        constexpr std::size_t most_positions = 6144;
        constexpr std::size_t most_ahead = 16;  // moves: arenas of more buffers at a time take long to plan
        std::vector<std::size_t> needed;        // of the loads so far
        std::vector<std::size_t> evicted;       // where evictions begin
        for_each_in(moves_, [&](const move_of_item& each) {
            if (each.evicts) {
                evicted.push_back(each.needed);
            }
        });
        std::size_t evictions = 0;
        for (std::size_t number = 0; number < moves_.size(); ++number) {
            move_of_item& each = moves_[number];
            const double bytes = items_[each.item].bytes;
            const std::size_t from = each.needed;
            if (each.evicts) {
                const double until = times[from] + 2 * seconds_of(each);
                const std::size_t next = evictions++ + most_ahead;
                const std::size_t last =
                    std::min(from + most_positions, next < evicted.size() ? evicted[next] : positions);
                while (each.end + 1 < positions && times[each.end] < until && each.end < last &&
                       held_[each.end + 1] + bytes <= rule_.early_share * double(rule_.limit)) {
                    held_[++each.end] += bytes;
                }
                stored_at[each.stored] = each.needed;
                last_begin = std::max(last_begin, each.needed);
                continue;
            }
            const std::size_t least = std::max({last_begin, stored_at[each.stored], ended_before(each),
                                                needed.size() < most_ahead ? 0 : needed[needed.size() - most_ahead]});
            while (each.begin > least && times[each.begin] > wanted[number] &&
                   held_[each.begin - 1] + bytes <= rule_.early_share * double(rule_.limit)) {
                held_[--each.begin] += bytes;
            }
            last_begin = std::max(last_begin, each.begin);
            needed.push_back(from);
        }
    }

    /// By move: when it should begin, in seconds of arithmetic, so that it and all that follow are in time, one made
    /// after the other. There is room for as long as the move takes.
    EINPARALLEL_INLINE std::vector<double> wanted_begins(const std::vector<double>& times) const {
        std::vector<double> wanted(moves_.size());
        double latest = std::numeric_limits<double>::infinity();
        for (std::size_t number = moves_.size(); number-- > 0;) {
            const move_of_item& each = moves_[number];
            const double takes = seconds_of(each);
            latest = (each.evicts ? latest : std::min(latest, times[each.needed])) - takes;
            wanted[number] = latest - takes;
        }
        return wanted;
    }

    /// The first position at which a load may begin: after the item's stay before.
    EINPARALLEL_INLINE std::size_t ended_before(const move_of_item& load) const {
        std::size_t ended = 0;
        for (const use& each : items_[load.item].uses) {
            if (3 * each.at < load.needed) {
                ended = std::max(ended, 3 * each.at + 2);
            }
        }
        return ended;
    }

    /// Writes the steps.
    EINPARALLEL_INLINE void emit() {
        std::vector<step> steps = std::exchange(program_.steps, {});
        std::vector<std::vector<std::size_t>> begins(3 * steps.size() + 1);
        for (std::size_t number = 0; number < moves_.size(); ++number) {
            begins[moves_[number].begin].push_back(number);
        }
        is_begun_.assign(program_.buffers.size(), false);
        names_.resize(program_.buffers.size());
        for (std::size_t number = 0; number < names_.size(); ++number) {
            names_[number] = buffer_id(number);
        }
        std::vector<std::size_t> step_at(begins.size() + 1, 0);  // number of steps up to a position
        std::vector<bool> is_used(program_.buffers.size(), false);
        std::vector<std::vector<std::size_t>> arrives(steps.size() + 1);
        std::size_t count = 0;
        for (std::size_t position = 0; position < begins.size(); ++position) {
            const bool is_step = position % 3 == 1;
            count += is_step || !begins[position].empty() ? 1 : 0;
            step_at[position] = count;
        }
        for (std::size_t position = 0; position + 1 < begins.size(); ++position) {
            const std::size_t at = position / 3;
            const bool is_step = position % 3 == 1;
            if (is_step) {
                for (const std::size_t number : arrives[at]) {
                    names_[std::size_t(moves_[number].buffer)] = moves_[number].into;
                }
            } else if (begins[position].empty()) {
                continue;
            }
            step made;
            if (is_step) {
                made = std::move(steps[at]);
                rename(made);
            } else {
                made.phase = steps[at].phase;
                made.vertex = steps[at].vertex;
            }
            for (const std::size_t number : begins[position]) {
                move_of_item& each = moves_[number];
                if (each.evicts) {
                    each.into = names_[std::size_t(each.buffer)];
                } else {
                    each.into = name_for(each.buffer, is_used);
                    arrives[each.needed / 3].push_back(number);
                }
                const std::size_t due = each.evicts ? each.end : each.needed;
                const std::size_t here = step_at[position];
                made.pages.push_back({each.into, each.stored, each.evicts, std::max(step_at[due], here) - here});
            }
            program_.steps.push_back(std::move(made));
        }
        if (rule_.files_outputs) {
            program_.results.clear();
        }
        for_each_in(program_.results, [&](buffer_id& result) { result = names_[std::size_t(result)]; });
    }

    /// The buffer for a load: the buffer itself for the first one, then new ones.
    EINPARALLEL_INLINE buffer_id name_for(buffer_id buffer, std::vector<bool>& is_used) {
        const bool is_new = is_used[std::size_t(buffer)] || (!is_page(buffer) && !is_input(buffer));
        is_used[std::size_t(buffer)] = true;
        if (!is_new) {
            return buffer;
        }
        einparallel::buffer made = program_[buffer];
        made.lender = no_buffer;
        made.lender_offset = 0;
        program_.buffers.push_back(std::move(made));
        return buffer_id(program_.buffers.size()) - 1;
    }

    EINPARALLEL_INLINE void rename(step& of) {
        const auto rename_one = [&](buffer_id& buffer) {
            const buffer_id lender = program_[buffer].lender;
            if (lender != no_buffer && !is_begun_[std::size_t(buffer)]) {
                program_[buffer].lender = names_[std::size_t(lender)];
            }
            is_begun_[std::size_t(buffer)] = true;
            buffer = names_[std::size_t(buffer)];
        };
        for_each_in(of.receives, [&](message& moved) { rename_one(moved.buffer); });
        for_each_in(of.sends, [&](message& moved) { rename_one(moved.buffer); });
        for (action& done : of.work) {
            if (auto* const call = std::get_if<contraction>(&done)) {
                for_each_in(call->operands, rename_one);
                rename_one(call->output);
            } else if (auto* const moved = std::get_if<local_move>(&done)) {
                rename_one(moved->into);
                rename_one(moved->from);
            } else {
                rename_one(std::get<read_source>(done).into);
            }
        }
    }

    std::vector<double> held_{};      ///< bytes by position
    std::vector<buffer_id> names_{};  ///< by buffer: the buffer that has its elements now
    std::vector<bool> is_begun_{};    ///< by buffer: a step has named it
};

}  // namespace einparallel::EINPARALLEL_DETAIL
