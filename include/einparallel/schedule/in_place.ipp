#pragma once

#include <einparallel/schedule/in_place.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.hpp>

#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bool is_elementwise_in(const einsum_form& form, bool replaces, std::size_t operand) {
    if (form.operands[operand] != form.output || form.is_viewed(operand)) {
        return false;
    }
    return replaces
               ? operand + 1 == form.operands.size()
               : all_in(form.operands, [&](const std::vector<label_id>& labels) {
                     return all_in(labels, [&](label_id each) { return each == no_label || form.in_output(each); });
                 });
}

EINPARALLEL_INLINE bool is_elementwise_in(const program& of_rank, const contraction& call, std::size_t number) {
    const auto& [name, work, form, is_in_file, is_turned] = of_rank.vertex_of(call);
    const operand_read* const read = call.read_of(form, number);
    return !call.rows.labels.empty()
               ? call.rows.labels == form.output
               : is_elementwise_in(form, work->replaces(), read == nullptr ? number : read->operand);
}

/// True where each element of `into` depends on the element of `from` at its position, or on no element of `from`. The
/// calls that compute `into` must be its only writers, and the only users of `from` once the first of them has begun.
/// False where a call of a plain einsum reads `from` twice: search/memory_search predicts the same.
EINPARALLEL_INLINE bool is_replaced(const program& of_rank, std::span<const lifetime> alive, buffer_id from,
                                    buffer_id into) {
    const lifetime& life = alive[std::size_t(into)];
    const buffer& read = of_rank[from];
    const buffer& written = of_rank[into];
    if (read.region.empty() || read.region != written.region || read.element_bytes != written.element_bytes) {
        return false;
    }
    index elements = 0;
    int calls = of_rank.is_result(into) ? 1 : 0;  // lifetime::writers counts one more for a result
    for (std::size_t position = life.first; position <= alive[std::size_t(from)].last; ++position) {
        const step& each = of_rank.steps[position];
        int other_uses = 0;  // uses of `from` except those by the calls
        for_each_access(each, [&](buffer_id named, bool /*is_written*/) { other_uses += named == from ? 1 : 0; });
        for (const action& done : each.work) {
            const auto* const call = std::get_if<contraction>(&done);
            if (call == nullptr || call->output != into || call->mode != write_mode::overwrite) {
                continue;
            }
            const einsum_form& form = of_rank.vertex_of(*call).form;
            if (form.is_plain() && count_in(call->operands, from) > 1) {
                return false;
            }
            for (std::size_t operand = 0; operand < call->operands.size(); ++operand) {
                other_uses -= call->operands[operand] == from && is_elementwise_in(of_rank, *call, operand) ? 1 : 0;
            }
            elements += region_of(form.output, call->ranges).size();
            ++calls;
        }
        if (other_uses != 0) {
            return false;
        }
    }
    return calls == life.writers && elements == written.region.size();
}

EINPARALLEL_INLINE void compute_in_place(program& of_rank) {
    const std::vector<lifetime> alive = lifetimes_of(of_rank);
    const auto life_of = [&](buffer_id buffer) -> const lifetime& { return alive[std::size_t(buffer)]; };
    for (std::size_t position = 0; position < of_rank.steps.size(); ++position) {
        for (const action& done : of_rank.steps[position].work) {
            const auto* const call = std::get_if<contraction>(&done);
            if (call == nullptr || life_of(call->output).first != position || life_of(call->output).kept ||
                of_rank.is_result(call->output) || of_rank[call->output].lender != no_buffer) {
                continue;
            }
            for (const buffer_id from : call->operands) {
                // A buffer that is kept, a result or read by others later is alive after the last of the calls.
                if (life_of(from).last == life_of(call->output).written && !life_of(from).input &&
                    is_replaced(of_rank, alive, from, call->output)) {
                    of_rank[call->output].lender = from;
                    break;
                }
            }
        }
    }
}

EINPARALLEL_INLINE bool may_replace(const program& of_rank, std::span<const lifetime> alive, std::size_t vertex,
                                    buffer_id result) {
    for (std::size_t number = 0; number < alive.size(); ++number) {
        const lifetime& life = alive[number];
        if (life.input == vertex && (life.kept || life.writers > 1 ||
                                     (life.last >= alive[std::size_t(result)].first &&
                                      !is_replaced(of_rank, alive, buffer_id(number), result)))) {
            return false;
        }
    }
    return true;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
