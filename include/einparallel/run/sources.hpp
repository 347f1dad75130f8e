#pragma once
// Inputs that know of ranks: an array of one rank, a tensor that is distributed already, values for placeholders.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/kernel/array.hpp>
#include <einparallel/kernel/view.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/binding.hpp>
#include <einparallel/run/distributed.hpp>
#include <einparallel/run/own_elements.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// A whole tensor in the memory of every rank, or of one.
class array_source final : public source {
public:
    array_source(strided_box elements, std::shared_ptr<const void> keep, std::optional<int> root)
        : elements_(std::move(elements)), keep_(std::move(keep)), root_(root) {}

    [[nodiscard]] source_kind kind() const override {
        return root_.has_value() ? source_kind::root : source_kind::everywhere;
    }
    void read(const box& region, void* destination) const override {
        elements_.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region) const override { return elements_.borrow(region); }
    [[nodiscard]] int root() const override { return root_.value_or(0); }
    [[nodiscard]] std::string description() const override {
        return root_.has_value() ? "from_root(" + std::to_string(*root_) + ")" : "bind";
    }

private:
    strided_box elements_;
    std::shared_ptr<const void> keep_;
    std::optional<int> root_;
};

/// A tensor that is distributed already. It shares the elements with the handle that it was made from.
class distributed_source final : public source {
public:
    explicit distributed_source(distributed_part part) : part_(std::move(part)) {}

    [[nodiscard]] source_kind kind() const override { return source_kind::resting; }
    void read(const box& region, void* destination) const override {
        part_.elements.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region) const override { return part_.elements.borrow(region); }
    [[nodiscard]] int holders() const override { return part_.where->holders(); }
    [[nodiscard]] box held_by(int rank) const override { return part_.where->held_by(rank); }
    [[nodiscard]] std::string description() const override { return "from_distributed"; }

private:
    distributed_part part_;
};

template <class T, std::size_t Rank>
std::shared_ptr<const source> source_of_view(const view<const T, Rank>& elements, std::shared_ptr<const void> keep,
                                             std::optional<int> root) {
    strided_box described{reinterpret_cast<std::byte*>(const_cast<T*>(elements.data())),  // never written
                          whole_box({elements.extents().begin(), elements.extents().end()}),
                          {elements.strides().begin(), elements.strides().end()},
                          sizeof(T)};
    return std::make_shared<array_source>(std::move(described), std::move(keep), root);
}

template <class Value>
inline constexpr bool is_distributed = false;
template <class T, std::size_t Rank>
inline constexpr bool is_distributed<distributed<T, Rank>> = true;

/// The source and the extents of a value for a placeholder with these elements.
template <class T, std::size_t Rank, class Value>
std::pair<std::shared_ptr<const source>, std::vector<index>> source_of_value(Value&& value) {
    using Plain = std::remove_cvref_t<Value>;
    if constexpr (is_distributed<Plain>) {
        static_assert(std::is_same_v<Plain, distributed<T, Rank>>,
                      "bind: the distributed tensor has another element type or rank than the placeholder");
        const auto extents = value.extents();
        if (value.part().where == nullptr) {
            return {};  // refused by the run, on all ranks
        }
        return {std::make_shared<distributed_source>(value.part()), {extents.begin(), extents.end()}};
    } else {
        constexpr bool fits = std::is_convertible_v<const Plain&, view<const T, Rank>>;
        static_assert(fits,
                      "bind: the value is no array, view or distributed tensor of the placeholder's element type and "
                      "rank");
        if constexpr (fits) {
            std::shared_ptr<const Plain> keep;
            if constexpr (!std::is_lvalue_reference_v<Value>) {
                keep = std::make_shared<const Plain>(std::forward<Value>(value));
            }
            const view<const T, Rank> elements = keep != nullptr ? *keep : std::as_const(value);
            const auto& extents = elements.extents();
            return {source_of_view<T, Rank>(elements, keep, std::nullopt), {extents.begin(), extents.end()}};
        } else {
            return {};
        }
    }
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// An input whose elements are in an array of rank `root`, which sends every other rank the part that it computes with.
/// Every rank gives an array of the same extents; its elements are read on the root only. An lvalue is referred to and
/// must outlive the runs that read it; an rvalue is owned.
template <Element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_root(const array<T, Rank>& elements, int root) {
    const auto& extents = elements.extents();
    return detail::input_tensor<T, Rank>({extents.begin(), extents.end()},
                                         detail::source_of_view<T, Rank>(elements, nullptr, root));
}
template <Element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_root(array<T, Rank>&& elements, int root) {
    const auto keep = std::make_shared<const array<T, Rank>>(std::move(elements));
    const auto& extents = keep->extents();
    return detail::input_tensor<T, Rank>({extents.begin(), extents.end()},
                                         detail::source_of_view<T, Rank>(*keep, keep, root));
}
template <class T, std::size_t Rank>
[[nodiscard]] tensor<std::remove_const_t<T>, Rank> from_root(const view<T, Rank>& elements, int root) {
    const auto& extents = elements.extents();
    return detail::input_tensor<std::remove_const_t<T>, Rank>(
        {extents.begin(), extents.end()},
        detail::source_of_view<std::remove_const_t<T>, Rank>(elements, nullptr, root));
}

/// The same for another library's object: an Eigen matrix, vector or map, a std::span, an mdspan.
template <class Foreign>
    requires detail::ForeignTensor<Foreign, detail::foreign_rank<Foreign>>
[[nodiscard]] auto from_root(Foreign&& elements, int root) {
    using Plain = std::remove_cvref_t<Foreign>;
    constexpr std::size_t rank = detail::foreign_rank<Foreign>;
    using T = std::remove_cv_t<std::remove_pointer_t<detail::foreign_pointer_t<Foreign>>>;
    std::shared_ptr<const Plain> keep;
    if constexpr (!std::is_lvalue_reference_v<Foreign>) {
        keep = std::make_shared<const Plain>(std::forward<Foreign>(elements));
    }
    const view<const T, rank> seen(keep != nullptr ? *keep : std::as_const(elements));
    const auto& extents = seen.extents();
    return detail::input_tensor<T, rank>({extents.begin(), extents.end()},
                                         detail::source_of_view<T, rank>(seen, keep, root));
}

/// An input that is distributed already: an earlier result, or the application's own distribution. The elements of an
/// earlier result are shared and live as long as the input does; the application's own are referred to.
template <Element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_distributed(const distributed<T, Rank>& elements) {
    const auto extents = elements.extents();
    if (elements.part().where == nullptr) {
        std::shared_ptr<vertex> nothing = detail::unassigned_vertex(Rank, element_type_of<T>());
        nothing->failure = "from_distributed: the distributed tensor holds nothing";
        return tensor<T, Rank>(std::move(nothing));
    }
    return detail::input_tensor<T, Rank>({extents.begin(), extents.end()},
                                         std::make_shared<detail::distributed_source>(elements.part()));
}

/// A value for a placeholder in one run: an ep::array or ep::view that every rank has, each reading its own part of it;
/// or an ep::distributed, brought to where the plan reads it where it rests elsewhere. An lvalue is referred to and
/// must outlive the run; an rvalue is owned.
template <class T, std::size_t Rank, class Value>
[[nodiscard]] binding bind(const tensor<T, Rank>& placeholder, Value&& value) {
    auto [elements, extents] = detail::source_of_value<T, Rank>(std::forward<Value>(value));
    return {placeholder.node(), std::move(elements), element_type_of<T>(), std::move(extents)};
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
