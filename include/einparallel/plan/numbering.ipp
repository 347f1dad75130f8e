#pragma once

#include <einparallel/plan/numbering.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::pair<std::size_t, bool> numbering::number_of(std::span<const index> key) {
    if (2 * (size() + 1) > slots_.size()) {
        grow();
    }
    const std::uint64_t hash = hash_of(key);
    std::size_t slot = first_slot(hash);
    for (; slots_[slot] != free_slot; slot = (slot + 1) & (slots_.size() - 1)) {
        const std::size_t number = slots_[slot];
        if (hashes_[number] == hash && std::ranges::equal(key_of(number), key)) {
            return {number, false};
        }
    }
    slots_[slot] = size();
    hashes_.push_back(hash);
    keys_.insert(keys_.end(), key.begin(), key.end());
    ends_.push_back(keys_.size());
    return {slots_[slot], true};
}

EINPARALLEL_INLINE std::pair<std::size_t, bool> numbering::number_of(std::initializer_list<index> key) {
    return number_of(std::span<const index>(key.begin(), key.size()));
}

EINPARALLEL_INLINE std::optional<std::size_t> numbering::find(std::initializer_list<index> key) const {
    const std::span<const index> words(key.begin(), key.size());
    const std::uint64_t hash = hash_of(words);
    for (std::size_t slot = slots_.empty() ? free_slot : first_slot(hash);
         slot != free_slot && slots_[slot] != free_slot; slot = (slot + 1) & (slots_.size() - 1)) {
        if (hashes_[slots_[slot]] == hash && std::ranges::equal(key_of(slots_[slot]), words)) {
            return slots_[slot];
        }
    }
    return std::nullopt;
}

EINPARALLEL_INLINE std::span<const index> numbering::key_of(std::size_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::span<const index>(keys_).subspan(begin, ends_[number] - begin);
}

EINPARALLEL_INLINE std::uint64_t numbering::hash_of(std::span<const index> key) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = key.size();
    for (const index word : key) {
        hash = (hash ^ static_cast<std::uint64_t>(word)) * odd;
        hash ^= hash >> 29U;
    }
    return hash;
}

EINPARALLEL_INLINE std::size_t numbering::first_slot(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash ^ (hash >> 32U)) & (slots_.size() - 1);
}

EINPARALLEL_INLINE void numbering::grow() {
    slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), free_slot);
    for (std::size_t number = 0; number < size(); ++number) {
        std::size_t slot = first_slot(hashes_[number]);
        while (slots_[slot] != free_slot) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = number;
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
