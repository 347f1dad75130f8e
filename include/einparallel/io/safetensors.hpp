#pragma once
// Files of the safetensors format: names, types and shapes of tensors, and any box of any of them.

#include <einparallel/io/safetensors_header.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace einparallel {

/// An open .safetensors file, or the files that an index lists (model.safetensors.index.json): the tensors by their
/// names, and any box of each. It reads F64, F32, F16, BF16, F8_E4M3, F8_E5M2, C64, signed and unsigned integers, and
/// BOOL. Tensors of the format's other types (F4, F6_E2M3, F6_E3M2, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ) are listed but
/// cannot be read. A copy refers to the same open files. Several threads may read at the same time. Opening is not
/// collective: a rank that cannot open the file throws alone (load_safetensors of a path throws alike on all ranks).
class safetensors_file {
public:
    /// Opens the file, reads its header and checks it. The header must be UTF-8 and JSON without repeated members. Each
    /// tensor must be as long as its type and shape need. The tensors must fill the file behind the header, one after
    /// another without gaps. Files of an index must be in its folder or below. The time is proportional to the number
    /// of tensors.
    /// @throws error that begins with the path, and names the tensor
    EINPARALLEL_INLINE explicit safetensors_file(const std::string& path);

    /// The path, as it was given.
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The names of all tensors, sorted.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::string> names() const;
    /// True where there is a tensor of this name.
    [[nodiscard]] bool contains(const std::string& name) const { return contents_.tensors.contains(name); }
    /// The metadata of the file: pairs of texts about the whole file, such as {"format", "pt"}, as save_safetensors
    /// writes them. An index has the metadata of all its files; where two files differ, the one listed first counts.
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
    /// The element type and the extents of a tensor. @throws error where there is no tensor of this name, or its type
    /// cannot be read
    ///@{
    [[nodiscard]] element_type type(const std::string& name) const { return entry(name).type; }
    [[nodiscard]] const std::vector<index>& shape(const std::string& name) const { return entry(name).shape; }
    ///@}

    /// Checks that a tensor has this type and rank.
    /// @throws error that names the file, the tensor, what it is and what was asked for
    EINPARALLEL_INLINE void require(const std::string& name, element_type type, std::size_t rank) const;

    /// Copies the elements of `region` of a tensor to `destination`, dense and row-major, with system calls as npy_file
    /// makes them. `region` is a box of a tensor with extents shape(name), or with other `extents` and the same
    /// elements in the same row-major order. With `drops` they are not wanted again soon, and the system need not hold
    /// them in its cache.
    /// @pre destination has region.size() * type(name).bytes bytes
    /// @throws error where there is no such tensor, the region is no box of it, or reading fails
    ///@{
    EINPARALLEL_INLINE void read_box(const std::string& name, const std::vector<index>& extents, const box& region,
                                     void* destination, bool drops = false) const;
    void read_box(const std::string& name, const box& region, void* destination) const {
        read_box(name, shape(name), region, destination);
    }
    ///@}

private:
    EINPARALLEL_INLINE [[nodiscard]] const detail::safetensors_entry& entry(const std::string& name) const;

    std::string path_;
    detail::safetensors_contents contents_;
};

}  // namespace einparallel
