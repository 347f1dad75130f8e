#pragma once
// What a call says where it fails.

#include <einparallel/notation/error.hpp>

#include <string>

namespace einparallel::testing {

/// The sentence of the ep::error that f() throws; empty where it throws none.
template <class F>
std::string sentence_of(F&& f) {
    try {
        f();
    } catch (const error& thrown) {
        return thrown.what();
    }
    return {};
}

}  // namespace einparallel::testing
