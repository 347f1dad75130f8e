#pragma once

#include <einparallel/schedule/paging/paging.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/residency.hpp>
#include <einparallel/schedule/paging/tiled_steps.ipp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Pages a program. Steps get three positions each: before step i, 3i, tensors are loaded; 3i + 1 is the step; at
/// 3i + 2, behind it, they are evicted.
class pager {
public:
    EINPARALLEL_INLINE pager(program& of_rank, const paging_rule& rule)
        : program_(of_rank), rule_(rule), tiles_(of_rank, rule) {}

    EINPARALLEL_INLINE void run() {
        tiles_.write();
        find_items();
        for_each_in(program_.results, [&](buffer_id result) {
            results_ += rule_.files_outputs ? 0 : bytes_in_arena(program_[result]);
        });
        choose_residency();
        make_moves();
        spread_moves();
        emit();
    }

private:
    static constexpr std::size_t none = std::size_t(-1);

    /// A use of an item in a step.
    struct use {
        std::size_t at = 0;
        std::vector<buffer_id> members{};  ///< the buffers that are used; none where tiles of them are
        bool writes = false;
        bool in_tiles = false;
    };
    /// Buffers that share memory, one after the other, or one buffer.
    struct item {
        std::vector<use> uses{};
        double bytes = 0;
        bool is_result = false;  ///< in memory of its own all the time
    };
    /// A load or an eviction.
    struct move_of_item {
        std::size_t item = none;
        buffer_id buffer = no_buffer;  ///< as the program names it
        std::size_t stored = 0;
        bool evicts = false;
        std::size_t needed = 0;  ///< position at which a load must be complete, or an eviction begins
        std::size_t begin = 0;
        std::size_t end = 0;
        buffer_id into = no_buffer;  ///< the buffer of this load
    };
    /// Positions in which an item is in memory.
    struct stay {
        std::size_t item = none;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    EINPARALLEL_INLINE buffer_id root_of(buffer_id number) const {
        while (program_[number].lender != no_buffer) {
            number = program_[number].lender;
        }
        return number;
    }

    EINPARALLEL_INLINE void find_items() {
        item_of_.assign(program_.buffers.size(), none);
        page_of_.assign(program_.buffers.size(), none);
        for (std::size_t number = 0; number < tiles_.pages().size(); ++number) {
            page_of_[std::size_t(tiles_.pages()[number].tile)] = number;
        }
        const auto item_at = [&](buffer_id buffer) -> std::size_t {
            std::size_t& number = item_of_[std::size_t(buffer)];
            if (number == none) {
                const buffer_id root = root_of(buffer);
                std::size_t& of_root = item_of_[std::size_t(root)];
                if (of_root == none) {
                    of_root = items_.size();
                    items_.push_back({{}, bytes_in_arena(program_[root])});
                }
                item_of_[std::size_t(buffer)] = number = of_root;
                items_[number].is_result =
                    items_[number].is_result || (!rule_.files_outputs && program_.is_result(buffer));
            }
            return number;
        };
        const auto add = [&](std::size_t at, buffer_id buffer, bool writes, bool in_tiles) {
            item& of = items_[item_at(buffer)];
            if (of.uses.empty() || of.uses.back().at != at) {
                of.uses.push_back({at});
                of.uses.back().in_tiles = in_tiles;
            }
            use& now = of.uses.back();
            now.writes = now.writes || writes;
            now.in_tiles = now.in_tiles && in_tiles;
            if (!in_tiles && !found_in(buffer, now.members)) {
                now.members.push_back(buffer);
            }
        };
        std::vector<std::size_t> first_of_page(tiles_.pages().size(), none);
        for (std::size_t at = 0; at < program_.steps.size(); ++at) {
            for_each_access(program_.steps[at], [&](buffer_id buffer, bool writes) {
                add(at, buffer, writes, false);
                if (const std::size_t page = page_of_[std::size_t(buffer)]; page != none) {
                    add(at, tiles_.pages()[page].of, tiles_.pages()[page].evicts, true);
                }
            });
        }
    }

    EINPARALLEL_INLINE std::size_t stored_of(buffer_id buffer) {
        const std::size_t page = std::size_t(buffer) < page_of_.size() ? page_of_[std::size_t(buffer)] : none;
        const buffer_id of = page == none ? buffer : tiles_.pages()[page].of;
        stored_.resize(std::max(stored_.size(), std::size_t(of) + 1), none);
        std::size_t& number = stored_[std::size_t(of)];
        if (number == none) {
            number = program_.stored.size();
            stored_tensor& made = program_.stored.emplace_back();
            made.region = program_[of].region;
            made.element_bytes = program_[of].element_bytes;
            if (tiles_.is_input(of)) {
                made.input = *tiles_.life_of(of).input;
                made.is_in_file = program_.vertices[made.input].is_in_file;
            } else if (rule_.files_outputs && program_.is_result(of)) {
                made.output = std::size_t(find_in(program_.results, of) - program_.results.begin());
            }
        }
        return number;
    }

    bool is_page(buffer_id buffer) const { return page_of_[std::size_t(buffer)] != none; }
    bool is_page(const item& of) const {
        return !of.uses.empty() && !of.uses.front().members.empty() && is_page(of.uses.front().members.front());
    }
    bool is_input(buffer_id buffer) const {
        return std::size_t(buffer) < tiles_.given() && tiles_.is_input(buffer);
    }
    bool is_filed(buffer_id buffer) const { return rule_.files_outputs && program_.is_result(buffer); }

    /// The buffer of an item that is alive between two uses; no_buffer where there are several.
    EINPARALLEL_INLINE buffer_id alive_between(const item& of, std::size_t from) const {
        buffer_id alive = no_buffer;
        const std::vector<buffer_id>& next = of.uses[from + 1].members;
        for (const buffer_id member : of.uses[from].members) {
            bool is_used = false;
            for (std::size_t later = from + 1; later < of.uses.size() && !is_used; ++later) {
                is_used = found_in(member, of.uses[later].members);
            }
            if (is_used && (alive != no_buffer || !found_in(member, next))) {
                return no_buffer;
            }
            alive = is_used ? member : alive;
        }
        return alive;
    }

    /// Decides which items leave memory between two uses.
    EINPARALLEL_INLINE void choose_residency() {
        residency_problem problem{double(rule_.limit) - results_, std::vector<double>(program_.steps.size(), 0)};
        std::vector<std::pair<residency_gap, std::pair<std::size_t, std::size_t>>> gaps;  // with item and use
        std::size_t values = 0;
        for (std::size_t number = 0; number < items_.size(); ++number) {
            item& of = items_[number];
            if (of.is_result || of.uses.empty()) {
                continue;
            }
            for (std::size_t at = 0; at < of.uses.size(); ++at) {
                const use& now = of.uses[at];
                problem.taken[now.at] += now.in_tiles ? 0 : of.bytes;
                values += now.writes ? 1 : 0;
                if (at + 1 == of.uses.size() || now.in_tiles || of.uses[at + 1].in_tiles ||
                    of.uses[at + 1].at < now.at + 2) {
                    continue;
                }
                const buffer_id alive = is_page(of) ? no_buffer : alive_between(of, at);
                const std::size_t first = now.at + 1;
                const std::size_t last = of.uses[at + 1].at - 1;
                if (alive == no_buffer || !tiles_.may_page(alive)) {
                    for (std::size_t step = first; step <= last; ++step) {
                        problem.taken[step] += of.bytes;
                    }
                    continue;
                }
                const double bytes = double(program_[alive].bytes());
                const double writes = is_input(alive) || is_filed(alive) ? 0 : bytes;
                constexpr double made_anew = .25;  // of the cost of a read: an input that its source makes, or finds
                const bool is_made = is_input(alive) && !program_.vertices[*tiles_.life_of(alive).input].is_in_file;
                const double reads = is_made ? made_anew * bytes : bytes;
                gaps.push_back({{first, last, of.bytes, reads, writes, values}, {number, at}});
            }
            ++values;
        }
        std::stable_sort(gaps.begin(), gaps.end(),
                         [](const auto& a, const auto& b) { return a.first.first < b.first.first; });
        for_each_in(gaps, [&](const auto& each) { problem.gaps.push_back(each.first); });
        const residency chosen = best_residency(problem);
        for (std::size_t number = 0; number < gaps.size(); ++number) {
            if (chosen.leaves[number]) {
                leaves_.push_back(gaps[number].second);
            }
        }
        std::sort(leaves_.begin(), leaves_.end());
    }

    /// The loads and evictions, and the positions in which items are in memory.
    EINPARALLEL_INLINE void make_moves() {
        const auto leaves = [&](std::size_t number, std::size_t after) {
            return std::binary_search(leaves_.begin(), leaves_.end(), std::pair(number, after));
        };
        for (std::size_t number = 0; number < items_.size(); ++number) {
            const item& of = items_[number];
            if (of.is_result) {
                continue;
            }
            bool is_stored = !of.uses.empty() && !of.uses.front().members.empty() && begins_stored(of);
            bool is_here = false;
            std::size_t since = 0;
            for (std::size_t at = 0; at < of.uses.size(); ++at) {
                const use& now = of.uses[at];
                if (now.in_tiles) {
                    is_stored = true;
                    continue;
                }
                if (!is_here) {
                    since = 3 * now.at + 1;
                    if (is_stored) {
                        add_move(number, loaded_at(of, at), false, 3 * now.at);
                        since = 3 * now.at;
                    }
                }
                is_stored = is_stored && !now.writes;
                const bool is_last = at + 1 == of.uses.size();
                const buffer_id after = !is_last && !of.uses[at + 1].in_tiles ? no_buffer : kept_after(of, at);
                const bool goes = leaves(number, at) || is_last || of.uses[at + 1].in_tiles;
                is_here = !goes;
                if (!goes) {
                    continue;
                }
                const buffer_id alive = leaves(number, at) ? alive_between(of, at) : after;
                std::size_t end = 3 * now.at + 1;
                if (!is_stored && alive != no_buffer) {
                    end = 3 * now.at + 2;
                    add_move(number, alive, true, end);
                    is_stored = true;
                }
                stays_.push_back({number, since, end});
            }
        }
    }

    /// True where an item's elements are in storage before its first use.
    EINPARALLEL_INLINE bool begins_stored(const item& of) const {
        const buffer_id first = of.uses.front().members.front();
        return is_page(first) ? tiles_.pages()[page_of_[std::size_t(first)]].loads : is_input(first);
    }

    /// The buffer that a load before this use fills.
    EINPARALLEL_INLINE buffer_id loaded_at(const item& of, std::size_t at) const {
        const buffer_id before = at == 0 || of.uses[at - 1].in_tiles ? no_buffer : alive_between(of, at - 1);
        return before != no_buffer ? before : of.uses[at].members.front();
    }

    /// The buffer whose elements must be stored after a use that is the last one, or is followed by tiles; no_buffer
    /// where nobody needs them.
    EINPARALLEL_INLINE buffer_id kept_after(const item& of, std::size_t at) const {
        for (const buffer_id member : of.uses[at].members) {
            const bool is_evicted = is_page(member) && tiles_.pages()[page_of_[std::size_t(member)]].evicts;
            const bool is_followed = at + 1 < of.uses.size() && tiles_.has_pages(member);
            if (is_evicted || is_followed || (is_filed(member) && at + 1 == of.uses.size())) {
                return member;
            }
        }
        return no_buffer;
    }

    EINPARALLEL_INLINE void add_move(std::size_t number, buffer_id buffer, bool evicts, std::size_t position) {
        if (!program_[buffer].region.empty()) {
            moves_.push_back({number, buffer, stored_of(buffer), evicts, position, position, position});
        }
    }

    double bytes_of(const move_of_item& moved) const { return double(program_[moved.buffer].bytes()); }

    /// Lets loads begin earlier and evictions end later, as far as memory allows and arithmetic needs it.
    EINPARALLEL_INLINE void spread_moves() {
        const std::size_t positions = 3 * program_.steps.size();
        held_.assign(positions + 1, results_);
        for (const stay& each : stays_) {
            for (std::size_t position = each.first; position <= each.last; ++position) {
                held_[position] += items_[each.item].bytes;
            }
        }
        std::vector<double> seconds;
        for (const step& each : program_.steps) {
            seconds.push_back(arithmetic_seconds(program_, each, rule_.seconds_per_flop));
        }
        std::stable_sort(moves_.begin(), moves_.end(),
                         [](const auto& a, const auto& b) { return a.needed < b.needed; });
        std::vector<std::size_t> stored_at(program_.stored.size(), 0);  // end of the last eviction or use
        std::size_t last_begin = 0;
        constexpr std::size_t most_steps = 24;
        constexpr double times_hidden = 2;
        for (move_of_item& each : moves_) {
            if (!rule_.is_early) {
                continue;
            }
            const double bytes = items_[each.item].bytes;
            const double takes = times_hidden * bytes_of(each) * rule_.seconds_per_byte;
            double hidden = 0;
            const std::size_t from = each.needed;
            if (each.evicts) {
                while (each.end + 1 < positions && hidden < takes && each.end < from + 3 * most_steps &&
                       held_[each.end + 1] + bytes <= double(rule_.limit)) {
                    held_[++each.end] += bytes;
                    hidden += each.end % 3 == 1 ? seconds[each.end / 3] : 0;
                }
                stored_at[each.stored] = each.needed;
                last_begin = std::max(last_begin, each.needed);
                continue;
            }
            const std::size_t least = std::max(
                {last_begin, stored_at[each.stored], ended_before(each), from - std::min(from, 3 * most_steps)});
            while (each.begin > least && hidden < takes && held_[each.begin - 1] + bytes <= double(rule_.limit)) {
                held_[--each.begin] += bytes;
                hidden += each.begin % 3 == 1 ? seconds[each.begin / 3] : 0;
            }
            last_begin = std::max(last_begin, each.begin);
        }
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

    program& program_;
    const paging_rule& rule_;
    tile_writer tiles_;
    double results_ = 0;  ///< bytes of the results in memory
    std::vector<item> items_{};
    std::vector<std::size_t> item_of_{};                       ///< by buffer
    std::vector<std::size_t> page_of_{};                       ///< by buffer: its page; none
    std::vector<std::size_t> stored_{};                        ///< by buffer: its stored tensor; none
    std::vector<std::pair<std::size_t, std::size_t>> leaves_{};  ///< items and the uses after which they leave memory
    std::vector<move_of_item> moves_{};
    std::vector<stay> stays_{};
    std::vector<double> held_{};  ///< bytes by position
    std::vector<buffer_id> names_{};  ///< by buffer: the buffer that has its elements now
    std::vector<bool> is_begun_{};    ///< by buffer: a step has named it
};

EINPARALLEL_INLINE void page(program& of_rank, const paging_rule& rule) {
    if (rule.may_page == paged_tensors::none || any_in(of_rank.steps, &step::once)) {
        return;
    }
    std::size_t least = rule.files_outputs ? std::size_t(-1) : room_of(of_rank).peak();
    program best = of_rank;
    paging_rule tighter = rule;
    constexpr int rounds = 12;
    for (int round = 0; round < rounds && least > rule.limit; ++round) {
        program paged = of_rank;
        tighter.is_early = round % 2 == 0;
        pager(paged, tighter).run();
        const std::size_t peak = room_of(paged).peak();
        if (peak < least) {
            least = peak;
            best = std::move(paged);
        }
        // Buffers leave gaps in the arena, fewer where nothing is moved early or late; else there must be fewer bytes.
        if (!tighter.is_early) {
            constexpr std::size_t share = 200;
            const std::size_t beyond = peak > rule.limit ? peak - rule.limit : 0;
            const std::size_t less = std::max(beyond / 2, std::size_t(round * round) * rule.limit / share / 4 + 1);
            tighter.limit -= std::min(less, tighter.limit);
        }
    }
    of_rank = std::move(best);
}

EINPARALLEL_INLINE double exposed_seconds(const program& of_rank, double seconds_per_flop, double seconds_per_byte) {
    double now = 0;
    double moved = 0;  // when the moves so far are complete
    double arithmetic = 0;
    std::vector<double> due(of_rank.steps.size() + 1, 0);
    for (std::size_t at = 0; at < of_rank.steps.size(); ++at) {
        const step& each = of_rank.steps[at];
        for (const page_move& page : each.pages) {
            moved = std::max(moved, now) + seconds_per_byte * double(of_rank[page.buffer].bytes());
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
