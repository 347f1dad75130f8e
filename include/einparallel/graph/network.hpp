#pragma once
// Einsums known at run time, of any number of tensors: ep::einsum("ij,jk->ik", A, B) and ep::network<double>.

#include <einparallel/array/array.hpp>
#include <einparallel/array/assign.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/label.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

template <class T>
class unranked;

namespace EINPARALLEL_DETAIL {

/// The result of an einsum known at run time: row-major elements, or the vertex that was recorded.
struct unranked_result {
    std::vector<index> extents;
    lines_owner elements;
    std::shared_ptr<vertex> node;
};

/// An operand whose rank is known at run time: elements in memory, or the vertex that makes it.
struct unranked_operand {
    std::vector<index> extents;
    std::vector<index> strides;         ///< for elements in memory, in elements; empty: row-major
    const void* data = nullptr;         ///< the address of elements in memory
    std::shared_ptr<const void> owner;  ///< owns elements in memory that the list keeps
    std::shared_ptr<vertex> node;       ///< null for elements in memory
};

/// The operands of an einsum known at run time. Copies of the list share them until append() changes one copy.
using operand_list = std::shared_ptr<std::vector<unranked_operand>>;
EINPARALLEL_INLINE void append(operand_list& list, unranked_operand operand);

/// Computes the einsum of a subscript string; records it where the operands are vertices.
/// @param has_numbers  true where the string's labels are numbers
/// @param make_product  makes the kernel of a product of this many operands
/// @param most_bytes  bytes that intermediate results may take at a time; 0: no limit
/// @throws error for a mistake in the string, where only some of the operands are vertices, and as immediate einsums do
EINPARALLEL_INLINE std::shared_ptr<unranked_result> einsum_of(
    std::string_view text, bool has_numbers, const operand_list& list,
    std::shared_ptr<const kernel> (*make_product)(std::size_t operands), std::size_t most_bytes);
template <class T>
std::shared_ptr<const kernel> product_of_type(std::size_t operands) {
    return make_product_kernel<T>(T(1), operands);
}

EINPARALLEL_INLINE std::shared_ptr<unranked_result> new_result(std::vector<index> extents, std::size_t element_bytes);

/// @throws error where the result has another rank, where a recorded result is assigned to an array, and where a
/// computed one is assigned to a tensor
EINPARALLEL_INLINE void check_assigned(const unranked_result& made, std::size_t rank, bool to_array);

/// The labels of one tensor of a network: characters, or numbers with a blank behind each.
struct network_labels {
    network_labels(std::initializer_list<extent> numbers) { append(numbers); }
    template <class Labels>
    network_labels(const Labels& labels) {
        if constexpr (std::convertible_to<const Labels&, std::string_view>) {
            text = std::string_view(labels);
        } else {
            append(labels);
        }
    }

    std::string text;

private:
    template <class Numbers>
    void append(const Numbers& numbers) {
        for (const extent number : numbers) {
            text += std::to_string(number.value) + ' ';
        }
    }
};

template <class T>
inline constexpr bool is_unranked = false;
template <class T>
inline constexpr bool is_unranked<unranked<T>> = true;

template <class T>
concept EinsumOperand = DenseOperand<T> || TensorOperand<T> || is_unranked<T>;

/// The element type of an operand.
template <class Operand>
struct operand_element : std::type_identity<typename Operand::value_type> {};
template <DenseOperand Operand>
struct operand_element<Operand> : std::type_identity<typename readable_t<Operand>::value_type> {};

/// Appends an operand with elements of type T. @param owner  owns the operand's memory, where the list keeps it
template <class T, class Given>
void add_operand(operand_list& list, const Given& operand, const std::shared_ptr<const void>& owner = nullptr) {
    constexpr bool is_same = std::is_same_v<typename operand_element<Given>::type, T>;
    if constexpr (is_unranked<Given>) {
        static_assert(is_same, "ep::unranked: the element type of an operand must be that of the result");
        append(list, {operand.extents(), {}, operand.data(), owner, operand.made().node});
    } else if constexpr (TensorOperand<Given>) {
        const auto node = handle_of(tensor_operand<T, Given::rank>{elements_as<T, tensor>(operand).node()});
        append(list, {node->bounds, {}, nullptr, nullptr, node});
    } else if constexpr (is_same) {
        const auto seen = readable(operand);
        const auto& [extents, strides] = std::pair{seen.extents(), seen.strides()};
        append(list, {{extents.begin(), extents.end()}, {strides.begin(), strides.end()}, seen.data(), owner, nullptr});
    } else {
        using Made = array<T, readable_t<Given>::rank>;
        const std::shared_ptr<const void> kept = std::make_shared<const Made>(elements_as<T, array>(readable(operand)));
        add_operand<T>(list, *static_cast<const Made*>(kept.get()), kept);
    }
}

}  // namespace EINPARALLEL_DETAIL

/// A tensor whose rank is known at run time. Einsums that are known at run time read and return such tensors. It is
/// assigned to an array, or to a tensor where it was recorded: `ep::array<double, 2> C = ep::einsum("ij,jk->ik", A,
/// B)`.
template <class T>
class unranked {
public:
    using value_type = T;

    /// Row-major elements, zeroed. A negative extent is an ep::error.
    explicit unranked(std::vector<index> extents) : made_(detail::new_result(std::move(extents), sizeof(T))) {}
    /// The result of an einsum. This is a template so that a braced list never means this constructor.
    template <std::same_as<std::shared_ptr<detail::unranked_result>> Made>
    explicit unranked(Made made) : made_(std::move(made)) {}
    unranked(unranked&&) noexcept = default;
    unranked& operator=(unranked&&) noexcept = default;
    ~unranked() = default;

    /// The extents, one for each dimension.
    [[nodiscard]] const std::vector<index>& extents() const { return made_->extents; }
    /// Number of elements.
    [[nodiscard]] index size() const { return detail::element_count(made_->extents); }
    /// The address of the row-major elements. Null where the einsum was recorded, and after the elements have moved.
    [[nodiscard]] T* data() { return static_cast<T*>(made_->elements.get()); }
    /// The same for reading.
    [[nodiscard]] const T* data() const { return static_cast<const T*>(made_->elements.get()); }
    /// The result itself, which the library's einsums read.
    [[nodiscard]] const detail::unranked_result& made() const { return *made_; }

    /// Moves the elements to an array. @throws error for another rank, and where the einsum was recorded
    template <std::size_t Rank>
    operator array<T, Rank>() && {
        const std::array<index, Rank> extents = shape<Rank>();
        made_->extents.clear();
        return array<T, Rank>(extents, std::move(made_->elements));
    }
    /// Copies the elements to an array.
    template <std::size_t Rank>
    operator array<T, Rank>() const& {
        array<T, Rank> copy(shape<Rank>(), detail::first_elements::unwritten);
        std::copy(data(), data() + size(), copy.data());
        return copy;
    }
    /// The recorded tensor. @throws error for another rank, and where the einsum was computed, not recorded
    template <std::size_t Rank>
    operator tensor<T, Rank>() const {
        detail::check_assigned(*made_, Rank, false);
        return tensor<T, Rank>(made_->node);
    }

private:
    template <std::size_t Rank>
    std::array<index, Rank> shape() const {
        detail::check_assigned(*made_, Rank, true);
        std::array<index, Rank> extents{};
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            extents[dimension] = made_->extents[dimension];
        }
        return extents;
    }

    std::shared_ptr<detail::unranked_result> made_;  // of this one alone
};

inline namespace EINPARALLEL_WAY {

/// The einsum of a subscript string that is known at run time, in the language of einsum<"ij,jk->ik">(A, B). It is
/// computed where the operands are arrays and views, and recorded where they are tensors. Elements have the operands'
/// common type. The result is assigned to an array or a tensor of its rank. Operands may be ep::unranked, too.
/// @throws error for a mistake in the string, naming the subscript or the label, and for extents that disagree. Where
/// the einsum is recorded, the next decompose throws for these extents
template <class Text, detail::EinsumOperand... Operands>
    requires(sizeof...(Operands) > 0 && std::convertible_to<const Text&, std::string_view>)
auto einsum(const Text& subscripts, const Operands&... operands) {
    using T = typename detail::common_element<typename detail::operand_element<Operands>::type...>::type;
    detail::operand_list list;
    (detail::add_operand<T>(list, operands), ...);
    return unranked<T>(detail::einsum_of(subscripts, false, list, &detail::product_of_type<T>, 0));
}

}  // namespace EINPARALLEL_WAY

/// A product of tensors whose number and labels are known at run time:
/// `ep::network<double> net; net.add(A, "ij").add(B, "jk"); ep::array<double, 2> C = net.result("ik");`
/// Labels are letters or other characters of Unicode, "ij", or numbers from 0 on: {0, 1}, a std::vector of integers, or
/// "0 1". There may be 32,767 of them at most. Labels that the result lacks are summed. A network may consist of parts
/// that share no label. It is contracted pair by pair: up to 12 tensors in the cheapest order, more in a good one.
template <class T>
class network {
    static_assert(
        !detail::is_half<T>,
        "ep::network: there is no network of halves, whose products are summed as floats: write ep::network<float>");

public:
    /// Adds a tensor: an array, a view or the like, an ep::tensor, or an ep::unranked<T>. Lvalues are only referred to,
    /// and must live until the last result; rvalues are kept. Elements of other types become elements of type T.
    template <class Operand>
    network& add(Operand&& operand, const detail::network_labels& labels) {
        using Given = std::remove_cvref_t<Operand>;
        static_assert(detail::EinsumOperand<Given>,
                      "ep::network: a tensor of a network is an array, a view, an "
                      "ep::tensor or an ep::unranked: net.add(A, \"ij\")");
        if constexpr (std::is_lvalue_reference_v<Operand>) {
            detail::add_operand<T>(operands_, operand);
        } else {
            const auto kept = std::make_shared<Given>(std::forward<Operand>(operand));
            detail::add_operand<T>(operands_, *kept, kept);
        }
        text_ += labels.text + ',';
        return *this;
    }

    /// Sets how many bytes intermediate results may take at a time; 0, the default, is no limit. Where no order keeps
    /// within the limit, labels are fixed one after the other, and the slices are summed: this takes more work and less
    /// memory. Operands and the result do not count. A recorded network has the limit of its plan instead,
    /// ep::options::memory_limit.
    network& memory_limit(std::size_t bytes) {
        most_bytes_ = bytes;
        return *this;
    }

    /// The product of all tensors, summed over the labels that `labels` lacks. It is computed at each call, which may
    /// be repeated.
    /// @throws error as einsum does, for a network without tensors, and for a limit that cannot be met
    [[nodiscard]] unranked<T> result(const detail::network_labels& labels) const {
        return unranked<T>(
            detail::einsum_of(text_.substr(0, text_.size() - (text_.empty() ? 0 : 1)) + "->" + labels.text, true,
                              operands_, &detail::product_of_type<T>, most_bytes_));
    }

private:
    std::string text_;  // the subscripts, a comma behind each
    detail::operand_list operands_;
    std::size_t most_bytes_ = 0;
};

}  // namespace einparallel
