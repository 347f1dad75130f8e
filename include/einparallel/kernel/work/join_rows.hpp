#pragma once
// A join row by row.

#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// Computes rows of ⊕ over the results of a program. Each step is one call for a whole row.
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
        this->folds.operands = this->folds.longest > 0 && program.operands == 1 && program.steps.empty();
        this->counts = this->reads_any_move =
            is_place(program) && operands[0].counts_from < 0 && operands[2].counts_from >= 0;
        if (this->counts) {
            this->summed_width = this->width();
            this->folds = {0, is_in_vector_rows(operands[0].element), 2, true};
        }
        if (is_chain(program)) {
            this->mapped_width = this->width();
            this->streams_rows = false;
        }
    }

    void accumulate(const std::byte* const* from, const index* moves, index count, bool first) override {
        if (this->counts) {
            find(from, moves, count, first);
            return;
        }
        compute(from, count, first);
    }

    void fold_operands(const std::byte* const* from, const index* moves, const index* beyond, index length,
                       index rows) override {
        if (!this->counts) {
            row_worker::fold_operands(from, moves, beyond, length, rows);
            return;
        }
        const counted_row indices{index(reinterpret_cast<std::uintptr_t>(from[2])), moves[3], length, beyond[1]};
        const void* read[] = {from[0], from[1], nullptr};
        if (beyond[2] != 1) {
            read[1] = row(0);
            copy_rows(this->operands()[1].bytes(), {row(0)}, {from[1], beyond[2]}, rows);
        }
        program_.steps[0].run(&indices, this->result(0), read, rows);
    }

    void write(index number, index offset, index move, index count) override {
        if (this->straight_ == nullptr) {
            this->write_row(number, offset, move, count);
        }
    }

    void run_own(const row_walk& walk, index number) override {
        const bool is_split = number != row_worker::to_output;
        join_rows own(program_, this->reduction_, is_split ? this->result(number) : this->output_, this->operands(),
                      is_split ? write_mode::overwrite : this->mode_);
        run_walk(walk, own);
    }

private:
    static constexpr std::size_t memory_bytes = 24576;  ///< of the first-level cache, for the rows that steps write

    void compute(const std::byte* const* from, index count, bool first) {
        std::byte* const results = this->results();
        const void* value = program_.operands == 0 ? nullptr : from[0];
        small_vector<const void*, 24> arguments;
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
            const op_links links{program_.links.data() + step.first_source, step.source_count};
            const row_function run = step.source_count == 2 && step.alone != nullptr ? step.alone : step.run;
            run(step.functor != nullptr ? step.functor : &links, into, arguments.data(), count);
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

    [[nodiscard]] std::byte* results() const { return this->straight_ != nullptr ? this->straight_ : this->result(0); }

    /// Finds positions of extreme elements. A row of operands that is not contiguous is copied first.
    void find(const std::byte* const* from, const index* moves, index count, bool first) {
        has_found_all_ = has_found_all_ && !first;
        if (has_found_all_) {
            return;
        }
        const bool counted = moves[2] != row_worker::in_memory;
        const std::byte* rows[] = {from[0], from[1], from[2]};
        for (std::size_t operand = 0; operand < 2; ++operand) {
            const bool is_one = moves[operand] == 0 && operand == 1 && counted && moves[2] != 0;
            if (moves[operand] != 1 && !is_one) {
                const index bytes = this->operands()[operand].bytes();
                if (copies_.data() == nullptr) {
                    copies_ = scratch_memory(std::size_t(2 * pitch_));
                }
                std::byte* const copy = copies_.data() + index(operand) * pitch_;
                copy_rows(bytes, {copy}, {from[operand], moves[operand]}, count);
                rows[operand] = copy;
            }
        }
        if (!counted) {
            compute(rows, count, first);
            return;
        }
        this->is_folded = moves[2] != 0;
        if (first) {
            copy_rows(this->reduction_.bytes, {results()}, {this->reduction_.identity.data(), 0},
                      this->is_folded ? 1 : count);
        }
        const counted_row indices{index(reinterpret_cast<std::uintptr_t>(from[2])), moves[2]};
        // Indices grow from call to call: where each sum has found one, later ones are not less.
        if (!this->is_folded && ++calls_ % calls_between_checks == 0) {
            const auto* const least = reinterpret_cast<const index*>(results());
            has_found_all_ = std::all_of(least, least + count, [&](index each) { return each < indices.from; });
        }
        if (has_found_all_) {
            return;
        }
        const void* const read[] = {rows[0], rows[1], nullptr};
        program_.steps[0].run(&indices, results(), read, count);
    }

    /// True for a program that only finds positions.
    static bool is_place(const row_program& program) { return program.finds && program.steps.size() == 1; }

    /// True for a program of one step that keeps no row between its sources and its results, and reads so many sources
    /// that writing past the caches is not worth a copy of the row.
    static bool is_chain(const row_program& program) {
        return program.steps.size() == 1 && program.links.size() > 3 &&
               without_number(program.links[1]) != op_link::first;
    }
    /// Number of rows besides those of the results and the operands.
    static std::size_t rows_of(const row_program& program) { return std::max<std::size_t>(program.held.size(), 1); }
    static index widest_of(const row_program& program, const row_reduction& reduction, const row_operands& operands) {
        index widest = std::max<index>(program.widest, reduction.bytes);
        for (const row_operand& operand : operands) {
            widest = std::max(widest, operand.bytes());
        }
        return widest;
    }
    static index width_of(const row_program& program, index widest) {
        if (is_chain(program) || is_place(program)) {
            return index(row_worker::largest_row) / widest;
        }
        const index each = index(memory_bytes / (program.operands + rows_of(program))) - 1024;
        return std::clamp<index>(each / widest, 64, row_worker::least_width) / 16 * 16;
    }

    [[nodiscard]] std::byte* row(std::size_t name) const { return rows_ + index(name) * pitch_; }

    static constexpr index calls_between_checks = 32;

    const row_program& program_;
    index calls_ = 0;
    bool has_found_all_ = false;  ///< every sum of the row has found an extreme element
    index pitch_;
    scratch_memory heap_;
    scratch_memory copies_{0};
    std::byte* rows_;
    alignas(64) std::byte memory_[memory_bytes];
    alignas(64) std::byte results_memory_[row_worker::largest_row];
};

}  // namespace einparallel::EINPARALLEL_DETAIL
