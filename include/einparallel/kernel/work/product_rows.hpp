#pragma once
// Rows of Σ of products: the typed half of a nest whose ⊕ is + and whose ⊗ is ×, for any number of operands.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/convert.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Adds up the products of the operands' elements in the output, times a scale. Rows are long, because summed elements
/// may lie a page apart. No row is shorter than a tile needs.
template <Element T>
class product_rows final : public row_worker {
public:
    product_rows(void* output, const row_operands& operands, T scale, write_mode mode)
        : row_worker(row_reduction_of<T>(op::sum), output, operands, mode, sums_, width), scale_(scale) {
        this->reads_any_move = true;
        this->folds.operands = this->folds.longest > 0 && operands.size() == 1 && operands[0].template is<T>();
        if (converts()) {
            this->summed_width = 512;  // conversions are calls for each row
        }
    }

    void accumulate(const std::byte* const* from, const index* moves, index count, bool first) override {
        if (converts()) {
            accumulate_converted(from, moves, count, first);
            return;
        }
        accumulate_elements(from, moves, count, first);
    }

    void write(index number, index offset, index move, index count) override {
        for (index at = number; scale_ != T(1) && at < number + count; ++at) {
            sums_[at] = op::prod(scale_, sums_[at]);
        }
        write_row(number, offset, move, count);
    }

    void run_own(const row_walk& walk, index number) override {
        const bool is_split = number != to_output;
        product_rows own(is_split ? result(number) : output_, operands(), is_split ? T(1) : scale_,
                         is_split ? write_mode::overwrite : mode_);
        run_walk(walk, own);
    }

private:
    static constexpr index width = index(largest_row) / index(sizeof(T) < 8 ? 8 : sizeof(T));

    bool converts() const {
        return any_in(this->operands(), [](const row_operand& each) { return !each.template is<T>(); });
    }

    /// accumulate() where operands have other types: it converts their rows to T. @pre two operands at most
    void accumulate_converted(const std::byte* const* from, const index* moves, index count, bool first) {
        alignas(64) std::byte wide[2][std::size_t(width) * sizeof(T)];
        const std::byte* rows[2] = {};
        index steps[2] = {};
        for (std::size_t number = 0; number < this->operands().size(); ++number) {
            rows[number] = from[number];
            steps[number] = moves[number];
            if (const row_operand& read = this->operands()[number]; !read.template is<T>()) {
                const index length = moves[number] == 0 ? 1 : count;
                const bool together = length == 1 || moves[number] == 1;
                alignas(16) std::byte gathered[width * sizeof(T)];
                if (!together) {
                    copy_rows(read.bytes(), {gathered}, {from[number], moves[number]}, length);
                }
                convert_row(read.element, reinterpret_cast<T*>(wide[number]), together ? from[number] : gathered,
                            length);
                rows[number] = wide[number];
                steps[number] = moves[number] == 0 ? 0 : 1;
            }
        }
        accumulate_elements(rows, steps, count, first);
    }

    void accumulate_elements(const std::byte* const* from, const index* moves, index count, bool first) {
        const std::size_t operands = this->operands().size();
        const auto operand = [from](std::size_t number) { return reinterpret_cast<const T*>(from[number]); };
        if (operands == 1 && moves[0] == 1 && !first) {
            reduce(result(0), from[0], count);
            return;
        }
        if constexpr (std::is_floating_point_v<T>) {
            constexpr index least = 16;  // points that are worth the call
            const index y_move = operands == 2 ? moves[1] : 0;
            if (operands <= 2 && (moves[0] | y_move | 1) == 1 && (first || count >= least)) {
                const T one = 1;
                product_plane<T> row;
                row.rows = 1;
                row.columns = count;
                row.x_moves = moves[0] == 1;
                row.y_moves = y_move == 1;
                row.add = !first;
                const T* const y = operands == 2 ? operand(1) : &one;
                with_best_instructions(
                    [&](auto set) { vector_product<T, set.value>::products(row, sums_, operand(0), y); });
                return;
            }
        }
        alignas(64) std::byte products[std::size_t(width) * sizeof(T)];   // complex numbers would be set to 0
        T* const terms = first ? sums_ : reinterpret_cast<T*>(products);  // not added to 0: a product may be −0
        if constexpr (!std::is_floating_point_v<T> && !std::is_same_v<T, bool>) {
            if (operands == 2 && moves[0] == 1 && moves[1] == 1) {
                const void* const both[] = {from[0], from[1]};
                row_function_of<0, op::prod_type, T, T, T>()(nullptr, terms, both, count);
                if (!first) {
                    reduce(result(0), reinterpret_cast<const std::byte*>(terms), count);
                }
                return;
            }
        }
        for (std::size_t number = 0; number < operands; ++number) {
            const T* const x = operand(number);
            const index move = moves[number];
            for (index i = 0; i < count; ++i) {
                terms[i] = number == 0 ? x[i * move] : op::prod(terms[i], x[i * move]);
            }
        }
        if (!first) {
            reduce(result(0), reinterpret_cast<const std::byte*>(terms), count);
        }
    }

    T scale_;
    alignas(64) T sums_[width];
};

}  // namespace einparallel::EINPARALLEL_DETAIL
