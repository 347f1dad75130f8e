#pragma once

#include <einparallel/schedule/neighbours.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.ipp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace einparallel::EINPARALLEL_DETAIL {

/// Elements that lie in a neighbour's buffer, complete when it has entered phase `ready`.
struct shared_origin {
    int rank = 0;
    buffer_id place = no_buffer;
    std::size_t ready = 0;
};

/// One rank of a node while its messages are replaced.
struct node_member {
    struct written_part {
        std::size_t phase = 0;
        box region;
    };
    /// A region that is, from one phase on, a copy of what lies elsewhere.
    struct copied_part {
        std::size_t phase = 0;
        box region;
        shared_origin from;
        bool once = false;  ///< later runs do not find it there
    };

    program* of = nullptr;
    std::size_t next = 0;                           ///< step of the phase under way, or a later one
    std::vector<step> steps;                        ///< as they will be
    std::vector<std::vector<written_part>> writes;  ///< by buffer of the program as it was
    std::vector<lifetime> alive;                    ///< by buffer of the program as it was
    std::map<buffer_id, std::vector<copied_part>> copies;
    std::map<buffer_id, std::size_t> ready;  ///< of neighbours' buffers

    [[nodiscard]] step& now() const { return of->steps[next]; }

    /// True of a result, and of what is kept over runs: not to be shared.
    [[nodiscard]] bool stays(buffer_id number) const {
        return alive[static_cast<std::size_t>(number)].kept || of->is_result(number);
    }

    /// True where part of a region is written in a phase of [begin, end).
    [[nodiscard]] bool changes(buffer_id place, const box& region, std::size_t begin, std::size_t end) const {
        return static_cast<std::size_t>(place) < writes.size() &&
               any_in(writes[static_cast<std::size_t>(place)], [&](const written_part& part) {
                   return part.phase >= begin && part.phase < end && !intersect(part.region, region).empty();
               });
    }
};

EINPARALLEL_INLINE class neighbour_reads {
public:
    neighbour_reads(std::span<program> node, int first, function_ref<const einsum_form&(std::size_t)> form_of)
        : first_(first) {
        for (program& each : node) {
            node_member& made = members_.emplace_back();
            made.of = &each;
            made.writes.resize(each.buffers.size());
            made.alive = lifetimes_of(each);
            for (const step& now : each.steps) {
                const auto write = [&](const auto& parts) {
                    for (const auto& part : parts) {
                        made.writes[static_cast<std::size_t>(part.place)].push_back({now.phase, part.region});
                    }
                };
                write(now.receives);
                for (const action& done : now.work) {
                    const auto* call = std::get_if<contraction>(&done);
                    write(accesses_of(each, done, call == nullptr ? nullptr : &form_of(call->vertex)).writes);
                }
            }
        }
    }

    EINPARALLEL_INLINE void replace() {
        std::set<std::size_t> phases;
        for (const node_member& each : members_) {
            std::ranges::for_each(each.of->steps, [&](const step& one) { phases.insert(one.phase); });
        }
        std::ranges::for_each(phases, [&](std::size_t phase) { replace(phase); });
        for (node_member& each : members_) {
            each.of->steps = std::move(each.steps);
        }
    }

private:
    [[nodiscard]] bool is_here(int rank) const {
        return rank >= first_ && rank < first_ + static_cast<int>(members_.size());
    }
    node_member& at(int rank) { return members_[static_cast<std::size_t>(rank - first_)]; }

    /// The steps of one phase, each with one before and one behind.
    EINPARALLEL_INLINE void replace(std::size_t phase) {
        std::vector<step> before(members_.size());
        std::vector<step> behind(members_.size());
        const auto now = [&](int rank) -> step& { return at(rank).now(); };
        const auto has_step = [&](const node_member& each) {
            return each.next < each.of->steps.size() && each.of->steps[each.next].phase == phase;
        };
        for (int reader = first_; is_here(reader); ++reader) {
            if (!has_step(at(reader))) {
                continue;
            }
            std::map<int, std::size_t> taken;  // messages of this phase, by sender
            for (const message& received : now(reader).receives) {
                if (is_here(received.peer)) {
                    const auto from = static_cast<std::size_t>(received.peer - first_);
                    const message sent = sent_to(now(received.peer), reader, taken[received.peer]++);
                    take(reader, received, publish(received.peer, sent, phase, before[from]), phase,
                         behind[static_cast<std::size_t>(reader - first_)]);
                }
            }
        }
        for (std::size_t number = 0; number < members_.size(); ++number) {
            node_member& each = members_[number];
            if (!has_step(each)) {
                continue;
            }
            step& done = each.of->steps[each.next++];
            const auto within = [&](const message& moved) { return is_here(moved.peer); };
            std::erase_if(done.sends, within);
            std::erase_if(done.receives, within);
            append_widened(each.steps, std::move(before[number]), std::move(done), std::move(behind[number]));
        }
    }

    /// The message number `turn` of a step to a rank.
    static message sent_to(const step& from, int rank, std::size_t turn) {
        for (const message& sent : from.sends) {
            if (sent.peer == rank && turn-- == 0) {
                return sent;
            }
        }
        throw error("schedule: a receive without a send");
    }

    /// Where neighbours find what a rank would send.
    EINPARALLEL_INLINE shared_origin publish(int rank, const message& sent, std::size_t phase, step& before) {
        node_member& mine = at(rank);
        program& of = *mine.of;
        const auto number = static_cast<std::size_t>(sent.place);
        if (of.buffers[number].original != no_buffer) {
            return {of.buffers[number].neighbour, of.buffers[number].original, mine.ready[sent.place]};
        }
        for (const node_member::copied_part& part : mine.copies[sent.place]) {
            if (part.region == sent.region && part.once == mine.now().once &&
                !mine.changes(sent.place, sent.region, part.phase + 1, phase)) {
                return part.from;
            }
        }
        const bool part_of_input = mine.alive[number].input && sent.region != of.buffers[number].region;
        const auto end = std::numeric_limits<std::size_t>::max();
        if (!part_of_input && !mine.stays(sent.place) && !mine.changes(sent.place, sent.region, phase, end)) {
            return {rank, sent.place, 3 * phase + 1};
        }
        const buffer_id copied = of.add_buffer(sent.region, of.buffers[number].element_bytes);
        before.work.emplace_back(local_move{copied, sent.place, sent.region});
        return {rank, copied, 3 * phase + 1};
    }

    /// Has a rank read there what it would receive.
    EINPARALLEL_INLINE void take(int rank, const message& received, const shared_origin& from, std::size_t phase,
                                 step& behind) {
        node_member& mine = at(rank);
        program& of = *mine.of;
        buffer original = (*at(from.rank).of)[from.place];
        original.lender = no_buffer;
        original.original = from.place;
        original.neighbour = from.rank;
        const auto number = static_cast<std::size_t>(received.place);
        buffer_id place = received.place;
        if (of.buffers[number].region == received.region && !mine.stays(received.place) &&
            mine.writes[number].size() == 1) {
            of.buffers[number] = std::move(original);
        } else {
            place = static_cast<buffer_id>(of.buffers.size());
            of.buffers.push_back(std::move(original));
            behind.work.emplace_back(local_move{received.place, place, received.region});
            mine.copies[received.place].push_back({phase, received.region, from, mine.now().once});
        }
        mine.ready[place] = from.ready;
        mine.now().reads.push_back({place, received.region, from.ready});
    }

    int first_;
    std::vector<node_member> members_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void read_neighbours(std::span<program> node, int first,
                                        detail::function_ref<const einsum_form&(std::size_t)> form_of) {
    detail::neighbour_reads(node, first, form_of).replace();
}

EINPARALLEL_INLINE window_plan plan_window(std::span<const program> node, int first, int rank) {
    if (node.size() < 2) {
        return {};
    }
    struct reader {
        int rank = 0;
        std::size_t phase = 0;  // of its last step with the buffer
    };
    std::vector<std::map<buffer_id, std::vector<reader>>> readers(node.size());
    for (std::size_t member = 0; member < node.size(); ++member) {
        const std::vector<lifetime> alive = lifetimes_of(node[member]);
        for (std::size_t number = 0; number < alive.size(); ++number) {
            const buffer& each = node[member].buffers[number];
            if (each.original != no_buffer) {
                readers[static_cast<std::size_t>(each.neighbour - first)][each.original].push_back(
                    {first + static_cast<int>(member), node[member].steps[alive[number].last].phase});
            }
        }
    }
    window_plan made;
    std::vector<arena_plan> arenas;
    const auto mine = static_cast<std::size_t>(rank - first);
    std::vector<lifetime> own;
    for (std::size_t member = 0; member < node.size(); ++member) {
        const std::vector<step>& steps = node[member].steps;
        detail::arena_request request{lifetimes_of(node[member]), {}, {}, steps.size()};
        request.bytes.resize(node[member].buffers.size(), 0);
        for (const auto& [number, all] : readers[member]) {
            const auto position = static_cast<std::size_t>(number);
            const std::size_t bytes = node[member].buffers[position].bytes();
            request.bytes[position] = detail::aligned(bytes);
            request.placed.push_back(position);
            for (const reader& each : all) {
                const auto later = std::ranges::upper_bound(steps, each.phase, {}, &step::phase);
                std::size_t& last = request.alive[position].last;
                last = std::max(last, static_cast<std::size_t>(later - steps.begin()) - 1);
            }
        }
        own = member == mine ? request.alive : std::move(own);
        arenas.push_back(detail::place_well(std::move(request)));
        made.segment = std::max(made.segment, arenas.back().bytes);
    }
    made.offsets = arenas[mine].offsets;
    for (std::size_t number = 0; number < made.offsets.size(); ++number) {
        const buffer& each = node[mine].buffers[number];
        if (each.original != no_buffer) {
            made.offsets[number] = arenas[static_cast<std::size_t>(each.neighbour - first)]
                                       .offsets[static_cast<std::size_t>(each.original)];
        }
    }
    made.clears.resize(node[mine].steps.size());
    for (const auto& [later, unused] : readers[mine]) {
        for (const auto& [earlier, all] : readers[mine]) {
            const auto begin = [&](buffer_id of) { return made.offsets[static_cast<std::size_t>(of)]; };
            const auto end = [&](buffer_id of) { return begin(of) + node[mine][of].bytes(); };
            const std::size_t from = own[static_cast<std::size_t>(later)].first;
            if (own[static_cast<std::size_t>(earlier)].last < from && begin(later) < end(earlier) &&
                begin(earlier) < end(later)) {
                for (const reader& each : all) {
                    made.clears[from].push_back({each.rank, each.phase + 1});
                }
            }
        }
    }
    return made;
}

}  // namespace einparallel
