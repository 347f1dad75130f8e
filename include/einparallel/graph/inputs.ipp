#pragma once

#include <einparallel/graph/inputs.hpp>

#include <einparallel/io/npy.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <exception>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::shared_ptr<const source> placeholder_origin() {
    return std::make_shared<function_source>("placeholder");
}

EINPARALLEL_INLINE std::shared_ptr<vertex> input_vertex(const std::vector<index>& bounds, element_type element,
                                                        std::shared_ptr<const source> origin) {
    auto made = std::make_shared<vertex>();
    made->bounds = bounds;
    made->element = element;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        if (bounds[dimension] < 0) {
            made->failure = origin->description() + ": extent " + std::to_string(bounds[dimension]) + " of dimension " +
                            std::to_string(dimension) + " is negative";
            made->bounds[dimension] = 0;
        }
    }
    made->origin = std::move(origin);
    return made;
}

EINPARALLEL_INLINE std::shared_ptr<vertex> iota_vertex(index extent) {
    auto made = std::make_shared<vertex>();
    made->bounds = {std::max<index>(extent, 0)};
    made->element = element_type_of<index>();
    made->origin = std::make_shared<function_source>("iota", [](const box& region, void* destination) {
        std::iota(static_cast<index*>(destination), static_cast<index*>(destination) + region.size(),
                  region.sides[0].begin);
    });
    made->failure = extent < 0 ? "ep::iota: no operand has this label, so that its extent is not known" : "";
    return made;
}

EINPARALLEL_INLINE std::shared_ptr<vertex> npy_vertex(const std::string& path, element_type element, std::size_t rank) {
    try {
        const npy_file file(path);
        file.require(element, rank);
        const auto read = [file](const box& region, void* destination) { file.read_box(region, destination); };
        return input_vertex(file.shape(), element, std::make_shared<function_source>(path, read));
    } catch (const std::exception& failed) {
        auto made = std::make_shared<vertex>();
        made->bounds.resize(rank);
        made->element = element;
        made->origin = placeholder_origin();
        made->failure = failed.what();
        return made;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
