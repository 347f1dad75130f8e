#pragma once
// The steps of a program in the form in which paging works on them: calls that need too much memory are cut into tiles.

#include <einparallel/schedule/paging/paging.hpp>
#include <einparallel/schedule/paging/tiles.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/passing_parts.ipp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes the steps. Buffers of the program are kept; those of tiles are added behind them.
class tile_writer {
public:
    EINPARALLEL_INLINE tile_writer(program& of_rank, const paging_rule& rule)
        : program_(of_rank), rule_(rule), alive_(lifetimes_of(of_rank)), given_(of_rank.buffers.size()) {
        pages_of_.resize(given_, false);
        room_ = double(rule.limit);
        for (const buffer_id result : of_rank.results) {
            room_ -= is_apart(result) ? bytes_in_arena(of_rank[result]) : 0;
        }
    }

    EINPARALLEL_INLINE void write() {
        std::vector<step> given = std::exchange(program_.steps, {});
        std::vector<step> steps;
        for (step& each : given) {
            // Inputs are loaded where they are used.
            std::erase_if(each.work, [&](const action& done) {
                const auto* const read = std::get_if<read_source>(&done);
                return read != nullptr && is_input(read->into);
            });
            if (!each.is_idle()) {
                split(std::move(each), steps);
            }
        }
        const auto root = [&](buffer_id number) { return is_apart(root_of(number)) ? no_buffer : root_of(number); };
        const auto may_pass = [&](buffer_id number) { return may_page(number); };
        const std::vector<std::vector<buffer_id>> parts =
            passing_parts(program_, steps, room_, root, may_pass).by_step();
        std::vector<std::optional<std::size_t>> open(given_);  // the last part of each buffer
        for (std::size_t at = 0; at < steps.size(); ++at) {
            for_each_access(steps[at], [&](buffer_id number, bool /*is_written*/) {
                if (!found_in(number, parts[at])) {
                    open[std::size_t(number)].reset();
                }
            });
            if (!parts[at].empty()) {
                replace_by_parts(steps[at], parts[at], open);
            }
            add(std::move(steps[at]));
        }
        drop_lenders();
    }

    /// By buffer of the program as it was: True where tiles of it are moved.
    [[nodiscard]] bool has_pages(buffer_id number) const { return !is_tile(number) && pages_of_[std::size_t(number)]; }
    [[nodiscard]] const std::vector<tile_page>& pages() const { return pages_; }
    [[nodiscard]] const lifetime& life_of(buffer_id number) const { return alive_[std::size_t(number)]; }
    /// True where nothing but one read from its source writes the buffer.
    [[nodiscard]] bool is_input(buffer_id number) const {
        return !is_tile(number) && life_of(number).input && life_of(number).writers == 1 && !program_.is_result(number);
    }
    /// Number of buffers that the program had before.
    [[nodiscard]] std::size_t given() const { return given_; }
    /// True for a buffer of a tile.
    [[nodiscard]] bool is_tile(buffer_id number) const { return std::size_t(number) >= given_; }
    /// True where the buffer's elements may be in storage.
    [[nodiscard]] bool may_page(buffer_id number) const {
        return is_input(number) || (rule_.may_page == paged_tensors::all && !is_tile(number) && !is_apart(number));
    }
    /// True for a result in memory of its own, which it has all the time.
    [[nodiscard]] bool is_apart(buffer_id number) const { return !rule_.files_outputs && program_.is_result(number); }
    /// The buffer in whose memory a buffer lies; itself where it borrows none.
    EINPARALLEL_INLINE [[nodiscard]] buffer_id root_of(buffer_id number) const {
        while (program_[number].lender != no_buffer) {
            number = program_[number].lender;
        }
        return number;
    }

private:
    /// Bytes of the buffers that a step names; a buffer in the memory of another one counts with it.
    EINPARALLEL_INLINE double named_bytes(const step& each) const {
        std::vector<buffer_id> named;
        for_each_access(each, [&](buffer_id number, bool /*is_written*/) {
            number = root_of(number);
            if (!found_in(number, named) && !is_apart(number)) {
                named.push_back(number);
            }
        });
        return sum_in(named, 0.0, [&](buffer_id number) { return bytes_in_arena(program_[number]); });
    }

    /// Adds a step as it is, or in parts where it names much, each action on its own.
    EINPARALLEL_INLINE void split(step&& each, std::vector<step>& steps) const {
        constexpr double much = .25;
        if (each.work.size() <= 1 || named_bytes(each) <= much * room_) {
            steps.push_back(std::move(each));
            return;
        }
        std::vector<action> work = std::exchange(each.work, {});
        for (action& done : work) {
            step part{each.phase};
            part.vertex = each.vertex;
            if (&done == work.data()) {
                part.receives = std::move(each.receives);
                part.sends = std::move(each.sends);
            }
            part.work.push_back(std::move(done));
            steps.push_back(std::move(part));
        }
    }

    /// Makes a step use buffers for its parts of some buffers, those of the step before that used the same part.
    EINPARALLEL_INLINE void replace_by_parts(step& each, const std::vector<buffer_id>& of,
                                             std::vector<std::optional<std::size_t>>& open) {
        action& done = each.work.front();
        auto* const call = std::get_if<contraction>(&done);
        auto* const moved = std::get_if<local_move>(&done);
        const bool overwrites =
            call != nullptr ? call->mode == write_mode::overwrite : moved->vertex == local_move::no_vertex;
        const buffer_id output = call != nullptr ? call->output : moved->into;
        for (const buffer_region& used : movable_regions(program_, each)) {
            if (!found_in(used.buffer, of)) {
                continue;
            }
            const bool is_written = used.buffer == output;
            const bool is_read = !is_written || !overwrites ||
                                 (call != nullptr ? found_in(used.buffer, call->operands) : moved->from == output);
            std::optional<std::size_t>& last = open[std::size_t(used.buffer)];
            if (!last || program_[pages_[*last].tile].region != used.region) {
                last = add_page(used.buffer, used.region, is_read, is_written);
            }
            pages_[*last].evicts = pages_[*last].evicts || is_written;
            const auto rename = [&](buffer_id& name) { name = name == used.buffer ? pages_[*last].tile : name; };
            if (call != nullptr) {
                for_each_in(call->operands, rename);
                rename(call->output);
            } else {
                rename(moved->into);
                rename(moved->from);
            }
        }
    }

    /// Bytes of inputs that the step loads and nothing else uses.
    EINPARALLEL_INLINE double streamed_bytes(const contraction& call) const {
        std::vector<buffer_id> once;
        for (const buffer_id operand : call.operands) {
            if (is_input(operand) && life_of(operand).touches - 1 == count_in(call.operands, operand) &&
                !found_in(operand, once)) {
                once.push_back(operand);
            }
        }
        return sum_in(once, 0.0, [&](buffer_id number) { return bytes_in_arena(program_[number]); });
    }

    EINPARALLEL_INLINE void add(step&& each) {
        const double bytes = named_bytes(each);
        const auto* const call = each.work.empty() ? nullptr : std::get_if<contraction>(&each.work.front());
        const auto* const moved = each.work.empty() ? nullptr : std::get_if<local_move>(&each.work.front());
        constexpr double much = .125;
        const bool streams = call != nullptr && each.work.size() == 1 && streamed_bytes(*call) > much * room_;
        if ((bytes <= room_ && !streams) || each.work.size() != 1 || (call == nullptr && moved == nullptr)) {
            each.work.empty() ? add_messages(std::move(each)) : program_.steps.push_back(std::move(each));
            return;
        }
        step messages{each.phase};
        messages.vertex = each.vertex;
        messages.receives = std::exchange(each.receives, {});
        messages.sends = std::exchange(each.sends, {});
        add_messages(std::move(messages));
        if (call != nullptr) {
            cut(each, *call, bytes <= room_);
        } else {
            cut(each, *moved);
        }
    }

    /// Adds a step of messages; where it needs too much, what they carry passes through memory. A tensor of which one
    /// message carries much is in memory for all of them.
    EINPARALLEL_INLINE void add_messages(step&& each) {
        std::vector<buffer_id> stay;
        const auto visit = [&](const auto& f) {
            for_each_in(each.receives, [&](message& moved) { f(moved, true); });
            for_each_in(each.sends, [&](message& moved) { f(moved, false); });
        };
        if (named_bytes(each) > room_) {
            visit([&](const message& moved, bool /*arrives*/) {
                if (!may_page(moved.buffer) || 2 * moved.region.size() > program_[moved.buffer].region.size()) {
                    stay.push_back(moved.buffer);
                }
            });
            visit([&](message& moved, bool arrives) {
                if (!found_in(moved.buffer, stay)) {
                    moved.buffer = pages_[add_page(moved.buffer, moved.region, !arrives, arrives)].tile;
                }
            });
        }
        program_.append(std::move(each));
    }

    EINPARALLEL_INLINE tiled_tensor known(buffer_id number) const {
        const double bytes = double(program_[number].bytes());
        const bool is_turned = is_input(number) && program_.vertices[*life_of(number).input].is_turned;
        tiled_tensor made{may_page(number), is_turned, is_apart(number) ? 0 : bytes};
        if (is_tile(number)) {
            return made;
        }
        made.whole = is_input(number) ? bytes : 0;
        const bool is_filed = program_.is_result(number);
        made.beside = is_input(number) || is_filed ? 0 : bytes * (life_of(number).touches > 2 ? 2 : 1);
        return made;
    }

    EINPARALLEL_INLINE void cut(step& each, const contraction& call, bool fits) {
        const auto known_here = [&](buffer_id number) {
            tiled_tensor made = known(number);
            made.may_page = made.may_page && (!fits || is_input(number));
            return made;
        };
        const tiling& tiles = best_tiling(program_, call, room_, known_here, tilings_);
        double least = 0;
        for_each_in(call.operands, [&](buffer_id operand) { least += known(operand).whole; });
        constexpr double nearly = 1.05;
        if (tiles.loops.empty() || (fits && tiles.cost > nearly * least)) {
            program_.steps.push_back(std::move(each));
            return;
        }
        std::vector<std::optional<std::size_t>> open(call.operands.size() + 1);  // the tile of each tensor
        std::vector<int> turn(tiles.loops.size(), 0);
        const auto is_contracted = [&](label_id label) { return !program_.vertex_of(call).form.in_output(label); };
        for (bool more = true; more;) {
            contraction part = call;
            bool is_first = true;  // of the calls that add to this tile of the output
            for (std::size_t at = 0; at < turn.size(); ++at) {
                interval& range = part.ranges[std::size_t(tiles.loops[at].label)];
                range = block_of(range, tiles.loops[at].parts, turn[at]);
                is_first = is_first && (turn[at] == 0 || !is_contracted(tiles.loops[at].label));
            }
            part.mode = is_first ? call.mode : write_mode::combine;
            step one{each.phase};
            one.vertex = each.vertex;
            replace_by_tiles(part, call, tiles, open);
            one.work.emplace_back(std::move(part));
            program_.steps.push_back(std::move(one));
            more = false;
            for (std::size_t at = turn.size(); at-- > 0 && !more;) {
                more = ++turn[at] < tiles.loops[at].parts;
                turn[at] = more ? turn[at] : 0;
            }
        }
    }

    /// Makes a call use tiles of its tensors, those of the call before where they are the same.
    EINPARALLEL_INLINE void replace_by_tiles(contraction& part, const contraction& call, const tiling& tiles,
                                             std::vector<std::optional<std::size_t>>& open) {
        const accesses touched = accesses_of(program_, action(part), &program_.vertex_of(call).form);
        for (std::size_t number = 0; number <= call.operands.size(); ++number) {
            if (!tiles.is_paged[number]) {
                continue;
            }
            const bool is_output = number == call.operands.size();
            const buffer_id of = is_output ? call.output : call.operands[number];
            const box region = intersect(is_output ? touched.writes.front().region : touched.reads[number].region,
                                         program_[of].region);
            std::optional<std::size_t> same = open[number];
            for (std::size_t other = 0; other < number && !is_output; ++other) {
                const bool is_same = open[other] && pages_[*open[other]].of == of &&
                                     program_[pages_[*open[other]].tile].region == region;
                same = is_same ? open[other] : same;
            }
            if (!same || program_[pages_[*same].tile].region != region) {
                same = add_page(of, region, !is_output || part.mode == write_mode::combine, is_output);
            }
            open[number] = same;
            (is_output ? part.output : part.operands[number]) = pages_[*same].tile;
        }
    }

    EINPARALLEL_INLINE std::size_t add_page(buffer_id of, const box& region, bool loads, bool evicts) {
        buffer tile = program_[of];
        tile.region = region;
        tile.lender = no_buffer;
        tile.lender_offset = 0;
        program_.buffers.push_back(std::move(tile));
        pages_of_[std::size_t(of)] = true;
        pages_.push_back({buffer_id(program_.buffers.size()) - 1, of, loads, evicts});
        return pages_.size() - 1;
    }

    /// A copy or a sum, slab by slab, of what may be in storage.
    EINPARALLEL_INLINE void cut(const step& each, const local_move& moved) {
        const bool pages_into = may_page(moved.into);
        const bool pages_from = may_page(moved.from);
        const std::size_t bytes = program_[moved.into].element_bytes;
        constexpr double slabs = 8;  // in the room that there is
        constexpr double most_slabs = 4096;
        const double most = std::max(room_ / slabs, double(moved.region.size()) * double(bytes) / most_slabs);
        if (!pages_into && !pages_from) {
            program_.steps.push_back(each);
            return;
        }
        for_each_slab(moved.region, bytes, std::size_t(most), [&](const box& slab) {
            local_move part = moved;
            part.region = slab;
            const bool adds = moved.vertex != local_move::no_vertex;
            part.into = pages_into ? pages_[add_page(moved.into, slab, adds, true)].tile : moved.into;
            part.from = pages_from ? pages_[add_page(moved.from, slab, true, false)].tile : moved.from;
            step one{each.phase};
            one.vertex = each.vertex;
            one.work.emplace_back(std::move(part));
            program_.steps.push_back(std::move(one));
        });
    }

    /// A tensor in tiles neither lends memory nor borrows it.
    EINPARALLEL_INLINE void drop_lenders() {
        for (std::size_t number = 0; number < given_; ++number) {
            buffer& each = program_.buffers[number];
            if (each.lender != no_buffer && (has_pages(buffer_id(number)) || has_pages(each.lender))) {
                each.lender = no_buffer;
                each.lender_offset = 0;
            }
        }
    }

    program& program_;
    const paging_rule& rule_;
    std::vector<lifetime> alive_;  ///< of the buffers of the program as it was
    std::size_t given_;
    double room_;  ///< bytes for all buffers but results
    std::vector<bool> pages_of_{};
    std::vector<tile_page> pages_{};
    known_tilings tilings_{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
