#pragma once
// Files of the safetensors format: names, types and shapes of tensors, and any box of any of them.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

class input_file;  // io/file.hpp

/// A tensor of a file.
struct safetensors_entry {
    element_type type;
    std::string unknown;  ///< what the file calls a type that is none of ours
    std::vector<index> shape;
    std::shared_ptr<const input_file> file;
    std::uint64_t begin = 0;  ///< of its elements, in bytes from the beginning of the file
};

/// What the format calls a type: "F32", "BF16". Empty for one that it does not know.
EINPARALLEL_INLINE std::string_view safetensors_type_name(element_type type);

/// What stands before the elements of tensors that lie one after the other, in this order.
EINPARALLEL_INLINE std::string safetensors_preamble(const std::vector<std::string>& names,
                                                    const std::vector<element_type>& types,
                                                    const std::vector<std::vector<index>>& shapes);

}  // namespace EINPARALLEL_DETAIL

/// A .safetensors file, or the several that an index lists (model.safetensors.index.json), open: the tensors by their
/// names, and any part of them. F64, F32, F16, BF16, signed and unsigned integers, BOOL; tensors of other types are
/// listed and not read. A copy refers to the same open files. Threads may read at once. Not collective: a rank that
/// cannot open it throws alone (load_safetensors of a path says the same on all ranks).
class safetensors_file {
public:
    /// Opens the file and reads its header. Of the header nothing is believed: offsets must lie in the file, be as long
    /// as type and shape need, and not overlap. Time: tensors.
    /// @throws error whose sentence begins with the path, and names the tensor
    EINPARALLEL_INLINE explicit safetensors_file(const std::string& path);

    /// As given.
    [[nodiscard]] const std::string& path() const { return path_; }
    /// Of all tensors, sorted.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::string> names() const;
    /// There is a tensor of this name.
    [[nodiscard]] bool contains(const std::string& name) const { return tensors_.contains(name); }
    /// Of a tensor. @throws error where there is none of this name, or of a type that is not read
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
    std::map<std::string, detail::safetensors_entry> tensors_;
};

}  // namespace einparallel
