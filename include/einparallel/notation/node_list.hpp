#pragma once
// What a node of an expression holds: one or more nodes of any types.

#include <cstddef>

namespace einparallel::detail {

/// The arguments of a function. Each einsum's nodes are types of their own, whose every function is compiled for it
/// alone: so of one or two there are none but the implicit ones, and no level between a node and its arguments.
template <class... Nodes>
struct node_list;
template <class First>
struct node_list<First> {
    First first;
};
template <class First, class Second>
struct node_list<First, Second> {
    First first;
    Second second;
};
template <class First, class Second, class... More>
struct node_list<First, Second, More...> {
    First first;
    node_list<Second, More...> rest;
    constexpr node_list(const First& one, const Second& next, const More&... more) : first(one), rest{next, more...} {}
};
template <std::size_t Position, class... Nodes>
constexpr const auto& argument(const node_list<Nodes...>& nodes) {
    if constexpr (Position == 0) {
        return nodes.first;
    } else if constexpr (sizeof...(Nodes) == 2) {
        return nodes.second;
    } else {
        return argument<Position - 1>(nodes.rest);
    }
}

}  // namespace einparallel::detail
