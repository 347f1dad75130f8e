#pragma once
// Sentences of errors and tables, made of words and numbers where they are wanted.

#include <einparallel/graph/text.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// Words, which it refers to, or a whole number.
class word {
public:
    word(const char* words) : words_(words) {}
    word(const std::string& words) : words_(words) {}
    word(std::string_view words) : words_(words) {}
    template <std::integral Number>
        requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
    word(Number number) : number_(index(number)), is_number_(true) {}

    [[nodiscard]] std::string text() const { return is_number_ ? std::to_string(number_) : std::string(words_); }

private:
    std::string_view words_;
    index number_ = 0;
    bool is_number_ = false;
};

/// One behind the other.
inline std::string sentence(std::initializer_list<word> words) {
    return sum_in(words, std::string(), &word::text);
}

/// `2 x 3`
std::string numbers_text(const auto& numbers, std::string_view between = ", ") {
    return joined(numbers, between, [](auto number) { return std::to_string(number); });
}

/// @throws error with this sentence
[[noreturn]] inline void refuse(std::initializer_list<word> words) {
    throw error(sentence(words));
}

/// @throws error with this sentence, made only then, where something does not hold
inline void require(bool holds, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse(otherwise);
    }
}
/// The same of a subject.
inline void require(bool holds, std::initializer_list<word> who, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse({sentence(who), sentence(otherwise)});
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
