#pragma once
// Text in files: UTF-8, and as JSON has it between quotes.

#include <einparallel/notation/compiled.hpp>

#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// UTF-8 as Unicode defines it: shortest forms, no surrogates, nothing above U+10FFFF.
EINPARALLEL_INLINE bool is_utf8(std::string_view text);

/// Appends a character. @pre code is no surrogate and at most 0x10ffff
EINPARALLEL_INLINE void append_utf8(std::string& text, unsigned code);

/// The text as it stands between quotes: with a backslash before quotes, backslashes and control characters.
EINPARALLEL_INLINE std::string escaped(std::string_view text);

}  // namespace einparallel::EINPARALLEL_DETAIL
