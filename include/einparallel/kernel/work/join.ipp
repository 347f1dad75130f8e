#pragma once

#include <einparallel/kernel/work/join.hpp>

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/coded_row.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/join_rows.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE row_name row_program::push(row_call call, const row_name* arguments, std::size_t count,
                                              std::size_t bytes, unsigned kept) {
    row_step made{call.run, call.functor, std::uint16_t(sources.size()), std::uint16_t(count), 0};
    std::size_t into = std::size_t(std::find(held.begin(), held.end(), 0) - held.begin());
    const auto is_freed = [&](std::size_t argument) {
        return arguments[argument] >= operands && arguments[argument] < number_name && (kept >> argument & 1U) == 0;
    };
    for (std::size_t argument = count; argument-- > 0;) {
        if (is_freed(argument) && held[arguments[argument] - operands] == bytes) {
            into = std::size_t(arguments[argument] - operands);
        }
    }
    for (std::size_t argument = 0; argument < count; ++argument) {
        sources.push_back(arguments[argument]);
        links.push_back(with_number(op_link::first, arguments[argument] >= number_name));
        if (is_freed(argument)) {
            held[arguments[argument] - operands] = 0;
        }
    }
    if (into == held.size()) {
        held.push_back(0);
    }
    held[into] = std::uint16_t(bytes);
    widest = std::max(widest, held[into]);
    made.into = row_name(operands + into);
    steps.push_back(made);
    return made.into;
}

EINPARALLEL_INLINE row_name row_program::push_arithmetic(op_code code, row_function alone, const row_name* arguments,
                                                         std::size_t bytes, unsigned kept) {
    const row_function run = with_best_instructions([&](auto set) -> row_function {
        return bytes == 8 ? &op_chain<double, set.value>::run : &op_chain<float, set.value>::run;
    });
    const auto is_chain = [&](std::size_t back) {
        return steps.size() >= back && steps.end()[-index(back)].run == run;
    };
    const bool goes_on = is_chain(1) && arguments[0] != arguments[1];
    const bool is_first = goes_on && steps.back().into == arguments[0] && (kept & 1U) == 0;
    const bool is_second = goes_on && steps.back().into == arguments[1] && (kept & 2U) == 0;
    const row_name other = arguments[is_second ? 0 : 1];
    const bool keeps_other = (kept >> (is_second ? 0 : 1) & 1U) != 0;
    op_link link = op_link(int(op_link::add) + int(code) - int(op_code::add));
    if (!is_first && !is_second) {
        const row_name made = push({run, nullptr}, arguments, 2, bytes, kept);
        links.back() = with_number(link, other >= number_name);
        steps.back().alone = alone;
        return made;
    }
    // A chain goes on. Where the last step is only a product of two sources, the chain before it takes in this product.
    const std::size_t product = steps.back().first_source;
    row_name* const x = sources.data() + product;
    if (link <= op_link::subtract && is_chain(2) && steps.end()[-2].into == other && !keeps_other &&
        sources.size() == product + 2 && without_number(links[product + 1]) == op_link::multiply &&
        (x[0] < number_name || x[1] < number_name)) {
        if (x[1] >= number_name) {
            std::swap(x[0], x[1]);
        }
        links[product] = with_number(link == op_link::add ? op_link::add_product
                                     : is_second          ? op_link::subtract_product
                                                          : op_link::subtract_from_product,
                                     x[0] >= number_name);
        held[steps.back().into - operands] = 0;
        steps.resize(steps.size() - 1);
        steps.back().source_count = std::uint16_t(steps.back().source_count + 2);
        return steps.back().into;
    }
    link = !is_second || link == op_link::add || link == op_link::multiply ? link
           : link == op_link::subtract                                     ? op_link::subtract_from
                                                                           : op_link::divide_from;
    sources.push_back(other);
    links.push_back(with_number(link, other >= number_name));
    ++steps.back().source_count;
    if (other >= operands && other < number_name && !keeps_other) {
        held[other - operands] = 0;
    }
    return steps.back().into;
}

EINPARALLEL_SELDOM join_work join_work_of(const op_program& program, std::span<const row_call> calls) {
    const std::vector<op_instruction>& all = program.instructions();
    std::vector<std::vector<op_register>> sources(all.size());  // behind arguments of opaque ones: what they pass on
    std::vector<std::size_t> readers(all.size());
    for (std::size_t number = 0; number < all.size(); ++number) {
        sources[number] = sources_of(all, number);
        for (op_register& source : sources[number]) {
            source = all[source].code == op_code::argument ? all[source].from[0] : source;
            readers[source] += all[number].code == op_code::argument ? 0 : 1;
        }
    }
    join_work made;
    made.rows.operands = std::uint16_t(program.operand_count());
    made.reduction = coded_reduction(program.aggregates_by(), program.type());
    std::vector<row_name> names(all.size());
    for (std::size_t number = 0; number < all.size(); ++number) {
        const op_instruction& each = all[number];
        if (each.code == op_code::operand) {
            names[number] = row_name(number);
        } else if (each.code == op_code::number) {
            row_number value{};
            const std::size_t half = each.kind == 'c' ? each.bytes / 2 : each.bytes;
            __builtin_memcpy(value.data(), each.bits.data(), half);
            __builtin_memcpy(value.data() + half, each.bits.data() + 1, each.bytes - half);
            names[number] = made.rows.push_number(value.data(), each.bytes);
        } else if (each.code != op_code::argument) {
            small_vector<row_name, 4> arguments;
            unsigned numbers = 0;
            unsigned kept = 0;
            std::for_each(sources[number].begin(), sources[number].end(), [&](op_register read) { --readers[read]; });
            for (const op_register read : sources[number]) {
                const unsigned bit = 1U << arguments.size();
                numbers |= all[read].code == op_code::number ? bit : 0;
                kept |= readers[read] > 0 ? bit : 0;
                arguments.push_back(names[read]);
            }
            const element_type of = all[sources[number][each.code == op_code::choice ? 1 : 0]].type();
            row_call call = made.calls.size() < calls.size() ? calls[made.calls.size()] : row_call{};
            call.run = call.run != nullptr ? call.run : coded_row(each.code, each.type(), of, numbers);
            require(call.run != nullptr,
                    {program.formula(), ": there is no kernel of step ", number, " for ", written_element(of)});
            made.calls.push_back(call);
            const bool is_arithmetic = each.code >= op_code::add && each.code <= op_code::divide && each.kind == 'f';
            names[number] = is_arithmetic
                                ? made.rows.push_arithmetic(each.code, call.run, arguments.data(), each.bytes, kept)
                                : made.rows.push(call, arguments.data(), arguments.size(), each.bytes, kept);
        }
    }
    return made;
}

/// Computes a join for calls like the one that it was made for.
EINPARALLEL_INLINE class join_contraction final : public prepared_call {
public:
    join_contraction(const block_call& call, const join_work& work) : work_(work), nest_(call), mode_(call.mode) {
        ++decisions_made();
        nest_.sort_by(0);
        const bool counts = any_in(call.operands, [](const strided_block& each) { return each.counts_from >= 0; });
        if (work.tiles.run != nullptr && !counts && !nest_.all_in_output() && !nest_.output_empty && !nest_.sum_empty) {
            tiles_ = in_tiles(nest_, work.tiles);
        }
    }

    void run(const block_call& at) override {
        if (!work_.divides_integers) {
            compute(at);
            return;
        }
        divided_by_zero = false;
        compute(at);
        check_divisors(!std::exchange(divided_by_zero, false));
    }

private:
    void compute(const block_call& at) {
        nest_.hook = at.hook;
        if (!has_points(nest_, at, work_.reduction)) {
            return;
        }
        if (tiles_) {
            run_blocked(work_.tiles, tiles_->axes,
                        {nest_, tiles_->batch, at.operands[0].data, x_slot, at.operands[1].data, y_slot, at.output.data,
                         mode_ == write_mode::combine, tiles_->threads, tiles_->threads_inside});
            return;
        }
        row_operands operands;
        for (const strided_block& operand : at.operands) {
            operands.push_back({operand.data, operand.element});
            if (operand.counts_from >= 0) {
                operands[operands.size() - 1].counts_from = operand.counts_from + at.first_along(operand.labels[0]);
            }
        }
        join_rows rows(work_.rows, work_.reduction, at.output.data, operands, mode_);
        run_rows(nest_, rows);
    }

    const join_work& work_;
    loop_nest nest_;
    write_mode mode_;
    std::optional<tiled_loops> tiles_{};
};

EINPARALLEL_INLINE void run_join(const block_call& call, const join_work& work) {
    join_contraction(call, work).run(call);
}

EINPARALLEL_INLINE void check_divisors(bool are_none_zero) {
    if (!are_none_zero) {
        throw integer_divided_by_zero(
            "an integer is divided by zero: write ep::where(b != 0, a / b, 0), which computes only the chosen side");
    }
}

EINPARALLEL_INLINE std::shared_ptr<kernel> make_join_kernel(join_work work, op_program program, kept_functors keeps) {
    double operations = 2.0 * double(work.rows.operands);
    for_each_in(program.instructions(), [&](const auto& each) { operations += operation_of(each.code).cost; });
    const row_reduction reduction = work.reduction;
    return std::make_shared<kernel>(
        std::move(work), std::move(program), reduction, operations,
        [](const block_call& call, const kernel& of) { run_join(call, *of.as<join_work>()); }, std::move(keeps),
        [](const block_call& call, const kernel& of) -> std::unique_ptr<prepared_call> {
            return std::unique_ptr<prepared_call>(new join_contraction(call, *of.as<join_work>()));
        });
}

EINPARALLEL_INLINE void combine_boxes(const row_reduction& reduction, index_span extents, void* into,
                                      index_span into_strides, const void* from, index_span from_strides) {
    expect(reduction.run != nullptr, "kernel: results of parts cannot be put together");
    loop_nest nest(2);
    if (nest.add_box(extents, into_strides, from_strides)) {
        nest.sort_by(0);
        row_program itself;
        itself.operands = 1;
        row_operands operands;
        operands.push_back({from, reduction.element});
        join_rows rows(itself, reduction, into, operands, write_mode::combine);
        run_rows(nest, rows);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
