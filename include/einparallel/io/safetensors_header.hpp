#pragma once
// The header of a .safetensors file: types and offsets of its tensors, and what else it says of itself.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

class input_file;  // io/file.hpp

/// A tensor of a file.
struct safetensors_entry {
    element_type type;
    std::string unknown;  ///< what the file calls a type that is none of ours
    std::vector<index> shape;
    std::shared_ptr<const input_file> file;
    std::uint64_t begin = 0;  ///< of its elements, in bytes from the beginning of the file
};

/// What a header says.
struct safetensors_contents {
    std::map<std::string, safetensors_entry> tensors;
    std::map<std::string, std::string> metadata;
};

/// Headers are no longer than that (the format's own limit).
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// What the format calls a type: "F32", "BF16". Empty for one that it does not know.
EINPARALLEL_INLINE std::string_view safetensors_type_name(element_type type);

/// What stands before the elements of tensors that lie one after the other, in this order.
/// @throws error where a name, a type or a word of the metadata cannot be in such a file
EINPARALLEL_INLINE std::string safetensors_preamble(const std::vector<std::string>& names,
                                                    const std::vector<element_type>& types,
                                                    const std::vector<std::vector<index>>& shapes,
                                                    const std::map<std::string, std::string>& metadata = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
