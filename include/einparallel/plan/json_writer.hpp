#pragma once
// JSON, member by member.

#include <einparallel/notation/compiled.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes JSON member by member. The caller keeps objects and arrays balanced.
class json_writer {
public:
    json_writer& open(char bracket) {
        separate();
        text_ += bracket;
        fresh_ = true;
        return *this;
    }
    json_writer& close(char bracket) {
        text_ += bracket;
        fresh_ = false;
        return *this;
    }
    json_writer& key(std::string_view name) {
        value(name);
        text_ += ':';
        fresh_ = true;
        return *this;
    }
    json_writer& value(std::string_view text) {
        separate();
        text_ += '"';
        for (const char letter : text) {
            escape(letter);
        }
        text_ += '"';
        return *this;
    }
    json_writer& value(const char* text) { return value(std::string_view(text)); }
    json_writer& value(const std::string& text) { return value(std::string_view(text)); }

    /// Numbers as the shortest text that reads back as the same value, in every locale.
    template <class Number>
    requires std::is_arithmetic_v<Number> json_writer& value(Number number) {
        separate();
        if constexpr (std::is_same_v<Number, bool>) {
            text_ += number ? "true" : "false";
        } else {
            char written[32];
            text_.append(written, std::to_chars(written, written + sizeof written, number).ptr);
        }
        return *this;
    }
    template <class Item>
    json_writer& value(const std::vector<Item>& items) {
        open('[');
        for (const Item& item : items) {
            value(item);
        }
        return close(']');
    }
    json_writer& null() {
        separate();
        text_ += "null";
        return *this;
    }

    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    void separate() {
        text_ += fresh_ ? "" : ",";
        fresh_ = false;
    }

    void escape(char letter) {
        constexpr char digits[] = "0123456789abcdef";
        const auto code = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            text_ += '\\';
            text_ += letter;
        } else if (code < 0x20) {
            text_ += "\\u00";
            text_ += digits[code / 16];
            text_ += digits[code % 16];
        } else {
            text_ += letter;
        }
    }

    std::string text_;
    bool fresh_ = true;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
