#pragma once

#include <einparallel/io/python_literal.hpp>

#include <einparallel/io/text.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where the letter `at` places behind the next one is one of `letters`.
EINPARALLEL_SELDOM bool python_reader::is_next(std::string_view letters, std::size_t at) const {
    return at < rest_.size() && letters.find(rest_[at]) != std::string_view::npos;
}

/// True where the next letter would continue a name or a number.
EINPARALLEL_SELDOM bool python_reader::is_word_next() const {
    return is_next("._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ||
           (!rest_.empty() && static_cast<unsigned char>(rest_.front()) >= 0x80);
}

/// Skips blanks, and comments where `blanks` has line ends. @param continued  a backslash may stand before the end of a
/// line
EINPARALLEL_SELDOM void python_reader::skip_blanks(std::string_view blanks, bool continued) {
    const bool lines = blanks.find('\n') != std::string_view::npos;
    for (;;) {
        if (is_next(blanks)) {
            rest_.remove_prefix(1);
        } else if (lines && is_next("#")) {
            rest_.remove_prefix(std::min(rest_.find_first_of("\n\r"), rest_.size()));
        } else if (continued && is_next("\\") && is_next("\n\r", 1)) {
            rest_.remove_prefix(rest_.substr(1).starts_with("\r\n") ? 3 : 2);
        } else {
            return;
        }
    }
}

EINPARALLEL_SELDOM bool python_reader::take(std::string_view wanted) {
    skip_blanks();
    const bool found = rest_.starts_with(wanted);
    rest_.remove_prefix(found ? wanted.size() : 0);
    return found;
}

EINPARALLEL_SELDOM void python_reader::expect(std::string_view wanted) {
    check(take(wanted),
          {"has a header that cannot be read: '", wanted, "' is missing before '", rest_.substr(0, 12), "'"});
}

/// Reads what follows an entry of a list. Returns false where the list ends, with or without a comma.
EINPARALLEL_SELDOM bool python_reader::goes_on(std::string_view end) {
    if (take(",")) {
        return !take(end);
    }
    expect(end);
    return false;
}

/// Reads an opening bracket. @throws error where more brackets are open than Python allows
EINPARALLEL_SELDOM void python_reader::open(std::string_view bracket) {
    constexpr int deepest = 200;
    expect(bracket);
    check(++depth_ <= deepest, {"has a header that is nested more than ", deepest, " deep"});
}

EINPARALLEL_SELDOM void python_reader::dictionary(function_ref<void(const std::string&, const python_value&)> visit) {
    check(rest_.find('\0') == std::string_view::npos, {"has a header that cannot be read: there is a byte 0 in it"});
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    const std::string_view whole = rest_;
    skip_blanks(" \t\f\n\r", false);
    const std::string_view before = whole.substr(0, whole.size() - rest_.size());
    check(!before.ends_with(' ') && !before.ends_with('\t'), {"has a header that is indented on a later line"});
    int brackets = 0;
    for (; is_next("("); skip_blanks()) {
        open("(");
        ++brackets;
    }
    open("{");
    for (bool more = !take("}"); more; more = goes_on("}")) {
        const python_value key = value();
        check(key.is == python_value::kind::text,
              {"has a header that cannot be read: a key is no string before '", rest_.substr(0, 12), "'"});
        expect(":");
        const python_value found = value();
        visit(key.text, found);
        check(found.is != python_value::kind::other,
              {"has a header that cannot be read before '", rest_.substr(0, 12), "'"});
    }
    for (; brackets > 0; --brackets) {
        expect(")");
    }
    skip_blanks(" \t\f\n\r", false);
    check(rest_.empty(), {"has text behind the dictionary of its header"});
}

EINPARALLEL_SELDOM python_value python_reader::value() {
    skip_blanks();
    python_value made;
    if (is_next("(")) {
        return tuple();
    }
    if (is_next("+-0123456789")) {
        return number();
    }
    if (letters_before_quote() < rest_.size()) {
        made.is = python_value::kind::text;
        for (; letters_before_quote() < rest_.size(); skip_blanks()) {
            append_string(made.text);
        }
    } else if (const bool is_true = rest_.starts_with("True"); is_true || rest_.starts_with("False")) {
        rest_.remove_prefix(is_true ? 4 : 5);
        made.is = is_word_next() ? python_value::kind::other : python_value::kind::truth;
        made.number = is_true ? 1 : 0;
    }
    return made;
}

/// Reads a tuple. Brackets around one value without a comma are only this value.
EINPARALLEL_SELDOM python_value python_reader::tuple() {
    python_value made;
    bool comma = false;
    open("(");
    for (bool more = !take(")"); more;) {
        made.items.push_back(value());
        if (made.items.back().is == python_value::kind::other) {
            return {};
        }
        skip_blanks();
        comma = is_next(",");
        more = goes_on(")");
    }
    --depth_;
    if (made.items.size() == 1 && !comma) {
        return std::move(made.items.front());
    }
    made.is = python_value::kind::tuple;
    return made;
}

/// Reads digits in a row. An underscore may stand between two digits. The rest of the text is left.
EINPARALLEL_SELDOM std::string python_reader::digits(std::string_view letters) {
    std::string found;
    while (is_next(letters)) {
        found += rest_.front();
        rest_.remove_prefix(1);
        rest_.remove_prefix(is_next("_") && is_next(letters, 1) ? 1 : 0);
    }
    return found;
}

EINPARALLEL_SELDOM python_value python_reader::number() {
    const bool is_negative = is_next("-");
    if (is_next("+-")) {
        rest_.remove_prefix(1);
        skip_blanks();
    }
    int base = 10;
    std::string_view letters = "0123456789";
    if (is_next("0") && is_next("xXoObB", 1)) {
        base = is_next("xX", 1) ? 16 : is_next("oO", 1) ? 8 : 2;
        letters = base == 16 ? "0123456789abcdefABCDEF" : letters.substr(0, std::size_t(base));
        rest_.remove_prefix(2);
        rest_.remove_prefix(is_next("_") && is_next(letters, 1) ? 1 : 0);
    }
    const std::string found = digits(letters);
    if (const std::string_view here = rest_; long_integers_) {
        skip_blanks(" \t\f");
        const bool is_long = is_next("L");
        rest_.remove_prefix(is_long ? 1 : 0);
        rest_ = is_long && !is_word_next() ? rest_ : here;
    }
    python_value made;
    const bool is_octal = base == 10 && found.size() > 1 && found.find_first_not_of('0') != std::string::npos &&
                          found.front() == '0';  // as Python 2 would have it
    if (found.empty() || is_octal || is_word_next()) {
        return made;
    }
    made.is = python_value::kind::number;
    check(std::from_chars(found.data(), found.data() + found.size(), made.number, base).ec == std::errc(),
          {"has a header with a number above 2^63 - 1"});
    made.number = is_negative ? -made.number : made.number;
    return made;
}

/// The number of letters that stand before the quote of the next string; rest_.size() where no string is next.
EINPARALLEL_SELDOM std::size_t python_reader::letters_before_quote() const {
    const std::size_t letters = is_next("uUrR") ? 1 : 0;
    return is_next("'\"", letters) ? letters : rest_.size();
}

EINPARALLEL_SELDOM void python_reader::append_string(std::string& into) {
    const bool is_raw = is_next("rR");
    rest_.remove_prefix(letters_before_quote());
    const std::string three(3, rest_.front());
    const bool may_break = rest_.starts_with(three);
    const std::string_view quote = std::string_view(three).substr(0, may_break ? 3 : 1);
    rest_.remove_prefix(quote.size());
    while (!rest_.starts_with(quote)) {
        check(!rest_.empty() && (may_break || !is_next("\n\r")), {"has a header with an open quotation mark"});
        if (is_next("\\") && !is_raw) {
            rest_.remove_prefix(1);
            append_escape(into);
        } else {
            const std::size_t letters = is_next("\\") ? 2 : 1;
            check(letters <= rest_.size(), {"has a header with an open quotation mark"});
            into.append(rest_.substr(0, letters));
            rest_.remove_prefix(letters);
        }
    }
    rest_.remove_prefix(quote.size());
}

/// Reads an escape from behind its backslash, and appends what it stands for.
EINPARALLEL_SELDOM void python_reader::append_escape(std::string& into) {
    constexpr std::string_view letters = "\\'\"abfnrtv";
    constexpr std::string_view meanings = "\\'\"\a\b\f\n\r\t\v";
    check(!rest_.empty() && !is_next("N"), {"has a header with a bad escape in a string"});
    const char letter = rest_.front();
    const bool is_octal = is_next("01234567");
    const std::size_t most = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    rest_.remove_prefix(is_octal ? 0 : 1);
    if (most > 0) {
        std::size_t count = 0;
        while (count < most && is_next(is_octal ? "01234567" : "0123456789abcdefABCDEF", count)) {
            ++count;
        }
        std::uint32_t code = 0;
        std::from_chars(rest_.data(), rest_.data() + count, code, is_octal ? 8 : 16);
        check((is_octal || count == most) && code <= 0x10ffff, {"has a header with a bad escape in a string"});
        append_utf8(into, code >= 0xd800 && code < 0xe000 ? '?' : code);
        rest_.remove_prefix(count);
    } else if (const std::size_t position = letters.find(letter); position != std::string_view::npos) {
        into += meanings[position];
    } else if (letter == '\n' || letter == '\r') {  // goes on on the next line
        rest_.remove_prefix(letter == '\r' && is_next("\n") ? 1 : 0);
    } else {
        into.append("\\").append(1, letter);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
