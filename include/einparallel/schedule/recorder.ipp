#pragma once
// The sink that records the steps of one rank for one vertex, by phase.

#include <einparallel/kernel/joined.hpp>
#include <einparallel/layout/replica_ring.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Collects the steps of one rank by phase, and appends them to the program in order. Several schedules may write into
/// one phase (two operands gathered at once). A phase in which the rank has nothing to do leaves no step.
class recorder {
public:
    /// `operands`: the buffers that hold the operands of the vertex; `ranges`: the rank's share of the iteration space,
    /// by label. A recorder that only gathers has no task, so neither of them.
    recorder(program& into, std::size_t first_phase, int rank, const rank_groups& groups, const task* work = nullptr,
             std::size_t vertex = 0, std::vector<interval> ranges = {}, std::vector<buffer_id> operands = {})
        : program_(into),
          first_phase_(first_phase),
          rank_(rank),
          groups_(groups),
          work_(work),
          vertex_(vertex),
          ranges_(std::move(ranges)),
          blocks_(std::move(operands)) {}

    std::size_t vertex() const { return vertex_; }
    buffer_id& block(std::size_t operand) { return blocks_[operand]; }
    EINPARALLEL_INLINE replica_ring ring(const distribution& resting, std::size_t /*element_bytes*/) {
        return seen_from_rank(resting, ring_of(resting, rank_, groups_));
    }
    /// The ranks that share a block in the order of their blocks of other tensors, wherever they lie on nodes.
    EINPARALLEL_INLINE replica_ring row_of_ranks(const distribution& resting, std::size_t /*element_bytes*/) {
        return seen_from_rank(resting, resting.replicas(rank_));
    }
    static box region(box of, std::size_t /*element_bytes*/) { return of; }
    void calls_along(label_id /*along*/, int /*calls*/) {}

    EINPARALLEL_INLINE buffer_id add(box region, std::size_t element_bytes) {
        return program_.add_buffer(std::move(region), element_bytes);
    }

    /// A buffer for half a chunk of a k ring. As in the thesis, it may lie in the output's memory (buffer::lender)
    /// where the output's halves are contiguous and large enough: with role 0 in the second half, with role 1 in the
    /// first.
    EINPARALLEL_INLINE buffer_id add_half(const replica_ring& ring, int role, const box& half, buffer_id output) {
        const std::size_t bytes = work_->output_bytes;
        const buffer_id half_buffer = program_.add_buffer(half, bytes);
        if (role < 2 && halves_are_contiguous(ring.piece(0), *ring.resting.cut()) &&
            half.size() <= ring.half(0, 1 - role).size()) {
            program_[half_buffer].lender = output;
            program_[half_buffer].lender_offset = role == 1 ? 0 : std::size_t(ring.half(0, 0).size()) * bytes;
        }
        return half_buffer;
    }

    void repeat(std::size_t phase, int first, int end, auto body) {
        for (int turn = first; turn < end; ++turn) {
            body(at(phase + std::size_t(turn)), turn);
        }
    }

    step& behind(const step& now) { return at(now.phase + 1); }

    /// Adds a call on the rank's ranges, restricted to `region`, which is a region of a tensor with these labels.
    /// Leaves out calls that would change nothing: calls without output elements, and calls that combine no terms with
    /// existing elements.
    EINPARALLEL_INLINE void contract(step& now, const std::vector<label_id>& labels, const box& region,
                                     buffer_id output, write_mode mode) const {
        std::vector<interval> own = ranges_;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] != no_label) {
                interval& range = own[std::size_t(labels[dimension])];
                range = intersect(range, region.sides[dimension]);
            }
        }
        const bool no_term = any_in(own, [](const interval& range) { return range.empty(); });
        if (!region_of(work_->form.output, own).empty() && !(no_term && mode == write_mode::combine)) {
            if (work_->form.is_plain()) {
                now.work.emplace_back(contraction{vertex_, blocks_, output, std::move(own), mode});
            } else {
                contract_views(now, own, output, mode);
            }
        }
    }

    /// Adds calls of an einsum that reads operands at functions of labels. The ranges are split so that each call finds
    /// all that it reads of an operand in one buffer.
    EINPARALLEL_INLINE void contract_views(step& now, const std::vector<interval>& ranges, buffer_id output,
                                           write_mode mode) const {
        const einsum_form& form = work_->form;
        const std::vector<const operand_read*> all = form.all_reads();
        const auto buffers_of = [&](const operand_read& read) {
            const buffer_id block = blocks_[read.operand];
            const std::vector<buffer_id>& joined = program_[block].joins;
            return joined.empty() ? std::vector<buffer_id>{block} : joined;
        };
        std::vector<boxed_read> boxed(2 * all.size());  // by read: its boxes, and behind all of them, its conditions
        std::vector<const boxed_read*> reads(boxed.size());
        for (std::size_t number = 0; number < all.size(); ++number) {
            const affine_map& at = all[number]->at;
            boxed[number].at = at;
            for (const buffer_id each : buffers_of(*all[number])) {
                boxed[number].boxes.push_back(at.in_rows(program_[each].region));
            }
            reads[number] = at.is_plain() ? nullptr : &boxed[number];
            boxed_read& holds = boxed[all.size() + number];
            holds.at.functions = at.where;
            holds.boxes = {{list_of(at.where, [](const index_function& each) { return interval{0, each.extent}; })}};
            reads[all.size() + number] = at.where.empty() ? nullptr : &holds;
        }
        cut_into_boxes(
            ranges, reads, form.output,
            [&](const std::vector<interval>& own, std::span<const std::size_t> found, bool combines) {
                contraction call{vertex_, {}, output, own, combines ? write_mode::combine : mode};
                std::size_t other = form.reads.size();  // where the next read from elsewhere is in `all`
                const auto is_in_box = [&](std::size_t read) {
                    return reads[read] == nullptr || found[read] != in_no_box;
                };
                for (const operand_read& read : form.reads) {
                    std::size_t number = call.operands.size();
                    std::size_t outside = 0;
                    while (outside < read.elsewhere.size() && !(is_in_box(number) && is_in_box(all.size() + number))) {
                        number = other + outside++;
                    }
                    const std::size_t found_in_box = found[number];
                    call.outside.push_back(outside);
                    call.operands.push_back(buffers_of(*all[number])[found_in_box == in_no_box ? 0 : found_in_box]);
                    other += read.elsewhere.size();
                }
                now.work.emplace_back(std::move(call));
            });
    }

    /// For running sums: the last row, along their label, of the block of the rank at `distance`.
    EINPARALLEL_INLINE box last_row(const replica_ring& ranks, int distance) const {
        box row = share();
        interval& side = row.sides[summed_dimension()];
        side = work_->output.block_of_rank(ranks.at(distance)).sides[summed_dimension()];
        side = {std::max<index>(side.end - 1, 0), std::max<index>(side.end, 1)};
        return row;
    }
    EINPARALLEL_INLINE box share() const { return region_of(work_->form.output, ranges_); }

    /// Writes the sums over all of the rank's own terms into buffer `row`: the last row of `block`.
    EINPARALLEL_INLINE void take_last(step& now, buffer_id row, buffer_id block) const {
        if (share().empty()) {
            add(now, blocks_.front(), row, ranges_, {}, write_mode::overwrite);
        } else {
            now.move(row, block, program_[row].region);
        }
    }
    /// Adds the row in buffer `from`, a sum over terms of earlier ranks, to all sums in buffer `into`.
    EINPARALLEL_INLINE void add_terms(step& now, buffer_id from, buffer_id into, const box& /*region*/) const {
        const running_labels& running = work_->form.running;
        std::vector<interval> ranges = ranges_;
        ranges[std::size_t(running.terms)] = program_[from].region.sides[summed_dimension()];
        row_read row{work_->form.output};
        row.labels[summed_dimension()] = running.terms;
        add(now, from, into, std::move(ranges), std::move(row), write_mode::combine);
    }

    /// Visits the hops of this rank with which all pieces go round. The turns of a ring are a number whose digits are
    /// the steps of its stages. In a turn a rank passes the piece that it got last to its neighbour on the first stage.
    /// Along an outer stage it passes, in one of the turns that the stages inside take, the piece with which these
    /// turns began. So in each turn one piece leaves each group. Sums come back the same ways, the last turn first, in
    /// every second phase.
    void go_round(std::size_t phase, const replica_ring& ring, ring_way way, auto body) {
        const int turns = ring.size();
        for (int turn = 0; turn < turns; ++turn) {
            for (std::size_t stage = 0; stage < ring.shape.count; ++stage) {
                const int unit = ring.unit(stage);
                const int first = turn - turn % unit;
                if (turn % unit == ring.self % unit && turn / unit % ring.steps(stage) + 1 < ring.steps(stage)) {
                    const ring_hop hop{ring.beside(stage, -1), ring.beside(stage, 1),
                                       ring.resting.held_by(ring.further(first)),
                                       ring.resting.held_by(ring.further(first + unit)), first == 0};
                    const std::size_t later =
                        way == ring_way::gathers ? std::size_t(turn) : 2 * std::size_t(turns - 1 - turn);
                    body(at(phase + later), hop);
                }
            }
        }
    }

    EINPARALLEL_INLINE static std::size_t rounds(const replica_ring& ring) {
        std::size_t all = 0;
        for (std::size_t stage = 0; stage < ring.shape.count; ++stage) {
            all += tree_rounds(ring.steps(stage));
        }
        return all;
    }

    /// Visits the tree edges of this rank. Every piece has a binomial tree over the ring, with its owner as root; over
    /// several stages, a tree of trees. Calls visit(step, piece, owns, peer, below) for each edge between this rank and
    /// a `peer`: `owns` is true where this rank owns the piece, `below` where the peer is the lower end. Edges of level
    /// l span 2^l steps of their stage.
    void for_each_tree_edge(const replica_ring& ring, auto phase_of, auto visit) {
        for (int owner = 0; owner < ring.size(); ++owner) {
            const box region = ring.resting.held_by(ring.group[std::size_t(owner)]);
            std::size_t round = 0;
            bool is_root = !region.empty();  // of the stages inside
            for (std::size_t stage = 0; stage < ring.shape.count && is_root; ++stage) {
                const int steps = ring.steps(stage);
                const int unit = ring.unit(stage);
                const int number = (ring.self / unit % steps - owner / unit % steps + steps) % steps;  // the root is 0
                for (std::size_t level = 0; level < tree_rounds(steps); ++level, ++round) {
                    const int reach = 1 << level;
                    if (number % (2 * reach) == 0 && number + reach < steps) {
                        visit(at(phase_of(round)), region, ring.self == owner, ring.beside(stage, reach), true);
                    } else if (number % (2 * reach) == reach) {
                        visit(at(phase_of(round)), region, false, ring.beside(stage, -reach), false);
                    }
                }
                is_root = number == 0;
            }
        }
    }

    void for_each_worker(step& /*now*/, const task& work, auto visit) const {
        for (int worker = 0; worker < work.ranks.size(); ++worker) {
            if (worker != rank_) {
                visit(worker);
            }
        }
    }

    /// Writes the worker's side of master–worker: the worker contracts one slice while it receives the next one and
    /// sends back the output of the previous one. Two slices of the output, and of every operand that has the label,
    /// are alive at once.
    EINPARALLEL_INLINE void work_for_master() {
        const task& work = *work_;
        buffer_id made = no_buffer;
        for (int turn = 0; turn < work.feed.slices + 2; ++turn) {
            step& now = at(compute_phase + std::size_t(turn));
            now.send(work.feed.master, made, fed_output(work, ranges_, turn));
            if (turn >= 1 && turn <= work.feed.slices) {
                const box slice{{fed_slice(work, ranges_, turn - 1)[std::size_t(work.feed.label)]}};
                made = add(region_of(work.form.output, fed_slice(work, ranges_, turn - 1)), work.output_bytes);
                contract(now, {work.feed.label}, slice, made, write_mode::overwrite);
            }
            for (std::size_t operand = 0; operand < blocks_.size() && turn < work.feed.slices; ++operand) {
                const box coming = fed_operand(work, ranges_, operand, turn);
                if (turn == 0 || work.form.in_operand(operand, work.feed.label)) {
                    blocks_[operand] = add(coming, work.operand_bytes[operand]);
                    now.receive(work.feed.master, blocks_[operand], coming);
                }
            }
        }
    }

    EINPARALLEL_INLINE void append() {
        for (auto& [phase, each] : steps_) {
            each.phase = first_phase_ + phase;
            program_.append(std::move(each));
        }
    }

private:
    EINPARALLEL_INLINE replica_ring seen_from_rank(const distribution& resting, std::vector<int> group) const {
        const auto self = int(find_in(group, rank_) - group.begin());
        const ring_shape shape = shape_of_ring(group, groups_);
        return {resting, std::move(group), shape, self};
    }

    /// Adds a call of running sums to a step: it adds the terms within `ranges`, which lie in buffer `from`, to all
    /// sums in buffer `into`.
    EINPARALLEL_INLINE void add(step& now, buffer_id from, buffer_id into, std::vector<interval> ranges, row_read row,
                                write_mode mode) const {
        ranges[std::size_t(work_->form.running.sums)] = program_[into].region.sides[summed_dimension()];
        if (!region_of(work_->form.output, ranges).empty()) {
            now.work.emplace_back(contraction{vertex_, {from}, into, std::move(ranges), mode, std::move(row)});
        }
    }

    /// The dimension of the output that has the label of the running sums.
    EINPARALLEL_INLINE std::size_t summed_dimension() const {
        return std::size_t(find_in(work_->form.output, work_->form.running.sums) - work_->form.output.begin());
    }

    step& at(std::size_t phase) {
        step& found = steps_[phase];
        found.phase = phase;
        return found;
    }

    program& program_;
    std::size_t first_phase_;
    int rank_;
    const rank_groups& groups_;
    const task* work_;
    std::size_t vertex_;
    std::vector<interval> ranges_;
    std::vector<buffer_id> blocks_;
    std::map<std::size_t, step> steps_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
