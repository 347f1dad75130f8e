#pragma once
// Where the buffers of a program lie in one piece of memory: from when to when each is alive, and at which offset.

#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel {

/// Every buffer of an arena begins at a multiple of this many bytes, but for those inside a lender.
inline constexpr std::size_t arena_alignment = 64;

/// Offset of a buffer that the arena does not hold.
inline constexpr std::size_t not_in_arena = std::numeric_limits<std::size_t>::max();

/// First and last step (positions in program::steps) that name a buffer; the last is past all steps for a result.
struct lifetime {
    std::size_t first = 0;
    std::size_t last = 0;
    bool named = false;  ///< false for a buffer that nothing uses

    friend bool operator==(const lifetime&, const lifetime&) = default;
};

/// Offsets of all buffers in one arena, and its size in bytes.
struct arena_plan {
    std::vector<std::size_t> offsets;  ///< in bytes, by buffer; not_in_arena for those that lie elsewhere
    std::size_t bytes = 0;

    friend bool operator==(const arena_plan&, const arena_plan&) = default;
};

namespace detail {

/// Calls use(buffer) for every buffer that an action names.
template <class Use>
void for_each_buffer(const action& done, Use use) {
    if (const auto* read = std::get_if<read_source>(&done)) {
        use(read->into);
    } else if (const auto* call = std::get_if<contraction>(&done)) {
        for (const buffer_id operand : call->operands) {
            use(operand);
        }
        use(call->output);
    } else if (const auto* sum = std::get_if<combination>(&done)) {
        use(sum->into);
        use(sum->from);
    } else if (const auto* moved = std::get_if<local_copy>(&done)) {
        use(moved->into);
        use(moved->from);
    }
}

/// Calls use(buffer) for every buffer that a step names.
template <class Use>
void for_each_buffer(const step& each, Use use) {
    for (const message& transfer : each.receives) {
        use(transfer.place);
    }
    for (const message& transfer : each.sends) {
        use(transfer.place);
    }
    for (const action& done : each.work) {
        for_each_buffer(done, use);
    }
}

constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

}  // namespace detail

/// Lifetime of every buffer of a program. A result that no step names is alive throughout.
template <class Lazy = void>
std::vector<lifetime> lifetimes_of(const program& of_rank) {
    std::vector<lifetime> alive(of_rank.buffers.size());
    for (std::size_t position = 0; position < of_rank.steps.size(); ++position) {
        detail::for_each_buffer(of_rank.steps[position], [&](buffer_id used) {
            lifetime& life = alive[static_cast<std::size_t>(used)];
            life.first = life.named ? life.first : position;
            life.last = position;
            life.named = true;
        });
    }
    for (const buffer_id result : of_rank.results) {
        lifetime& life = alive[static_cast<std::size_t>(result)];
        life.last = of_rank.steps.size();
        life.named = true;
    }
    return alive;
}

namespace detail {

/// Buffers to be placed, with their lifetimes and the bytes that each is to take.
struct arena_request {
    std::vector<lifetime> alive;
    std::vector<std::size_t> bytes;   ///< by buffer
    std::vector<std::size_t> placed;  ///< the buffers that need a place, in the order in which they get it
    std::size_t steps = 0;
};

/// Bytes alive at once in the step where most are: no arena can be smaller.
template <class Lazy = void>
std::size_t most_alive(const arena_request& request) {
    std::vector<std::size_t> change(request.steps + 2, 0);  // wraps round below zero, and back in the sum
    for (const std::size_t number : request.placed) {
        change[request.alive[number].first] += request.bytes[number];
        change[request.alive[number].last + 1] -= request.bytes[number];
    }
    std::size_t now = 0;
    std::size_t most = 0;
    for (const std::size_t each : change) {
        now += each;
        most = std::max(most, now);
    }
    return most;
}

/// Gives every buffer, in the order asked for, the lowest offset that is free during its life.
template <class Lazy = void>
arena_plan first_fit(const arena_request& request) {
    arena_plan planned{std::vector<std::size_t>(request.alive.size(), not_in_arena), 0};
    // Per step, who is placed already and alive in it: neighbours are found without comparing all pairs.
    std::vector<std::vector<std::size_t>> placed_by_step(request.steps + 1);
    std::vector<std::size_t> seen_for(request.alive.size(), request.alive.size());
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (const std::size_t number : request.placed) {
        taken.clear();
        for (std::size_t position = request.alive[number].first; position <= request.alive[number].last; ++position) {
            for (const std::size_t other : placed_by_step[position]) {
                if (seen_for[other] != number) {
                    seen_for[other] = number;
                    taken.emplace_back(planned.offsets[other], planned.offsets[other] + request.bytes[other]);
                }
            }
            placed_by_step[position].push_back(number);
        }
        std::ranges::sort(taken);
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

/// The best of three orders, or the first that reaches the bytes alive at once. Largest first serves buffers of very
/// different sizes; in order of time serves rings; and in order of time with nearly equal sizes made equal serves rings
/// whose pieces differ by a slice, where a small piece would leave a gap that the next large one does not fit in.
template <class Lazy = void>
arena_plan place_well(arena_request request) {
    const std::size_t aim = most_alive(request);
    std::ranges::stable_sort(request.placed,
                             [&](std::size_t a, std::size_t b) { return request.bytes[a] > request.bytes[b]; });
    arena_plan best = first_fit(request);
    for (const bool equalise : {false, true}) {
        if (best.bytes == aim) {
            break;
        }
        std::size_t largest = 0;
        for (std::size_t position = 0; equalise && position < request.placed.size(); ++position) {
            std::size_t& bytes = request.bytes[request.placed[position]];
            largest = 2 * bytes >= largest && position > 0 ? largest : bytes;
            bytes = largest;
        }
        arena_request in_time = request;
        std::ranges::stable_sort(in_time.placed, [&](std::size_t a, std::size_t b) {
            return request.alive[a].first < request.alive[b].first;
        });
        arena_plan other = first_fit(in_time);
        if (other.bytes < best.bytes) {
            best = std::move(other);
        }
    }
    return best;
}

}  // namespace detail

/// Static offsets for the buffers of a program: two that are alive in a common step never overlap, but for those with a
/// lender (buffer::lender), which lie inside it. `outside(buffer)` excludes buffers that the executor keeps elsewhere:
/// results, inputs that it uses in place; what they would have lent is then placed like any other.
/// Time: the pairs of buffers that are alive together.
template <class Outside>
arena_plan plan_arena(const program& of_rank, Outside outside) {
    const std::size_t count = of_rank.buffers.size();
    detail::arena_request request{lifetimes_of(of_rank), std::vector<std::size_t>(count, 0), {}, of_rank.steps.size()};
    std::vector<buffer_id> lender(count, no_buffer);
    for (std::size_t number = 0; number < count; ++number) {
        const buffer& each = of_rank.buffers[number];
        const std::size_t lends = static_cast<std::size_t>(each.lender);
        request.bytes[number] = detail::round_up(each.bytes());
        if (each.lender != no_buffer && request.alive[lends].named && request.alive[number].named &&
            !outside(each.lender)) {
            lender[number] = each.lender;
            request.alive[lends].first = std::min(request.alive[lends].first, request.alive[number].first);
        }
    }
    for (std::size_t number = 0; number < count; ++number) {
        if (lender[number] == no_buffer && request.alive[number].named && request.bytes[number] > 0 &&
            !outside(static_cast<buffer_id>(number))) {
            request.placed.push_back(number);
        }
    }
    arena_plan planned = detail::place_well(std::move(request));
    for (std::size_t number = 0; number < count; ++number) {
        if (lender[number] != no_buffer) {
            planned.offsets[number] =
                planned.offsets[static_cast<std::size_t>(lender[number])] + of_rank.buffers[number].lender_offset;
        } else if (planned.offsets[number] == not_in_arena && !outside(static_cast<buffer_id>(number))) {
            planned.offsets[number] = 0;  // empty or never used: any place will do
        }
    }
    return planned;
}

/// Offsets for all buffers of a program.
template <class Lazy = void>
arena_plan plan_arena(const program& of_rank) {
    return plan_arena(of_rank, [](buffer_id) { return false; });
}

}  // namespace einparallel
