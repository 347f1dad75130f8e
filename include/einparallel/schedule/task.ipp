#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.hpp>

#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<index> bounds_of(const std::vector<label_id>& labels,
                                                const std::vector<index>& extents) {
    return list_of(labels, [&](label_id label) { return label == no_label ? 1 : extents[std::size_t(label)]; });
}

EINPARALLEL_INLINE distribution operand_distribution(const einsum_form& form, const std::vector<index>& extents,
                                                     std::size_t operand, const mesh& ranks, std::size_t cut) {
    const std::vector<label_id>& labels = form.operands[operand];
    if (!form.is_viewed(operand)) {
        return {bounds_of(labels, extents), ranks, labels, cut};
    }
    const distribution blocks = cut_along(extents, ranks);
    std::vector<index> bounds;
    std::vector<std::vector<box>> read(std::size_t(ranks.size()));
    for (const operand_read* const each : form.all_reads()) {
        for (int rank = 0; rank < ranks.size() && each->operand == operand; ++rank) {
            bounds = each->at.bounds;
            std::vector<interval> ranges = blocks.block_of_rank(rank).sides;
            const bool holds = each->at.narrow(ranges);
            box region = intersect(region_read(*each, ranges), whole_box(bounds));
            region.nothing = region.nothing || !holds;
            read[std::size_t(rank)].push_back(std::move(region));
        }
    }
    distribution made(bounds, read);
    if (!form.is_joined(operand)) {
        for (int rank = 0; rank < ranks.size(); ++rank) {
            box around = made.held_by(rank);
            for (box inner; !around.empty() && inner != around;) {
                inner = around;
                for (const operand_read* const each : form.all_reads()) {
                    if (each->operand == operand) {
                        around = each->at.around(each->at.in_rows(std::move(around)));
                    }
                }
            }
            read[std::size_t(rank)] = {std::move(around)};
        }
        made = {bounds, read};
    }
    return made;
}

/// The outermost dimension for whose label `suits(label)` holds and along which the largest block has at least `pieces`
/// elements. Otherwise the dimension with the largest block extent.
std::size_t choose_cut(const std::vector<label_id>& labels, const std::vector<index>& extents, const mesh& ranks,
                       index pieces, auto suits) {
    const std::vector<index> bounds = bounds_of(labels, extents);
    std::size_t largest = 0;
    index largest_extent = -1;
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        const index block = ranks.largest_block(labels[dimension], bounds[dimension]);
        if (block >= pieces && suits(labels[dimension])) {
            return dimension;
        }
        if (block > largest_extent) {
            largest = dimension;
            largest_extent = block;
        }
    }
    return largest;
}

EINPARALLEL_INLINE bool fills_ring(const distribution& resting, int each) {
    return resting.cut() && resting.largest_block_extent(*resting.cut()) >= index(each) * resting.replication();
}

EINPARALLEL_INLINE std::vector<interval> fed_ranges(const task& work, int rank) {
    std::vector<interval> ranges = whole_box(work.extents).sides;
    const mesh_axis& cut = work.ranks.axes.front();
    interval& share = ranges[std::size_t(cut.label)];
    const index workers = cut.parts - 1;
    const index slices = work.feed.slices;
    const index all = slices * workers + slices + 2;
    const index own = (share.size() * (slices + 2) + all / 2) / all;
    share = rank == work.feed.master
                ? interval{0, own}
                : block_of(interval{own, share.end}, int(workers), rank - (rank > work.feed.master ? 1 : 0));
    return ranges;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<std::size_t> task::held_operands() const {
    std::vector<std::size_t> all;
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        if (holds(operand)) {
            all.push_back(operand);
        }
    }
    return all;
}

EINPARALLEL_INLINE task_cuts choose_cuts(const einsum_form& form, const std::vector<index>& extents,
                                         const mesh& ranks) {
    task_cuts cuts;
    for (const std::vector<label_id>& labels : form.operands) {
        cuts.operands.push_back(detail::choose_cut(labels, extents, ranks, detail::sharers(labels, ranks),
                                                   [&](label_id label) { return form.in_output(label); }));
    }
    cuts.output = detail::choose_cut(form.output, extents, ranks, index{2} * detail::sharers(form.output, ranks),
                                     [](label_id label) { return label != no_label; });
    return cuts;
}

EINPARALLEL_INLINE bool k_ring_suits(const task& work) {
    return detail::fills_ring(work.output, 2);
}

EINPARALLEL_INLINE int choose_travelling(const task& work, algorithm wanted) {
    int best = nothing_travels;
    double most = 0;
    const auto consider = [&](int tensor, const distribution& resting, std::size_t element_bytes, bool suits) {
        // Each rank sends all of the largest block except its own piece. A tensor without elements still travels if it
        // is asked to: it counts as half a byte.
        const double bytes =
            resting.largest_block() * (resting.replication() - 1) / resting.replication() * double(element_bytes) + 0.5;
        if (suits && resting.replication() > 1 && bytes > most) {
            best = tensor;
            most = bytes;
        }
    };
    if (wanted == algorithm::automatic || wanted == algorithm::mn) {
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            consider(int(operand), work.operands[operand], work.operand_bytes[operand],
                     !work.holds(operand) && work.may_travel(operand) &&
                         (wanted == algorithm::mn || detail::fills_ring(work.operands[operand], 1)));
        }
    }
    if (wanted == algorithm::automatic || wanted == algorithm::k) {
        consider(output_travels, work.output, work.output_bytes, wanted == algorithm::k || k_ring_suits(work));
    }
    return best;
}

EINPARALLEL_INLINE algorithm algorithm_of(const task& work) {
    const auto is_shared = [](const distribution& tensor) { return tensor.replication() > 1; };
    return work.travelling == all_travel              ? algorithm::master_worker
           : work.travelling == output_travels        ? algorithm::k
           : detail::any_in(work.operands, is_shared) ? algorithm::mn
           : is_shared(work.output)                   ? algorithm::k
                                                      : algorithm::c;
}

EINPARALLEL_INLINE task make_task(summed_einsum einsum, std::vector<std::size_t> operand_bytes,
                                  std::size_t output_bytes, mesh ranks, const task_cuts& cuts, int travelling) {
    task made;
    made.form = std::move(einsum.form);
    made.extents = std::move(einsum.extents);
    made.carried = einsum.carried;
    made.pending = einsum.pending;
    for (std::size_t operand = 0; operand < made.form.operands.size(); ++operand) {
        made.operands.push_back(
            detail::operand_distribution(made.form, made.extents, operand, ranks, cuts.operands[operand]));
    }
    std::vector<index> bounds = detail::bounds_of(made.form.output, made.extents);
    made.output =
        made.pending != no_label
            ? distribution(std::move(bounds), detail::axes_of_summands(ranks, made.form.output), made.form.output, 0)
            : distribution(std::move(bounds), ranks, made.form.output, cuts.output);
    made.operand_bytes = std::move(operand_bytes);
    made.output_bytes = output_bytes;
    made.ranks = std::move(ranks);
    made.travelling = travelling;
    return made;
}

EINPARALLEL_INLINE task fed_task(task work, const feeding& feed) {
    for (distribution& operand : work.operands) {
        operand = held_by_one(operand.bounds(), feed.master);
    }
    work.output = held_by_one(work.output.bounds(), feed.master);
    work.travelling = all_travel;
    work.feed = feed;
    return work;
}

}  // namespace einparallel
