#pragma once
// Executes vertices as they are lowered: the builder behind assignments to arrays and views.

#include <einparallel/kernel/aliasing.hpp>
#include <einparallel/kernel/contract.hpp>
#include <einparallel/kernel/contract_in_order.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/kernel/operand.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/softmax.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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
    EINPARALLEL_INLINE immediate_builder(std::span<const std::string_view> names, std::span<index> extents,
                                         const block_target& target);
    immediate_builder(const immediate_builder&) = delete;
    immediate_builder& operator=(const immediate_builder&) = delete;
    ~immediate_builder();

    template <class T, std::size_t Rank>
    [[nodiscard]] static handle handle_of(const array_operand<T, Rank>& held) {
        return {held.data, held.extents, held.strides};
    }

    template <class Out, class Sink, class MakeKernel>
    handle emit(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                MakeKernel&& make_kernel) {
        const auto work = make_kernel(std::false_type{});
        return run(sink, out, operands, sizeof(Out), {&work, [](const void* context, const block_call& block) {
                                                          static_cast<const decltype(work)*>(context)->contract(block);
                                                      }});
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
        return run(sink, out, {&x, 1}, sizeof(T), {&along, [](const void* context, const block_call& block) {
                                                       softmax_block<T>(block, *static_cast<const label_id*>(context));
                                                   }});
    }

    /// Throws where the extents of the operands disagree with one another or with the statement's output; knows all
    /// extents afterwards.
    EINPARALLEL_INLINE void check(std::span<const label_id> out, std::span<const labelled_handle<handle>> operands);

private:
    struct memory {
        std::vector<index> extents;
        std::vector<index> strides;
        std::unique_ptr<std::byte[]> bytes;
    };

    /// The work of a vertex with its types erased.
    struct block_work {
        const void* context;
        void (*run)(const void* context, const block_call& block);
    };

    /// Extents of all labels of the vertex. Throws where extents disagree.
    EINPARALLEL_INLINE void learn_extents(std::span<const label_id> out,
                                          std::span<const labelled_handle<handle>> operands);
    EINPARALLEL_INLINE handle run(into_target sink, std::span<const label_id> out,
                                  std::span<const labelled_handle<handle>> operands, std::size_t element_bytes,
                                  block_work work);
    EINPARALLEL_INLINE handle run(temporary sink, std::span<const label_id> out,
                                  std::span<const labelled_handle<handle>> operands, std::size_t element_bytes,
                                  block_work work);
    EINPARALLEL_INLINE void call(std::span<const labelled_handle<handle>> operands, const output_block& output,
                                 write_mode mode, block_work work);

    /// A product of all operands in one call.
    template <class Out, class Sink>
    handle multiply(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                    Out scale) {
        return run(sink, out, operands, sizeof(Out), {&scale, [](const void* context, const block_call& block) {
                                                          contract_product<Out>(block,
                                                                                *static_cast<const Out*>(context));
                                                      }});
    }

    /// A product of more than two operands, contracted pair by pair in the cheapest order.
    template <class Out, class Sink>
    handle chain(Sink sink, std::span<const label_id> out, std::span<const labelled_handle<handle>> operands,
                 Out scale);

    EINPARALLEL_INLINE [[nodiscard]] std::string name(label_id label) const;

    EINPARALLEL_INLINE [[noreturn]] void fail(std::span<const label_id> out,
                                              std::span<const labelled_handle<handle>> operands, std::size_t operand,
                                              label_id label) const;

    std::span<const std::string_view> names_;
    std::span<index> extents_;
    block_target target_;
    std::size_t times_learnt_ = 0;
    bool checked_ = false;  ///< the statement is one vertex, its extents are known and the output's agree with them
    std::vector<std::unique_ptr<memory>> temporaries_;
};

/// What must hold before a statement writes anything: extents agree within each term and with the output, and a leaf
/// that shares memory with the output is read element for element where it is written.
class statement_check {
public:
    /// Throws where the output cannot be written.
    EINPARALLEL_INLINE statement_check(immediate_builder& builder, const block_target& target,
                                       std::size_t element_bytes);

    /// A leaf of the present term; `in_place`: the term is evaluated element by element of the output.
    EINPARALLEL_INLINE void read(const labelled_handle<block_handle>& leaf, std::size_t element_bytes, bool in_place);

    EINPARALLEL_INLINE void end_term(std::span<const label_id> left);

private:
    immediate_builder& builder_;
    touched_memory written_;
    std::span<const label_id> written_labels_;
    small_vector<labelled_handle<block_handle>, 8> leaves_;
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

}  // namespace einparallel::EINPARALLEL_DETAIL
