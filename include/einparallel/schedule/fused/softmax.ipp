#pragma once

#include <einparallel/schedule/fused/fused.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Replaces every label by the label that `to` has in the dimension where `from` has it. @pre `from` has all `labels`
EINPARALLEL_INLINE std::vector<label_id> renamed(std::vector<label_id> labels, const std::vector<label_id>& from,
                                                 const std::vector<label_id>& to) {
    for (label_id& each : labels) {
        each = to[std::size_t(std::find(from.begin(), from.end(), each) - from.begin())];
    }
    return labels;
}

/// The rows of the softmax that four einsums compute together, in the labels of the last one; an empty row_read where
/// they compute something else. A tensor that two einsums have as first operand gives its labels the same numbers in
/// both (recording_builder::record), so those can be compared.
EINPARALLEL_INLINE row_read softmax_of(const einsum_form& largest, const einsum_form& exponentials,
                                       const einsum_form& sums, const einsum_form& quotient) {
    if (!largest.is_plain() || !exponentials.is_plain()) {
        return {};
    }
    const std::vector<label_id>& all = quotient.operands[0];
    std::vector<label_id> rows = quotient.operands[1];
    const auto missing = std::find_if(all.begin(), all.end(), [&](label_id each) { return !found_in(each, rows); });
    const auto are_equal = [](const std::vector<label_id>& some, const std::vector<label_id>& others) {
        return std::is_permutation(some.begin(), some.end(), others.begin(), others.end());
    };
    const auto is_made = [&](label_id each) { return found_in(each, exponentials.output); };
    if (largest.operands[0] != exponentials.operands[0] || largest.output != exponentials.operands[1] ||
        sums.operands[0] != all || sums.output != rows || missing == all.end() || found_in(no_label, all) ||
        !are_equal(all, quotient.output) || !all_in(exponentials.operands[0], is_made) ||
        !all_in(exponentials.operands[1], is_made)) {
        return {};
    }
    row_read made{renamed(exponentials.operands[0], exponentials.output, all), *missing};
    const bool same_rows = are_equal(rows, renamed(exponentials.operands[1], exponentials.output, all));
    rows.push_back(made.along);
    return same_rows && are_equal(rows, all) && all_in(all, [&](label_id each) { return found_in(each, made.labels); })
               ? made
               : row_read{};
}

EINPARALLEL_INLINE void fuse_softmax(program& of_rank) {
    constexpr index most_bytes = index{48} << 10;
    constexpr index enough_rows = 1000;
    // ⊕ of one operand, or of a function of two.
    const auto computes = [&](const contraction& call, reduction by, op_code code) {
        const op_program& found = of_rank.vertex_of(call).work->program();
        if (found.instructions().empty() || found.type().kind != 'f') {
            return false;
        }
        op_program wanted(by, std::vector<element_type>(code == op_code::operand ? 1 : 2, found.type()));
        if (code != op_code::operand) {
            wanted.call({code}, found.type(), {}, std::initializer_list<op_register>{0, 1});
        }
        return found == wanted;
    };
    std::vector<lifetime> alive;
    // The only contraction that writes a buffer, where `readers` contractions read it and nothing else; or null.
    const auto maker_of = [&](buffer_id buffer, int readers, reduction by, op_code code) -> contraction* {
        const lifetime& life = alive[std::size_t(buffer)];
        for (action& done : of_rank.steps[life.first].work) {
            auto* const call = std::get_if<contraction>(&done);
            if (call != nullptr && call->output == buffer && call->mode == write_mode::overwrite &&
                life.touches == 1 + readers && !life.kept && computes(*call, by, code)) {
                return call;
            }
        }
        return nullptr;
    };
    const auto fuse = [&](contraction& quotient) {
        const buffer_id e = quotient.operands[0];
        contraction* const exponentials = maker_of(e, 2, reduction::sum, op_code::shifted_exponential);
        contraction* const sums = maker_of(quotient.operands[1], 1, reduction::sum, op_code::operand);
        contraction* const largest = exponentials == nullptr
                                         ? nullptr
                                         : maker_of(exponentials->operands[1], 1, reduction::max, op_code::operand);
        if (sums == nullptr || largest == nullptr || sums->operands[0] != e ||
            largest->operands[0] != exponentials->operands[0] || largest->ranges != exponentials->ranges ||
            sums->ranges != quotient.ranges) {
            return;
        }
        const buffer_id x = largest->operands[0];
        const einsum_form& of_e = of_rank.vertex_of(*exponentials).form;
        const einsum_form& of_y = of_rank.vertex_of(quotient).form;
        row_read made = softmax_of(of_rank.vertex_of(*largest).form, of_e, of_rank.vertex_of(*sums).form, of_y);
        const box block = region_of(of_y.operands[0], quotient.ranges);
        if (made.along == no_label || block.empty() || block != region_of(of_e.output, exponentials->ranges) ||
            alive[std::size_t(x)].written >= alive[std::size_t(largest->output)].first) {
            return;
        }
        const index length = quotient.ranges[std::size_t(made.along)].size();
        if (length * index(of_rank[e].element_bytes) > most_bytes && block.size() / length < enough_rows) {
            return;
        }
        quotient.operands = {x};
        quotient.rows = std::move(made);
        for (contraction* each : {largest, exponentials, sums}) {
            each->output = no_buffer;
        }
    };
    for (step& each : of_rank.steps) {
        for (action& done : each.work) {
            auto* const call = std::get_if<contraction>(&done);
            if (call != nullptr && call->operands.size() == 2 && computes(*call, reduction::sum, op_code::divide)) {
                alive = alive.empty() ? lifetimes_of(of_rank) : std::move(alive);
                fuse(*call);
            }
        }
    }
    for (step& each : of_rank.steps) {
        std::erase_if(each.work, [](const action& done) {
            const auto* const call = std::get_if<contraction>(&done);
            return call != nullptr && call->output == no_buffer;
        });
    }
    std::erase_if(of_rank.steps, [](const step& each) { return each.is_idle(); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
