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
#include <einparallel/kernel/softmax.hpp>
#include <einparallel/kernel/work/select.hpp>
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

/// The handle of an array's or view's operand, or of a view.
template <class T, std::size_t Rank>
strided_block handle_of(const array_operand<T, Rank>& held) {
    return {held.data, held.extents, held.strides.data(), element_type_of<std::remove_const_t<T>>()};
}
template <class T, std::size_t Rank>
strided_block handle_of(const view<T, Rank>& seen) {
    return {seen.data(), seen.extents(), seen.strides().data(), element_type_of<std::remove_const_t<T>>()};
}

/// Memory around which all elements are one value, as an operand of a statement.
template <class T, std::size_t Rank>
struct joined_read : array_operand<T, Rank> {
    std::shared_ptr<const joined_blocks> joined;
};
template <class T, std::size_t Rank>
strided_block handle_of(const joined_read<T, Rank>& held) {
    return {held.data, held.extents, held.strides.data(), element_type_of<T>(), held.joined.get()};
}

/// A statement or einsum that is one product, as constants of the unit.
struct product_form {
    std::span<const std::string_view> names;  ///< of the labels, by id
    write_mode mode = write_mode::overwrite;
    bool in_place = false;  ///< the output may be an operand that is read element for element where it is written
};

/// The array that is assigned to, which takes the extents of what is assigned while it has none.
struct growing_array {
    lines_owner* elements;
    index* extents;  ///< memory of the output's extents and strides
    index* strides;
};
using growth = const growing_array*;  // null: the output keeps its extents

/// Z[ℓZ] (+)= scale · Σ X1[ℓ1] · X2[ℓ2] · … of one, two or more `Operands`, which 3 stands for: these are contracted
/// pair by pair in the cheapest order. `blocks` are the output and the operands, with labels. Throws, and writes
/// nothing, where extents disagree or memory cannot be read or written.
template <class T, std::size_t Operands>
[[gnu::visibility("default")]] void run_product(const product_form& form, std::span<strided_block> blocks, T scale,
                                                growth grow = nullptr);

/// Throws as run_product does. Finds the extents by label id.
EINPARALLEL_INLINE block_call checked_call(const product_form& form, std::span<strided_block> blocks,
                                           small_vector<index, 16>& extents, growth grow);

/// An operand of a statement, for the checks before anything is written.
struct statement_leaf {
    strided_block block;
    bool in_place = false;   ///< its term is evaluated element by element of the output
    bool ends_term = false;  ///< it is the last one of its term
};

/// Operands as leaves. `ends` has a bit for each, set where it is the last one of its term, as the last of all is.
EINPARALLEL_INLINE std::vector<statement_leaf> leaves_of(std::span<const strided_block> operands, bool in_place,
                                                         std::uint64_t ends = 0);

/// The indices of a range: the elements of ep::iota.
EINPARALLEL_INLINE std::shared_ptr<index[]> count_up(interval range);

/// Every extent is 0, and there is one.
EINPARALLEL_INLINE bool lacks_extents(const strided_block& output);

/// Throws where a leaf cannot be read, or where it shares memory with the output in another way than it may.
EINPARALLEL_INLINE void check_leaf(const strided_block& output, const statement_leaf& leaf);

/// Does the work; a failure within it names the statement.
EINPARALLEL_INLINE void run_named(std::span<const std::string_view> names, label_span out,
                                  std::span<const strided_block> operands, function_ref<void()> work);

/// Builder that runs each vertex at once. Temporaries live until the statement ends.
class immediate_builder : private not_copied {
public:
    using handle = strided_block;
    using operand_type = strided_block;

    /// Where the result of a vertex goes: into memory of its own, or so into the statement's output.
    using destination = std::optional<write_mode>;

    using block_work = function_ref<void(const block_call&)>;

    /// Checks what must hold before a statement writes anything: extents agree within each term and with the output,
    /// and a leaf that shares memory with the output is read element for element where it is written. The extents of a
    /// vertex then agree as well. An output that may grow and whose extents are all 0 takes those of the leaves'
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
        return run(sink, out, operands, element_type_of<Out>(), [&](const block_call& block) {
            run_named(names_, out, operands, [&] { run_join(block, made.work); });
        });
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

    /// exp(x − max x) / Σ exp(x − max x) along one label.
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

    EINPARALLEL_INLINE handle run(destination sink, label_span out, std::span<const strided_block> operands,
                                  element_type element, block_work work);

    /// Results of a chain that is contracted many times, by tensor: what varies, and what is the same in all times.
    struct kept_results {
        std::vector<bool> varies;
        std::vector<strided_block> made{};
        bool is_made = false;
    };

    /// A product contracted pair by pair, in this order, or in the cheapest one where none is given. Intermediate
    /// results are freed when they have been read, except those that are kept.
    EINPARALLEL_INLINE handle chain(destination sink, label_span out, std::span<const strided_block> operands,
                                    const std::vector<pairwise_contraction>* order, element_type element,
                                    function_ref<void(bool is_last, const block_call&)> contract,
                                    kept_results* kept = nullptr);

    /// Overwrites the target with Σ of the product of all operands. Intermediate results hold at most `most_bytes` at a
    /// time; 0: no limit. @throws error where no order keeps within this limit
    EINPARALLEL_INLINE void network(std::span<const strided_block> operands, std::size_t most_bytes,
                                    block_work contract);

    /// Extents of the labels of the output and the operands, by label id; 1 of others.
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

/// Z (+)= what the work makes of the operands, element by element. `ends`: of terms, as leaves_of takes them.
EINPARALLEL_INLINE void run_elementwise(std::span<const std::string_view> names, const strided_block& target,
                                        std::span<const strided_block> operands, std::uint64_t ends,
                                        const join_work& work, write_mode mode, growth grow);

/// Reads, or writes, at indices that are data. The operands are X and the tokens; the positions that these name have
/// labels behind the statement's.
EINPARALLEL_INLINE void run_selection(std::span<const std::string_view> names, const strided_block& target,
                                      std::span<const strided_block> operands, const select_work& work, write_mode mode,
                                      growth grow);

}  // namespace einparallel::EINPARALLEL_DETAIL
