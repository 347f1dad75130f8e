#pragma once

#include <einparallel/schedule/softmax.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/arena.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Labels under the names that `to` has for those of `from`, place by place. @pre `from` has them all
EINPARALLEL_INLINE std::vector<label_id> renamed(std::vector<label_id> labels, const std::vector<label_id>& from,
                                                 const std::vector<label_id>& to) {
    for (label_id& each : labels) {
        each = to[std::size_t(std::find(from.begin(), from.end(), each) - from.begin())];
    }
    return labels;
}

/// The softmax that four einsums are, by the labels of the last one; none where they are another thing. Equal tensors
/// come first, so they give labels the same numbers (recording_builder::record).
EINPARALLEL_INLINE softmax_call softmax_of(const einsum_form& largest, const einsum_form& exponentials,
                                           const einsum_form& sums, const einsum_form& quotient) {
    if (!largest.reads.empty() || !exponentials.reads.empty()) {
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
    softmax_call made{renamed(exponentials.operands[0], exponentials.output, all), *missing};
    const bool same_rows = are_equal(rows, renamed(exponentials.operands[1], exponentials.output, all));
    rows.push_back(made.along);
    return same_rows && are_equal(rows, all) && all_in(all, [&](label_id each) { return found_in(each, made.labels); })
               ? made
               : softmax_call{};
}

EINPARALLEL_INLINE void fuse_softmax(program& of_rank, function_ref<const einsum_form&(std::size_t)> form_of,
                                     function_ref<const op_program&(std::size_t)> program_of) {
    constexpr index most_bytes = index{48} << 10;
    constexpr index enough_rows = 1000;
    // ⊕ of one operand, or of a function of two.
    const auto computes = [&](const contraction& call, reduction by, op_code code) {
        const op_program& found = program_of(call.vertex);
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
    // The contraction that alone writes a buffer, which so many others read and nobody else; or null.
    const auto maker_of = [&](buffer_id place, int readers, reduction by, op_code code) -> contraction* {
        const lifetime& life = alive[std::size_t(place)];
        for (action& done : of_rank.steps[life.first].work) {
            auto* const call = std::get_if<contraction>(&done);
            if (call != nullptr && call->output == place && call->mode == write_mode::overwrite &&
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
        const einsum_form& of_e = form_of(exponentials->vertex);
        const einsum_form& of_y = form_of(quotient.vertex);
        softmax_call made = softmax_of(form_of(largest->vertex), of_e, form_of(sums->vertex), of_y);
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
        quotient.softmax = std::move(made);
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
    std::erase_if(of_rank.steps, [](step& each) {
        const std::size_t left_out = std::erase_if(each.work, [](const action& done) {
            const auto* const call = std::get_if<contraction>(&done);
            return call != nullptr && call->output == no_buffer;
        });
        return left_out > 0 && each.is_idle();
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
