#pragma once

#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/arena.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<buffer_id> lend(const program& of_rank, std::vector<lifetime>& alive,
                                               function_ref<bool(buffer_id)> outside) {
    std::vector<buffer_id> lenders(alive.size(), no_buffer);
    for (std::size_t number = 0; number < alive.size(); ++number) {
        buffer_id from = of_rank.buffers[number].lender;
        if (from == no_buffer || !alive[number].named || outside(from) || outside(buffer_id(number))) {
            continue;
        }
        const buffer_id further = lenders[std::size_t(from)];
        from = further == no_buffer ? from : further;
        lifetime& lender = alive[std::size_t(from)];
        if (lender.named) {
            lenders[number] = from;
            lender.first = std::min(lender.first, alive[number].first);
            lender.last = std::max(lender.last, alive[number].last);
        }
    }
    return lenders;
}

/// Bytes alive in each of `steps` steps and in two more positions after them. `bytes`: size of each buffer.
EINPARALLEL_INLINE std::vector<std::size_t> bytes_alive(const std::vector<lifetime>& alive,
                                                        const std::vector<std::size_t>& bytes, std::size_t steps) {
    std::vector<std::size_t> now(steps + 2, 0);  // changes wrap round below zero, and back in the sum
    for (std::size_t number = 0; number < alive.size(); ++number) {
        if (alive[number].named) {
            now[alive[number].first] += bytes[number];
            now[alive[number].last + 1] -= bytes[number];
        }
    }
    std::partial_sum(now.begin(), now.end(), now.begin());
    return now;
}

EINPARALLEL_INLINE std::vector<std::size_t> bytes_held(const program& of_rank, std::vector<lifetime> alive,
                                                       function_ref<bool(buffer_id)> outside,
                                                       function_ref<bool(buffer_id)> borrowed) {
    const std::vector<buffer_id> lenders = lend(of_rank, alive, outside);
    std::vector<std::size_t> bytes(alive.size(), 0);
    for (std::size_t number = 0; number < bytes.size(); ++number) {
        const auto buffer = buffer_id(number);
        bytes[number] = lenders[number] == no_buffer && !borrowed(buffer) ? of_rank.buffers[number].bytes() : 0;
        alive[number].first = of_rank.is_result(buffer) ? 0 : alive[number].first;
    }
    return bytes_alive(alive, bytes, of_rank.steps.size());
}

/// Buffers to be placed in an arena, with their lifetimes and sizes.
struct arena_request {
    std::vector<lifetime> alive;
    std::vector<std::size_t> bytes;    ///< by buffer; 0 for a buffer that needs no offset
    std::vector<std::size_t> ordered;  ///< the buffers that need an offset, in the order in which they get one
    std::size_t steps = 0;
};

/// Gives every buffer, in the order of `request.ordered`, the lowest offset that is free during its lifetime.
EINPARALLEL_INLINE arena_plan first_fit(const arena_request& request) {
    arena_plan planned{std::vector<std::size_t>(request.alive.size(), not_in_arena), 0};
    // The buffers that have an offset and are alive, by step, and those that are alive for long by spans of steps:
    // finds neighbours without comparing all pairs.
    constexpr std::size_t span = 64;
    std::vector<std::vector<std::size_t>> laid_by_step(request.steps + 1);
    std::vector<std::vector<std::size_t>> laid_by_span(request.steps / span + 1);
    std::vector<std::size_t> seen_for(request.alive.size(), request.alive.size());
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (const std::size_t number : request.ordered) {
        const lifetime& life = request.alive[number];
        const bool is_long = life.last - life.first >= span;
        taken.clear();
        const auto meet = [&](std::size_t other) {
            if (seen_for[other] != number) {
                seen_for[other] = number;
                taken.emplace_back(planned.offsets[other], planned.offsets[other] + request.bytes[other]);
            }
        };
        for (std::size_t position = life.first; position <= life.last; ++position) {
            for_each_in(laid_by_step[position], meet);
            if (!is_long) {
                laid_by_step[position].push_back(number);
            }
        }
        for (std::size_t at = life.first / span; at <= life.last / span; ++at) {
            for (const std::size_t other : laid_by_span[at]) {
                if (request.alive[other].first <= life.last && life.first <= request.alive[other].last) {
                    meet(other);
                }
            }
            if (is_long) {
                laid_by_span[at].push_back(number);
            }
        }
        sort_range(taken);
        std::size_t offset = 0;
        for (const auto& [begin, end] : taken) {
            if (offset + request.bytes[number] <= begin) {
                break;
            }
            offset = std::max(offset, end);
        }
        planned.offsets[number] = offset;
        planned.bytes = std::max(planned.bytes, offset + request.bytes[number]);
    }
    return planned;
}

/// Tries three orders of the buffers and returns the smallest arena. Stops early when an arena is no larger than the
/// buffers alive in one step: no arena can be smaller. The order "largest first" suits buffers of very different sizes.
/// The order of time suits rings. The third, in order of time with nearly equal sizes made equal, suits rings whose
/// pieces differ by a slice: there a small piece would leave a gap that is too small for the next large one. Then it
/// makes up to `attempts` more. An arena of `enough` bytes will do; where none can be so small, there are no attempts.
EINPARALLEL_INLINE arena_plan lay_well(arena_request request, std::size_t attempts, std::size_t enough) {
    const std::vector<std::size_t> alive = bytes_alive(request.alive, request.bytes, request.steps);
    const std::size_t least = *std::max_element(alive.begin(), alive.end());
    const std::size_t aim = std::max(least, enough);
    attempts = enough > 0 && least > enough ? 0 : attempts;
    const std::vector<std::size_t> bytes = request.bytes;  // as they are before any is made equal to another
    const auto larger = [&bytes](std::size_t a, std::size_t b) {
        return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
    };
    sort_range(request.ordered, larger);
    arena_plan best = first_fit(request);
    for (const bool equalise : {false, true}) {
        if (best.bytes <= aim) {
            break;
        }
        std::size_t largest = 0;
        for (std::size_t position = 0; equalise && position < request.ordered.size(); ++position) {
            std::size_t& own = request.bytes[request.ordered[position]];
            largest = 2 * own >= largest && position > 0 ? largest : own;
            own = largest;
        }
        arena_request in_time = request;
        sort_range(in_time.ordered, [&](std::size_t a, std::size_t b) {
            const auto [of_a, of_b] = std::pair(request.alive[a].first, request.alive[b].first);
            return of_a != of_b ? of_a < of_b : larger(a, b);
        });
        arena_plan other = first_fit(in_time);
        if (other.bytes < best.bytes) {
            best = std::move(other);
        }
    }
    // The buffer that lies highest is laid first or, every second time, somewhat earlier; where it was the first, one
    // that is drawn.
    request.bytes = bytes;
    sort_range(request.ordered, larger);
    const auto begin = request.ordered.begin();
    arena_plan last = best;
    std::uint64_t series = 1;
    for (std::size_t attempt = 0; attempt < attempts && best.bytes > aim; ++attempt) {
        const std::size_t number = drawn(series, request.ordered.size());
        auto moved = std::find_if(begin, request.ordered.end(),
                                  [&](std::size_t each) { return last.offsets[each] + bytes[each] == last.bytes; });
        moved = moved == request.ordered.end() || moved == begin ? begin + std::ptrdiff_t(number) : moved;
        const std::ptrdiff_t to = attempt % 2 == 0 ? 0 : std::ptrdiff_t(number) % (moved - begin + 1);
        std::rotate(begin + to, moved, moved + 1);
        last = first_fit(request);
        best = last.bytes < best.bytes ? last : best;
    }
    return best;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<lifetime> lifetimes_of(const program& of_rank) {
    std::vector<lifetime> alive(of_rank.buffers.size());
    std::size_t position = 0;
    for (const step& each : of_rank.steps) {
        detail::for_each_access(each, [&](buffer_id buffer, bool is_written) {
            lifetime& life = alive[std::size_t(buffer)];
            life.kept = life.kept || (life.named && of_rank.steps[life.last].once != each.once);
            life.first = life.named ? life.first : position;
            life.last = std::max(life.last, position);
            life.named = true;
            life.writers += is_written ? 1 : 0;
            life.written = is_written ? position : life.written;
            ++life.touches;
        });
        for (const page_move& moved : each.pages) {
            lifetime& life = alive[std::size_t(moved.buffer)];
            life.last = std::max(life.last, position + moved.until);
            if (const std::size_t input = of_rank.stored[moved.stored].input; input != stored_tensor::no_vertex) {
                life.input = input;
            }
        }
        for (const action& done : each.work) {
            if (const auto* read = std::get_if<read_source>(&done)) {
                alive[std::size_t(read->into)].input = read->vertex;
            }
        }
        ++position;
    }
    for (const buffer_id result : of_rank.results) {
        lifetime& life = alive[std::size_t(result)];
        life.last = position;
        life.named = true;
        ++life.writers;
        ++life.touches;
    }
    for (lifetime& life : alive) {
        life.first = life.kept ? 0 : life.first;
        life.last = life.kept ? position : life.last;
    }
    return alive;
}

EINPARALLEL_INLINE arena_plan plan_arena(const program& of_rank, detail::function_ref<bool(buffer_id)> outside,
                                         std::size_t enough) {
    const std::size_t count = of_rank.buffers.size();
    detail::arena_request request{lifetimes_of(of_rank), std::vector<std::size_t>(count, 0), {}, of_rank.steps.size()};
    const std::vector<buffer_id> lenders = detail::lend(of_rank, request.alive, outside);
    for (std::size_t number = 0; number < count; ++number) {
        const std::size_t bytes = of_rank.buffers[number].bytes();
        if (lenders[number] == no_buffer && request.alive[number].named && bytes > 0 && !outside(buffer_id(number))) {
            request.bytes[number] = detail::aligned(bytes);
            request.ordered.push_back(number);
        }
    }
    // A program that pages has little room, and less of it where buffers leave gaps.
    constexpr std::size_t most_laid = 20'000;
    const std::size_t attempts = of_rank.stored.empty() ? 0 : most_laid / (request.ordered.size() + 100);
    arena_plan planned = detail::lay_well(std::move(request), attempts, enough);
    for (std::size_t number = 0; number < count; ++number) {
        if (lenders[number] != no_buffer) {
            planned.offsets[number] =
                planned.offsets[std::size_t(lenders[number])] + of_rank.buffers[number].lender_offset;
        } else if (planned.offsets[number] == not_in_arena && !outside(buffer_id(number))) {
            planned.offsets[number] = 0;  // empty or never used: any offset will do
        }
    }
    return planned;
}

EINPARALLEL_INLINE program_room room_of(const program& of_rank, detail::function_ref<bool(buffer_id)> borrowed,
                                        std::size_t enough) {
    const std::vector<lifetime> alive = lifetimes_of(of_rank);
    const auto is_apart = [&](buffer_id number) {
        return of_rank.is_result(number) || alive[std::size_t(number)].kept;
    };
    const auto is_elsewhere = [&](buffer_id number) { return borrowed(number) || is_apart(number); };
    program_room made{{std::vector<std::size_t>(alive.size(), not_in_arena), 0}};
    bool borrows = false;
    for (std::size_t number = 0; number < alive.size(); ++number) {
        const auto buffer = buffer_id(number);
        made.results += of_rank.is_result(buffer) ? of_rank[buffer].bytes() : 0;
        borrows = borrows || (borrowed(buffer) && !is_apart(buffer));
        if (alive[number].kept && !borrowed(buffer)) {
            made.kept.offsets[number] = made.kept.bytes;
            made.kept.bytes += detail::aligned(of_rank[buffer].bytes());
        }
    }
    const std::size_t others = made.results + made.kept.bytes;
    enough = enough > others ? enough - others : std::min(enough, std::size_t{1});
    made.arena = plan_arena(of_rank, is_elsewhere, enough);
    if (borrows) {  // fewer buffers may happen to need more: then they lie as they do among all
        arena_plan all = plan_arena(of_rank, is_apart, enough);
        if (all.bytes < made.arena.bytes) {
            for (std::size_t number = 0; number < alive.size(); ++number) {
                all.offsets[number] = borrowed(buffer_id(number)) ? not_in_arena : all.offsets[number];
            }
            made.arena = std::move(all);
        }
    }
    made.by_step = detail::bytes_held(of_rank, alive, is_elsewhere, borrowed);
    return made;
}

}  // namespace einparallel
