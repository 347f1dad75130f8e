#pragma once
// The one exception of the library.

#include <stdexcept>
#include <string>

namespace einparallel {

/// What every run-time misuse or failure throws: one sentence that names vertex, label and both extents where there are
/// such. On a communicator every rank throws the same text.
class error : public std::runtime_error {
public:
    /// With the sentence that what() returns.
    explicit error(const std::string& sentence) : std::runtime_error(sentence) {}
};

namespace detail {

/// @throws error with this sentence where something does not hold
///@{
inline void expect(bool holds, const char* otherwise) {
    if (!holds) {
        throw error(otherwise);
    }
}
inline void expect(bool holds, const std::string& otherwise) {
    expect(holds, otherwise.c_str());
}
///@}

}  // namespace detail

}  // namespace einparallel
