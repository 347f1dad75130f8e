#pragma once

#include <einparallel/kernel/join.hpp>

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE row_name row_program::push_number(const void* value, std::size_t bytes) {
    numbers.push_back({});
    __builtin_memcpy(numbers.back().data(), value, bytes);
    return row_name(number_name + numbers.size() - 1);
}

EINPARALLEL_INLINE row_name row_program::push(row_function run, const void* functor, const row_name* arguments,
                                              std::size_t count, std::size_t bytes) {
    row_step made{run, functor, std::uint16_t(sources.size()), std::uint16_t(count), 0};
    std::size_t into = std::size_t(std::find(held.begin(), held.end(), 0) - held.begin());
    for (std::size_t argument = count; argument-- > 0;) {
        const row_name name = arguments[argument];
        if (name >= operands && name < number_name && held[name - operands] == bytes) {
            into = std::size_t(name - operands);
        }
    }
    for (std::size_t argument = 0; argument < count; ++argument) {
        const row_name name = arguments[argument];
        sources.push_back(name);
        if (name >= operands && name < number_name) {
            held[name - operands] = 0;
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

/// Rows of ⊕ over what a program makes of the operands: each step is one call for a whole row.
EINPARALLEL_INLINE class join_rows final : public row_worker {
public:
    join_rows(const row_program& program, const row_reduction& reduction, void* output, const row_operands& operands,
              write_mode mode)
        : row_worker(reduction, output, operands, mode, results_memory_,
                     width_of(program, widest_of(program, reduction, operands))),
          program_(program),
          pitch_(row_pitch(this->width() * widest_of(program, reduction, operands))),
          heap_(std::size_t(pitch_) * rows_of(program) > sizeof(memory_) ? std::size_t(pitch_) * rows_of(program) : 0),
          rows_(heap_.data() != nullptr ? heap_.data() : memory_) {
        this->summed_width = 256;
    }

    void accumulate(const std::byte* const* from, const index* /*moves*/, index count, bool first) override {
        std::byte* const results = this->straight_ != nullptr ? this->straight_ : this->result(0);
        const void* value = program_.operands == 0 ? nullptr : from[0];
        small_vector<const void*, 12> arguments;
        for (const row_step& step : program_.steps) {
            arguments.clear();
            for (std::size_t source = 0; source < step.source_count; ++source) {
                const row_name name = program_.sources[step.first_source + source];
                arguments.push_back(name >= number_name         ? program_.numbers[name - number_name].data()
                                    : name >= program_.operands ? row(name - program_.operands)
                                                                : from[name]);
            }
            std::byte* const into =
                first && &step == program_.steps.end() - 1 ? results : row(step.into - program_.operands);
            step.run(step.functor, into, arguments.data(), count);
            value = into;
        }
        if (value == nullptr) {
            value = row(0);
            copy_rows(this->reduction_.bytes, {row(0)}, {program_.numbers[0].data(), 0}, count);
        }
        if (!first) {
            this->reduce(results, static_cast<const std::byte*>(value), count);
        } else if (value != results) {
            copy_rows(this->reduction_.bytes, {results}, {value}, count);
        }
    }

    void write(index number, index offset, index move, index count) override {
        if (this->straight_ == nullptr) {
            this->write_row(number, offset, move, count);
        }
    }

    void run_own(const row_walk& walk, index place) override {
        const bool piece = place != row_worker::to_output;
        join_rows own(program_, this->reduction_, piece ? this->result(place) : this->output_, this->operands(),
                      piece ? write_mode::overwrite : this->mode_);
        run_walk(walk, own);
    }

private:
    static constexpr std::size_t memory_bytes = 24576;  ///< of the first-level cache, beside operands and results

    /// Rows beside the results and the operands.
    static std::size_t rows_of(const row_program& program) { return std::max<std::size_t>(program.held.size(), 1); }
    static index widest_of(const row_program& program, const row_reduction& reduction, const row_operands& operands) {
        index widest = std::max<index>(program.widest, reduction.bytes);
        for (const row_operand& operand : operands) {
            widest = std::max(widest, operand.bytes);
        }
        return widest;
    }
    static index width_of(const row_program& program, index widest) {
        const index each = index(memory_bytes / (program.operands + rows_of(program))) - 1024;
        return std::clamp<index>(each / widest, 64, row_worker::least_width) / 16 * 16;
    }

    [[nodiscard]] std::byte* row(std::size_t name) const { return rows_ + index(name) * pitch_; }

    const row_program& program_;
    index pitch_;
    scratch_memory heap_;
    std::byte* rows_;
    alignas(64) std::byte memory_[memory_bytes];
    alignas(64) std::byte results_memory_[row_worker::largest_row];
};

EINPARALLEL_INLINE void run_join(const block_call& call, const join_work& work) {
    loop_nest nest(call);
    if (!has_points(nest, call, work.reduction)) {
        return;
    }
    if (work.tiles.run != nullptr && !nest.all_in_output() &&
        run_in_tiles(nest, work.tiles, call.operands[0].data, call.operands[1].data, call.output.data, call.mode)) {
        return;
    }
    row_operands operands;
    for (std::size_t operand = 0; operand < work.bytes.size(); ++operand) {
        operands.push_back({static_cast<const std::byte*>(call.operands[operand].data), work.bytes[operand]});
    }
    nest.sort_by(0);
    join_rows rows(work.rows, work.reduction, call.output.data, operands, call.mode);
    run_rows(nest, rows);
}

EINPARALLEL_INLINE std::shared_ptr<const kernel> make_join_kernel(join_work work, op_program program) {
    return std::shared_ptr<const kernel>(new work_kernel(std::move(work), std::move(program)));
}

EINPARALLEL_INLINE void reducing_kernel::combine_boxes(std::span<const index> extents, void* into,
                                                       std::span<const index> into_strides, const void* from,
                                                       std::span<const index> from_strides) const {
    loop_nest nest(2);
    if (nest.add_box(extents, into_strides, from_strides)) {
        nest.sort_by(0);
        row_program itself;
        itself.operands = 1;
        row_operands operands;
        operands.push_back({static_cast<const std::byte*>(from), reduction_.bytes});
        join_rows rows(itself, reduction_, into, operands, write_mode::combine);
        run_rows(nest, rows);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
