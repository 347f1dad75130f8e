#pragma once

#include <einparallel/device/contraction.hpp>

#include <einparallel/device/blocks.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product_loops.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// A matrix of a product: rows and columns with their strides, as a BLAS takes it or not.
struct blas_operand {
    bool fits = false;
    bool transpose = false;
    index leading = 1;

    static blas_operand of(index rows, index row_stride, index columns, index column_stride) {
        if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows)) {
            return {true, false, columns == 1 ? rows : column_stride};
        }
        if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns)) {
            return {true, true, rows == 1 ? columns : row_stride};
        }
        return {};
    }
};

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
    }

    [[nodiscard]] device_contraction decide() {
        best_.element = type_;
        if (nest_.output_empty) {
            return best_;
        }
        best_.way = device_way::join;
        if (nest_.sum_empty || (type_.kind != 'f' && type_.kind != 'c')) {
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
        const double seconds = moved + calls * (seconds_of(product) + rates_.launch);
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

    /// One call: padded to the tiles of a BLAS, on as many multiprocessors as there are tiles, or bound by memory.
    [[nodiscard]] double seconds_of(const blas_product& product) const {
        const auto number = [](index value) { return static_cast<double>(value); };
        const auto padded = [&](index value, index tile) { return number((value + tile - 1) / tile * tile); };
        const auto tile = [](index value) { return value > 64 ? index{64} : value > 32 ? index{32} : index{16}; };
        constexpr double processors = 132;
        const index m_tile = tile(product.m);
        const index n_tile = tile(product.n);
        const double work = padded(product.m, m_tile) * padded(product.n, n_tile) * padded(product.k, 8) *
                            number(product.batch) * weight();
        // Small tiles reuse less of what they load.
        const double reuse = std::min(1.0, number(m_tile * n_tile) / 4096 + 0.1);
        const double tiles = padded(product.m, m_tile) / number(m_tile) * padded(product.n, n_tile) / number(n_tile) *
                             number(product.batch) * std::max(1.0, number(product.k) / 512);
        const double computing = work / (rates_.multiply_adds * reuse * std::min(1.0, tiles / processors));
        const auto share = [&](index contiguous) {  // of a sector that is used
            return std::min(1.0, number(contiguous) * static_cast<double>(type_.bytes) / 32);
        };
        const auto matrices = [&](index step) { return step == 0 ? 1.0 : number(product.batch); };
        const double a = number(product.m) * number(product.k) * matrices(product.a_step) /
                         share(product.transpose_a ? product.k : product.m);
        const double b = number(product.k) * number(product.n) * matrices(product.b_step) /
                         share(product.transpose_b ? product.n : product.k);
        const double c = number(product.m) * number(product.n) * number(product.batch) / share(product.m) *
                         (best_.mode == write_mode::combine ? 2 : 1);
        const double streaming = 1.15 * (a + b + c) * static_cast<double>(type_.bytes) / rates_.bytes;
        return std::max(computing, streaming);
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

EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision, std::complex<double> scale,
                                      const block_call& call, void* workspace, blas_function blas) {
    const auto bytes = static_cast<index>(decision.element.bytes);
    auto* const room = static_cast<std::byte*>(workspace);
    std::byte* const output = static_cast<std::byte*>(call.output.data) + decision.first[z_slot] * bytes;
    const op_program sum = reduction_program(reduction::sum, decision.element);
    const auto join = [&](loop_nest& nest, void* into, const void* from, bool combine, void* partial) {
        launch::strided_join work;
        work.output = into;
        work.operands[0] = from;
        work.combine = combine;
        work.workspace = partial;
        for_each_join(sum, nest, work, [&](const launch::strided_join& part) { launch::join(on, part, sum); });
    };
    std::size_t end = 0;
    for (const device_contraction::staged& each : decision.copies) {
        end = std::max(end, each.at + static_cast<std::size_t>(each.elements * bytes));
    }
    void* const partial = room + (end + 255) / 256 * 256;
    const void* operands[3] = {};
    for (const std::size_t slot : {x_slot, y_slot}) {
        const device_contraction::staged& copy = decision.copies[slot];
        operands[slot] = static_cast<const std::byte*>(call.operands[slot - 1].data) + decision.first[slot] * bytes;
        if (copy.elements == 0) {
            continue;
        }
        if (std::find(copy.dense.begin(), copy.dense.end(), 0) == copy.dense.end()) {
            copy_on_device(on, copy.extents, decision.element.bytes, room + copy.at, copy.dense, operands[slot],
                           copy.strides);
        } else {
            loop_nest nest = staged_nest(copy, false);
            join(nest, room + copy.at, operands[slot], false, partial);
        }
        operands[slot] = room + copy.at;
    }
    const device_contraction::staged& written = decision.copies[z_slot];
    void* const into = written.elements > 0 ? room + written.at : output;
    const bool add = written.elements == 0 && decision.mode == write_mode::combine;
    // The loops of the host.
    std::vector<index> counters(decision.loops.size(), 0);
    for (bool more = true; more;) {
        index offsets[3] = {};
        bool adds = add;
        for (std::size_t loop = 0; loop < counters.size(); ++loop) {
            for (std::size_t slot = 0; slot < 3; ++slot) {
                offsets[slot] += counters[loop] * decision.loops[loop].steps[slot] * bytes;
            }
            adds = adds || (decision.loops[loop].sums && counters[loop] > 0);
        }
        const void* const x = static_cast<const std::byte*>(operands[x_slot]) + offsets[x_slot];
        const void* const y = static_cast<const std::byte*>(operands[y_slot]) + offsets[y_slot];
        blas({decision.element, scale * static_cast<double>(decision.repeats), decision.product,
              decision.swapped ? y : x, decision.swapped ? x : y, static_cast<std::byte*>(into) + offsets[z_slot],
              adds});
        more = false;
        for (std::size_t loop = counters.size(); loop-- > 0 && !more;) {
            more = ++counters[loop] < decision.loops[loop].extent;
            counters[loop] = more ? counters[loop] : 0;
        }
    }
    if (written.elements > 0 && decision.mode == write_mode::combine) {
        loop_nest nest = staged_nest(written, true);
        join(nest, output, into, true, nullptr);
    } else if (written.elements > 0) {
        copy_on_device(on, written.extents, decision.element.bytes, output, written.strides, into, written.dense);
    }
}

/// The factor of a sum of products of two operands that matrix products compute, if the program is one.
EINPARALLEL_INLINE std::optional<std::complex<double>> factor_of_products(const op_program& program) {
    if (program.operand_count() != 2 || program.aggregates_by() != reduction::sum) {
        return {};
    }
    const join_code code = code_of(program);
    return code.plain == plain_function::product ? std::optional(code.factors[0]) : std::nullopt;
}

EINPARALLEL_INLINE std::size_t workspace_on_device(const op_program& program, const block_call& call) {
    if (factor_of_products(program)) {
        if (const device_contraction decided = decide_on_device(call, program.type());
            decided.way != device_way::join) {
            return decided.workspace_bytes;
        }
    }
    return join_workspace_bytes(program, call);
}

EINPARALLEL_INLINE void contract_on_device(launch::stream on, const op_program& program, const block_call& call,
                                           void* workspace, blas_function blas) {
    if (const auto factor = factor_of_products(program)) {
        if (const device_contraction decided = decide_on_device(call, program.type());
            decided.way == device_way::products) {
            run_on_device(on, decided, *factor, call, workspace, blas);
            return;
        }
    }
    join_on_device(on, program, call, workspace);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
