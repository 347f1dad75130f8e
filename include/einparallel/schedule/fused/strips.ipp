#pragma once

#include <einparallel/schedule/fused/fused.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Computes chains of calls in strips. Each call of a chain is alone in its step, and each but the last writes a tensor
/// that a later call of the chain reads.
EINPARALLEL_INLINE class strip_writer {
public:
    strip_writer(program& of_rank, std::size_t strip_bytes, std::size_t limit)
        : program_(of_rank),
          strip_bytes_(strip_bytes),
          limit_(limit),
          alive_(lifetimes_of(of_rank)),
          held_(bytes_held(of_rank, alive_, [](buffer_id) { return false; })) {}

    /// Cuts the chain that ends in step `position` into strips, along the label that saves most memory, and along
    /// others where the limit asks for it.
    void write(std::size_t position) {
        chain_cuts cuts(1);
        std::size_t most = 0;
        for_each_cut(position, nullptr, [&](chain&& found) {
            found.strips = strips_of(found, 1);
            const std::size_t saved = found.strips < 2 ? 0 : found.bytes - found.bytes / found.strips;
            if (saved > most && held_in_strips({found}) < held_now(found)) {
                most = saved;
                cuts.front() = std::move(found);
            }
        });
        if (most == 0) {
            return;
        }
        while (limit_ > 0 && held_in_strips(cuts) > limit_) {
            chain best;
            for_each_cut(position, &cuts.front(), [&](chain&& found) {
                found.strips = strips_of(found, parts_of(cuts));
                if (found.strips > best.strips &&
                    all_in(cuts, [&](const chain& other) { return found.is_beside(other); })) {
                    best = std::move(found);
                }
            });
            if (best.strips < 2) {
                break;
            }
            cuts.push_back(std::move(best));
            const std::size_t most_strips = std::exchange(cuts.back().strips, 2);
            while (cuts.back().strips < most_strips && held_in_strips(cuts) > limit_) {
                ++cuts.back().strips;
            }
        }
        cut(cuts, program_.steps[position]);
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
        std::size_t strips = 1;

        /// True where the same calls are cut along other labels.
        bool is_beside(const chain& other) const {
            return between == other.between && links.size() == other.links.size() &&
                   std::equal(links.begin(), links.end(), other.links.begin(),
                              [](const link& a, const link& b) { return a.step == b.step && a.label != b.label; });
        }
    };
    using chain_cuts = std::vector<chain>;  ///< one chain, cut along several labels, the outermost first

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

    /// Appends to `into` the chain that ends with the call of step `position`, cut along `label` of this call, and with
    /// `within` only calls of this chain. False where the call must not be cut along it.
    bool collect(std::size_t position, label_id label, chain& into, const chain* within) const {
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
            const bool may_follow = is_whole && (within == nullptr || found_in(buffer, within->between));
            const std::size_t made = may_follow ? maker_of(buffer, read) : program_.steps.size();
            if (made == program_.steps.size()) {
                continue;
            }
            const label_id own = form_of(*alone(made)).output[dimension];
            if (own != no_label && collect(made, own, into, within)) {
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

    static std::size_t parts_of(const chain_cuts& cuts) {
        return product_in(cuts, std::size_t{1}, [](const chain& each) { return each.strips; });
    }

    /// Calls `visit` with the chain that ends in step `position`, or its part within another one, for each label along
    /// which it may be cut.
    void for_each_cut(std::size_t position, const chain* within, auto visit) const {
        const contraction* const last = alone(position);
        for (const label_id label : last == nullptr ? std::vector<label_id>{} : form_of(*last).output) {
            if (chain found; label != no_label && collect(position, label, found, within)) {
                visit(std::move(found));
            }
        }
    }

    /// Bytes held while the chain runs in strips. The whole chain then runs in its last step, so the buffers that it
    /// reads must live up to that step.
    std::size_t held_in_strips(const chain_cuts& cuts) const {
        const chain& made = cuts.front();
        const std::size_t last = made.links.back().step;
        std::size_t held = made.all;
        for (const chain& each : cuts) {
            const auto length = std::size_t(each.length);
            held = held / length * ((length + each.strips - 1) / each.strips);
        }
        held += held_[last];
        std::vector<buffer_id> read;
        for (const link& each : made.links) {
            for (const buffer_id buffer : alone(each.step)->operands) {
                const lifetime& life = alive_[std::size_t(buffer)];
                const bool is_between = found_in(buffer, made.between);
                held -= is_between && life.last == last ? program_[buffer].bytes() : 0;
                if (!is_between && life.last < last && !life.kept) {
                    read.push_back(buffer);
                }
            }
        }
        sort_unique(read);
        return held + sum_in(read, std::size_t{0}, [&](buffer_id buffer) { return program_[buffer].bytes(); });
    }

    /// Bytes that the steps of a chain hold at most as they are.
    std::size_t held_now(const chain& made) const {
        std::size_t held = 0;
        for (const link& each : made.links) {
            const contraction& call = *alone(each.step);
            bool gives_way = false;  // some operand, to the output
            for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
                const lifetime& life = alive_[std::size_t(call.operands[operand])];
                gives_way = gives_way || (life.last == each.step && !life.input && is_replaced_by(call, operand));
            }
            held = std::max(held, held_[each.step] - (gives_way ? program_[call.output].bytes() : 0));
        }
        return held;
    }

    /// The number of strips of a chain that is in `parts` parts already.
    std::size_t strips_of(const chain& made, std::size_t parts) const {
        constexpr double meets = 384;  // multiply-adds per element that is packed again: packing takes 3 % of the time
        const auto length = double(made.length);
        const double pay = made.packed > 0 ? made.points / (meets * made.packed) : length;
        return std::size_t(std::min({length, pay, double(made.largest / parts / strip_bytes_)}));
    }

    void cut(const chain_cuts& cuts, step& into) {
        const chain& made = cuts.front();
        const std::size_t strips = parts_of(cuts);
        // Makes a side of something the part of a strip, for every label that is cut.
        const auto cut_sides = [&](std::size_t strip, auto side_of) {
            for (std::size_t number = cuts.size(); number-- > 0; strip /= cuts[number].strips) {
                interval& side = side_of(cuts[number]);
                side = block_of(side, int(cuts[number].strips), int(strip % cuts[number].strips));
            }
        };
        const auto buffer_of_strip = [&](std::size_t number, std::size_t strip) {
            buffer one = program_[made.between[number]];
            cut_sides(strip,
                      [&](const chain& along) -> interval& { return one.region.sides[along.dimension[number]]; });
            return one;
        };
        std::vector<action> work;
        for (std::size_t strip = 0; strip < strips; ++strip) {
            std::vector<buffer_id> strips_made = made.between;
            for (std::size_t number = 0; strip > 0 && number < strips_made.size(); ++number) {
                strips_made[number] = buffer_id(program_.buffers.size());
                program_.buffers.push_back(buffer_of_strip(number, strip));
                program_.buffers.back().lender = made.between[number];
            }
            for (std::size_t number = 0; number < made.links.size(); ++number) {
                contraction call = *alone(made.links[number].step);
                cut_sides(strip, [&](const chain& along) -> interval& {
                    return call.ranges[std::size_t(along.links[number].label)];
                });
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
    std::size_t limit_;
    std::vector<lifetime> alive_;
    std::vector<std::size_t> held_;  // bytes, by step
};

EINPARALLEL_INLINE void compute_in_strips(program& of_rank, std::size_t strip_bytes, std::size_t limit) {
    if (!any_in(of_rank.buffers, [&](const buffer& each) { return each.bytes() / 2 >= strip_bytes; })) {
        return;
    }
    strip_writer writer(of_rank, strip_bytes, limit);
    for (std::size_t position = of_rank.steps.size(); position-- > 0;) {
        writer.write(position);
    }
    std::erase_if(of_rank.steps, [](const step& each) { return each.is_idle(); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
