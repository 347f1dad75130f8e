#pragma once

#include <einparallel/cost/traffic.hpp>

#include <einparallel/cost/counted_ring.ipp>
#include <einparallel/cost/memory.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double covered_elements(const std::vector<label_id>& labels, const std::vector<index>& extents,
                                           const mesh& ranks) {
    double elements = 1;
    for (std::size_t number = 0; number < extents.size(); ++number) {
        const auto label = label_id(number);
        const auto times = std::count(labels.begin(), labels.end(), label);
        double covered = times == 1 ? double(extents[number]) : 0;
        for (int part = 0; times > 1 && part < ranks.parts(label); ++part) {
            covered += std::pow(double(ranks.block(label, extents[number], part).size()), times);
        }
        elements *= times == 0 ? 1 : covered;
    }
    return elements;
}

EINPARALLEL_INLINE double gathered_bytes(const task& work, std::size_t operand) {
    return (work.operands[operand].replication() - 1) *
           covered_elements(work.form.operands[operand], work.extents, work.ranks) *
           double(work.operand_bytes[operand]);
}

/// Bytes of the rows of running sums that all ranks together hand on.
EINPARALLEL_INLINE double handed_on_bytes(const task& work) {
    if (work.form.running.sums == no_label) {
        return 0;
    }
    double rows = 0;
    const int ranks = work.ranks.parts(work.form.running.sums);
    for (int reach = 1; reach < ranks; reach *= 2) {
        rows += ranks - reach;
    }
    const std::vector<index> bounds = row_of_sums(work).bounds();
    return rows * double(whole_box(bounds).size()) * double(work.output_bytes);
}

EINPARALLEL_INLINE double aggregated_bytes(const task& work) {
    return (work.output.replication() - 1) * covered_elements(work.form.output, work.extents, work.ranks) *
               double(work.output_bytes) +
           handed_on_bytes(work);
}

/// Elements that are touched again where the kernel is called `calls` times along `label` instead of once. Operands
/// without the label are packed again; an output without it is read and written again.
EINPARALLEL_INLINE double touched_again(const task& work, label_id label, int calls) {
    double elements = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (!work.form.in_operand(operand, label)) {
            elements += (calls - 1) * work.operands[operand].largest_block();
        }
    }
    if (!work.form.in_output(label)) {
        double terms = 1;
        for (std::size_t summed = 0; summed < work.extents.size(); ++summed) {
            const auto number = label_id(summed);
            const bool kept = work.form.in_output(number);
            terms *= kept ? 1 : double(work.ranks.largest_block(number, work.extents[summed]));
        }
        elements += std::max(0.0, calls - std::max(1.0, terms / terms_per_pass)) * work.output.largest_block();
    }
    return elements;
}

/// The sink (schedule/sink.hpp) that counts bytes and seconds of the rank with the largest share; of master–worker
/// tasks, those of the master. Every step of a ring takes the longer of its arithmetic and its transfer, and a share of
/// the shorter (machine::exposed). The calls in a ring share the cost of packing operands again and of reading the
/// output again. Time to copy or add elements in a step is added to that. Every step with messages has a fixed cost.
class schedule_counter {
public:
    struct step {
        struct messages {
            double number = 0;
            double bytes = 0;
        };
        messages sent;  ///< over the present link
        messages received;
        link over;
        double before = 0;      ///< bytes over the links before
        double transfers = 0;   ///< seconds over the links before
        double latency = 0;     ///< seconds of the slowest message over the links before
        double touched = 0;     ///< elements that are copied or added
        double arithmetic = 0;  ///< seconds
        double peers = 1;       ///< number of messages that each message stands for

        void send(const link& peer, buffer_id /*buffer*/, const counted_region& region) {
            over = peer;
            count(sent, region);
        }
        void receive(const link& peer, buffer_id /*buffer*/, const counted_region& region) {
            over = peer;
            count(received, region);
        }
        // Between master and workers, over the present link.
        void send(int /*worker*/, buffer_id /*buffer*/, const counted_region& region) { count(sent, region); }
        void receive(int /*worker*/, buffer_id /*buffer*/, const counted_region& region) { count(received, region); }
        void move(buffer_id /*into*/, buffer_id /*from*/, const counted_region& region, std::size_t /*of_sum*/ = 0) {
            touched += region.elements;
        }

        double bytes() const { return before + sent.bytes + received.bytes; }
        /// Messages over different links are on their way together: the slowest ones count.
        EINPARALLEL_INLINE void close() {
            const double number = std::max(sent.number, received.number);
            transfers = std::max(transfers, number * over.seconds_per_message +
                                                std::max(sent.bytes, received.bytes) * over.seconds_per_byte);
            latency = std::max(latency, number > 0 ? over.seconds_per_message : 0);
        }
        /// Goes on with another link.
        void open(const link& other) {
            close();
            before = bytes();
            sent = received = {};
            over = other;
        }

    private:
        void count(messages& moved, const counted_region& region) const {
            moved.number += region.elements > 0 ? peers : 0;
            moved.bytes += peers * region.elements * double(region.element_bytes);
        }
    };

    EINPARALLEL_INLINE schedule_counter(const task& work, double operations_per_point, const wired_machine& on)
        : work_(work), on_(on), compute_(operations_per_point * on.seconds_per_flop()) {
        if (work.travelling == all_travel) {
            const int worker = work.feed.master == 0 ? 1 : 0;
            const double phases = work.feed.slices + 2;
            compute_ *= std::max(elements_of(fed_ranges(work, work.feed.master)),
                                 elements_of(fed_ranges(work, worker)) * phases / work.feed.slices);
            return;
        }
        for (std::size_t label = 0; label < work.extents.size(); ++label) {
            const auto number = label_id(label);
            if (number != work.pending) {  // of its summands every rank writes one
                compute_ *= double(work.ranks.largest_block(number, work.extents[label]));
            }
        }
    }

    double seconds() const { return seconds_; }
    double bytes() const { return bytes_; }  ///< bytes sent and received

    static std::size_t vertex() { return 0; }
    buffer_id& block(std::size_t /*operand*/) { return block_; }
    EINPARALLEL_INLINE counted_ring ring(const distribution& resting, std::size_t element_bytes) const {
        return {on_.is_flat() ? one_stage(resting.replication()) : on_.shape_of(resting, looked_through),
                {resting.largest_block(), element_bytes},
                {largest_piece(resting), element_bytes},
                on_};
    }
    EINPARALLEL_INLINE counted_ring row_of_ranks(const distribution& resting, std::size_t element_bytes) const {
        return ring(resting, element_bytes);
    }
    EINPARALLEL_INLINE static counted_region region(const box& of, std::size_t element_bytes) {
        return {double(of.size()), element_bytes};
    }
    EINPARALLEL_INLINE void calls_along(label_id along, int calls) {
        compute_ = (compute_ + touch_seconds(touched_again(work_, along, calls))) / calls;
    }
    static buffer_id add(const counted_region& /*region*/, std::size_t /*element_bytes*/) { return no_buffer; }
    static buffer_id add_half(const counted_ring& /*ring*/, int /*role*/, const counted_region& /*half*/,
                              buffer_id /*output*/) {
        return no_buffer;
    }
    void contract(step& now, const std::vector<label_id>& /*labels*/, const counted_region& /*region*/,
                  buffer_id /*output*/, write_mode /*mode*/) const {
        now.arithmetic += compute_;
    }

    static counted_region last_row(const counted_ring& ranks, int /*distance*/) { return ranks.block(); }
    counted_region share() const { return {work_.output.largest_block(), work_.output_bytes}; }
    static void take_last(step& now, buffer_id /*row*/, buffer_id /*block*/) { ++now.touched; }
    static void add_terms(step& now, buffer_id /*from*/, buffer_id /*into*/, const counted_region& region) {
        now.touched += region.elements;
    }

    void repeat(std::size_t /*phase*/, int first, int end, auto body) {
        if (first < end) {
            step now;
            body(now, first);
            add_step(now, end - first);
        }
    }
    static step& behind(step& now) { return now; }

    /// Turns in which messages go along the same stages are alike.
    void go_round(std::size_t /*phase*/, const counted_ring& ring, ring_way /*way*/, auto body) {
        for (unsigned along = 1; along < 1U << ring.shape.count; ++along) {
            int times = 1;
            step now;
            for (std::size_t stage = 0; stage < ring.shape.count; ++stage) {
                if ((along >> stage & 1U) != 0) {
                    times *= ring.steps(stage) - 1;
                    const link beside = ring.beside(stage);
                    now.open(beside);
                    body(now, counted_hop{beside, beside, ring.largest, ring.largest});
                }
            }
            if (times > 0) {
                add_step(now, times);
            }
        }
    }

    EINPARALLEL_INLINE static std::size_t rounds(const counted_ring& ring) { return tree_rounds(ring.size()); }

    void for_each_tree_edge(const counted_ring& ring, auto /*phase_of*/, auto visit) {
        for (std::size_t stage = 0; stage < ring.shape.count; ++stage) {
            step now;
            visit(now, ring.block(), false, ring.beside(stage), true);
            add_step(now, int(tree_rounds(ring.steps(stage))));
        }
    }

    /// Shares of workers differ by one index: the larger ones come first.
    void for_each_worker(step& now, const task& work, auto visit) {
        const int workers = work.ranks.size() - 1;
        const auto label = std::size_t(work.ranks.axes.front().label);
        const index own = fed_ranges(work, work.feed.master)[label].size();
        const auto larger = int((work.extents[label] - own) % workers);
        now.over = on_.at(on_.groups().between(0, work.ranks.size() - 1), {});
        for (const auto& [first, count] : {std::pair{0, larger}, {larger, workers - larger}}) {
            now.peers = count;
            if (count > 0) {
                visit(first + (first >= work.feed.master ? 1 : 0));
            }
        }
    }

private:
    EINPARALLEL_INLINE static double elements_of(const std::vector<interval>& ranges) {
        return double(box{ranges}.size());
    }
    EINPARALLEL_INLINE double touch_seconds(double elements) const { return on_.touch_seconds(elements); }
    EINPARALLEL_INLINE void add_step(step now, int times) {
        now.close();
        seconds_ +=
            times * (std::max(now.arithmetic, now.transfers) + on_.exposed() * std::min(now.arithmetic, now.transfers) +
                     touch_seconds(now.touched) + messages_per_step * now.latency);
        bytes_ += times * now.bytes();
    }

    const task& work_;
    const wired_machine& on_;
    double compute_;  ///< seconds of a call
    double seconds_ = 0;
    double bytes_ = 0;
    buffer_id block_ = no_buffer;
};

EINPARALLEL_INLINE double gather_seconds(const task& work, std::size_t operand, const wired_machine& on) {
    schedule_counter counted(work, 0, on);
    gather(counted, work.operands[operand], work.operand_bytes[operand], no_buffer);
    return counted.seconds();
}

EINPARALLEL_INLINE double task_bytes(const task& work, const lasting_work& lasting) {
    return bytes_between(work, machine(), -1, lasting, looked_through);
}

EINPARALLEL_INLINE double task_seconds(const task& work, double operations_per_point, const wired_machine& on,
                                       const lasting_work& lasting) {
    schedule_counter counted(work, operations_per_point, on);
    write_vertex(counted, work, no_buffer);
    double held = 0;
    for (std::size_t operand = 0; operand < lasting.held.size(); ++operand) {
        held += work.holds(operand) ? lasting.held[operand] * gather_seconds(work, operand, on) : 0;
    }
    return lasting.runs * counted.seconds() + held;
}

EINPARALLEL_INLINE void choose_best_travelling(task& work, algorithm wanted, double operations_per_point,
                                               const wired_machine& on, objective minimised, std::size_t memory_limit,
                                               const lasting_work& lasting, int level) {
    std::uint64_t may_hold = 0;
    for (std::size_t operand = 0; operand < std::min<std::size_t>(work.operands.size(), 64); ++operand) {
        const bool may = lasting.may_hold(operand) && work.operands[operand].replication() > 1;
        may_hold |= std::uint64_t{may ? 1U : 0U} << operand;
    }
    work.held = may_hold;
    work.travelling = choose_travelling(work, wanted);
    const bool limited = memory_limit > 0;
    const bool counts_level = minimised == objective::bytes && level >= 0;
    if (wanted != algorithm::automatic || (work.travelling == nothing_travels && may_hold == 0) ||
        (minimised != objective::time && !limited && !counts_level)) {
        return;
    }
    const auto travel = [&](int way) {
        work.travelling = way;
        const bool is_operand = way >= 0 && way < 64 && work.travels(std::size_t(way));
        work.held = is_operand ? may_hold & ~(std::uint64_t{1} << way) : may_hold;
    };
    int best = nothing_travels;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::array<double, 3> least{infinity, infinity, infinity};  // what is beyond the limit counts first, seconds last
    for (int way = nothing_travels; way < int(work.operands.size()); ++way) {
        if (way == output_travels ? !k_ring_suits(work) : way >= 0 && !fills_ring(work.operands[std::size_t(way)], 1)) {
            continue;
        }
        travel(way);
        const double memory = limited ? task_memory(work) : 0;
        std::array<double, 3> measured{memory > double(memory_limit) ? memory : 0.0,
                                       counts_level ? bytes_between(work, on, level, lasting, looked_through) : 0, 0};
        if (measured < least) {
            measured.back() = task_seconds(work, operations_per_point, on, lasting);
        }
        if (measured < least) {
            best = way;
            least = measured;
        }
    }
    travel(best);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
