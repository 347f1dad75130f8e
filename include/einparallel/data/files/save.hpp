#pragma once
// Writes distributed tensors to one file, all ranks at once: one to an .npy file, several by their names as
// safetensors.

#include <einparallel/data/collect.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// @param most_bytes the most bytes that a rank gives to MPI in one call
EINPARALLEL_INLINE void save_tensor(const local_tensor& local, const std::string& path,
                                    std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace EINPARALLEL_DETAIL

/// A distributed tensor and its name in a file.
struct saved_tensor {
    std::string name;            ///< in the file
    detail::local_tensor local;  ///< this rank's elements

    /// Makes one from a name and a tensor, as in {"W", W}.
    template <class T, std::size_t Rank>
    saved_tensor(std::string called, const distributed<T, Rank>& elements)
        : name(std::move(called)), local(elements.local_tensor()) {}
};

inline namespace EINPARALLEL_WAY {

/// Writes a distributed tensor to a .npy file in C order, which NumPy, ep::load_npy and ep::npy_file read; an older
/// file of this name is replaced. Collective: every rank writes its own elements where they belong in the file
/// (MPI-IO), so no rank needs memory for the whole tensor. The header is written last: if writing fails, the file is
/// not a valid .npy file.
///
///     ep::save_npy("z.npy", z);
/// @throws error, the same on every rank, where the path is not the same on all of them, or the file cannot be written
template <class Path, class Elements>
void save_npy(const Path& path, const Elements& elements) {
    constexpr bool fits = std::is_convertible_v<const Path&, std::string> && requires {
        elements.local_tensor();
    };
    static_assert(fits, "ep::save_npy: the path comes first, then an ep::distributed: ep::save_npy(\"z.npy\", z)");
    if constexpr (fits) {
        detail::save_tensor(detail::checked(elements.local_tensor()), path);
    }
}

}  // namespace EINPARALLEL_WAY

/// Writes distributed tensors of one context to a .safetensors file (a checkpoint), as save_npy does. Tensors with
/// larger elements come first, so that all are aligned. ep::load_safetensors and other readers of the format read the
/// file.
///
///     ep::save_safetensors("model.safetensors", {{"W", W}, {"V", V}}, {{"format", "pt"}});
/// `metadata` are pairs of strings that describe the whole file; ep::safetensors_file::metadata() returns them. Loaders
/// of transformers require {"format", "pt"}. Names and strings are UTF-8, with any characters.
/// @throws error, the same on every rank, where a name is used twice or is not UTF-8, the format lacks an element type
/// (std::complex<double>), paths, names, metadata or tensors are not the same on all ranks, or the file cannot be
/// written
EINPARALLEL_INLINE void save_safetensors(const std::string& path, const std::vector<saved_tensor>& tensors,
                                         const std::map<std::string, std::string>& metadata = {});

}  // namespace einparallel
