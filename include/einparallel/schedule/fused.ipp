#pragma once

#include <einparallel/schedule/fused.hpp>

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

/// Computes chains of calls in strips. Each call of a chain is alone in its step, and each but the last writes a tensor
/// that a later call of the chain reads.
EINPARALLEL_INLINE class strip_writer {
public:
    strip_writer(program& of_rank, std::size_t strip_bytes)
        : program_(of_rank),
          strip_bytes_(strip_bytes),
          alive_(lifetimes_of(of_rank)),
          held_(bytes_held(of_rank, alive_, [](buffer_id) { return false; })) {}

    /// Cuts the chain that ends in step `position` into strips, along the label that saves most memory.
    void write(std::size_t position) {
        const contraction* const last = alone(position);
        std::size_t most = 0;
        chain best;
        for (const label_id label : last == nullptr ? std::vector<label_id>{} : form_of(*last).output) {
            if (chain found; label != no_label && collect(position, label, found)) {
                const std::size_t strips = strips_of(found);
                const std::size_t saved = strips < 2 ? 0 : found.bytes - found.bytes / strips;
                if (saved > most && holds_less(found, strips)) {
                    most = saved;
                    best = std::move(found);
                }
            }
        }
        if (most > 0) {
            cut(best, int(strips_of(best)), program_.steps[position]);
        }
    }

private:
    /// The step of a call, and the label along which the call is cut.
    struct link {
        std::size_t step = 0;
        label_id label = no_label;
    };
    struct chain {
        std::vector<link> links;             ///< writers before readers
        index length = 0;                    ///< length of the cut labels, equal for all of them
        std::vector<buffer_id> between;      ///< buffers that one call writes for another
        std::vector<std::size_t> dimension;  ///< the cut dimension of each of these buffers
        std::size_t bytes = 0;               ///< bytes of these buffers, without those that an output may replace
        std::size_t all = 0;                 ///< bytes of all these buffers
        std::size_t largest = 0;             ///< bytes of the largest one
        double points = 0;                   ///< multiply-adds of the products
        double packed = 0;                   ///< elements of the products' operands that each strip packs again
    };

    const einsum_form& form_of(const contraction& call) const { return program_.vertex_of(call).form; }

    /// The call of a step that does nothing else; otherwise null.
    const contraction* alone(std::size_t position) const {
        const step& one = program_.steps[position];
        const auto* const call = one.work.size() == 1 ? std::get_if<contraction>(&one.work.front()) : nullptr;
        return call != nullptr && call->mode == write_mode::overwrite && one.receives.empty() && one.sends.empty()
                   ? call
                   : nullptr;
    }

    /// The step whose call alone writes `buffer`, all of it, for one reader, which reads all of it. The number of steps
    /// where there is no such step. `read`: the region that the reader reads.
    std::size_t maker_of(buffer_id buffer, const box& read) const {
        const lifetime& life = alive_[std::size_t(buffer)];
        const contraction* const made =
            life.named && life.writers == 1 && life.touches == 2 && !life.kept ? alone(life.first) : nullptr;
        const box& region = program_[buffer].region;
        return made != nullptr && made->output == buffer && read == region && !region.empty() &&
                       region_of(form_of(*made).output, made->ranges) == region && program_[buffer].lender == no_buffer
                   ? life.first
                   : program_.steps.size();
    }

    /// Appends to `into` the chain that ends with the call of step `position`, cut along `label` of this call. False
    /// where the call must not be cut along it.
    bool collect(std::size_t position, label_id label, chain& into) const {
        const contraction& call = *alone(position);
        const einsum_form& form = form_of(call);
        if (!program_.vertex_of(call).work->may_cut(form, label) || label == form.running.sums ||
            label == form.running.terms || label == call.rows.along) {
            return false;
        }
        const bool is_softmax = call.rows.along != no_label;
        const bool is_product = !is_softmax && call.operands.size() > 1 && form.label_count() > form.output.size();
        into.points +=
            is_product ? product_in(call.ranges, 1.0, [](const interval& range) { return double(range.size()); }) : 0;
        for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
            const std::vector<label_id>& labels = call.labels_of(form, operand);
            const box read = region_of(labels, call.ranges);
            const auto found = find_in(labels, label);
            if (found == labels.end()) {
                into.packed += is_product ? double(read.size()) : 0;
                continue;
            }
            const auto dimension = std::size_t(found - labels.begin());
            const bool is_whole = (is_softmax || form.is_plain()) && count_in(labels, label) == 1;
            const buffer_id buffer = call.operands[operand];
            const std::size_t made = is_whole ? maker_of(buffer, read) : program_.steps.size();
            if (made == program_.steps.size()) {
                continue;
            }
            const label_id own = form_of(*alone(made)).output[dimension];
            if (own != no_label && collect(made, own, into)) {
                into.between.push_back(buffer);
                into.dimension.push_back(dimension);
                into.bytes += is_replaced_by(call, operand) ? 0 : program_[buffer].bytes();
                into.all += program_[buffer].bytes();
                into.largest = std::max(into.largest, program_[buffer].bytes());
            }
        }
        into.links.push_back({position, label});
        into.length = call.ranges[std::size_t(label)].size();
        return true;
    }

    /// True where the output may replace an operand (compute_in_place): the two then take the memory of one.
    bool is_replaced_by(const contraction& call, std::size_t operand) const {
        const buffer& read = program_[call.operands[operand]];
        const buffer& made = program_[call.output];
        return read.region == made.region && read.element_bytes == made.element_bytes &&
               is_elementwise_in(program_, call, operand);
    }

    /// True where the chain in strips holds less memory than the largest of its steps does now. In strips, the whole
    /// chain runs in its last step, so the buffers that it reads must live up to that step.
    bool holds_less(const chain& made, std::size_t strips) const {
        const auto length = std::size_t(made.length);
        const std::size_t last = made.links.back().step;
        std::size_t with_strips = held_[last] + made.all / length * ((length + strips - 1) / strips);
        std::size_t now = 0;
        std::vector<buffer_id> read;
        for (const link& each : made.links) {
            const contraction& call = *alone(each.step);
            bool gives_way = false;  // some operand, to the output
            for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
                const buffer_id buffer = call.operands[operand];
                const lifetime& life = alive_[std::size_t(buffer)];
                gives_way = gives_way || (life.last == each.step && !life.input && is_replaced_by(call, operand));
                const bool is_between = found_in(buffer, made.between);
                with_strips -= is_between && life.last == last ? program_[buffer].bytes() : 0;
                if (!is_between && life.last < last && !life.kept) {
                    read.push_back(buffer);
                }
            }
            now = std::max(now, held_[each.step] - (gives_way ? program_[call.output].bytes() : 0));
        }
        sort_unique(read);
        return with_strips + sum_in(read, std::size_t{0}, [&](buffer_id buffer) { return program_[buffer].bytes(); }) <
               now;
    }

    std::size_t strips_of(const chain& made) const {
        constexpr double meets = 384;  // multiply-adds per element that is packed again: packing takes 3 % of the time
        const auto length = double(made.length);
        const double pay = made.packed > 0 ? made.points / (meets * made.packed) : length;
        return std::size_t(std::min({length, pay, double(made.largest / strip_bytes_)}));
    }

    void cut(const chain& made, int strips, step& into) {
        const auto buffer_of_strip = [&](std::size_t number, int strip) {
            buffer one = program_[made.between[number]];
            interval& side = one.region.sides[made.dimension[number]];
            side = block_of(side, strips, strip);
            return one;
        };
        std::vector<action> work;
        for (int strip = 0; strip < strips; ++strip) {
            std::vector<buffer_id> strips_made = made.between;
            for (std::size_t number = 0; strip > 0 && number < strips_made.size(); ++number) {
                strips_made[number] = buffer_id(program_.buffers.size());
                program_.buffers.push_back(buffer_of_strip(number, strip));
                program_.buffers.back().lender = made.between[number];
            }
            for (const link& each : made.links) {
                contraction call = *alone(each.step);
                interval& range = call.ranges[std::size_t(each.label)];
                range = block_of(range, strips, strip);
                const auto replace = [&](buffer_id& buffer) {
                    const auto found = find_in(made.between, buffer);
                    buffer =
                        found == made.between.end() ? buffer : strips_made[std::size_t(found - made.between.begin())];
                };
                std::for_each(call.operands.begin(), call.operands.end(), replace);
                replace(call.output);
                work.emplace_back(std::move(call));
            }
        }
        for (std::size_t number = 0; number < made.between.size(); ++number) {
            program_[made.between[number]] = buffer_of_strip(number, 0);
        }
        for_each_in(made.links, [&](const link& each) { program_.steps[each.step].work.clear(); });
        into.work = std::move(work);
    }

    program& program_;
    std::size_t strip_bytes_;
    std::vector<lifetime> alive_;
    std::vector<std::size_t> held_;  // bytes, by step
};

EINPARALLEL_INLINE void compute_in_strips(program& of_rank, std::size_t strip_bytes) {
    if (!any_in(of_rank.buffers, [&](const buffer& each) { return each.bytes() / 2 >= strip_bytes; })) {
        return;
    }
    strip_writer writer(of_rank, strip_bytes);
    for (std::size_t position = of_rank.steps.size(); position-- > 0;) {
        writer.write(position);
    }
    std::erase_if(of_rank.steps, [](const step& each) { return each.is_idle(); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
