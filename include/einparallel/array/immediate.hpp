#pragma once
// Executes vertices as they are lowered: the builder behind assignments to arrays and views; and products in one call.

#include <einparallel/array/aliasing.hpp>
#include <einparallel/array/lower.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/kernel/work/softmax.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel {

struct pairwise_contraction;

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

/// The memory that an operand or a view refers to, as a handle of immediate_builder.
template <class T, std::size_t Rank>
strided_block handle_of(const array_operand<T, Rank>& held) {
    return {held.data, held.extents, held.strides.data(), element_type_of<std::remove_const_t<T>>()};
}
template <class T, std::size_t Rank>
strided_block handle_of(const view<T, Rank>& seen) {
    return {seen.data(), seen.extents(), seen.strides().data(), element_type_of<std::remove_const_t<T>>()};
}

/// An operand of a statement that is joined of several blocks of memory. Elements outside of the blocks all have one
/// value.
template <class T, std::size_t Rank>
struct joined_read : array_operand<T, Rank> {
    std::shared_ptr<const joined_blocks> joined;
};
template <class T, std::size_t Rank>
strided_block handle_of(const joined_read<T, Rank>& held) {
    return {held.data, held.extents, held.strides.data(), element_type_of<T>(), held.joined.get()};
}

inline strided_block handle_of(const counted_operand& held) {
    strided_block made(&held.from, held.extents, held.strides.data(), element_type_of<index>());
    made.counts_from = held.from;
    return made;
}

/// What is known at compile time of a statement or einsum that is one product.
struct product_form {
    std::span<const std::string_view> names;  ///< of the labels, by id
    write_mode mode = write_mode::overwrite;
    bool in_place = false;  ///< an operand may be the output, if each element is read only where it is written
};

/// An array on the left-hand side. If it has no extents yet, it takes those of the right-hand side.
struct growing_array {
    lines_owner* elements;
    index* extents;  ///< where the output's extents, and below its strides, are written
    index* strides;
};
using growth = const growing_array*;  // null: the output keeps its extents

/// Computes Z[ℓZ] (+)= scale · Σ X1[ℓ1] · X2[ℓ2] · …. `Operands` is 1, 2, or 3 for three operands and more: these are
/// contracted pair by pair, in the cheapest order that is found. `blocks` are the output and then the operands, with
/// labels. Throws, and writes nothing, where extents disagree or memory cannot be read or written.
template <class T, std::size_t Operands>
[[gnu::visibility("default")]] void run_product(const product_form& form, std::span<strided_block> blocks, T scale,
                                                growth grow = nullptr);

/// Checks a product, and returns the call that computes it. Writes the extents, by label id, to `extents`. Throws as
/// run_product does.
EINPARALLEL_INLINE block_call checked_call(const product_form& form, std::span<strided_block> blocks,
                                           small_vector<index, 16>& extents, growth grow);

/// An operand of a statement, for the checks before anything is written.
struct statement_leaf {
    strided_block block;
    bool in_place = false;   ///< its term is computed element by element of the output
    bool ends_term = false;  ///< it is the last one of its term
};

/// Makes leaves of operands. Bit i of `ends` is set if operand i is the last one of its term; the last operand always
/// is.
EINPARALLEL_INLINE std::vector<statement_leaf> leaves_of(std::span<const strided_block> operands, bool in_place,
                                                         std::uint64_t ends = 0);

/// Memory for the indices that are read from memory.
using written_indices = std::vector<std::shared_ptr<index[]>>;

/// Writes the indices of those operands that are not in memory. The operands then refer to the memory that is returned.
EINPARALLEL_INLINE written_indices write_indices(std::span<strided_block> operands);

/// True where the output has dimensions, and all its extents are 0.
EINPARALLEL_INLINE bool lacks_extents(const strided_block& output);

/// Throws where a leaf cannot be read, or where it shares memory with the output and is not read in place.
EINPARALLEL_INLINE void check_leaf(const strided_block& output, const statement_leaf& leaf);

/// Calls work(). If it divides an integer by zero, throws an error that names the statement.
EINPARALLEL_INLINE void run_named(std::span<const std::string_view> names, label_span out,
                                  std::span<const strided_block> operands, function_ref<void()> work);

/// A builder that runs each vertex at once. Temporaries live until the statement ends.
class immediate_builder : private not_copied {
public:
    using handle = strided_block;
    using operand_type = strided_block;

    /// Where the result of a vertex goes: into memory of its own (nullopt), or into the statement's output in this
    /// mode.
    using destination = std::optional<write_mode>;

    using block_work = function_ref<void(const block_call&)>;

    /// Checks a statement before it writes anything. Extents must agree within each term and with the output; then
    /// those of every vertex agree as well. A leaf that shares memory with the output must be read element for element
    /// where the output is written. An output that may grow and whose extents are all 0 takes those of the leaves'
    /// labels.
    EINPARALLEL_INLINE immediate_builder(std::span<const std::string_view> names, const strided_block& target,
                                         std::span<const statement_leaf> leaves, growth grow);
    ~immediate_builder();

    static constexpr bool records = false;
    static bool is_joined(const operand_type& read) { return read.joined != nullptr; }

    EINPARALLEL_INLINE handle join(destination sink, label_span out, std::span<const strided_block> operands,
                                   const join_work& work, const op_program& nobody_asks);

    template <class Out, class MakeJoin>
    handle emit(destination sink, label_span out, std::span<const strided_block> operands, MakeJoin&& make_join,
                const auto& /*nobody_asks*/) {
        const auto made = make_join();
        const auto work = [&](const block_call& block) {
            run_named(names_, out, operands, [&] { run_join(block, made.work); });
        };
        return run(sink, out, operands, element_type_of<Out>(), work, true);
    }

    template <class Out, std::size_t Count>
    handle product(destination sink, label_span out, std::span<const strided_block, Count> operands, Out scale) {
        if constexpr (Count > 2) {
            return chain(
                sink, out, operands, nullptr, element_type_of<Out>(),
                [=](bool is_last, const block_call& block) { contract_product<Out>(block, is_last ? scale : Out(1)); });
        } else {
            return run(sink, out, operands, element_type_of<Out>(),
                       [&](const block_call& block) { contract_product<Out>(block, scale); });
        }
    }

    /// Computes exp(x − max x) / Σ exp(x − max x) along label `along`.
    template <class T>
    handle softmax(destination sink, label_span out, const strided_block& x, label_id along) {
        return run(sink, out, {&x, 1}, element_type_of<T>(),
                   [=](const block_call& block) { softmax_block<T>(block, along); });
    }
    EINPARALLEL_INLINE handle running(destination sink, label_span out, const strided_block& x, label_id along,
                                      const running_work& work) {
        return run(sink, out, {&x, 1}, work.element,
                   [&](const block_call& block) { run_running(block, work, along, along); });
    }
    EINPARALLEL_INLINE handle ranked(destination sink, label_span out, std::span<const strided_block> operands,
                                     const ranked_work& work) {
        return run(sink, out, operands, work.made, [&](const block_call& block) { run_ranked(block, work); });
    }

    /// @param counts  whether the work takes indices that are not in memory
    EINPARALLEL_INLINE handle run(destination sink, label_span out, std::span<const strided_block> operands,
                                  element_type element, block_work work, bool counts = false);

    /// Results of a chain that is contracted several times. By tensor: whether it varies between these times, and
    /// otherwise its result.
    struct kept_results {
        std::vector<bool> varies;
        std::vector<strided_block> made{};
        bool is_made = false;
    };

    /// Contracts a product pair by pair, in order `order`, or in the cheapest order that is found if it is null.
    /// Intermediate results are freed after they are read, except those that `kept` keeps.
    EINPARALLEL_INLINE handle chain(destination sink, label_span out, std::span<const strided_block> operands,
                                    const std::vector<pairwise_contraction>* order, element_type element,
                                    function_ref<void(bool is_last, const block_call&)> contract,
                                    kept_results* kept = nullptr);

    /// Overwrites the target with Σ of the product of all operands. Intermediate results hold at most `most_bytes` at a
    /// time; 0 means no limit. @throws error where no order keeps this limit
    EINPARALLEL_INLINE void network(std::span<const strided_block> operands, std::size_t most_bytes,
                                    block_work contract);

    /// Extents of the labels of the output and the operands, by label id; 1 for all other labels.
    EINPARALLEL_INLINE index_span learn_extents(std::span<const strided_block> operands);

private:
    struct memory {
        std::vector<index> extents;
        std::vector<index> strides;
        lines_owner bytes;
    };

    std::span<const std::string_view> names_;
    strided_block target_;
    small_vector<index, 16> extents_;  // by label id
    std::vector<std::unique_ptr<memory>> temporaries_;
};

/// Computes the output from the operands element by element, by `work`. `ends` marks the ends of terms, as in
/// leaves_of.
EINPARALLEL_INLINE void run_elementwise(std::span<const std::string_view> names, const strided_block& target,
                                        std::span<const strided_block> operands, std::uint64_t ends,
                                        const join_work& work, write_mode mode, growth grow);

/// Reads or writes elements at indices that are data. The operands are a tensor and then the tokens, which are these
/// indices. The tensor's dimensions to which they belong have labels with ids after those of the statement.
EINPARALLEL_INLINE void run_selection(std::span<const std::string_view> names, const strided_block& target,
                                      std::span<const strided_block> operands, const select_work& work, write_mode mode,
                                      growth grow);

}  // namespace einparallel::EINPARALLEL_DETAIL
