#pragma once

#include <einparallel/graph/inputs.hpp>

#include <einparallel/io/npy.hpp>
#include <einparallel/io/safetensors.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstring>
#include <exception>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::shared_ptr<vertex> input_vertex(std::vector<index> bounds, element_type element,
                                                        std::shared_ptr<const source> origin, std::string failure) {
    auto made = std::make_shared<vertex>();
    made->origin = origin == nullptr ? std::make_shared<function_source>("placeholder") : std::move(origin);
    if (const std::string negative = negative_extent(bounds); !negative.empty()) {
        failure = made->origin->description() + ": " + negative;
        std::replace_if(
            bounds.begin(), bounds.end(), [](index bound) { return bound < 0; }, 0);
    }
    made->bounds = std::move(bounds);
    made->element = element;
    made->failure = std::move(failure);
    return made;
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> iota_vertex(index extent) {
    static const auto one_for_all = std::make_shared<const index_source>();
    return input_vertex({extent}, element_type_of<index>(), one_for_all);
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> constant_vertex(element_type element, const void* value,
                                                           std::vector<index> extents) {
    const auto* const first = static_cast<const std::byte*>(value);
    const auto write = [bytes = std::vector<std::byte>(first, first + element.bytes)](const box& region, void* into) {
        for (index number = 0; number < region.size(); ++number) {
            std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(into) + number * index(bytes.size()));
        }
    };
    op_program number(reduction::sum, {});
    with_element(element, [&]<class T>(std::type_identity<T> /*element*/) {
        T known{};
        std::memcpy(&known, value, sizeof(T));
        number.number(element, bits_of(known));
    });
    return input_vertex(std::move(extents), element,
                        std::make_shared<function_source>("number", write, number.formula({}, false)));
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> npy_vertex(const std::string& path, element_type element, std::size_t rank) {
    try {
        const npy_file file(path);
        file.require(element, rank);
        const auto read = [file](const box& region, void* destination) { file.read_box(region, destination); };
        const auto stream = [file](const box& region, void* into) { file.read_box(region, into, true); };
        return input_vertex(file.shape(), element,
                            std::make_shared<function_source>(path, read, std::string(), stream, file.fortran_order()));
    } catch (const std::exception& failed) {
        return input_vertex(std::vector<index>(rank), element, nullptr, failed.what());
    }
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> safetensors_vertex(const std::string& path, const safetensors_file* known,
                                                              const std::string& name, element_type element,
                                                              std::size_t rank, const std::vector<index>& extents) {
    try {
        const safetensors_file file = known != nullptr ? *known : safetensors_file(path);
        file.require(name, element, extents.empty() ? rank : file.shape(name).size());
        const std::vector<index>& shape = extents.empty() ? file.shape(name) : extents;
        if (!extents.empty()) {  // an empty read checks that the tensor has this size
            file.read_box(name, shape, box{std::vector<interval>(shape.size())}, nullptr);
        }
        const auto read = [file, name, shape](const box& region, void* destination) {
            file.read_box(name, shape, region, destination);
        };
        const auto stream = [file, name, shape](const box& region, void* into) {
            file.read_box(name, shape, region, into, true);
        };
        return input_vertex(shape, element, std::make_shared<function_source>(name, read, std::string(), stream));
    } catch (const std::exception& failed) {
        return input_vertex(std::vector<index>(rank), element, nullptr, failed.what());
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
