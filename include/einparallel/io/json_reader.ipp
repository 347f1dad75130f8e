#pragma once

#include <einparallel/io/json_reader.hpp>

#include <einparallel/io/text.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM void json_reader::skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t\r"), rest_.size()));
}

EINPARALLEL_SELDOM bool json_reader::take(std::string_view wanted) {
    skip_blanks();
    const bool found = rest_.starts_with(wanted);
    rest_.remove_prefix(found ? wanted.size() : 0);
    return found;
}

EINPARALLEL_SELDOM void json_reader::expect(std::string_view wanted) {
    const bool found = take(wanted);
    check(found, {"has a ", noun_, " that is no JSON: '", wanted, "' is missing ",
                  rest_.empty() ? "at its end" : "before '", rest_.substr(0, 12), rest_.empty() ? "" : "'"});
}

EINPARALLEL_SELDOM void json_reader::values(std::string_view begin, std::string_view end, function_ref<void()> visit) {
    constexpr int deepest = 127;
    expect(begin);
    check(++depth_ <= deepest, {"has a ", noun_, " that is nested more than ", deepest, " deep"});
    for (bool more = !take(end); more;) {
        visit();
        more = take(",");
        if (!more) {
            expect(end);
        }
    }
    --depth_;
}

EINPARALLEL_SELDOM void json_reader::object(function_ref<void(const std::string&)> visit) {
    std::set<std::string> names;
    values("{", "}", [&] {
        const std::string name = text();
        check(names.insert(name).second, {"has '", name, "' twice in one object of its ", noun_});
        expect(":");
        visit(name);
    });
}

EINPARALLEL_SELDOM void json_reader::array(function_ref<void()> visit) {
    values("[", "]", visit);
}

EINPARALLEL_SELDOM unsigned json_reader::hexadecimal() {
    unsigned value = 0;
    const char* const last = rest_.data() + std::min<std::size_t>(rest_.size(), 4);
    check(last - rest_.data() == 4 && std::from_chars(rest_.data(), last, value, 16).ptr == last,
          {"has a ", noun_, " with a bad escape in a string"});
    rest_.remove_prefix(4);
    return value;
}

/// Reads an escape from behind its backslash. Returns the code point of its character.
EINPARALLEL_SELDOM unsigned json_reader::escape() {
    constexpr std::string_view letters = "\"\\/bfnrtu";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const std::size_t position = rest_.empty() ? std::string_view::npos : letters.find(rest_.front());
    check(position != std::string_view::npos, {"has a ", noun_, " with a bad escape in a string"});
    rest_.remove_prefix(1);
    if (position < meanings.size()) {
        return static_cast<unsigned char>(meanings[position]);
    }
    const unsigned code = hexadecimal();
    if (code < 0xd800 || code >= 0xe000) {
        return code;
    }
    unsigned second = 0;
    if (code < 0xdc00 && rest_.starts_with("\\u")) {
        rest_.remove_prefix(2);
        second = hexadecimal();
    }
    check(second >= 0xdc00 && second < 0xe000, {"has a ", noun_, " with half of a surrogate pair in a string"});
    return 0x10000U + ((code - 0xd800U) << 10U) + (second - 0xdc00U);
}

EINPARALLEL_SELDOM std::string json_reader::text() {
    expect("\"");
    std::string made;
    for (;;) {
        check(!rest_.empty(), {"has a ", noun_, " with an open quotation mark"});
        const char next = rest_.front();
        rest_.remove_prefix(1);
        if (next == '"') {
            check(is_utf8(made), {"has a ", noun_, " with a string that is no UTF-8"});
            return made;
        }
        check(static_cast<unsigned char>(next) >= ' ',
              {"has a ", noun_, " with the control character ", static_cast<unsigned>(next), " in a string"});
        if (next == '\\') {
            append_utf8(made, escape());
        } else {
            made += next;
        }
    }
}

EINPARALLEL_SELDOM std::string_view json_reader::number() {
    skip_blanks();
    std::size_t at = rest_.starts_with('-') ? 1 : 0;
    const auto is_any_of = [&](std::string_view letters) {
        return at < rest_.size() && letters.find(rest_[at]) != std::string_view::npos;
    };
    const auto digits = [&] {
        const std::size_t first = at;
        for (; is_any_of("0123456789"); ++at) {
        }
        return at - first;
    };
    const bool is_zero = is_any_of("0");
    const std::size_t whole = digits();
    bool is_sound = is_zero ? whole == 1 : whole > 0;
    if (is_sound && is_any_of(".")) {
        ++at;
        is_sound = digits() > 0;
    }
    if (is_sound && is_any_of("eE")) {
        ++at;
        at += is_any_of("+-") ? 1U : 0U;
        is_sound = digits() > 0;
    }
    check(is_sound, {"has a ", noun_, " with '", rest_.substr(0, 12), "' where a value belongs"});
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return found;
}

EINPARALLEL_SELDOM std::uint64_t json_reader::whole_number() {
    skip_blanks();
    const std::string_view from_here = rest_.substr(0, 12);
    const std::string_view digits = number();
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    check(end == digits.data() + digits.size() && failure != std::errc::invalid_argument,
          {"has a ", noun_, " with '", from_here, "' where a whole number belongs"});
    check(failure == std::errc(), {"has a ", noun_, " with a number above 2^64 - 1"});
    return value;
}

EINPARALLEL_SELDOM double json_reader::decimal() {
    const std::string_view digits = number();
    double value = 0;
    const std::errc failure = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
    // from_chars also reports numbers that are so small that they become 0. Only numbers that are too large are
    // refused.
    check(failure == std::errc() || digits.find('-', 1) != std::string_view::npos || digits.starts_with("0.") ||
              digits.starts_with("-0."),
          {"has a ", noun_, " with a number beyond 1.8e308"});
    return failure == std::errc() ? value : 0;
}

EINPARALLEL_SELDOM bool json_reader::null() {
    return take("null");
}

EINPARALLEL_SELDOM void json_reader::skip() {
    skip_blanks();
    if (rest_.starts_with('{')) {
        object([&](const std::string& /*name*/) { skip(); });
    } else if (rest_.starts_with('[')) {
        array([&] { skip(); });
    } else if (rest_.starts_with('"')) {
        text();
    } else if (!take("true") && !take("false") && !take("null")) {
        decimal();
    }
}

EINPARALLEL_SELDOM void json_reader::end() {
    skip_blanks();
    check(rest_.empty(), {"has text behind its ", noun_});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
