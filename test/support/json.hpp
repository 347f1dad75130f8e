#pragma once
// A small reader of JSON for tests: shared figures, and what the library writes itself. Throws std::runtime_error on
// text that is not JSON.

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::testing {

class json {
public:
    using array = std::vector<json>;
    using object = std::vector<std::pair<std::string, json>>;

    static json parse(std::string_view text) {
        reader from{text, 0};
        json value = from.value();
        from.blanks();
        if (from.at != text.size()) {
            throw std::runtime_error("JSON: something follows the value");
        }
        return value;
    }

    static json read(const std::string& path) {
        std::ifstream file(path);
        if (!file) {
            throw std::runtime_error("cannot read " + path);
        }
        std::ostringstream text;
        text << file.rdbuf();
        return parse(text.str());
    }

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(held_); }
    [[nodiscard]] bool boolean() const { return get<bool>(); }
    [[nodiscard]] double number() const { return get<double>(); }
    [[nodiscard]] const std::string& text() const { return get<std::string>(); }
    [[nodiscard]] const array& items() const { return get<array>(); }
    [[nodiscard]] const object& members() const { return get<object>(); }

    [[nodiscard]] bool has(std::string_view name) const {
        for (const auto& [key, value] : members()) {
            if (key == name) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] const json& operator[](std::string_view name) const {
        for (const auto& [key, value] : members()) {
            if (key == name) {
                return value;
            }
        }
        throw std::runtime_error("JSON: no member " + std::string(name));
    }
    [[nodiscard]] const json& operator[](std::size_t position) const { return items().at(position); }

    /// The same value, numbers to twelve digits.
    [[nodiscard]] bool is_like(const json& other) const {
        const auto* const number = std::get_if<double>(&held_);
        const auto* const others = std::get_if<double>(&other.held_);
        return number != nullptr && others != nullptr ? std::abs(*number - *others) <= 1e-12 * std::abs(*others)
                                                      : held_ == other.held_;
    }
    friend bool operator==(const json& a, const json& b) { return a.held_ == b.held_; }

    template <class Number>
    [[nodiscard]] std::vector<Number> numbers() const {
        std::vector<Number> read;
        for (const json& item : items()) {
            read.push_back(static_cast<Number>(item.number()));
        }
        return read;
    }

private:
    struct reader {
        std::string_view text;
        std::size_t at;

        void blanks() {
            while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) {
                ++at;
            }
        }
        bool accept(char wanted) {
            blanks();
            const bool found = at < text.size() && text[at] == wanted;
            at += found ? 1 : 0;
            return found;
        }
        void expect(char wanted) {
            if (!accept(wanted)) {
                throw std::runtime_error(std::string("JSON: expected ") + wanted + " at " + std::to_string(at));
            }
        }
        bool word(std::string_view wanted) {
            const bool found = text.substr(at, wanted.size()) == wanted;
            at += found ? wanted.size() : 0;
            return found;
        }

        std::string quoted() {
            expect('"');
            std::string read;
            while (at < text.size() && text[at] != '"') {
                char letter = text[at++];
                if (static_cast<unsigned char>(letter) < 0x20) {
                    throw std::runtime_error("JSON: a control character in a string");
                }
                if (letter == '\\') {
                    letter = at < text.size() ? text[at++] : '?';
                    constexpr std::string_view names = "\"\\/bfnrt";
                    constexpr std::string_view letters = "\"\\/\b\f\n\r\t";
                    if (letter == 'u') {
                        unsigned code = 0;
                        const char* const first = text.data() + at;
                        if (at + 4 > text.size() || std::from_chars(first, first + 4, code, 16).ptr != first + 4 ||
                            code > 0x7f) {
                            throw std::runtime_error("JSON: an escape that this reader does not know");
                        }
                        at += 4;
                        letter = static_cast<char>(code);
                    } else if (names.find(letter) != std::string_view::npos) {
                        letter = letters[names.find(letter)];
                    } else {
                        throw std::runtime_error("JSON: an unknown escape");
                    }
                }
                read += letter;
            }
            expect('"');
            return read;
        }

        json value() {
            blanks();
            json made;
            if (accept('{')) {
                object members;
                while (!accept('}')) {
                    if (!members.empty()) {
                        expect(',');
                    }
                    blanks();
                    std::string key = quoted();
                    expect(':');
                    members.emplace_back(std::move(key), value());
                }
                made.held_ = std::move(members);
            } else if (accept('[')) {
                array items;
                while (!accept(']')) {
                    if (!items.empty()) {
                        expect(',');
                    }
                    items.push_back(value());
                }
                made.held_ = std::move(items);
            } else if (at < text.size() && text[at] == '"') {
                made.held_ = quoted();
            } else if (word("true")) {
                made.held_ = true;
            } else if (word("false")) {
                made.held_ = false;
            } else if (!word("null")) {
                double number = 0;
                const auto end = std::from_chars(text.data() + at, text.data() + text.size(), number);
                if (end.ec != std::errc{}) {
                    throw std::runtime_error("JSON: no value at " + std::to_string(at));
                }
                at = static_cast<std::size_t>(end.ptr - text.data());
                made.held_ = number;
            }
            return made;
        }
    };

    template <class T>
    [[nodiscard]] const T& get() const {
        if (const T* held = std::get_if<T>(&held_)) {
            return *held;
        }
        throw std::runtime_error("JSON: a value of another kind");
    }

    std::variant<std::nullptr_t, bool, double, std::string, array, object> held_ = nullptr;
};

}  // namespace einparallel::testing
