#pragma once

#include <einparallel/kernel/work/select.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/tokens.ipp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Points that are visited at a time.
inline constexpr index selected_together = 256;

/// The loops of a select over all labels that tokens do not choose, and the strides of the labels that they choose.
EINPARALLEL_INLINE class select_loops {
public:
    select_loops(const block_call& call, const select_work& work)
        : work_(work), bytes_(index(work.element.bytes)), extents_(call.extents.size()) {
        std::copy(call.extents.begin(), call.extents.end(), extents_.begin());
        const std::size_t count = work.indices.size();
        for (std::size_t each = 0; each < count; ++each) {
            const strided_block& range = call.operands[1 + count + each];
            const label_id label = range.labels[0];
            const index size = call.extents[std::size_t(label)];
            chosen_.push_back({call.first_along(label), size, stride_along(call.output, label),
                               stride_along(call.operands[0], label),
                               static_cast<const std::byte*>(call.operands[1 + each].data)});
            in_output_ = in_output_ || found_in(label, call.output.labels);
            extents_[std::size_t(label)] = 1;
        }
        nest_ = loop_nest(call, {extents_.data(), extents_.size()}, 1 + count);
        nest_.sort_by(0);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (nest_.of(loop)[0] == 1 && nest_.of(loop)[1] == 1 && !moves_tokens(loop)) {
                row_ = loop;
            }
        }
    }

    /// True where all elements of the output are written, each of them once.
    [[nodiscard]] bool fills() const { return !in_output_ && !nest_.sum_empty && nest_.all_in_output(); }
    [[nodiscard]] bool empty() const { return nest_.output_empty || nest_.sum_empty; }

    /// Throws where two points replace one element.
    void check_once() const {
        loop_nest of_tokens(nest_.slots);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (moves_tokens(loop)) {
                std::copy_n(nest_.of(loop), nest_.slots, of_tokens.add(nest_.extents[loop]));
            }
        }
        std::vector<index> offsets;
        const auto add = [&](const index* into, const index* /*from*/, index count) {
            offsets.insert(offsets.end(), into, into + count);
        };
        for_each_points(of_tokens, add, [](const index*, index) {});
        std::sort(offsets.begin(), offsets.end());
        const auto twice = std::adjacent_find(offsets.begin(), offsets.end());
        if (twice == offsets.end()) {
            return;
        }
        const odometer::loop_list all = loops_that(of_tokens, [](std::size_t) { return true; });
        std::string named;
        for (index number = 0; named.empty(); ++number) {
            odometer walk(of_tokens, all);
            small_vector<index, 8> at(of_tokens.slots, 0);
            walk.go_to(number, at.data());
            index offset = at[0];
            std::string values;
            for (std::size_t each = 0; each < chosen_.size(); ++each) {
                const element_type element = work_.indices[each].element;
                index value = 0;
                for_each_token(element, chosen_[each].tokens + at[2 + each] * index(element.bytes), 0, 1,
                               [&](index, index token) { value = token; });
                offset += (value - chosen_[each].first) * chosen_[each].z;
                values += (each == 0 ? "" : ", ") + std::to_string(value);
            }
            named = offset == *twice ? values : "";
        }
        throw error("einsum: the left-hand side names index " + named + " of " + work_.indices.front().name +
                    " twice: say += to add up what is assigned to it");
    }

    /// Adds the chosen elements to the output, or copies them there. Where it copies and the block lacks a chosen
    /// element, it writes 0, unless elements are replaced.
    void run(void* output, const void* x, bool copies) const {
        auto* const z = static_cast<std::byte*>(output);
        const auto* const from_x = static_cast<const std::byte*>(x);
        loop_nest points = nest_;
        if (row_ != no_row) {
            points.remove(row_);
        }
        const index length = row_ == no_row ? 1 : nest_.extents[row_];
        const auto row_bytes = std::size_t(length * bytes_);
        const index total = element_count(nest_.extents) * bytes_;
        const bool streams = copies && total >= streamed_bytes && row_bytes >= 512;
        const auto copy = streams ? copy_functions::best(8, 0).stream : &copy_bytes;
        const auto selected = [&](const index* into, const index* from, index count) {
            if (!copies && row_ == no_row) {
                work_.add(z, from_x, into, from, count);
            }
            for (index at = 0; at < count && (copies || row_ != no_row); ++at) {
                std::byte* const to = z + into[at] * bytes_;
                const std::byte* const row = from_x + from[at] * bytes_;
                if (!copies) {
                    const void* const both[] = {to, row};
                    work_.sum.run(work_.sum.functor, to, both, length);
                } else if (row_ == no_row) {
                    copy_rows(bytes_, {to}, {row}, 1);
                } else {
                    copy(to, row, row_bytes);
                }
            }
            report(nest_.hook, count * length);
        };
        const auto others = [&](const index* into, index count) {
            for (index at = 0; at < count && copies && !work_.replaces; ++at) {
                copy_rows(bytes_, {z + into[at] * bytes_}, {work_.sum.identity.data(), 0}, length);
            }
        };
        for_each_points(points, selected, others);
        if (streams) {
            end_streaming();
        }
    }

private:
    static constexpr std::size_t no_row = row_order::none;

    /// A label that a token chooses: its block, its strides, and the tokens.
    struct chosen {
        index first;
        index size;
        index z;
        index x;
        const std::byte* tokens;
    };

    [[nodiscard]] bool moves_tokens(std::size_t loop) const {
        const index* const moves = nest_.of(loop);
        return any_in(std::span(moves + 2, nest_.slots - 2), [](index move) { return move != 0; });
    }

    /// Calls selected(into, from, count) for points, many at a time, with their offsets in the output and in X. Calls
    /// others(into, count) for points whose chosen element is not in the block, with their offsets in the output.
    void for_each_points(const loop_nest& points, const auto& selected, const auto& others) const {
        const odometer::loop_list outer =
            loops_that(points, [&](std::size_t loop) { return loop + 1 < points.size(); });
        small_vector<index, 8> still(points.slots, 0);
        const index length = points.size() == 0 ? 1 : points.extents[points.size() - 1];
        const index* const moves = points.size() == 0 ? still.data() : points.of(points.size() - 1);
        odometer walk(points, outer);
        small_vector<index, 8> at(points.slots, 0);
        index into[selected_together];
        index from[selected_together];
        index rest[selected_together];
        bool has[selected_together];
        const bool has_all = chosen_.size() == 1 && chosen_[0].size == work_.indices[0].extent;
        do {
            for (index begin = 0; begin < length; begin += selected_together) {
                const index count = std::min(selected_together, length - begin);
                const index z = at[0] + begin * moves[0];
                const index x = at[1] + begin * moves[1];
                const auto for_each_of = [&](std::size_t number, const auto& visit) {
                    const element_type element = work_.indices[number].element;
                    const index stride = moves[2 + number];
                    for_each_token(element,
                                   chosen_[number].tokens + (at[2 + number] + begin * stride) * index(element.bytes),
                                   stride, count, visit);
                };
                if (has_all) {
                    // Captures copies, so that the compiler need not assume that the stores change them.
                    for_each_of(0, [z, x, z_step = moves[0], x_step = moves[1], by = chosen_[0], &into, &from](
                                       index each, index token) {
                        into[each] = z + each * z_step + token * by.z;
                        from[each] = x + each * x_step + token * by.x;
                    });
                    selected(into, from, count);
                    continue;
                }
                for (index each = 0; each < count; ++each) {
                    into[each] = z + each * moves[0];
                    from[each] = x + each * moves[1];
                    has[each] = true;
                }
                for (std::size_t number = 0; number < chosen_.size(); ++number) {
                    const chosen& by = chosen_[number];
                    for_each_of(number, [&](index each, index token) {
                        const index position = token - by.first;
                        has[each] = has[each] && std::uint64_t(position) < std::uint64_t(by.size);
                        into[each] += position * by.z;
                        from[each] += position * by.x;
                    });
                }
                index found = 0;
                index lacking = 0;
                for (index each = 0; each < count; ++each) {
                    rest[lacking] = into[each];
                    into[found] = into[each];
                    from[found] = from[each];
                    found += has[each] ? 1 : 0;
                    lacking += has[each] ? 0 : 1;
                }
                selected(into, from, found);
                others(rest, lacking);
            }
        } while (walk.advance(at.data()));
    }

    const select_work& work_;
    index bytes_;
    small_vector<index, 16> extents_;
    small_vector<chosen, 4> chosen_;
    loop_nest nest_;
    std::size_t row_ = no_row;  ///< a loop along which the output and X are contiguous, and which moves no token
    bool in_output_ = false;
};

EINPARALLEL_INLINE void run_select(const block_call& call, const select_work& work) {
    const std::size_t count = work.indices.size();
    for (std::size_t each = 0; each < count; ++each) {
        check_tokens(call, call.operands[1 + each], work.indices[each]);
    }
    const select_loops loops(call, work);
    if (work.replaces && !loops.empty()) {
        loops.check_once();
    }
    const bool fills = loops.fills();
    if (call.mode == write_mode::overwrite && !fills) {
        const small_vector<index, 8> extents = extents_of(call, call.output.labels);
        const small_vector<index, 8> none(extents.size(), 0);
        const void* from = work.sum.identity.data();
        index_span strides(none.data(), none.size());
        if (work.replaces) {
            from = call.operands.back().data;
            strides = call.operands.back().steps();
        }
        if (from != call.output.data) {
            copy_box({extents.data(), extents.size()}, work.element.bytes, call.output.data, call.output.steps(), from,
                     strides);
        }
    }
    if (!loops.empty()) {
        loops.run(call.output.data, call.operands[0].data,
                  work.replaces || (fills && call.mode == write_mode::overwrite));
    }
}

/// The program Σ (token1 == v1 ∧ … ? x : 0). Where elements are replaced, it has the last operand in place of 0, and no
/// Σ.
EINPARALLEL_INLINE op_program program_of_select(const select_work& work) {
    constexpr element_type of_position = element_type_of<index>();
    constexpr element_type of_truth = element_type_of<bool>();
    const std::size_t count = work.indices.size();
    std::vector<element_type> operands{work.element};
    for (const data_index& each : work.indices) {
        operands.push_back(each.element);
    }
    operands.insert(operands.end(), count, of_position);
    if (work.replaces) {
        operands.push_back(work.element);
    }
    op_program program(work.replaces ? reduction::unknown : reduction::sum, operands);
    op_register both = 0;
    for (std::size_t each = 0; each < count; ++each) {
        const op_register pair[] = {op_register(1 + each), op_register(1 + count + each)};
        const op_register is_here = program.call({op_code::equal}, of_truth, of_position, pair);
        const op_register all[] = {both, is_here};
        both = each == 0 ? is_here : program.call({op_code::multiply}, of_truth, of_truth, all);
    }
    const op_register other = work.replaces ? op_register(1 + 2 * count) : program.number(work.element, number_bits{});
    const op_register arguments[] = {both, 0, other};
    program.call({op_code::choice}, work.element, work.element, arguments);
    return program;
}

EINPARALLEL_INLINE std::shared_ptr<const kernel> make_select_kernel(const select_work& work) {
    double operations = 2;  // for a point with one position along each label that a token chooses
    for (const data_index& each : work.indices) {
        operations /= double(std::max<index>(each.extent, 1));
    }
    return std::make_shared<const kernel>(
        work, program_of_select(work), work.sum, operations,
        [](const block_call& call, const kernel& of) { run_select(call, *of.as<select_work>()); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
