#pragma once
// Executes vertices as they are lowered: the builder behind assignments to arrays and views.

#include <einparallel/kernel/aliasing.hpp>
#include <einparallel/kernel/contract.hpp>
#include <einparallel/kernel/contract_in_order.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/large_pages.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/kernel/operand.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/softmax.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// A tensor that a vertex reads: memory with extents and strides that live as long as the statement.
struct block_handle {
    const void* data = nullptr;
    std::span<const index> extents;
    std::span<const index> strides;
};

/// The einsum of one vertex as a reader would write it, for errors.
template <class Operands>
std::string einsum_text(std::span<const std::string_view> names, std::span<const label_id> out,
                        const Operands& operands) {
    return einsum_text(
        names, operands.size(),
        [&](std::size_t operand) { return std::span<const label_id>(operands[operand].labels); }, out);
}

/// Takes the extents of one operand's dimensions over into `extents` (by label; −1 where not known yet). Returns the
/// first label that disagrees, or no_label.
inline label_id merge_extents(std::span<index> extents, std::span<const label_id> labels,
                              std::span<const index> of_operand) {
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        if (labels[dimension] == no_label) {
            continue;
        }
        index& known = extents[static_cast<std::size_t>(labels[dimension])];
        if (known < 0) {
            known = of_operand[dimension];
        } else if (known != of_operand[dimension]) {
            return labels[dimension];
        }
    }
    return no_label;
}

/// The memory that a statement writes.
struct block_target {
    void* data = nullptr;
    std::span<const label_id> labels;
    std::span<const index> extents;
    std::span<const index> strides;
};

/// The sink that writes the statement's own output.
struct into_target {
    write_mode mode = write_mode::overwrite;
};

/// Builder that runs each vertex at once. Temporaries live until the statement ends.
class immediate_builder {
public:
    using handle = block_handle;

    /// `extents` is scratch for one extent per label id.
    immediate_builder(std::span<const std::string_view> names, std::span<index> extents, const block_target& target)
        : names_(names), extents_(extents), target_(target) {}

    template <class T, std::size_t Rank>
    [[nodiscard]] static handle handle_of(const array_operand<T, Rank>& held) {
        return {held.data, held.extents, held.strides};
    }

    template <class Out, class Sink, class MakeKernel>
    handle emit(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                MakeKernel&& make_kernel) {
        const auto kernel = make_kernel(std::false_type{});
        const output_block output = prepare(sink, out, operands, sizeof(Out));
        call(operands, output, mode_of(sink), [&](const block_call& block) { kernel.contract(block); });
        return result(sink, output);
    }

    template <class Out, class Sink, std::size_t Count>
    handle product(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>, Count> operands,
                   Out scale) {
        if constexpr (Count > 2) {
            return chain(sink, out, operands, scale);
        } else {
            return multiply(sink, out, operands, scale);
        }
    }

    /// exp(x − max x) / Σ exp(x − max x) along one label.
    template <class T, class Sink>
    handle softmax(Sink sink, std::span<const label_id> out, const labelled_handle<handle>& x, label_id along) {
        const std::span<const labelled_handle<handle>> operands(&x, 1);
        const output_block output = prepare(sink, out, operands, sizeof(T));
        call(operands, output, mode_of(sink), [&](const block_call& block) { softmax_block<T>(block, along); });
        return result(sink, output);
    }

    /// Throws where the extents of the operands disagree with one another or with the statement's output; knows all
    /// extents afterwards.
    void check(std::span<const label_id> out, std::span<const labelled_handle<handle>> operands) {
        learn_extents(out, operands);
        const label_id disagreeing = merge_extents(extents_, target_.labels, target_.extents);
        if (disagreeing == no_label) {
            checked_ = times_learnt_ == 1;
            return;
        }
        index of_output = 0;
        for (std::size_t dimension = 0; dimension < target_.labels.size(); ++dimension) {
            of_output = target_.labels[dimension] == disagreeing ? target_.extents[dimension] : of_output;
        }
        throw error("einsum " + einsum_text(names_, out, operands) + ": label " + name(disagreeing) + " has extent " +
                    std::to_string(extents_[static_cast<std::size_t>(disagreeing)]) + " in the operands and " +
                    std::to_string(of_output) + " in the output");
    }

private:
    struct memory {
        std::vector<index> extents;
        std::vector<index> strides;
        std::unique_ptr<std::byte[]> bytes;
    };

    static write_mode mode_of(temporary /*sink*/) { return write_mode::overwrite; }
    static write_mode mode_of(into_target sink) { return sink.mode; }

    handle result(temporary /*sink*/, const output_block& output) const {
        return {output.data, temporaries_.back()->extents, output.strides};
    }
    handle result(into_target /*sink*/, const output_block& output) const {
        return {output.data, target_.extents, output.strides};
    }

    /// Extents of all labels of the vertex, and where its output goes. Throws where extents disagree.
    void learn_extents(std::span<const label_id> out, std::span<const labelled_handle<handle>> operands) {
        ++times_learnt_;
        checked_ = false;
        for (index& extent : extents_) {
            extent = -1;
        }
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            const labelled_handle<handle>& read = operands[operand];
            const label_id disagreeing = merge_extents(extents_, read.labels, read.handle.extents);
            if (disagreeing != no_label) {
                fail(out, operands, operand, disagreeing);
            }
        }
    }
    output_block prepare(into_target /*sink*/, std::span<const label_id> out,
                         std::span<const labelled_handle<handle>> operands, std::size_t /*element_bytes*/) {
        if (!checked_) {
            check(out, operands);
        }
        return {target_.data, target_.labels, target_.strides};
    }
    output_block prepare(temporary /*sink*/, std::span<const label_id> out,
                         std::span<const labelled_handle<handle>> operands, std::size_t element_bytes) {
        learn_extents(out, operands);
        auto made = std::make_unique<memory>();
        for (const label_id label : out) {
            made->extents.push_back(extents_[static_cast<std::size_t>(label)]);
        }
        made->strides.resize(out.size());
        index stride = 1;
        for (std::size_t dimension = out.size(); dimension-- > 0;) {
            made->strides[dimension] = stride;
            stride *= made->extents[dimension];
        }
        const std::size_t bytes = static_cast<std::size_t>(stride) * element_bytes;
        made->bytes.reset(new std::byte[bytes]);
        wish_large_pages(made->bytes.get(), bytes);
        temporaries_.push_back(std::move(made));
        return {temporaries_.back()->bytes.get(), out, temporaries_.back()->strides};
    }

    template <class Run>
    void call(std::span<const labelled_handle<handle>> operands, const output_block& output, write_mode mode,
              Run&& run) {
        for (index& extent : extents_) {
            extent = extent < 0 ? 1 : extent;
        }
        small_vector<operand_block, 8> blocks(operands.size(), operand_block{});
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            blocks[operand] = {operands[operand].handle.data, operands[operand].labels,
                               operands[operand].handle.strides};
        }
        run(block_call{extents_, {blocks.data(), blocks.size()}, output, mode});
    }

    /// A product of all operands in one call.
    template <class Out, class Sink>
    handle multiply(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                    Out scale) {
        const output_block output = prepare(sink, out, operands, sizeof(Out));
        call(operands, output, mode_of(sink), [&](const block_call& block) { contract_product<Out>(block, scale); });
        return result(sink, output);
    }

    /// A product of more than two operands, contracted pair by pair in the cheapest order.
    template <class Out, class Sink>
    handle chain(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                 Out scale);

    [[nodiscard]] std::string name(label_id label) const {
        return std::string(names_[static_cast<std::size_t>(label)]);
    }

    [[noreturn]] void fail(std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                           std::size_t operand, label_id label) const {
        const auto extent_in = [&](std::size_t which) {
            const labelled_handle<handle>& read = operands[which];
            index found = -1;
            for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
                const index extent = read.handle.extents[dimension];
                if (read.labels[dimension] == label &&
                    (found < 0 || extent != extents_[static_cast<std::size_t>(label)])) {
                    found = extent;
                }
            }
            return found;
        };
        std::size_t first = 0;
        while (extent_in(first) < 0) {
            ++first;
        }
        throw error("einsum " + einsum_text(names_, out, operands) + ": label " + name(label) + " has extent " +
                    std::to_string(extents_[static_cast<std::size_t>(label)]) + " in operand " +
                    std::to_string(first + 1) + " and " + std::to_string(extent_in(operand)) + " in operand " +
                    std::to_string(operand + 1));
    }

    std::span<const std::string_view> names_;
    std::span<index> extents_;
    block_target target_;
    std::size_t times_learnt_ = 0;
    bool checked_ = false;  ///< the statement is one vertex, its extents are known and the output's agree with them
    std::vector<std::unique_ptr<memory>> temporaries_;
};

template <class Out, class Sink>
block_handle immediate_builder::chain(Sink sink, std::span<const label_id> out,
                                      std::span<const labelled_handle<handle>> operands, Out scale) {
    learn_extents(out, operands);
    return contract_in_order<handle>(
        extents_, out, operands,
        [&](auto is_last, std::span<const label_id> labels, std::span<const labelled_handle<handle>> pair) {
            if constexpr (decltype(is_last)::value) {
                return multiply<Out>(sink, out, pair, scale);
            } else {
                return multiply<Out>(temporary{}, labels, pair, Out(1));
            }
        });
}

}  // namespace einparallel::detail
