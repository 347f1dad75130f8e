#pragma once
// Inputs whose elements lie in memory: an array that all ranks have, or one of them, or a tensor that is distributed.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A source in memory: a whole tensor on every rank or on one rank, or this rank's elements of a distributed tensor.
class memory_source final : public source {
public:
    /// Shares the elements with the handle that `local` comes from. If `local.where` is set, the elements are
    /// distributed so. Else rank `root` has all of them, or every rank, if there is no `root`.
    explicit memory_source(local_tensor local, std::optional<int> root = std::nullopt)
        : local_(std::move(local)), root_(root) {}

    [[nodiscard]] source_kind kind() const override {
        return local_.where != nullptr ? source_kind::resting
               : root_.has_value()     ? source_kind::root
                                       : source_kind::everywhere;
    }
    /// @pre the elements are not block-cyclic: those must be redistributed first
    void read(const box& region, void* destination) const override {
        check_address(region);
        local_.elements.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region, std::vector<index>& strides) const override {
        check_address(region);
        return local_.elements.borrow(region, strides);
    }
    [[nodiscard]] bool is_on_device() const override { return local_.elements.is_on_device; }
    [[nodiscard]] bool lasts() const override {
        return local_.keep.use_count() > 0;
    }  // null on a rank without elements
    [[nodiscard]] bool is_gone() const override { return local_.is_gone(); }
    [[nodiscard]] std::uint64_t checksum() const override {
        const strided_box& elements = local_.elements;
        check_address(elements.held);
        const local_tensor dense = on_host(local_, elements.strides != dense_strides(elements.held));
        const auto* const letters = reinterpret_cast<const char*>(dense.elements.data);
        return fingerprint().add(std::string_view(letters, elements.bytes())).value();
    }
    [[nodiscard]] int root() const override { return root_.value_or(0); }
    [[nodiscard]] int holders() const override { return local_.where != nullptr ? local_.where->holders() : 0; }
    [[nodiscard]] box held_by(int rank) const override { return local_.where->held_by(rank); }
    [[nodiscard]] bool rests_here(int rank) const override {
        const box said = held_by(rank);
        return local_.cyclic || (said.empty() ? local_.elements.held.empty() : said == local_.elements.held);
    }
    [[nodiscard]] std::string description() const override {
        return local_.cyclic             ? "block_cyclic"
               : local_.where != nullptr ? "from_distributed"
               : root_.has_value()       ? "from_root(" + std::to_string(*root_) + ")"
                                         : "bind";
    }
    /// The elements; for a distributed tensor, also which rank holds which box.
    [[nodiscard]] const local_tensor* local() const override { return &local_; }

private:
    /// @throws error where `region` has elements, but the pointer to them is null
    void check_address(const box& region) const {
        require(local_.elements.data != nullptr || region.empty(),
                {description(), ": the elements are at a null pointer"});
    }

    local_tensor local_;
    std::optional<int> root_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
