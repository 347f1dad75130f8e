#pragma once
// Inputs that come from .npy files: every rank reads only what it needs.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace einparallel {

namespace detail {

/// Elements in an open file.
class npy_source final : public source {
public:
    explicit npy_source(npy_file file) : file_(std::move(file)) {}

    [[nodiscard]] source_kind kind() const override { return source_kind::everywhere; }
    void read(const box& region, void* destination) const override { file_.read_box(region, destination); }
    [[nodiscard]] std::string description() const override { return file_.path(); }

private:
    npy_file file_;
};

}  // namespace detail

/// An input whose elements are those of an .npy file, in C or in Fortran order. The header is read now, elements when the
/// plan runs, and by each rank only the box that it holds; the file must be the same wherever ranks are.
/// A file that cannot be used (absent, no .npy file, truncated, another type or rank) poisons the handle, so that ranks
/// that see different files throw the same error at the next collective call.
template <Element T, std::size_t Rank>
tensor<T, Rank> load_npy(std::string path) {
    try {
        const npy_file file(std::move(path));
        file.require(element_type_of<T>(), Rank);
        return detail::input_tensor<T, Rank>(file.shape(), std::make_shared<detail::npy_source>(file));
    } catch (const error& refusal) {
        auto failed = std::make_shared<vertex>();
        failed->bounds.resize(Rank);
        failed->element = element_type_of<T>();
        failed->failure = std::string("load_npy: ") + refusal.what();
        return tensor<T, Rank>(std::move(failed));
    }
}

}  // namespace einparallel
