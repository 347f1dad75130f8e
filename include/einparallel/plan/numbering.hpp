#pragma once
// Equal keys get equal numbers: the planner's way to compute nothing twice, and to put equal things in one class.
//
// Here and in the other headers of this room, classes and functions are templates on nothing (`Lazy` is always void):
// what a program does not call is then not compiled, and a translation unit that only includes the library does not pay
// for the planner.

#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Numbers keys from 0 on in the order in which they come.
/// One kind of key serves the whole planner, for the sake of compile time: every map type costs all who include it.
template <class Lazy = void>
class numbering {
public:
    /// The key's number, and whether it is new.
    std::pair<std::size_t, bool> number_of(std::vector<index> key) {
        const auto [known, fresh] = numbers_.try_emplace(std::move(key), numbers_.size());
        return {known->second, fresh};
    }

    [[nodiscard]] std::size_t size() const { return numbers_.size(); }

private:
    std::map<std::vector<index>, std::size_t> numbers_;
};

/// A number with a position; sorted by the number, equal ones by position.
using ranked = std::pair<double, std::size_t>;

}  // namespace einparallel::detail
