#pragma once
// Lists, numbers and objectives in the arguments of the planner's benchmarks, and numbers in their tables.

#include <einparallel/notation/error.hpp>
#include <einparallel/search/options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
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

/// @throws error where `word` is none
inline ep::objective objective_for(const std::string& word) {
    for (const ep::objective each : all_objectives) {
        if (word == word_for(each)) {
            return each;
        }
    }
    throw ep::error("the objective '" + word + "' is none of paper, bytes and time");
}

/// What takes the value of an option, by the option's name.
using option_table = std::vector<std::pair<std::string, std::function<void(const std::string&)>>>;

/// Hands every argument `--option value` over. @throws error for one that is not in the table, or has no value
inline void read_options(int argc, char** argv, const option_table& options) {
    for (int position = 1; position < argc; position += 2) {
        const std::string option = argv[position];
        if (position + 1 == argc) {
            throw ep::error(option + " needs a value");
        }
        std::string names;
        bool known = false;
        for (std::size_t number = 0; number < options.size() && !known; ++number) {
            names += (number == 0 ? "" : number + 1 == options.size() ? " and " : ", ") + options[number].first;
            known = options[number].first == option;
            if (known) {
                options[number].second(argv[position + 1]);
            }
        }
        if (!known) {
            throw ep::error("the option '" + option + "' is none of " + names);
        }
    }
}

/// One number by a format of printf.
inline std::string formatted(const char* format, double value) {
    std::array<char, 64> written{};
    std::snprintf(written.data(), written.size(), format, value);
    return written.data();
}

/// One line of JSON: words, then numbers, or instead of these the sentence why there are none. A word has no quotes.
inline std::string json_object(const std::vector<std::pair<std::string, std::string>>& words,
                               const std::vector<std::pair<std::string, double>>& numbers,
                               const std::string& failure = {}) {
    std::string line = "{";
    const auto add = [&](const std::string& name, const std::string& value) {
        line += (line.size() > 1 ? ", \"" : "\"") + name + "\": " + value;
    };
    for (const auto& [name, word] : words) {
        add(name, '"' + word + '"');
    }
    if (!failure.empty()) {
        std::string plain = failure;
        std::ranges::replace_if(
            plain, [](char letter) { return letter == '"' || letter == '\\' || letter < ' '; }, ' ');
        add("failure", '"' + plain + '"');
    }
    for (std::size_t at = 0; failure.empty() && at < numbers.size(); ++at) {
        add(numbers[at].first, formatted("%.6g", numbers[at].second));
    }
    return line + "}";
}

}  // namespace bench
