#pragma once
// A section of a recorded tensor on the left: Z(i + 3, j) = A(i, j), Z(i, 2) += x(i), p(i + j) += x(i) * y(j).

#include <einparallel/array/operand.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/tensor_leaves.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/label.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Labels for the dimensions of the tensor whose section is written. A dimension has the only label of its index,
/// unless an earlier dimension has it already; otherwise its label is its number.
template <class Done, class... Indices>
struct labels_of_section : std::type_identity<Done> {};
template <class... Done, class Index, class... More>
struct labels_of_section<label_list<Done...>, Index, More...> {
    template <class Labels>
    struct of {
        using type = label<char('0' + sizeof...(Done))>;
    };
    template <class L>
        requires(!appears_in<L, label_list<Done...>>)
    struct of<label_list<L>> {
        using type = L;
    };
    using type =
        typename labels_of_section<label_list<Done..., typename of<typename Index::labels>::type>, More...>::type;
};

/// The labels +0, +1, …, for dimensions that are summed.
template <class Positions>
struct summed_labels;
template <std::size_t... Position>
struct summed_labels<std::index_sequence<Position...>>
    : std::type_identity<label_list<label<'+', char('0' + Position)>...>> {};

/// What is wrong with a section on the left of a statement; empty where nothing is. @param once  true where no element
/// may be written twice
EINPARALLEL_INLINE std::string failure_of_section(const inverse_map& section, bool once);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

template <class T, std::size_t Rank>
class tensor;

}  // namespace einparallel

namespace einparallel::EINPARALLEL_UNIT {

template <class T, std::size_t Rank, class Labels>
class tensor_target;

/// A labelled section of a tensor. It is an operand, and an einsum can be assigned to it. The assignment records a
/// tensor that has the new elements inside the section, and the elements of the old tensor elsewhere. The handle then
/// refers to the new tensor.
template <class T, std::size_t Rank, class Read, class... Indices>
class tensor_section : public written_leaf<tensor_section<T, Rank, Read, Indices...>, T, Read, tensor<T, Rank>, true> {
public:
    using labels = typename Read::labels;
    using tensor_section::written_leaf::written_leaf;
    using tensor_section::written_leaf::operator=;

    template <assignment How, class E>
    void take(const E& right) const {
        using Statement = statement<labels, E>;
        using Written = typename labels_of_section<
            label_list<>, std::remove_cvref_t<decltype(as_index(std::declval<const Indices&>()))>...>::type;
        const std::shared_ptr<vertex> whole = handle_of(tensor_operand<T, Rank>{this->handle_->node()});
        const resolution<Statement, tensor_leaves> found(this->read(), right);
        using Sum = std::conditional_t<How == assignment::set, T, computed_t<T>>;  // what is added is not yet rounded
        const std::shared_ptr<vertex> assigned = record_statement<Sum, labels>(found.resolved(right));
        const affine_map left = map_of<typename Statement::ids>(this->read());
        const inverse_map section = inverse(left.numbered(Statement::ids::template ids<labels>), assigned->bounds);
        const std::string failure =
            !found.failure().empty() ? found.failure() : failure_of_section(section, How == assignment::set);
        if (!failure.empty()) {
            *this->handle_ = tensor<T, Rank>(unassigned_vertex(Rank, element_type_of<T>()));
            this->handle_->node()->failure = failure;
            return;
        }
        // The dimensions of the whole tensor, and for += the labels that remain to be summed.
        constexpr std::size_t all = Rank + (How == assignment::set ? 0 : labels::size);
        std::array<label_id, all> dimensions{};
        std::array<interval, all> ranges{};
        for (std::size_t dimension = 0; dimension < all; ++dimension) {
            dimensions[dimension] = label_id(dimension);
            ranges[dimension].end = dimension < Rank ? whole->bounds[dimension] : section.summed[dimension - Rank];
        }
        tensor<T, Rank> made(whole);
        const tensor_target<T, Rank, Written> target(made);
        const auto seen = [&]<class... Summed>(const std::shared_ptr<vertex>& other, label_list<Summed...> /*left*/) {
            using Leaf = leaf<tensor_operand<Sum, all>, concatenate_t<Written, label_list<Summed...>>>;
            return Leaf({view_vertex(assigned, section.at, dimensions, ranges, other)});
        };
        if constexpr (How == assignment::set) {
            target = seen(whole, label_list<>{});
        } else {
            const affine_map first{std::vector<index_function>(1)};
            const Sum nothing{};
            const auto zero =
                view_vertex(constant_vertex(element_type_of<Sum>(), &nothing, {1}), first, dimensions, ranges);
            const auto terms = seen(zero, typename summed_labels<std::make_index_sequence<labels::size>>::type{});
            if constexpr (How == assignment::add) {
                target += terms;
            } else {
                target -= terms;
            }
        }
        *this->handle_ = made;
    }
};

}  // namespace einparallel::EINPARALLEL_UNIT
