#pragma once

#include <einparallel/data/sources.hpp>

#include <einparallel/data/memory_source.hpp>
#include <einparallel/schedule/program.hpp>

#include <exception>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::shared_ptr<vertex> input_copied(const local_tensor& given, int root) {
    const std::vector<index> bounds = extents_of(given.elements.held);
    if (!negative_extent(bounds).empty() || !is_countable(bounds) || given.elements.data == nullptr) {
        return input_in_memory(given, root);  // which fails, or where another rank has them
    }
    local_tensor copied = given;
    std::string failure;
    try {
        copied = on_host(given, true);
        copied.life.reset();
    } catch (const std::exception&) {
        failure = "from_root: there is no memory for a copy of " + std::to_string(given.elements.bytes()) +
                  " bytes: from_root(ep::borrow(a), root) refers to the array, from_root(std::move(a), root) keeps it";
    }
    std::shared_ptr<vertex> made = input_in_memory(copied, root);
    made->failure = failure.empty() ? std::move(made->failure) : std::move(failure);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
