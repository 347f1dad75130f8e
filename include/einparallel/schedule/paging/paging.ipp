#pragma once

#include <einparallel/schedule/paging/paging.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/pager.ipp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::size_t bytes_paged_again(const program& of_rank) {
    const std::size_t inputs = sum_in(of_rank.stored, std::size_t{0}, [](const stored_tensor& each) {
        return each.input == stored_tensor::no_vertex || !each.is_in_file ? 0 : each.bytes();
    });
    const std::size_t all = bytes_paged(of_rank);
    return all - std::min(all, inputs);
}

/// A program, and how good it is.
struct paged_program {
    program of_rank;
    paging_loss loss{};

    [[nodiscard]] bool fits() const { return loss.excess == 0; }
};

/// Notes how good a program is that holds `peak` bytes.
EINPARALLEL_INLINE void judge(paged_program& of, const paging_rule& rule, std::size_t peak) {
    of.loss.excess = std::max(peak, rule.limit) - rule.limit;
    of.loss.exposed = rule.counts_bytes ? 0 : exposed_seconds(of.of_rank, rule.seconds_per_flop, rule.seconds_per_byte);
    of.loss.moved = bytes_paged_again(of.of_rank);
}

/// Pages a program as for a `part` of the limit; its moves may use all of it. Buffers leave gaps in the arena, fewer
/// where less is moved early or late; else there must be fewer bytes.
EINPARALLEL_INLINE paged_program paged_within(const program& of_rank, const paging_rule& rule, double part) {
    paging_rule tighter = rule;
    tighter.limit = std::size_t(part * double(rule.limit));
    const auto nothing = [](buffer_id) { return false; };
    paged_program best{of_rank};
    std::size_t least = std::size_t(-1);
    constexpr int rounds = 12;
    constexpr std::array<double, 3> shares{1, .75, 0};
    for (int round = 0; round < (part < 1 ? rounds / 4 : rounds) && least > rule.limit; ++round) {
        program next = of_rank;
        tighter.early_share = shares[std::size_t(round) % shares.size()] / part;
        pager(next, tighter).run();
        const std::size_t peak = room_of(next, nothing, rule.limit).peak();
        const std::size_t beyond = peak > rule.limit ? peak - rule.limit : 0;
        if (tighter.early_share == 0) {
            constexpr std::size_t share = 800;
            const std::size_t less = std::max(beyond / 2, std::size_t(round * round) * rule.limit / share + 1);
            tighter.limit -= std::min(less, tighter.limit);
        }
        if (peak < least) {
            least = peak;
            best.of_rank = std::move(next);
        }
        if (peak / 2 > rule.limit && tighter.early_share == 0) {  // some call has no tiles that are small enough
            break;
        }
    }
    judge(best, rule, least);
    return best;
}

EINPARALLEL_INLINE paging_loss page(program& of_rank, const paging_rule& rule) {
    paged_program best{of_rank};
    judge(best, rule, rule.files_outputs ? std::size_t(-1) : room_of(of_rank).peak());
    if (rule.may_page == paged_tensors::none || any_in(of_rank.steps, &step::once) ||
        (best.fits() && !any_in(of_rank.vertices, &called_vertex::is_in_file))) {
        return best.loss;
    }
    const double arithmetic = sum_in(
        of_rank.steps, 0.0, [&](const step& each) { return arithmetic_seconds(of_rank, each, rule.seconds_per_flop); });
    // Less memory at once means smaller tiles, which fit between others, and begin sooner.
    constexpr std::array<double, 5> parts{1, .7, .5, .3, .2};
    constexpr double much = .02;
    constexpr std::size_t many_steps = 2048;
    for (const double part : parts) {
        if (part < 1 && best.fits() && (best.loss.exposed <= much * arithmetic || of_rank.steps.size() > many_steps)) {
            break;
        }
        paged_program next = paged_within(of_rank, rule, part);
        if (next.loss.excess > rule.limit && part < 1) {
            break;
        }
        // Inputs in files are read ahead also where that is no better.
        if (part == 1 ? next.loss.excess <= best.loss.excess : next.loss < best.loss) {
            best = std::move(next);
        }
    }
    of_rank = std::move(best.of_rank);
    return best.loss;
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
