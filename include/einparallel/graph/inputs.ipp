#pragma once

#include <einparallel/graph/inputs.hpp>

#include <einparallel/io/npy.hpp>
#include <einparallel/notation/element_type.hpp>

#include <exception>

namespace einparallel::EINPARALLEL_DETAIL {

class placeholder_source final : public source {
public:
    [[nodiscard]] source_kind kind() const override { return source_kind::placeholder; }
    void read(const box& /*region*/, void* /*destination*/) const override {}
    [[nodiscard]] std::string description() const override { return "placeholder"; }
};

EINPARALLEL_INLINE std::shared_ptr<const source> placeholder_origin() {
    return std::make_shared<placeholder_source>();
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

/// Every rank reads the box that it needs, and nothing else.
class npy_source final : public source {
public:
    explicit npy_source(npy_file file) : file_(std::move(file)) {}

    [[nodiscard]] source_kind kind() const override { return source_kind::everywhere; }
    void read(const box& region, void* destination) const override { file_.read_box(region, destination); }
    [[nodiscard]] std::string description() const override { return file_.path(); }

private:
    npy_file file_;
};

EINPARALLEL_INLINE std::shared_ptr<vertex> npy_vertex(const std::string& path, element_type element, std::size_t rank) {
    try {
        npy_file file(path);
        file.require(element, rank);
        const std::vector<index> bounds = file.shape();
        return input_vertex(bounds, element, std::make_shared<npy_source>(std::move(file)));
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
