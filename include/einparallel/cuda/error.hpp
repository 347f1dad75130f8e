#pragma once
// What a CUDA or cuBLAS call that fails turns into.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <string>

namespace einparallel {

/// A call of CUDA's runtime or of cuBLAS returned an error code. The text names the call, holds CUDA's own words, the
/// word device, and the line of the library.
class cuda_error : public error {
public:
    /// `code`: CUDA's, or cuBLAS' where the call is one of its.
    cuda_error(const std::string& sentence, int code) : error(sentence), code_(code) {}

    /// CUDA's error code.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

}  // namespace einparallel
