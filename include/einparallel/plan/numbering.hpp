#pragma once
// Equal keys get equal numbers: the planner's way to compute nothing twice, and to put equal things in one class.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Numbers keys from 0 on in the order in which they come. A hash table with open addressing whose keys lie one behind
/// the other: planning asks for millions of numbers, and most keys are known.
class numbering {
public:
    /// The key's number, and whether it is new. Time: the key's length.
    EINPARALLEL_INLINE std::pair<std::size_t, bool> number_of(std::span<const index> key) {
        if (2 * (size() + 1) > slots_.size()) {
            grow();
        }
        const std::uint64_t hash = hash_of(key);
        const std::size_t slot = slot_of(key, hash);
        if (slots_[slot] != free_slot) {
            return {slots_[slot], false};
        }
        slots_[slot] = size();
        hashes_.push_back(hash);
        keys_.insert(keys_.end(), key.begin(), key.end());
        ends_.push_back(keys_.size());
        return {slots_[slot], true};
    }

    EINPARALLEL_INLINE std::pair<std::size_t, bool> number_of(std::initializer_list<index> key) {
        return number_of(std::span<const index>(key.begin(), key.size()));
    }

    /// The key's number where it is known.
    EINPARALLEL_INLINE [[nodiscard]] std::optional<std::size_t> find(std::initializer_list<index> key) const {
        const std::span<const index> words(key.begin(), key.size());
        const std::size_t slot = slots_.empty() ? free_slot : slot_of(words, hash_of(words));
        return slot == free_slot || slots_[slot] == free_slot ? std::nullopt : std::optional(slots_[slot]);
    }

    [[nodiscard]] std::size_t size() const { return hashes_.size(); }

private:
    static constexpr std::size_t free_slot = static_cast<std::size_t>(-1);

    /// Multiplies and folds, a word at a time.
    EINPARALLEL_INLINE static std::uint64_t hash_of(std::span<const index> key) {
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
        std::uint64_t hash = key.size();
        for (const index word : key) {
            hash = (hash ^ static_cast<std::uint64_t>(word)) * odd;
            hash ^= hash >> 29U;
        }
        return hash;
    }

    /// Where the key is, or has its place.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t slot_of(std::span<const index> key, std::uint64_t hash) const {
        std::size_t slot = first_slot(hash);
        for (; slots_[slot] != free_slot; slot = (slot + 1) & (slots_.size() - 1)) {
            const std::size_t number = slots_[slot];
            const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
            if (hashes_[number] == hash && ends_[number] - begin == key.size() &&
                std::equal(key.begin(), key.end(), keys_.begin() + static_cast<std::ptrdiff_t>(begin))) {
                break;
            }
        }
        return slot;
    }

    EINPARALLEL_INLINE [[nodiscard]] std::size_t first_slot(std::uint64_t hash) const {
        return static_cast<std::size_t>(hash ^ (hash >> 32U)) & (slots_.size() - 1);
    }

    EINPARALLEL_INLINE void grow() {
        slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), free_slot);
        for (std::size_t number = 0; number < size(); ++number) {
            std::size_t slot = first_slot(hashes_[number]);
            while (slots_[slot] != free_slot) {
                slot = (slot + 1) & (slots_.size() - 1);
            }
            slots_[slot] = number;
        }
    }

    std::vector<std::size_t> slots_;  // numbers; as many as a power of two
    std::vector<std::uint64_t> hashes_;
    std::vector<index> keys_;
    std::vector<std::size_t> ends_;  // of the keys, by number
};

/// Values that are made once for equal keys. They stay where they are.
template <class Value>
class memo {
public:
    /// @param make the value of a key that is new
    template <class Make>
    Value& at(std::span<const index> key, Make&& make) {
        const auto [number, fresh] = numbers_.number_of(key);
        if (fresh) {
            values_.emplace_back();
            values_[number] = make();
        }
        return values_[number];
    }

private:
    numbering numbers_;
    std::deque<Value> values_;
};

/// A number with a position; sorted by the number, equal ones by position.
using ranked = std::pair<double, std::size_t>;

}  // namespace einparallel::EINPARALLEL_DETAIL
