#pragma once
// The error for a CUDA or cuBLAS call that fails.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <string>

namespace einparallel {

/// A call of CUDA's runtime or of cuBLAS returned an error code. The text has the call, the word device, CUDA's own
/// words, and the line of the library. Where kernels are not compiled for the device, it has the compute capability
/// instead.
class cuda_error : public error {
public:
    /// `code`: the error code of CUDA, or of cuBLAS where the call is one of cuBLAS.
    cuda_error(const std::string& sentence, int code) : error(sentence), code_(code) {}

    /// The error code of CUDA or cuBLAS.
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

}  // namespace einparallel
