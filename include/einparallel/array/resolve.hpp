#pragma once
// Leaves that wait for extents, ep::iota(i) and the count behind ep::mean: replaced when a statement meets its
// operands.

#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// The leaf waits for extents.
template <class Leaf>
inline constexpr bool waits = requires {
    Leaf::operand_type::waits;
};

/// Some leaf of E does.
template <class E>
inline constexpr bool waits_for_extents =
    []<class... Leaves>(type_list<Leaves...> /*all*/) { return (waits<Leaves> || ...); }(leaves_t<E>{});

}  // namespace einparallel::detail

namespace einparallel::EINPARALLEL_DETAIL {

/// Learns the extents of a statement's labels from its leaves, and rebuilds its right-hand side with them. `Source` has
/// extents_of(operand), empty where they are not known, and indices<Labels>(extent): a leaf with elements 0, 1, 2, …,
/// of extent -1 where nobody knows.
template <class Statement, class Source>
class resolution {
public:
    resolution() { extents_.fill(-1); }

    template <class E>
    void learn(const E& expression) {
        for_each_leaf(expression,
                      [&]<class Operand, class Labels>(const leaf<Operand, Labels>& node, auto /*reduced*/) {
                          if constexpr (!waits<leaf<Operand, Labels>>) {
                              const auto& extents = Source::extents_of(node.operand);
                              std::size_t dimension = 0;
                              for (const label_id label : Statement::ids::template ids<Labels>) {
                                  if (dimension < extents.size()) {
                                      extents_[std::size_t(label)] = extents[dimension++];
                                  }
                              }
                          }
                      });
    }

    template <class E>
    auto resolved(const E& node) const {
        return node;
    }
    template <class Labels>
    auto resolved(const leaf<iota_operand, Labels>& /*node*/) const {
        return Source::template indices<Labels>(extents_[std::size_t(Statement::ids::template ids<Labels>[0])]);
    }
    template <class Over, class Inner, class Labels>
    auto resolved(const leaf<count_operand<Over, Inner>, Labels>& /*node*/) const {
        using T = typename count_operand<Over, Inner>::value_type;
        constexpr auto reduced = Statement::reduced_by(std::type_identity<reduce_node<op::sum_type, Over, Inner>>{});
        T count = T(1);
        for (std::size_t label = 0; label < reduced.size(); ++label) {
            count *= reduced[label] ? T(extents_[label]) : T(1);
        }
        return constant<T>(count);
    }
    template <class Function, class... Arguments>
    auto resolved(const join_node<Function, Arguments...>& node) const {
        return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
            return make_join(node.function, resolved(argument<Position>(node.arguments))...);
        }
        (std::index_sequence_for<Arguments...>{});
    }
    template <class Op, class Over, class Inner>
    auto resolved(const reduce_node<Op, Over, Inner>& node) const {
        auto inner = resolved(node.inner);
        return reduce_node<Op, Over, decltype(inner)>(node.op, std::move(inner));
    }
    template <class Over, class Inner>
    auto resolved(const softmax_node<Over, Inner>& node) const {
        auto inner = resolved(node.inner);
        return softmax_node<Over, decltype(inner)>(std::move(inner));
    }

private:
    std::array<index, Statement::ids::size> extents_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
