#pragma once
// Inputs whose elements lie in memory: an array that all ranks have, or one of them, or a tensor in parts.

#include <einparallel/graph/source.hpp>
#include <einparallel/layout/dealt.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
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
        : part_{std::move(keep), std::move(elements), nullptr, {}, nullptr, std::move(life)}, root_(root) {}
    /// Shares the elements with the handle that it is made from.
    explicit memory_source(const distributed_part& part) : part_(part) {}

    [[nodiscard]] source_kind kind() const override {
        return part_.where != nullptr || part_.dealt != nullptr ? source_kind::resting
               : root_.has_value()                              ? source_kind::root
                                                                : source_kind::everywhere;
    }
    /// @pre the elements are not block-cyclic, which have to be sent first
    void read(const box& region, void* destination) const override {
        if (part_.elements.data == nullptr && !region.empty()) {
            throw error(description() + ": the elements are at a null pointer");
        }
        part_.elements.read(region, destination, description());
    }
    [[nodiscard]] const void* borrow(const box& region, std::vector<index>& strides) const override {
        return part_.elements.borrow(region, strides);
    }
    [[nodiscard]] bool is_on_device() const override { return part_.elements.is_on_device; }
    [[nodiscard]] bool lies_in(const void* begin, const void* end) const override {
        return part_.elements.lies_in(begin, end);
    }
    [[nodiscard]] bool lasts() const override { return part_.keep.use_count() > 0; }  // null on a rank without elements
    [[nodiscard]] bool is_gone() const override { return part_.is_gone(); }
    [[nodiscard]] std::uint64_t checksum() const override {
        const strided_box& elements = part_.elements;
        const auto bytes = static_cast<std::size_t>(elements.held.size()) * elements.element_bytes;
        std::vector<index> strides;
        const void* dense = elements.borrow(elements.held, strides);
        std::vector<std::byte> copied;
        if (dense == nullptr || !strides.empty()) {
            copied.resize(bytes);
            elements.read(elements.held, copied.data(), description());
            dense = copied.data();
        }
        return fingerprint().add(std::string_view(static_cast<const char*>(dense), bytes)).value();
    }
    [[nodiscard]] int root() const override { return root_.value_or(0); }
    [[nodiscard]] int holders() const override {
        return part_.where != nullptr ? part_.where->holders() : part_.dealt != nullptr ? part_.dealt->holders() : 0;
    }
    [[nodiscard]] box held_by(int rank) const override { return part_.where->held_by(rank); }
    [[nodiscard]] bool rests_here(int rank) const override {
        const box said = part_.where != nullptr ? held_by(rank) : part_.elements.held;
        return said.empty() ? part_.elements.held.empty() : said == part_.elements.held;
    }
    [[nodiscard]] std::string description() const override {
        return part_.where != nullptr   ? "from_distributed"
               : part_.dealt != nullptr ? "block_cyclic"
               : root_.has_value()      ? "from_root(" + std::to_string(*root_) + ")"
                                        : "bind";
    }
    /// Of a tensor that is distributed, who holds what.
    [[nodiscard]] const distributed_part& part() const { return part_; }

private:
    distributed_part part_;
    std::optional<int> root_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
