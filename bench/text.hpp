#pragma once
// Lists, numbers and objectives in the arguments of the planner's benchmarks, and numbers in their tables.

#include <einparallel/notation/error.hpp>
#include <einparallel/plan/options.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace bench {

namespace ep = einparallel;

inline constexpr std::array<ep::objective, 3> all_objectives{ep::objective::paper, ep::objective::bytes,
                                                             ep::objective::time};

inline const char* word_for(ep::objective objective) {
    return objective == ep::objective::paper ? "paper" : objective == ep::objective::bytes ? "bytes" : "time";
}

/// `text` between its separators.
inline std::vector<std::string> separated(std::string_view text, char separator = ',') {
    std::vector<std::string> words(1);
    for (const char letter : text) {
        letter == separator ? static_cast<void>(words.emplace_back()) : words.back().push_back(letter);
    }
    return words;
}

/// @throws error where `text` is no whole number of at least `least`
inline int whole_number(const std::string& text, int least) {
    int value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || value < least) {
        throw ep::error("'" + text + "' is no " + (least > 0 ? "positive " : "") + "whole number");
    }
    return value;
}

/// One number by a format of printf.
inline std::string formatted(const char* format, double value) {
    std::array<char, 64> written{};
    std::snprintf(written.data(), written.size(), format, value);
    return written.data();
}

}  // namespace bench
