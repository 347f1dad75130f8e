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
    std::string unknown;  ///< the name in the file of a type that the library does not have
    std::vector<index> shape;
    std::shared_ptr<const input_file> file;
    std::uint64_t begin = 0;  ///< where its elements begin, in bytes from the beginning of the file
};

/// The contents of a header.
struct safetensors_contents {
    std::map<std::string, safetensors_entry> tensors;
    std::map<std::string, std::string> metadata;
};

/// The most bytes that a header may have: the format's own limit.
inline constexpr std::uint64_t longest_safetensors_header = 100'000'000;

/// The format's name of a type: "F32", "BF16". Empty for a type that the format does not have.
EINPARALLEL_INLINE std::string_view safetensors_type_name(element_type type);

/// The bytes before the elements of a file whose tensors lie one after another in this order.
/// @throws error where a name, a type or a text of the metadata cannot be in such a file
EINPARALLEL_INLINE std::string safetensors_preamble(const std::vector<std::string>& names,
                                                    const std::vector<element_type>& types,
                                                    const std::vector<std::vector<index>>& shapes,
                                                    const std::map<std::string, std::string>& metadata = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
