#pragma once

#include <einparallel/device/contraction_decision.hpp>

#include <einparallel/device/blas_product.ipp>
#include <einparallel/device/blocks.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/notation/op_program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a copy; slot 0 is where it goes.
EINPARALLEL_INLINE loop_nest staged_nest(const device_contraction::staged& copy, bool out) {
    loop_nest nest(2);
    for (std::size_t dimension = 0; dimension < copy.extents.size(); ++dimension) {
        index* const moves = nest.add(copy.extents[dimension]);
        moves[out ? 1 : 0] = copy.dense[dimension];
        moves[out ? 0 : 1] = copy.strides[dimension];
    }
    nest.fuse();
    return nest;
}

/// Weighs the ways to contract: each of the three tensors used where it lies or through a dense copy whose labels lie
/// as the others need them; then every choice of one loop each for m, n and k, the rest a batch.
EINPARALLEL_INLINE class device_choice {
public:
    device_choice(const block_call& call, element_type type, const device_rates& rates)
        : nest_(call), type_(type), rates_(rates) {
        best_.mode = call.mode;
        for (const operand_block& operand : call.operands) {
            in_place_ = in_place_ || (operand.data != nullptr && operand.data == call.output.data);
        }
    }

    [[nodiscard]] device_contraction decide() {
        best_.element = type_;
        if (nest_.output_empty) {
            return best_;
        }
        best_.way = device_way::join;
        if (nest_.sum_empty || in_place_ || (type_.kind != 'f' && type_.kind != 'c')) {
            return best_;
        }
        const auto bytes = static_cast<double>(type_.bytes);
        best_.seconds =
            std::max(touched(nest_) * bytes / rates_.bytes, points(nest_) * weight() / rates_.joined_points) +
            rates_.launch;
        repeats_ = drop_resting(nest_);
        for (unsigned copied = 0; copied < 8; ++copied) {
            if ((one_sided(x_slot) && (copied & 2U) == 0) || (one_sided(y_slot) && (copied & 4U) == 0)) {
                continue;
            }
            weigh(copied);
            if (copied == 0 && best_.way == device_way::products && best_.seconds < 1.1 * least_seconds()) {
                break;
            }
        }
        place();
        return best_;
    }

private:
    enum group : std::size_t { m_group, n_group, k_group, batch_group };

    static group group_of(const loop_nest& nest, std::size_t loop) {
        const index* const moves = nest.of(loop);
        return moves[z_slot] == 0                         ? k_group
               : moves[x_slot] != 0 && moves[y_slot] == 0 ? m_group
               : moves[x_slot] == 0 && moves[y_slot] != 0 ? n_group
                                                          : batch_group;
    }

    [[nodiscard]] bool one_sided(std::size_t slot) const { return reduced_size(nest_, slot) > 0; }
    [[nodiscard]] double weight() const { return type_.kind == 'c' ? 4 : 1; }

    static double points(const loop_nest& nest) {
        double product = 1;
        for (const index extent : nest.extents) {
            product *= static_cast<double>(extent);
        }
        return product;
    }

    static double elements(const loop_nest& nest, std::size_t slot) {
        double product = 1;
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            product *= nest.of(loop)[slot] == 0 ? 1 : static_cast<double>(nest.extents[loop]);
        }
        return product;
    }

    [[nodiscard]] double touched(const loop_nest& nest) const {
        return elements(nest, x_slot) + elements(nest, y_slot) +
               elements(nest, z_slot) * (best_.mode == write_mode::combine ? 2 : 1);
    }

    /// No way is faster: all flops at the full rate, every byte once, one launch.
    [[nodiscard]] double least_seconds() const {
        return std::max(points(nest_) * weight() / rates_.multiply_adds,
                        1.15 * touched(nest_) * static_cast<double>(type_.bytes) / rates_.bytes) +
               rates_.launch;
    }

    /// Weighs the ways with copies of these tensors.
    void weigh(unsigned copied) {
        device_contraction made;
        made.way = device_way::products;
        made.element = type_;
        made.mode = best_.mode;
        made.repeats = repeats_;
        loop_nest nest = nest_;
        const auto is_copied = [&](std::size_t slot) { return (copied >> slot & 1U) != 0; };
        // Loops that run backwards in all tensors that stay run forwards instead.
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            index* const moves = nest.of(loop);
            bool backwards = false;
            bool forwards = false;
            for (std::size_t slot = 0; slot < 3; ++slot) {
                backwards = backwards || (!is_copied(slot) && moves[slot] < 0);
                forwards = forwards || (!is_copied(slot) && moves[slot] > 0);
            }
            for (std::size_t slot = 0; slot < 3 && backwards && !forwards; ++slot) {
                made.first[slot] += (nest.extents[loop] - 1) * moves[slot];
                moves[slot] = -moves[slot];
            }
        }
        double moved = 0;
        const loop_nest given = nest;
        for (std::size_t slot = 0; slot < 3; ++slot) {
            if (is_copied(slot)) {
                moved += stage(given, nest, copied, slot, made);
            }
        }
        for (std::size_t loop = nest.size(); loop-- > 0;) {
            if (is_one_sided(nest, loop, x_slot) || is_one_sided(nest, loop, y_slot) ||
                (nest.of(loop)[0] == 0 && nest.of(loop)[1] == 0 && nest.of(loop)[2] == 0)) {
                nest.remove(loop);
            }
        }
        nest.fuse();
        choose_loops(nest, made, moved);
    }

    /// Lays a tensor out in dense memory: its own neighbours innermost among m, n and k, every group of labels in the
    /// order of the tensor that stays. @return seconds that the copy takes
    double stage(const loop_nest& given, loop_nest& nest, unsigned copied, std::size_t slot,
                 device_contraction& made) const {
        device_contraction::staged& copy = made.copies[slot];
        std::size_t nearest = given.size();
        small_vector<std::size_t, 12> order;
        for (std::size_t loop = 0; loop < given.size(); ++loop) {
            const index own = std::abs(given.of(loop)[slot]);
            if (own != 0) {
                order.push_back(loop);
                nearest = nearest == given.size() || own < std::abs(given.of(nearest)[slot]) ? loop : nearest;
            }
        }
        const group inner = nearest == given.size() ? batch_group : group_of(given, nearest);
        const auto rank = [&](std::size_t loop) {  // the innermost group first, the batch last
            const group own = group_of(given, loop);
            return own == batch_group ? 2 : own == inner ? 0 : 1;
        };
        const auto leading = [&](std::size_t loop) {  // the tensor whose order a loop's group follows
            for (const std::size_t other : {z_slot, x_slot, y_slot}) {
                if (given.of(loop)[other] != 0 && (copied >> other & 1U) == 0) {
                    return other;
                }
            }
            return given.in_output(loop) ? z_slot : given.of(loop)[x_slot] != 0 ? x_slot : y_slot;
        };
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return rank(a) != rank(b) ? rank(a) < rank(b)
                                      : std::abs(given.of(a)[leading(a)]) < std::abs(given.of(b)[leading(b)]);
        });
        index size = 1;
        double read = 1;
        for (const std::size_t loop : order) {
            const bool summed = slot != z_slot && is_one_sided(given, loop, slot);
            copy.extents.push_back(given.extents[loop]);
            copy.strides.push_back(given.of(loop)[slot]);
            copy.dense.push_back(summed ? 0 : size);
            nest.of(loop)[slot] = summed ? given.of(loop)[slot] : size;
            size *= summed ? 1 : given.extents[loop];
            read *= static_cast<double>(given.extents[loop]);
        }
        copy.elements = size;
        const double passes = slot == z_slot && made.mode == write_mode::combine ? 2 : 1;
        made.transposed_bytes += static_cast<std::size_t>(read) * type_.bytes;
        return (read * passes + static_cast<double>(size)) * static_cast<double>(type_.bytes) / rates_.bytes +
               rates_.launch;
    }

    static bool forwards(const loop_nest& nest, std::size_t loop) {
        const index* const moves = nest.of(loop);
        return moves[0] >= 0 && moves[1] >= 0 && moves[2] >= 0;
    }

    /// Every choice of a loop for m, for n and for k, and of the output's rows.
    void choose_loops(const loop_nest& nest, const device_contraction& made, double moved) {
        small_vector<std::size_t, 12> groups[3];
        const std::size_t none = nest.size();
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (const group own = group_of(nest, loop); own != batch_group && forwards(nest, loop)) {
                groups[own].push_back(loop);
            }
        }
        for (auto& each : groups) {
            if (each.empty()) {
                each.push_back(none);
            }
        }
        for (const std::size_t m : groups[m_group]) {
            for (const std::size_t n : groups[n_group]) {
                for (const std::size_t k : groups[k_group]) {
                    for (const bool swapped : {false, true}) {
                        weigh_product(nest, {swapped ? n : m, swapped ? m : n, k}, swapped, made, moved);
                    }
                }
            }
        }
    }

    /// One product: rows, columns and the sum are these loops.
    void weigh_product(const loop_nest& nest, const std::array<std::size_t, 3>& loops, bool swapped,
                       const device_contraction& with, double moved) {
        const auto extent = [&](std::size_t loop) { return loop < nest.size() ? nest.extents[loop] : 1; };
        const auto stride = [&](std::size_t loop, std::size_t slot) {
            return loop < nest.size() ? nest.of(loop)[slot] : 0;
        };
        const std::size_t a_slot = swapped ? y_slot : x_slot;
        const std::size_t b_slot = swapped ? x_slot : y_slot;
        const auto [rows, columns, sum] = loops;
        blas_product product;
        product.m = extent(rows);
        product.n = extent(columns);
        product.k = extent(sum);
        const auto a = blas_operand::of(product.m, stride(rows, a_slot), product.k, stride(sum, a_slot));
        const auto b = blas_operand::of(product.k, stride(sum, b_slot), product.n, stride(columns, b_slot));
        const auto c = blas_operand::of(product.m, stride(rows, z_slot), product.n, stride(columns, z_slot));
        if (!a.fits || !b.fits || !c.fits || c.transpose) {
            return;
        }
        product.transpose_a = a.transpose;
        product.transpose_b = b.transpose;
        product.a_leading = a.leading;
        product.b_leading = b.leading;
        product.c_leading = c.leading;
        std::size_t batch = nest.size();
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (loop != rows && loop != columns && loop != sum && nest.in_output(loop) && forwards(nest, loop) &&
                (batch == nest.size() || nest.extents[loop] > nest.extents[batch])) {
                batch = loop;
            }
        }
        product.batch = extent(batch);
        product.a_step = stride(batch, a_slot);
        product.b_step = stride(batch, b_slot);
        product.c_step = stride(batch, z_slot);
        double calls = 1;
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (loop != rows && loop != columns && loop != sum && loop != batch) {
                calls *= static_cast<double>(nest.extents[loop]);
            }
        }
        const double seconds = moved + calls * (seconds_of(product, type_, best_.mode, rates_) + rates_.launch);
        if (best_.way == device_way::products ? seconds >= best_.seconds : seconds > best_.seconds) {
            return;
        }
        best_ = with;
        best_.product = product;
        best_.swapped = swapped;
        best_.seconds = seconds;
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            if (loop != rows && loop != columns && loop != sum && loop != batch) {
                const index* const moves = nest.of(loop);
                best_.loops.push_back({nest.extents[loop], {moves[0], moves[1], moves[2]}, !nest.in_output(loop)});
            }
        }
        std::stable_sort(best_.loops.begin(), best_.loops.end(), [](const auto& left, const auto& right) {
            return std::abs(left.steps[0]) > std::abs(right.steps[0]);
        });
    }

    /// Gives the copies their places in the workspace.
    void place() {
        std::size_t at = 0;
        constexpr std::size_t line = 256;
        const auto up = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
        if (best_.way != device_way::products) {
            return;
        }
        for (device_contraction::staged& each : best_.copies) {
            each.at = at;
            at += up(static_cast<std::size_t>(each.elements) * type_.bytes);
        }
        best_.workspace_bytes = at;
        std::size_t sums = 0;
        for (const std::size_t slot : {x_slot, y_slot}) {
            if (one_sided(slot)) {
                loop_nest nest = staged_nest(best_.copies[slot], false);
                sums = std::max(sums, join_workspace_bytes(reduction_program(reduction::sum, type_), nest));
            }
        }
        best_.workspace_bytes += sums;
    }

    loop_nest nest_;
    element_type type_;
    device_rates rates_;
    bool in_place_ = false;  ///< written over an operand, which no matrix product may
    index repeats_ = 1;
    device_contraction best_;
};

EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_rates& rates) {
    return device_choice(call, type, rates).decide();
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
