#pragma once
// Text in files: UTF-8, and strings of JSON.

#include <einparallel/notation/compiled.hpp>

#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// True for UTF-8 as Unicode defines it: shortest forms, no surrogates, nothing above U+10FFFF.
EINPARALLEL_INLINE bool is_utf8(std::string_view text);

/// Appends the character with this code point. @pre code is no surrogate and at most 0x10ffff
EINPARALLEL_INLINE void append_utf8(std::string& text, unsigned code);

/// The text as JSON writes it between quotes: a backslash stands before quotes and backslashes, and control characters
/// are written as \u00XX. A byte that is not UTF-8 becomes U+FFFD.
EINPARALLEL_INLINE std::string escaped(std::string_view text);

}  // namespace einparallel::EINPARALLEL_DETAIL
