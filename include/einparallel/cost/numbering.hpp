#pragma once
// Equal keys get equal numbers: the planner's way to compute nothing twice, and to put equal things in one class.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Numbers keys from 0 on, in the order in which they come. A known key is looked up without copying it.
class numbering {
public:
    /// The key's number, and whether it is new. Time: the key's length.
    EINPARALLEL_INLINE std::pair<std::size_t, bool> number_of(index_span key) {
        if (const auto known = numbers_.find(key); known != numbers_.end()) {
            return {known->second, false};
        }
        const std::size_t number = numbers_.size();
        numbers_.emplace(std::vector<index>(key.begin(), key.end()), number);
        return {number, true};
    }

    [[nodiscard]] std::size_t size() const { return numbers_.size(); }

private:
    struct by_words {
        using is_transparent = void;
        /// A hash that multiplies and folds the key word by word.
        std::size_t operator()(index_span key) const {
            std::uint64_t hash = key.size();
            for (const index word : key) {
                hash = (hash ^ std::uint64_t(word)) * 0x9E3779B97F4A7C15U;
                hash ^= hash >> 29U;
            }
            return std::size_t(hash ^ (hash >> 32U));
        }
        bool operator()(index_span a, index_span b) const { return equal_in(a, b); }
    };

    std::unordered_map<std::vector<index>, std::size_t, by_words, by_words> numbers_;
};

/// One value for each key, made when the key comes first. Values are never moved in memory.
template <class Value>
class memo {
public:
    /// @param make  returns the value of a new key
    template <class Make>
    Value& at(index_span key, Make&& make) {
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
using costed = std::pair<double, std::size_t>;

}  // namespace einparallel::EINPARALLEL_DETAIL
