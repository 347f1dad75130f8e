#pragma once

#include <einparallel/device/contraction_decision.hpp>

#include <einparallel/device/blocks.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// The matrix with these rows, columns and strides (in elements), or nothing where a BLAS cannot take it.
EINPARALLEL_INLINE std::optional<blas_matrix> matrix_of(index rows, index row_stride, index columns,
                                                        index column_stride) {
    if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows)) {
        return blas_matrix{false, columns == 1 ? rows : column_stride};
    }
    if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns)) {
        return blas_matrix{true, rows == 1 ? columns : row_stride};
    }
    return std::nullopt;
}

EINPARALLEL_INLINE bool is_in_place(const block_call& call) {
    return any_in(call.operands, [&](const strided_block& operand) {
        return operand.data != nullptr && operand.data == call.output.data;
    });
}

/// Compares the ways to contract. Each of the three tensors is used where it lies, or through a dense copy whose labels
/// have the order that the others need. For each of these, every choice of one loop for m, one for n and one for k is
/// compared; another loop becomes the batch, and the rest are loops of the host.
EINPARALLEL_INLINE class device_choice {
public:
    device_choice(const block_call& call, element_type type, const device_limits& limits, element_type of_operands)
        : nest_(call), limits_(limits) {
        best_.element = type;
        best_.operand = of_operands.bytes == 0 ? type : of_operands;
        best_.mode = call.mode;
        in_place_ = is_in_place(call);
    }

    device_contraction decide() {
        best_.way = nest_.output_empty ? device_way::nothing : device_way::join;
        const bool is_exact = best_.element.kind != 'f' && best_.element.kind != 'c';
        if (nest_.output_empty || nest_.sum_empty || in_place_ || is_exact) {
            return best_;
        }
        double touched = 0;
        for (const std::size_t slot : {x_slot, y_slot, z_slot}) {
            touched += seconds_to_touch(slot, elements(slot));
        }
        best_.seconds = std::max(touched, points() * weight() / limits_.joined_points) + limits_.launch;
        best_.repeats = drop_resting(nest_);
        const device_contraction plain = best_;
        for (unsigned copied = 0; copied < 8; ++copied) {
            const bool is_dense = (reduced_size(nest_, x_slot) == 0 || (copied & 2U) != 0) &&
                                  (reduced_size(nest_, y_slot) == 0 || (copied & 4U) != 0);
            if (is_dense) {
                weigh(copied, plain);
            }
            if (copied == 0 && best_.way == device_way::products && best_.calls() == 1) {
                break;
            }
        }
        if (best_.way == device_way::products) {
            lay_out();
        }
        return best_;
    }

private:
    using loop_list = odometer::loop_list;

    double weight() const { return best_.element.kind == 'c' ? 4 : 1; }
    double seconds_to_touch(std::size_t slot, double elements) const {
        return elements * double(best_.bytes_of(slot)) / limits_.bytes;
    }
    double points() const {
        return product_in(nest_.extents, 1.0, [](index extent) { return double(extent); });
    }
    double elements(std::size_t slot) const {
        double product = slot == z_slot && best_.mode == write_mode::combine ? 2 : 1;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            product *= nest_.of(loop)[slot] == 0 ? 1 : double(nest_.extents[loop]);
        }
        return product;
    }

    /// Compares the ways that copy the tensors whose bits are set in `copied`.
    void weigh(unsigned copied, device_contraction made) {
        made.way = device_way::products;
        made.seconds = 0;
        loop_nest nest = nest_;
        for (std::size_t slot = 0; slot < 3; ++slot) {
            if ((copied >> slot & 1U) != 0) {
                made.seconds += stage(nest, copied, slot, made);
            }
            if (made.copies[slot].sums && made.operand != made.element) {
                return;  // halves are not summed in halves
            }
        }
        static_cast<void>(drop_resting(nest));  // loops that the copies have summed
        nest.fuse();
        const std::size_t none = nest.size();
        loop_list loops[4];  // by product_index
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (is_forwards(nest, loop)) {
                loops[std::size_t(index_of(nest, loop))].push_back(loop);
            }
        }
        for (loop_list& each : loops) {
            if (each.empty()) {
                each.push_back(none);
            }
        }
        for (const std::size_t m : loops[0]) {
            for (const std::size_t n : loops[1]) {
                for (const std::size_t k : loops[2]) {
                    weigh_product(nest, m, n, k, false, made);
                    weigh_product(nest, n, m, k, true, made);
                }
            }
        }
    }

    /// Plans a copy of a tensor into dense memory. The innermost labels are the group (m, n or k) of the label with the
    /// tensor's smallest stride; the batch is outermost. Within a group, labels have the order of a tensor that is not
    /// copied.
    /// @return seconds that the copy takes
    double stage(loop_nest& nest, unsigned copied, std::size_t slot, device_contraction& made) const {
        device_contraction::staged& copy = made.copies[slot];
        loop_list order = loops_that(nest_, [&](std::size_t loop) { return nest_.of(loop)[slot] != 0; });
        const auto nearest = std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::abs(nest_.of(a)[slot]) < std::abs(nest_.of(b)[slot]);
        });
        const auto rank = [&](std::size_t loop) {  // the innermost group first, the batch last
            const product_index own = index_of(nest_, loop);
            return own == product_index::batch ? 2 : own == index_of(nest_, *nearest) ? 0 : 1;
        };
        const auto distance = [&](std::size_t loop) {  // in the tensor whose order a loop's group follows
            for (const unsigned passed : {copied, 0U}) {
                for (const std::size_t other : {z_slot, x_slot, y_slot}) {
                    if (nest_.of(loop)[other] != 0 && (passed >> other & 1U) == 0) {
                        return std::abs(nest_.of(loop)[other]);
                    }
                }
            }
            return index{0};
        };
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return rank(a) != rank(b) ? rank(a) < rank(b) : distance(a) < distance(b);
        });
        copy.elements = 1;
        double read = slot == z_slot && made.mode == write_mode::combine ? 2 : 1;
        for (const std::size_t loop : order) {
            const bool is_summed = slot != z_slot && is_one_sided(nest_, loop, slot);
            const index extent = nest_.extents[loop];
            index* const moves = copy.loops.add(extent);
            moves[0] = is_summed ? 0 : copy.elements;
            moves[1] = nest_.of(loop)[slot];
            nest.of(loop)[slot] = moves[0];
            copy.elements *= is_summed ? 1 : extent;
            copy.sums = copy.sums || is_summed;
            read *= double(extent);
        }
        copy.loops.fuse();
        made.transposed_bytes += std::size_t(read) * made.bytes_of(slot);
        return seconds_to_touch(slot, read + double(copy.elements)) + limits_.launch;
    }

    static bool is_forwards(const loop_nest& nest, std::size_t loop) {
        return std::all_of(nest.of(loop), nest.of(loop) + 3, [](index stride) { return stride >= 0; });
    }

    /// Seconds of one batch of products: the time to multiply, with extents padded to tiles of a BLAS and one
    /// multiprocessor per tile, or the time to access memory if that is longer.
    double seconds_of(const blas_product& product) const {
        const auto tiles = [](index value, index tile) { return double((value + tile - 1) / tile); };
        const auto number = [](index value) { return double(value); };
        const double batch = number(product.batch);
        const double blocks =
            tiles(product.m, 64) * tiles(product.n, 64) * batch * std::max(1.0, number(product.k) / 512);
        const double padded = tiles(product.m, 32) * tiles(product.n, 32) * 1024 * number(product.k) * batch * weight();
        const double read = number(product.m) * number(product.k) * (product.a.step == 0 ? 1 : batch) +
                            number(product.k) * number(product.n) * (product.b.step == 0 ? 1 : batch);
        const double written = number(product.m) * number(product.n) * batch;
        const double rate = best_.operand == best_.element ? limits_.multiply_adds : limits_.of_halves;
        return std::max(padded / (rate * std::min(1.0, blocks / limits_.processors)),
                        1.15 * (seconds_to_touch(x_slot, read) + seconds_to_touch(z_slot, written)));
    }

    /// Compares one way, whose product has these loops as rows, columns and sum, with the best one so far.
    void weigh_product(const loop_nest& nest, std::size_t rows, std::size_t columns, std::size_t sum, bool swapped,
                       const device_contraction& with) {
        const auto extent = [&](std::size_t loop) { return loop < nest.size() ? nest.extents[loop] : 1; };
        const auto stride = [&](std::size_t loop, std::size_t slot) {
            return loop < nest.size() ? nest.of(loop)[slot] : 0;
        };
        const std::size_t a_slot = swapped ? y_slot : x_slot;
        const std::size_t b_slot = swapped ? x_slot : y_slot;
        const auto matrix = [&](std::size_t down, std::size_t across, std::size_t slot) {
            return matrix_of(extent(down), stride(down, slot), extent(across), stride(across, slot));
        };
        auto a = matrix(rows, sum, a_slot);
        auto b = matrix(sum, columns, b_slot);
        auto c = matrix(rows, columns, z_slot);
        if (!a || !b || !c || c->transpose) {
            return;
        }
        std::size_t batch = nest.size();
        loop_list around;  // summed loops first
        for (const bool sums : {true, false}) {
            for (std::size_t loop = 0; loop < nest.size(); ++loop) {
                if (loop == rows || loop == columns || loop == sum || nest.in_output(loop) == sums) {
                    continue;
                }
                around.push_back(loop);
                if (!sums && is_forwards(nest, loop) && extent(loop) > (batch < nest.size() ? extent(batch) : 1)) {
                    batch = loop;
                }
            }
        }
        a->step = stride(batch, a_slot);
        b->step = stride(batch, b_slot);
        c->step = stride(batch, z_slot);
        const blas_product product{extent(rows), extent(columns), extent(sum), extent(batch), *a, *b, *c};
        const double calls =
            product_in(around, 1.0, [&](std::size_t loop) { return loop == batch ? 1 : double(extent(loop)); });
        const double seconds = with.seconds + calls * (seconds_of(product) + limits_.launch);
        if (best_.way == device_way::products ? seconds >= best_.seconds : seconds > best_.seconds) {
            return;
        }
        best_ = with;
        best_.product = product;
        best_.swapped = swapped;
        best_.seconds = seconds;
        for (const std::size_t loop : around) {
            if (loop != batch) {
                std::copy_n(nest.of(loop), 3, best_.loops.add(extent(loop)));
                best_.outputs *= nest.in_output(loop) ? extent(loop) : 1;
            }
        }
    }

    /// Gives the copies of the best way their places in the workspace.
    void lay_out() {
        constexpr std::size_t line = 256;
        std::size_t sums = 0;
        for (std::size_t slot = 0; slot < 3; ++slot) {
            device_contraction::staged& each = best_.copies[slot];
            each.at = best_.workspace_bytes;
            best_.workspace_bytes += (std::size_t(each.elements) * best_.bytes_of(slot) + line - 1) / line * line;
            if (each.sums) {
                sums = std::max(sums, join_workspace_bytes({reduction::sum, std::array{best_.element}}, each.loops));
            }
        }
        best_.workspace_bytes += sums;
    }

    loop_nest nest_;
    device_limits limits_;
    bool in_place_ = false;  ///< the output is an operand's memory, so no matrix product is possible
    device_contraction best_;
};

EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_limits& limits, element_type operand) {
    return device_choice(call, type, limits, operand).decide();
}

EINPARALLEL_INLINE std::string device_contraction::text() const {
    if (way != device_way::products) {
        return way == device_way::join ? "one join" : "nothing";
    }
    const index many = calls();
    std::string text = many == 1 ? "" : std::to_string(many) + " calls of ";
    text += product.batch == 1 ? "a product of m = " : std::to_string(product.batch) + " products of m = ";
    text += std::to_string(product.m) + ", n = " + std::to_string(product.n) + ", k = " + std::to_string(product.k);
    std::string copied;
    const char* const names[] = {"z", "x", "y"};
    for (const std::size_t slot : {x_slot, y_slot, z_slot}) {
        if (copies[slot].elements > 0) {
            copied += (copied.empty() ? "; " : ", ") + std::string(names[slot]);
        }
    }
    return text + (copied.empty() ? "" : copied + " transposed");
}

}  // namespace einparallel::EINPARALLEL_DETAIL
