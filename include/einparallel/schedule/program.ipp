#pragma once

#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<index> strides_of(const buffer& holder) {
    return holder.strides.empty() ? dense_strides(holder.region) : holder.strides;
}

EINPARALLEL_INLINE box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges) {
    return {list_of(labels, [&](label_id label) {
        return label == no_label ? interval{0, 1} : ranges[std::size_t(label)];
    })};
}

EINPARALLEL_INLINE box region_read(const operand_read& read, const std::vector<interval>& ranges) {
    const box region = region_of(read.labels, ranges);
    return read.at.is_plain() ? region : region.empty() ? no_box(read.at.functions.size()) : read.at.reach(ranges);
}

EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form) {
    if (const auto* read = std::get_if<read_source>(&done)) {
        return {{}, {{read->into, of_rank[read->into].region}}};
    }
    if (const auto* moved = std::get_if<local_move>(&done)) {
        return {{{moved->from, moved->region}}, {{moved->into, moved->region}}};
    }
    const contraction& call = std::get<contraction>(done);
    accesses made;
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        const operand_read* const read = call.read_of(*form, operand);
        made.reads.push_back({call.operands[operand], read != nullptr
                                                          ? region_read(*read, call.ranges)
                                                          : region_of(call.labels_of(*form, operand), call.ranges)});
    }
    made.writes.push_back({call.output, region_of(form->output, call.ranges)});
    return made;
}

EINPARALLEL_INLINE laid_block lay_out(const buffer& holder, const box& region) {
    laid_block laid{0, strides_of(holder)};
    if (!holder.region.empty()) {
        laid.offset = offset_of(region, holder.region, laid.strides) * index(holder.element_bytes);
    }
    return laid;
}

/// Where a kernel reads a buffer at functions of labels: the offset of its first element, and one stride per label.
EINPARALLEL_INLINE laid_block lay_out_read(const buffer& holder, const operand_read& read,
                                           const std::vector<interval>& ranges) {
    laid_block laid{0, std::vector<index>(read.labels.size())};
    index first = read.at.strides_along(read.labels, holder.region, strides_of(holder), laid.strides);
    for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
        first += ranges[std::size_t(read.labels[dimension])].begin * laid.strides[dimension];
    }
    laid.offset = holder.region.empty() ? 0 : first * index(holder.element_bytes);
    return laid;
}

EINPARALLEL_INLINE void prepare(const program& of_rank, action& done) {
    contraction& call = std::get<contraction>(done);
    const auto& [name, work, form, is_in_file, is_turned] = of_rank.vertex_of(call);
    const accesses touched = accesses_of(of_rank, done, &form);
    laid_call& laid = *(call.laid = std::make_shared<laid_call>());
    laid.extents = list_of(call.ranges, &interval::size);
    laid.first = list_of(call.ranges, &interval::begin);
    laid.output = lay_out(of_rank[call.output], touched.writes.front().region);
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        const buffer& holder = of_rank[call.operands[operand]];
        const operand_read* const read = call.read_of(form, operand);
        const bool is_viewed = read != nullptr && !read->at.is_plain();
        laid.operands.push_back(is_viewed ? lay_out_read(holder, *read, call.ranges)
                                          : lay_out(holder, touched.reads[operand].region));
        laid.blocks.emplace_back(nullptr, work->operand_type(operand), call.labels_of(form, operand),
                                 laid.operands.back().strides);
        laid.blocks.back().counts_from = holder.counts && !is_viewed ? 0 : -1;
    }
    laid.call = {laid.extents, laid.blocks, {nullptr, work->element(), form.output, laid.output.strides},
                 call.mode,    nullptr,     laid.first};
}

EINPARALLEL_INLINE void prepare(program& of_rank) {
    for (step& each : of_rank.steps) {
        for (action& done : each.work) {
            if (std::holds_alternative<contraction>(done)) {
                prepare(of_rank, done);
            } else if (auto* const moved = std::get_if<local_move>(&done); moved != nullptr && !moved->region.empty()) {
                moved->extents = extents_of(moved->region);
                moved->laid = lay_out(of_rank[moved->into], moved->region);
                moved->laid_in = lay_out(of_rank[moved->from], moved->region);
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::size_t bytes_sent(const program& of_rank, bool again) {
    const auto bytes = [&](const message& sent) {
        return std::size_t(sent.region.size()) * of_rank[sent.buffer].element_bytes;
    };
    return detail::sum_in(of_rank.steps, std::size_t{0}, [&](const step& each) {
        return again && each.once ? 0 : detail::sum_in(each.sends, std::size_t{0}, bytes);
    });
}

EINPARALLEL_INLINE std::size_t bytes_paged(const program& of_rank, const step& each) {
    return detail::sum_in(each.pages, std::size_t{0}, [&](const page_move& moved) {
        return of_rank.stored[moved.stored].is_in_file ? of_rank[moved.buffer].bytes() : 0;
    });
}

EINPARALLEL_INLINE std::size_t bytes_paged(const program& of_rank) {
    return detail::sum_in(of_rank.steps, std::size_t{0}, [&](const step& each) { return bytes_paged(of_rank, each); });
}

}  // namespace einparallel
