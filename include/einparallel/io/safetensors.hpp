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

/// A .safetensors file, or the several that an index lists (model.safetensors.index.json), open: the tensors by their
/// names, and any box of them. F64, F32, F16, BF16, F8_E4M3, F8_E5M2, C64, signed and unsigned integers, BOOL; tensors
/// of the format's other types (F4, F6_E2M3, F6_E3M2, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ) are listed and not read. A
/// copy refers to the same open files. Threads may read at once. Not collective: a rank that cannot open it throws
/// alone (load_safetensors of a path says the same on all ranks).
class safetensors_file {
public:
    /// Opens the file and reads its header. Of the header nothing is believed: it is UTF-8 and JSON, no member is given
    /// twice, tensors are as long as type and shape need, and lie one behind the other from the first byte of the
    /// elements to the last. Files of an index are in its folder or in folders there. Time: tensors.
    /// @throws error whose sentence begins with the path, and names the tensor
    EINPARALLEL_INLINE explicit safetensors_file(const std::string& path);

    /// The path, as it was given.
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The names of all tensors, sorted.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::string> names() const;
    /// True where there is a tensor of this name.
    [[nodiscard]] bool contains(const std::string& name) const { return contents_.tensors.contains(name); }
    /// Pairs of words that say something of the whole file ({"format", "pt"}), as save_safetensors has written them. Of
    /// an index: those of its files, of which the one listed first counts where two differ.
    [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
    /// The element type and the extents of a tensor. @throws error where there is none of this name, or of a type that
    /// is not read
    ///@{
    [[nodiscard]] element_type type(const std::string& name) const { return entry(name).type; }
    [[nodiscard]] const std::vector<index>& shape(const std::string& name) const { return entry(name).shape; }
    ///@}

    /// Checks that a tensor has this type and rank.
    /// @throws error that names the file, the tensor, what it is and what was asked for
    EINPARALLEL_INLINE void require(const std::string& name, element_type type, std::size_t rank) const;

    /// Copies the elements of `region` of a tensor to `destination`, dense and row-major. System calls as npy_file. The
    /// box is one of `extents`, with as many elements as shape(name) in the same order, or of shape(name).
    /// @pre destination has region.size() * type(name).bytes bytes
    /// @throws error where there is no such tensor, the region is no box of it, or reading fails
    ///@{
    EINPARALLEL_INLINE void read_box(const std::string& name, const std::vector<index>& extents, const box& region,
                                     void* destination) const;
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
