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

/// A whole tensor in the memory of every rank, or of one. `life`: expires with elements that are not the source's own.
class array_source final : public source {
public:
    array_source(strided_box elements, std::shared_ptr<const void> keep, std::optional<int> root,
                 std::optional<std::weak_ptr<const void>> life = std::nullopt)
        : elements_(std::move(elements)), keep_(std::move(keep)), root_(root), life_(std::move(life)) {}

    [[nodiscard]] source_kind kind() const override {
        return root_.has_value() ? source_kind::root : source_kind::everywhere;
    }
    void read(const box& region, void* destination) const override {
        elements_.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region, std::vector<index>& strides) const override {
        return elements_.borrow(region, strides);
    }
    [[nodiscard]] bool lies_in(const void* begin, const void* end) const override {
        return elements_.lies_in(begin, end);
    }
    [[nodiscard]] bool lasts() const override { return keep_ != nullptr; }
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
    [[nodiscard]] std::string description() const override {
        return root_.has_value() ? "from_root(" + std::to_string(*root_) + ")" : "bind";
    }

private:
    strided_box elements_;
    std::shared_ptr<const void> keep_;
    std::optional<int> root_;
    std::optional<std::weak_ptr<const void>> life_;
};

/// A tensor that is distributed already. It shares the elements with the handle that it was made from.
class distributed_source final : public source {
public:
    explicit distributed_source(distributed_part part) : part_(std::move(part)) {}

    [[nodiscard]] source_kind kind() const override { return source_kind::resting; }
    void read(const box& region, void* destination) const override {
        part_.elements.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region, std::vector<index>& strides) const override {
        return part_.elements.borrow(region, strides);
    }
    [[nodiscard]] bool lies_in(const void* begin, const void* end) const override {
        return part_.elements.lies_in(begin, end);
    }
    [[nodiscard]] bool lasts() const override { return part_.keep.use_count() > 0; }  // null on a rank without elements
    [[nodiscard]] int holders() const override { return part_.where->holders(); }
    [[nodiscard]] box held_by(int rank) const override { return part_.where->held_by(rank); }
    [[nodiscard]] std::string description() const override { return "from_distributed"; }

private:
    distributed_part part_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
