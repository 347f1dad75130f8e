#pragma once
// What distinguishes a functor of the application from one on another rank: its type, and its bytes as far as they can
// be compared.

#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace einparallel::EINPARALLEL_DETAIL {

#if defined(__has_builtin) && !defined(__CUDACC__)
#if __has_builtin(__builtin_clear_padding)
#define EINPARALLEL_DETAIL_CLEARS_PADDING 1
#endif
#endif

struct functor_identity {
    std::string_view type;  ///< as type_info::name() has it; with -fno-rtti two lambdas of a function may have one name
    std::uint64_t state = 0;  ///< a hash of its bytes; 0 where it is empty or not trivially copyable
    bool is_told = true;      ///< false: the compiler cannot clear its padding, which may differ between ranks
};

/// A hash of 8-byte words. With `has_addresses`, words that may be an address count as 0, because addresses differ
/// between ranks: null, and numbers of at most 48 bits from 64 KiB on.
inline std::uint64_t hash_of_state(const std::uint64_t* words, std::size_t count, bool has_addresses) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (std::size_t word = 0; word < count; ++word) {
        const bool is_address =
            has_addresses && (words[word] == 0 || (words[word] >> 16U != 0 && words[word] >> 48U == 0));
        hash = (hash ^ (is_address ? 0 : words[word])) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32U;
    }
    return hash;
}

template <class Function>
std::string_view type_name() {
#if defined(__cpp_rtti)
    return typeid(Function).name();
#else
    return static_cast<const char*>(__PRETTY_FUNCTION__);
#endif
}

template <class Function>
functor_identity identity_of(const void* functor) {
    functor_identity made{type_name<Function>()};
    if constexpr (std::is_trivially_copyable_v<Function> && !std::is_empty_v<Function>) {
        constexpr bool has_addresses = alignof(Function) >= alignof(void*);
        alignas(Function) alignas(std::uint64_t) std::array<std::uint64_t, (sizeof(Function) + 7) / 8> words{};
        __builtin_memcpy(words.data(), functor, sizeof(Function));
#if defined(EINPARALLEL_DETAIL_CLEARS_PADDING)
        __builtin_clear_padding(reinterpret_cast<Function*>(words.data()));
#else
        made.is_told = std::has_unique_object_representations_v<Function>;
#endif
        made.state = hash_of_state(words.data(), words.size(), has_addresses);
    }
    return made;
}

/// The identity of the functor at an address; null for the library's own.
using identity_function = functor_identity (*)(const void* functor);

}  // namespace einparallel::EINPARALLEL_DETAIL
