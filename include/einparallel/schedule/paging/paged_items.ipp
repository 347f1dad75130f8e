#pragma once
// What of a program is in memory when: its tensors as items, which of them wait in storage between two uses, and the
// moves that this takes.

#include <einparallel/schedule/paging/paging.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/residency.hpp>
#include <einparallel/schedule/paging/tiled_steps.ipp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The items of a program in tiles, and their moves. Steps get three positions each: before step i, 3i, tensors are
/// loaded; 3i + 1 is the step; at 3i + 2, behind it, they are evicted.
class paged_items {
protected:
    EINPARALLEL_INLINE paged_items(program& of_rank, const paging_rule& rule)
        : program_(of_rank), rule_(rule), tiles_(of_rank, rule) {}

    /// Decides what is in memory when.
    EINPARALLEL_INLINE void decide() {
        tiles_.write();
        find_items();
        for_each_in(program_.results, [&](buffer_id result) {
            results_ += tiles_.is_apart(result) ? bytes_in_arena(program_[result]) : 0;
        });
        choose_residency();
        make_moves();
    }

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

    EINPARALLEL_INLINE void find_items() {
        item_of_.assign(program_.buffers.size(), none);
        page_of_.assign(program_.buffers.size(), none);
        for (std::size_t number = 0; number < tiles_.pages().size(); ++number) {
            page_of_[std::size_t(tiles_.pages()[number].tile)] = number;
        }
        const auto item_at = [&](buffer_id buffer) -> std::size_t {
            std::size_t& number = item_of_[std::size_t(buffer)];
            if (number == none) {
                const buffer_id root = tiles_.root_of(buffer);
                std::size_t& of_root = item_of_[std::size_t(root)];
                if (of_root == none) {
                    of_root = items_.size();
                    items_.push_back({{}, bytes_in_arena(program_[root])});
                }
                item_of_[std::size_t(buffer)] = number = of_root;
                items_[number].is_result = items_[number].is_result || tiles_.is_apart(buffer);
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
            made.tensor = program_[of].tensor;
            if (tiles_.is_input(of)) {
                made.input = *tiles_.life_of(of).input;
                made.is_in_file = program_.vertices[made.input].is_in_file;
            } else if (is_filed(of)) {
                made.output = std::size_t(find_in(program_.results, of) - program_.results.begin());
            }
        }
        return number;
    }

    bool is_page(buffer_id buffer) const { return page_of_[std::size_t(buffer)] != none; }
    bool is_page(const item& of) const {
        return !of.uses.empty() && !of.uses.front().members.empty() && is_page(of.uses.front().members.front());
    }
    bool is_input(buffer_id buffer) const { return std::size_t(buffer) < tiles_.given() && tiles_.is_input(buffer); }
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

    /// Seconds of a move to or from a file.
    double seconds_of(const move_of_item& moved) const {
        return program_.stored[moved.stored].is_in_file
                   ? double(program_[moved.buffer].bytes()) * rule_.seconds_per_byte
                   : 0;
    }

    program& program_;
    const paging_rule& rule_;
    tile_writer tiles_;
    double results_ = 0;  ///< bytes of the results in memory
    std::vector<item> items_{};
    std::vector<std::size_t> item_of_{};                         ///< by buffer
    std::vector<std::size_t> page_of_{};                         ///< by buffer: its page; none
    std::vector<std::size_t> stored_{};                          ///< by buffer: its stored tensor; none
    std::vector<std::pair<std::size_t, std::size_t>> leaves_{};  ///< items and the uses after which they leave memory
    std::vector<move_of_item> moves_{};
    std::vector<stay> stays_{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
