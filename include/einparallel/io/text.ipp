#pragma once

#include <einparallel/io/text.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes of the character that begins at the beginning of `text`; 0 where that is not UTF-8.
EINPARALLEL_SELDOM std::size_t bytes_of_character(std::string_view text) {
    constexpr unsigned least[] = {0, 0x80, 0x800, 0x10000};  // with so many bytes behind the first
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t behind = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || text.size() <= behind) {
        return 0;
    }
    unsigned code = behind == 0 ? first : first & (0x3fU >> behind);
    for (std::size_t at = 1; at <= behind; ++at) {
        const auto next = static_cast<unsigned char>(text[at]);
        if (next >> 6U != 2) {
            return 0;
        }
        code = code << 6U | (next & 0x3fU);
    }
    return code < least[behind] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : behind + 1;
}

EINPARALLEL_SELDOM bool is_utf8(std::string_view text) {
    std::size_t bytes = 1;
    for (; !text.empty() && bytes > 0; text.remove_prefix(bytes)) {
        bytes = bytes_of_character(text);
    }
    return bytes > 0;
}

EINPARALLEL_SELDOM void append_utf8(std::string& text, unsigned code) {
    constexpr unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
    const int behind = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text += char(first[behind] | code >> 6 * behind);
    for (int byte = behind; byte-- > 0;) {
        text += char(0x80U | (code >> 6 * byte & 0x3fU));
    }
}

EINPARALLEL_SELDOM std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string written;
    while (!text.empty()) {
        const std::size_t bytes = bytes_of_character(text);
        const auto code = static_cast<unsigned char>(text.front());
        if (bytes == 0) {
            written.append("\\ufffd");
        } else if (code < 0x20) {
            written.append("\\u00").append({digits[code / 16], digits[code % 16]});
        } else {
            written.append(code == '"' || code == '\\' ? "\\" : "").append(text.substr(0, bytes));
        }
        text.remove_prefix(std::max(bytes, std::size_t(1)));
    }
    return written;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
