#pragma once

#include <einparallel/io/safetensors.hpp>

#include <einparallel/io/box_reader.ipp>
#include <einparallel/io/safetensors_reader.ipp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <bit>

namespace einparallel::EINPARALLEL_DETAIL {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

/// True where a tensor with these extents has `count` elements. The extents may be any numbers: nobody has checked
/// them.
EINPARALLEL_SELDOM bool are_of(index count, const std::vector<index>& extents) {
    index left = count;
    for (const index extent : extents) {
        if (extent <= 0 || left % extent != 0) {
            return extent == 0 && count == 0;
        }
        left /= extent;
    }
    return left == 1;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM safetensors_file::safetensors_file(const std::string& path)
    : path_(path),
      contents_(path.ends_with(".json") ? detail::read_safetensors_index(path)
                                        : detail::safetensors_reader(path).read()) {}

EINPARALLEL_SELDOM std::vector<std::string> safetensors_file::names() const {
    return detail::list_of(contents_.tensors, [](const auto& tensor) { return tensor.first; });
}

EINPARALLEL_SELDOM const detail::safetensors_entry& safetensors_file::entry(const std::string& name) const {
    const auto known = contents_.tensors.find(name);
    detail::require(known != contents_.tensors.end(), {"'", path_, "' has no tensor '", name, "'"});
    detail::require(known->second.unknown.empty(),
                    {"'", path_, "' has tensor '", name, "' of type ", known->second.unknown,
                     "; those that can be read are ", detail::safetensors_type_names()});
    return known->second;
}

EINPARALLEL_SELDOM void safetensors_file::require(const std::string& name, element_type type, std::size_t rank) const {
    const detail::safetensors_entry& has = entry(name);
    detail::require_tensor({"'", path_, "': tensor '", name}, has.type, has.shape.size(), type, rank);
}

EINPARALLEL_SELDOM void safetensors_file::read_box(const std::string& name, const std::vector<index>& extents,
                                                   const box& region, void* destination, bool drops) const {
    const detail::safetensors_entry& has = entry(name);
    const index count = whole_box(has.shape).size();
    detail::require(detail::are_of(count, extents), {"'", path_, "': tensor '", name, "' has ", count,
                                                     " elements, not those of the extents asked for"});
    detail::require(region.rank() == extents.size() && einparallel::contains(whole_box(extents), region),
                    {"'", path_, "': a box outside of tensor '", name, "' is asked for"});
    if (!region.empty()) {
        detail::box_reader(*has.file, has.begin, has.type.bytes, extents, false, region, drops).read(destination);
    }
}

}  // namespace einparallel
