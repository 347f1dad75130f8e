#pragma once
// Plays the programs of all ranks in one process, on doubles: mailboxes instead of MPI, scalar loops instead of
// kernels. What is not yet written is NaN, so that a use of it shows in the result.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/work/softmax.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::testing {

/// The ⊕ and ⊗ of the kernel below.
enum class played_operators { sum_of_products, max_of_sums, sum_of_sums };

constexpr double identity_of(played_operators operators) {
    return operators != played_operators::max_of_sums ? 0.0 : -std::numeric_limits<double>::infinity();
}
constexpr double aggregate(played_operators operators, double a, double b) {
    // A NaN on either side stays, in max as in +.
    return operators != played_operators::max_of_sums || a != a || b != b ? a + b : std::max(a, b);
}
constexpr double join(played_operators operators, double a, double b) {
    return operators == played_operators::sum_of_products ? a * b : a + b;
}
constexpr double unit_of(played_operators operators) {
    return operators == played_operators::sum_of_products ? 1.0 : 0.0;
}

/// Calls visit(point) for every point with 0 <= point[i] < extents[i].
template <class Visit>
void for_each_point(std::span<const index> extents, Visit visit) {
    std::vector<index> point(extents.size(), 0);
    for (const index extent : extents) {
        if (extent == 0) {
            return;
        }
    }
    for (;;) {
        visit(std::as_const(point));
        std::size_t dimension = extents.size();
        while (dimension > 0 && ++point[dimension - 1] == extents[dimension - 1]) {
            point[--dimension] = 0;
        }
        if (dimension == 0) {
            return;
        }
    }
}

/// Calls visit(point) for every point of a box.
template <class Visit>
void for_each_point(const box& region, Visit visit) {
    if (region.empty()) {
        return;
    }
    for_each_point(detail::extents_of(region), [&](std::vector<index> point) {
        for (std::size_t dimension = 0; dimension < point.size(); ++dimension) {
            point[dimension] += region.sides[dimension].begin;
        }
        visit(std::as_const(point));
    });
}

/// Scalar loops over the whole iteration space.
class loop_kernel {
public:
    explicit loop_kernel(played_operators operators) : operators_(operators) {}

    void contract(const block_call& call) const {
        double* const out = static_cast<double*>(call.output.data);
        std::map<index, double>
            sums;  // by place; written when all is read, for the output may lie where an operand does
        std::vector<index> shape;
        for (const label_id label : call.output.labels) {
            shape.push_back(label == no_label ? 1 : call.extents[static_cast<std::size_t>(label)]);
        }
        for_each_point(shape, [&](const std::vector<index>& point) {
            index at = 0;
            for (std::size_t dimension = 0; dimension < point.size(); ++dimension) {
                at += point[dimension] * call.output.strides[dimension];
            }
            sums[at] = call.mode == write_mode::overwrite ? identity_of(operators_) : out[at];
        });
        for_each_point(call.extents, [&](const std::vector<index>& point) {
            double joined = unit_of(operators_);
            for (const strided_block& operand : call.operands) {
                joined = join(operators_, joined,
                              static_cast<const double*>(operand.data)[offset(operand.labels, operand.steps(), point)]);
            }
            double& place = sums[offset(call.output.labels, call.output.steps(), point)];
            place = aggregate(operators_, place, joined);
        });
        for (const auto& [at, sum] : sums) {
            out[at] = sum;
        }
    }

    void combine(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
                 std::span<const index> from_strides) const {
        for_each_point(extents, [&](const std::vector<index>& point) {
            index to = 0;
            index source = 0;
            for (std::size_t dimension = 0; dimension < point.size(); ++dimension) {
                to += point[dimension] * into_strides[dimension];
                source += point[dimension] * from_strides[dimension];
            }
            double& place = static_cast<double*>(into)[to];
            place = aggregate(operators_, place, static_cast<const double*>(from)[source]);
        });
    }

    [[nodiscard]] bool is_contraction() const { return false; }
    [[nodiscard]] double operations_per_point() const { return 2; }

private:
    static index offset(std::span<const label_id> labels, std::span<const index> strides,
                        const std::vector<index>& point) {
        index at = 0;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            at += labels[dimension] == no_label
                      ? 0
                      : strides[dimension] * point[static_cast<std::size_t>(labels[dimension])];
        }
        return at;
    }

    played_operators operators_;
};

/// What a program refers to by vertex number. All elements are doubles.
struct played_vertex {
    einsum_form form;
    const loop_kernel* work = nullptr;
    std::function<void(const box&, double*)> read;  ///< for read_source
};

/// Memory of one rank: every buffer on its own, or all at their offsets in one arena.
class played_memory {
public:
    played_memory(const program& of_rank, bool in_arena) : buffers_(of_rank.buffers) {
        constexpr double poison = std::numeric_limits<double>::quiet_NaN();
        arena_plan planned;
        arena_plan kept;
        if (in_arena) {
            kept = room_of(of_rank).kept;
            planned = plan_arena(of_rank, [&](buffer_id number) { return kept.holds(number); });
            memory_.emplace_back(planned.bytes / sizeof(double), poison);
            memory_.emplace_back(kept.bytes / sizeof(double), poison);
        }
        for (std::size_t number = 0; number < buffers_.size(); ++number) {
            if (in_arena && kept.holds(static_cast<buffer_id>(number))) {
                starts_.push_back(memory_[1].data() + kept.offsets[number] / sizeof(double));
            } else if (in_arena) {
                starts_.push_back(memory_[0].data() + planned.offsets[number] / sizeof(double));
            } else {
                memory_.emplace_back(static_cast<std::size_t>(buffers_[number].region.size()), poison);
                starts_.push_back(memory_.back().data());
            }
        }
    }

    [[nodiscard]] double* first(buffer_id of, const box& region) {
        const box& whole = buffers_[static_cast<std::size_t>(of)].region;
        return region.empty() ? nullptr
                              : starts_[static_cast<std::size_t>(of)] + detail::offset_of(region, whole, strides(of));
    }

    [[nodiscard]] std::vector<index> strides(buffer_id of) const {
        return dense_strides(buffers_[static_cast<std::size_t>(of)].region);
    }

    [[nodiscard]] std::vector<double> pack(buffer_id of, const box& region) {
        std::vector<double> packed;
        visit(of, region, [&](double& element) { packed.push_back(element); });
        return packed;
    }

    void unpack(buffer_id of, const box& region, const std::vector<double>& packed) {
        if (static_cast<index>(packed.size()) != region.size()) {
            throw std::logic_error("a message of the wrong size");
        }
        std::size_t next = 0;
        visit(of, region, [&](double& element) { element = packed[next++]; });
    }

    void poison(buffer_id of, const box& region) {
        visit(of, region, [](double& element) { element = std::numeric_limits<double>::quiet_NaN(); });
    }

private:
    template <class Use>
    void visit(buffer_id of, const box& region, Use use) {
        double* const start = first(of, region);
        if (start == nullptr) {
            return;
        }
        const std::vector<index> steps = strides(of);
        for_each_point(detail::extents_of(region), [&](const std::vector<index>& point) {
            index at = 0;
            for (std::size_t dimension = 0; dimension < point.size(); ++dimension) {
                at += point[dimension] * steps[dimension];
            }
            use(start[at]);
        });
    }

    std::vector<buffer> buffers_;
    std::vector<std::vector<double>> memory_;
    std::vector<double*> starts_;
};

/// Storage of one rank. Moves take effect as late as they may, one after the other.
class played_storage {
public:
    explicit played_storage(const program& of_rank) : of_rank_(&of_rank) {
        for (const stored_tensor& each : of_rank.stored) {
            tensors_.emplace_back(static_cast<std::size_t>(each.region.size()),
                                  std::numeric_limits<double>::quiet_NaN());
        }
    }

    /// Begins the moves of the step at a position.
    void begin(std::size_t position, played_memory& memory) {
        for (const page_move& each : of_rank_->steps[position].pages) {
            const box& region = (*of_rank_)[each.buffer].region;
            waiting_.push_back({each, position + each.until, {}});
            if (each.evicts) {
                waiting_.back().elements = memory.pack(each.buffer, region);
            } else {
                memory.poison(each.buffer, region);
            }
        }
    }

    /// Ends the moves that are due with the step at a position, and those before them.
    void end(std::size_t position, played_memory& memory, const std::vector<played_vertex>& vertices) {
        while (std::ranges::any_of(waiting_, [&](const move& each) { return each.due <= position; })) {
            carry_out(waiting_.front(), memory, vertices);
            waiting_.pop_front();
        }
    }

    [[nodiscard]] const std::vector<double>& tensor(std::size_t stored) const { return tensors_[stored]; }
    std::size_t bytes = 0;

private:
    struct move {
        page_move of;
        std::size_t due = 0;
        std::vector<double> elements{};
    };

    void carry_out(const move& each, played_memory& memory, const std::vector<played_vertex>& vertices) {
        const stored_tensor& stored = of_rank_->stored[each.of.stored];
        const box& region = (*of_rank_)[each.of.buffer].region;
        bytes += (*of_rank_)[each.of.buffer].bytes();
        std::vector<double> elements(static_cast<std::size_t>(region.size()));
        std::vector<double>& kept = tensors_[each.of.stored];
        std::size_t next = 0;
        const std::vector<index> strides = dense_strides(stored.region);
        const auto place = [&](const std::vector<index>& point) -> double& {
            index at = 0;
            for (std::size_t side = 0; side < point.size(); ++side) {
                at += (point[side] - stored.region.sides[side].begin) * strides[side];
            }
            return kept.at(static_cast<std::size_t>(at));
        };
        if (each.of.evicts) {
            elements = memory.pack(each.of.buffer, region);
            if (stored.input != stored_tensor::no_vertex) {
                throw std::logic_error("an input is written");
            }
            if (!std::ranges::equal(elements, each.elements,
                                    [](double x, double y) { return x == y || (x != x && y != y); })) {
                throw std::logic_error("an eviction whose elements changed on the way");
            }
            for_each_point(region, [&](const std::vector<index>& point) { place(point) = elements[next++]; });
            return;
        }
        if (stored.input != stored_tensor::no_vertex) {
            vertices[stored.input].read(region, elements.data());
        } else {
            for_each_point(region, [&](const std::vector<index>& point) { elements[next++] = place(point); });
        }
        memory.unpack(each.of.buffer, region, elements);
    }

    const program* of_rank_;
    std::vector<std::vector<double>> tensors_{};
    std::deque<move> waiting_{};
};

/// Runs one contraction in the memory of a rank.
inline void play_contraction(played_memory& memory, const contraction& call, const played_vertex& of,
                             const detail::accesses& touched) {
    std::vector<index> extents;
    for (const interval& range : call.ranges) {
        extents.push_back(range.size());
    }
    std::vector<std::vector<index>> strides;
    for (const buffer_id operand : call.operands) {
        strides.push_back(memory.strides(operand));
    }
    std::vector<strided_block> operands;
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        operands.push_back({memory.first(call.operands[operand], touched.reads[operand].region),
                            element_type_of<double>(), call.labels_of(of.form, operand), strides[operand]});
    }
    const std::vector<index> output_strides = memory.strides(call.output);
    const block_call blocks{extents,
                            operands,
                            {memory.first(call.output, touched.writes.front().region), of.form.output, output_strides},
                            call.mode};
    call.rows.along == no_label ? of.work->contract(blocks) : detail::softmax_block<double>(blocks, call.rows.along);
}

/// Runs the work of one step.
inline void play_work(const program& of_rank, const step& now, played_memory& memory,
                      const std::vector<played_vertex>& vertices) {
    for (const action& done : now.work) {
        if (const auto* read = std::get_if<read_source>(&done)) {
            const box& region = of_rank.buffers[static_cast<std::size_t>(read->into)].region;
            vertices[read->vertex].read(region, memory.first(read->into, region));
        } else if (const auto* call = std::get_if<contraction>(&done)) {
            const played_vertex& of = vertices[call->vertex];
            play_contraction(memory, *call, of, detail::accesses_of(of_rank, done, &of.form));
        } else if (const auto* moved = std::get_if<local_move>(&done); moved->vertex != local_move::no_vertex) {
            vertices[moved->vertex].work->combine(
                detail::extents_of(moved->region), memory.first(moved->into, moved->region),
                memory.strides(moved->into), memory.first(moved->from, moved->region), memory.strides(moved->from));
        } else {
            memory.unpack(moved->into, moved->region, memory.pack(moved->from, moved->region));
        }
    }
}

/// Plays all programs to their end, ranks in any order that messages allow, and returns the memories. Of several runs
/// the later ones leave out what is marked once, and find nothing but what is kept.
inline std::vector<played_memory> play(const std::vector<program>& of_ranks, const std::vector<played_vertex>& vertices,
                                       bool in_arena = false, int runs = 1) {
    const std::size_t ranks = of_ranks.size();
    std::vector<played_memory> memories;
    std::vector<played_storage> storages;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        memories.emplace_back(of_ranks[rank], in_arena);
        storages.emplace_back(of_ranks[rank]);
    }
    std::vector<std::size_t> next(ranks, 0);
    std::vector<bool> working(ranks, false);                              // begun, but not complete
    std::map<std::pair<int, int>, std::deque<std::vector<double>>> mail;  // (from, to), in order
    const auto begin = [&](std::size_t rank, const step& now) {
        storages[rank].begin(next[rank], memories[rank]);
        for (const message& received : now.receives) {
            memories[rank].poison(received.buffer, received.region);
        }
        std::vector<std::vector<double>> letters;
        for (const message& sent : now.sends) {
            letters.push_back(memories[rank].pack(sent.buffer, sent.region));
        }
        play_work(of_ranks[rank], now, memories[rank], vertices);
        // What is sent must stay as it was while the step lasts, also where buffers share memory.
        for (std::size_t number = 0; number < letters.size(); ++number) {
            const message& sent = now.sends[number];
            if (!std::ranges::equal(letters[number], memories[rank].pack(sent.buffer, sent.region),
                                    [](double x, double y) { return x == y || (x != x && y != y); })) {
                throw std::logic_error("a send whose elements changed on the way");
            }
            mail[{static_cast<int>(rank), sent.peer}].push_back(std::move(letters[number]));
        }
        return true;
    };
    const auto complete = [&](std::size_t rank, const step& now) {
        std::map<int, std::size_t> wanted;
        for (const message& received : now.receives) {
            if (mail[{received.peer, static_cast<int>(rank)}].size() < ++wanted[received.peer]) {
                return false;
            }
        }
        for (const message& received : now.receives) {
            std::deque<std::vector<double>>& letters = mail[{received.peer, static_cast<int>(rank)}];
            memories[rank].unpack(received.buffer, received.region, letters.front());
            letters.pop_front();
        }
        storages[rank].end(next[rank], memories[rank], vertices);
        return true;
    };
    std::mt19937 random(static_cast<unsigned>(ranks));
    std::vector<std::size_t> order(ranks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int run = 0; run < runs; ++run) {
        for (std::size_t rank = 0; rank < ranks && run > 0; ++rank) {
            const std::vector<lifetime> alive = lifetimes_of(of_ranks[rank]);
            for (std::size_t number = 0; number < alive.size(); ++number) {
                if (!alive[number].kept) {
                    memories[rank].poison(static_cast<buffer_id>(number), of_ranks[rank].buffers[number].region);
                }
            }
            next[rank] = 0;
        }
        const auto skip = [&](std::size_t rank) {
            while (run > 0 && next[rank] < of_ranks[rank].steps.size() && of_ranks[rank].steps[next[rank]].once) {
                ++next[rank];
            }
            return next[rank] < of_ranks[rank].steps.size();
        };
        for (bool advanced = true; advanced;) {
            advanced = false;
            std::ranges::shuffle(order, random);
            for (const std::size_t rank : order) {
                // Some run ahead as far as they can, others take one half of a step.
                for (bool once = random() % 2 == 0, going = true; going && skip(rank);) {
                    const step& now = of_ranks[rank].steps[next[rank]];
                    going = working[rank] ? complete(rank, now) : begin(rank, now);
                    advanced = advanced || going;
                    next[rank] += going && working[rank] ? 1 : 0;
                    working[rank] = working[rank] != going;
                    going = going && !once;
                }
            }
        }
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (next[rank] < of_ranks[rank].steps.size()) {
                throw std::logic_error("ranks that wait for each other");
            }
        }
    }
    return memories;
}

}  // namespace einparallel::testing
