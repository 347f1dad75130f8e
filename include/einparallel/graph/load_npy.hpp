#pragma once
// An input whose elements lie in a .npy file.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

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

}  // namespace detail

/// An input read from a .npy file, in C or Fortran order: every rank opens the file and reads its own part of it at
/// each run. A file that is missing, truncated, or of another element type or rank fails the next decompose, on every
/// rank alike, even where only one rank sees it so.
template <Element T, std::size_t Rank>
tensor<T, Rank> load_npy(const std::string& path) {
    try {
        npy_file file(path);
        file.require(element_type_of<T>(), Rank);
        std::vector<index> bounds = file.shape();
        return detail::input_tensor<T, Rank>(bounds, std::make_shared<detail::npy_source>(std::move(file)));
    } catch (const std::exception& failed) {
        auto made = std::make_shared<vertex>();
        made->bounds.resize(Rank);
        made->element = element_type_of<T>();
        made->origin = std::make_shared<detail::placeholder_source>();
        made->failure = failed.what();
        return tensor<T, Rank>(std::move(made));
    }
}

}  // namespace einparallel
