#pragma once
// JSON, member by member.

#include <einparallel/io/text.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/names.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Writes JSON member by member. The caller keeps objects and arrays balanced.
class json_writer {
public:
    json_writer& open(char bracket) {
        put({&bracket, 1});
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
    json_writer& member(std::string_view name, const auto& shown) { return key(name).value(shown); }

    /// Writes a value: texts in quotes; numbers as the shortest text that reads back as the same value, in every
    /// locale; enumerations as words; null for an empty optional; arrays; and objects with the fields that describe()
    /// lists.
    template <class Value>
    json_writer& value(const Value& shown) {
        if constexpr (std::is_convertible_v<Value, std::string_view>) {
            put("\"");
            text_.append(escaped(shown)).append("\"");
        } else if constexpr (std::is_same_v<Value, bool>) {
            put(shown ? "true" : "false");
        } else if constexpr (std::is_arithmetic_v<Value>) {
            char written[32];
            put(std::string_view(written, std::to_chars(written, written + sizeof written, shown).ptr));
        } else if constexpr (std::is_enum_v<Value>) {
            value(name_for(shown));
        } else if constexpr (requires { shown.has_value(); }) {
            shown ? static_cast<void>(value(*shown)) : put("null");
        } else if constexpr (requires { shown.begin(); }) {
            open('[');
            for (const auto& item : shown) {
                value(item);
            }
            close(']');
        } else {
            open('{');
            describe(shown, [this](std::string_view name, const auto& field) { this->member(name, field); });
            close('}');
        }
        return *this;
    }

    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    /// Appends a text, after a comma where another value stands before it.
    void put(std::string_view written) {
        text_.append(fresh_ ? "" : ",").append(written);
        fresh_ = false;
    }

    std::string text_;
    bool fresh_ = true;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
