#pragma once
// Inputs whose elements lie in memory: an array that all ranks have, or one of them, or a tensor in parts.

#include <einparallel/graph/source.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/collect.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A whole tensor in the memory of every rank, or of one, or this rank's part of one that is distributed.
class memory_source final : public source {
public:
    /// `root`: the rank that has it, or none: all of them. `life`: expires with elements that are not the source's own.
    memory_source(strided_box elements, std::shared_ptr<const void> keep, std::optional<int> root,
                  std::optional<std::weak_ptr<const void>> life = std::nullopt)
        : elements_(std::move(elements)), keep_(std::move(keep)), root_(root), life_(std::move(life)) {}
    /// Shares the elements with the handle that it is made from.
    explicit memory_source(const distributed_part& part)
        : elements_(part.elements), keep_(part.keep), where_(part.where) {}

    [[nodiscard]] source_kind kind() const override {
        return where_ != nullptr   ? source_kind::resting
               : root_.has_value() ? source_kind::root
                                   : source_kind::everywhere;
    }
    void read(const box& region, void* destination) const override {
        elements_.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region, std::vector<index>& strides) const override {
        return elements_.borrow(region, strides);
    }
    [[nodiscard]] bool is_on_device() const override { return elements_.is_on_device; }
    [[nodiscard]] bool lies_in(const void* begin, const void* end) const override {
        return elements_.lies_in(begin, end);
    }
    [[nodiscard]] bool lasts() const override { return keep_.use_count() > 0; }  // null on a rank without elements
    [[nodiscard]] bool is_gone() const override { return life_.has_value() && life_->expired(); }
    [[nodiscard]] std::uint64_t checksum() const override {
        const auto bytes = static_cast<std::size_t>(elements_.held.size()) * elements_.element_bytes;
        std::vector<index> strides;
        const void* dense = elements_.borrow(elements_.held, strides);
        const bool is_dense = dense != nullptr && strides.empty();
        std::vector<std::byte> copied(is_dense ? 0 : bytes);
        if (!is_dense) {
            elements_.read(elements_.held, copied.data(), description());
            dense = copied.data();
        }
        return fingerprint().add(std::string_view(static_cast<const char*>(dense), bytes)).value();
    }
    [[nodiscard]] int root() const override { return root_.value_or(0); }
    [[nodiscard]] int holders() const override { return where_ == nullptr ? 0 : where_->holders(); }
    [[nodiscard]] box held_by(int rank) const override { return where_->held_by(rank); }
    [[nodiscard]] bool rests_here(int rank) const override {
        const box said = held_by(rank);
        return said.empty() ? elements_.held.empty() : said == elements_.held;
    }
    [[nodiscard]] std::string description() const override {
        return where_ != nullptr   ? "from_distributed"
               : root_.has_value() ? "from_root(" + std::to_string(*root_) + ")"
                                   : "bind";
    }
    /// Who holds what of a tensor that is distributed; else null.
    [[nodiscard]] const std::shared_ptr<const distribution>& where() const { return where_; }

private:
    strided_box elements_;
    std::shared_ptr<const void> keep_;
    std::optional<int> root_;
    std::optional<std::weak_ptr<const void>> life_;
    std::shared_ptr<const distribution> where_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
