#pragma once

#include <einparallel/schedule/paging/paging.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/paged_items.ipp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
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
        for (std::size_t number = 0; number < moves_.size(); ++number) {
            move_of_item& each = moves_[number];
            const double bytes = items_[each.item].bytes;
            const std::size_t from = each.needed;
            if (each.evicts) {
                const double until = times[from] + 2 * seconds_of(each);
                while (each.end + 1 < positions && times[each.end] < until && each.end < from + most_positions &&
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

EINPARALLEL_INLINE void page(program& of_rank, const paging_rule& rule) {
    if (rule.may_page == paged_tensors::none || any_in(of_rank.steps, &step::once)) {
        return;
    }
    const bool reads_files = any_in(of_rank.vertices, &called_vertex::is_in_file);
    std::size_t least = rule.files_outputs ? std::size_t(-1) : room_of(of_rank).peak();
    bool is_done = least <= rule.limit && !reads_files;
    program best = of_rank;
    paging_rule tighter = rule;
    constexpr int rounds = 12;
    constexpr std::array<double, 3> shares{1, .75, 0};
    for (int round = 0; round < rounds && !is_done; ++round) {
        program paged = of_rank;
        // Buffers leave gaps in the arena, fewer where less is moved early or late; else there must be fewer bytes.
        tighter.early_share = shares[std::size_t(round) % shares.size()];
        pager(paged, tighter).run();
        const std::size_t peak = room_of(paged).peak();
        is_done = peak <= rule.limit;
        if (peak < least || is_done) {
            least = peak;
            best = std::move(paged);
        }
        if (tighter.early_share == 0) {
            constexpr std::size_t share = 200;
            const std::size_t beyond = peak > rule.limit ? peak - rule.limit : 0;
            const std::size_t less = std::max(beyond / 2, std::size_t(round * round) * rule.limit / share / 4 + 1);
            tighter.limit -= std::min(less, tighter.limit);
        }
    }
    of_rank = std::move(best);
}

EINPARALLEL_INLINE void split_messages(program& of_rank, std::size_t limit) {
    constexpr std::size_t most_slabs = 4096;
    constexpr std::size_t much = 8;  // a message may take this part of the limit, and a slab a quarter of it
    std::vector<step> steps = std::exchange(of_rank.steps, {});
    for (step& each : steps) {
        const std::size_t phase = each.phase * most_slabs;
        std::vector<step> slabs(1);
        const auto split = [&](const message& whole, std::vector<message> step::*into) {
            const std::size_t element = of_rank[whole.buffer].element_bytes;
            const std::size_t bytes = std::size_t(whole.region.size()) * element;
            std::size_t number = 0;
            for_each_slab(
                whole.region, element,
                bytes > limit / much ? std::max({limit / (4 * much), 2 * bytes / most_slabs, element}) : bytes,
                [&](const box& slab) {
                    slabs.resize(std::max(slabs.size(), number + 1));
                    (slabs[number++].*into).push_back({whole.peer, whole.buffer, slab});
                });
        };
        for_each_in(each.receives, [&](const message& whole) { split(whole, &step::receives); });
        for_each_in(each.sends, [&](const message& whole) { split(whole, &step::sends); });
        slabs.front().work = std::move(each.work);
        for (std::size_t number = 0; number < slabs.size(); ++number) {
            slabs[number].phase = phase + number;
            slabs[number].vertex = each.vertex;
            slabs[number].once = each.once;
            of_rank.append(std::move(slabs[number]));
        }
    }
}

EINPARALLEL_INLINE std::vector<std::size_t> shape_of(const program& of_rank) {
    std::vector<std::size_t> made;
    const auto add = [&](auto... values) { made.insert(made.end(), {std::size_t(values)...}); };
    std::vector<std::vector<box>> regions(of_rank.buffers.size());  // of each buffer, as they appear
    const auto add_region = [&](buffer_id buffer, const box& region) {
        std::vector<box>& met = regions[std::size_t(buffer)];
        const auto known = find_in(met, region);
        for_each_in(region.sides, [&](const interval& side) { add(side.size()); });
        add(buffer, known - met.begin());
        if (known == met.end()) {
            met.push_back(region);
        }
    };
    for (const buffer& each : of_rank.buffers) {
        add(each.element_bytes, each.lender, each.lender_offset, each.joins.size(), each.tensor);
        for_each_in(each.region.sides, [&](const interval& side) { add(side.size()); });
        for_each_in(each.joins, [&](buffer_id joined) { add(joined); });
    }
    for_each_in(of_rank.results, [&](buffer_id result) { add(result); });
    for (const step& each : of_rank.steps) {
        add(each.phase, each.vertex, each.once, each.receives.size(), each.sends.size(), each.work.size());
        for_each_in(each.receives, [&](const message& moved) { add_region(moved.buffer, moved.region); });
        for_each_in(each.sends, [&](const message& moved) { add_region(moved.buffer, moved.region); });
        for (const action& done : each.work) {
            add(done.index());
            const auto* const call = std::get_if<contraction>(&done);
            const einsum_form* const form = call == nullptr ? nullptr : &of_rank.vertex_of(*call).form;
            const accesses touched = accesses_of(of_rank, done, form);
            for_each_in(touched.reads, [&](const buffer_region& read) { add_region(read.buffer, read.region); });
            for_each_in(touched.writes, [&](const buffer_region& read) { add_region(read.buffer, read.region); });
            if (call != nullptr) {
                add(call->vertex, call->mode, call->rows.along);
                const bool may_end = any_in(form->reads, [](const operand_read& read) { return !read.at.is_plain(); });
                for_each_in(call->ranges, [&](const interval& range) { add(range.size(), may_end ? range.begin : 0); });
            } else if (const auto* const moved = std::get_if<local_move>(&done)) {
                add(moved->vertex);
            }
        }
    }
    return made;
}

EINPARALLEL_INLINE double exposed_seconds(const program& of_rank, double seconds_per_flop, double seconds_per_byte) {
    double now = 0;
    double moved = 0;  // when the moves so far are complete
    double arithmetic = 0;
    std::vector<double> due(of_rank.steps.size() + 1, 0);
    for (std::size_t at = 0; at < of_rank.steps.size(); ++at) {
        const step& each = of_rank.steps[at];
        for (const page_move& page : each.pages) {
            const double bytes = of_rank.stored[page.stored].is_in_file ? double(of_rank[page.buffer].bytes()) : 0;
            moved = std::max(moved, now) + seconds_per_byte * bytes;
            double& until = due[std::min(at + page.until, of_rank.steps.size())];
            until = std::max(until, moved);
        }
        const double takes = arithmetic_seconds(of_rank, each, seconds_per_flop);
        arithmetic += takes;
        now = std::max(now + takes, due[at]);
    }
    return now - arithmetic;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
