#pragma once
// Equal keys get equal numbers: the planner's way to compute nothing twice, and to put equal things in one class.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
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
    EINPARALLEL_INLINE std::pair<std::size_t, bool> number_of(std::span<const index> key);
    EINPARALLEL_INLINE std::pair<std::size_t, bool> number_of(std::initializer_list<index> key);

    /// The key's number where it is known.
    EINPARALLEL_INLINE [[nodiscard]] std::optional<std::size_t> find(std::initializer_list<index> key) const;

    [[nodiscard]] std::size_t size() const { return hashes_.size(); }

private:
    static constexpr std::size_t free_slot = static_cast<std::size_t>(-1);

    EINPARALLEL_INLINE [[nodiscard]] std::span<const index> key_of(std::size_t number) const;

    /// Multiplies and folds, a word at a time.
    EINPARALLEL_INLINE static std::uint64_t hash_of(std::span<const index> key);

    EINPARALLEL_INLINE [[nodiscard]] std::size_t first_slot(std::uint64_t hash) const;

    EINPARALLEL_INLINE void grow();

    std::vector<std::size_t> slots_;  // numbers; as many as a power of two
    std::vector<std::uint64_t> hashes_;
    std::vector<index> keys_;
    std::vector<std::size_t> ends_;  // of the keys, by number
};

/// A number with a position; sorted by the number, equal ones by position.
using ranked = std::pair<double, std::size_t>;

}  // namespace einparallel::EINPARALLEL_DETAIL
