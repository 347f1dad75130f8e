#pragma once
// Random products of tensors whose dimensions are labels or functions of labels, as strings, and what they are by plain
// loops.

#include <einparallel/graph/network.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace einparallel::testing {

template <class T>
T small_number(std::mt19937& random) {
    const int drawn = static_cast<int>(random() % 7) - 3;
    if constexpr (std::is_same_v<T, bool>) {
        return drawn > 0;
    } else if constexpr (detail::is_complex<T>::value) {
        return {static_cast<typename T::value_type>(drawn), static_cast<typename T::value_type>(random() % 3)};
    } else {
        return static_cast<T>(std::is_unsigned_v<T> ? drawn + 3 : drawn);
    }
}

/// A sum of labels, by number, times coefficients, and a constant.
struct random_dimension {
    std::map<int, index> terms;
    index constant = 0;

    [[nodiscard]] index at(const std::vector<index>& labels) const {
        index sum = constant;
        for (const auto& [label, coefficient] : terms) {
            sum += coefficient * labels[static_cast<std::size_t>(label)];
        }
        return sum;
    }
    [[nodiscard]] bool is_label() const { return constant == 0 && terms.size() == 1 && terms.begin()->second == 1; }
};

/// A product of random tensors; labels that the output lacks are summed.
template <class T>
struct random_product {
    std::vector<index> extents;  ///< by label
    std::vector<std::vector<random_dimension>> operands;
    std::vector<int> output;
    std::vector<unranked<T>> tensors;

    /// @param percent  of dimensions that are functions of labels
    explicit random_product(std::mt19937& random, unsigned percent, std::size_t most_operands = 5) {
        const std::size_t count = 2 + random() % 5;
        for (std::size_t label = 0; label < count; ++label) {
            extents.push_back(1 + static_cast<index>(random() % 3));
        }
        const auto drawn_label = [&] { return static_cast<int>(random() % count); };
        std::vector<int> used, said;
        for (std::size_t operand = 0, all = 1 + random() % most_operands; operand < all; ++operand) {
            std::vector<random_dimension> own(random() % 4);
            for (random_dimension& each : own) {
                if (random() % 100 < percent) {
                    for (auto terms = random() % 3; terms > 0; --terms) {
                        each.terms[drawn_label()] = static_cast<index>(random() % 6) - 2;
                    }
                    std::erase_if(each.terms, [](const auto& term) { return term.second == 0; });
                    each.constant = static_cast<index>(random() % 3);
                } else {
                    each.terms[drawn_label()] = 1;
                }
            }
            add(own, random, used, said);
        }
        // Every label is a dimension somewhere, which says its extent.
        for (const int label : std::vector<int>(used)) {
            if (std::find(said.begin(), said.end(), label) == said.end()) {
                add({{{{label, 1}}, 0}}, random, used, said);
            }
        }
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        std::shuffle(used.begin(), used.end(), random);
        output.assign(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(random() % (used.size() + 1)));
    }

    [[nodiscard]] static std::string letters(const std::vector<int>& numbers) {
        std::string text;
        for (const int each : numbers) {
            text += static_cast<char>('a' + each);
        }
        return text;
    }
    /// A list in brackets, or bare where all are labels.
    [[nodiscard]] static std::string letters(const std::vector<random_dimension>& dimensions) {
        std::string bare, listed;
        bool is_bare = true;
        for (const random_dimension& each : dimensions) {
            std::string sum;
            for (const auto& [label, coefficient] : each.terms) {
                bare += static_cast<char>('a' + label);
                sum += (sum.empty()       ? ""
                        : coefficient < 0 ? " - "
                                          : " + ") +
                       std::string(sum.empty() && coefficient < 0 ? "-" : "") +
                       std::to_string(coefficient < 0 ? -coefficient : coefficient) + "*" +
                       static_cast<char>('a' + label);
            }
            sum += sum.empty()         ? std::to_string(each.constant)
                   : each.constant > 0 ? "+" + std::to_string(each.constant)
                                       : "";
            listed += (listed.empty() ? "[" : ", ") + sum;
            is_bare = is_bare && each.is_label();
        }
        return is_bare ? bare : listed + "]";
    }
    /// True where all dimensions are labels.
    [[nodiscard]] bool is_plain() const {
        return std::all_of(operands.begin(), operands.end(), [](const auto& each) {
            return std::all_of(each.begin(), each.end(), [](const auto& one) { return one.is_label(); });
        });
    }
    [[nodiscard]] std::string text() const {
        std::string text;
        for (const auto& each : operands) {
            text += (&each == &operands.front() ? "" : ",") + letters(each);
        }
        return text + "->" + letters(output);
    }

    /// Row-major.
    [[nodiscard]] std::vector<T> expected() const {
        std::vector<bool> is_used(extents.size(), false);
        for (const auto& operand : operands) {
            for (const random_dimension& each : operand) {
                for (const auto& [label, coefficient] : each.terms) {
                    is_used[static_cast<std::size_t>(label)] = true;
                }
            }
        }
        index size = 1;
        for (const int label : output) {
            size *= extents[static_cast<std::size_t>(label)];
        }
        std::vector<T> made(static_cast<std::size_t>(size), T(0));
        std::vector<index> at(extents.size(), 0);
        for (std::size_t label = 0; label < at.size();) {
            T product(1);
            for (std::size_t operand = 0; operand < operands.size(); ++operand) {
                index position = 0;
                for (std::size_t dimension = 0; dimension < operands[operand].size(); ++dimension) {
                    position = position * tensors[operand].extents()[dimension] + operands[operand][dimension].at(at);
                }
                product = static_cast<T>(product * tensors[operand].data()[position]);
            }
            index into = 0;
            for (const int each : output) {
                into = into * extents[static_cast<std::size_t>(each)] + at[static_cast<std::size_t>(each)];
            }
            const auto place = static_cast<std::size_t>(into);
            made[place] = static_cast<T>(made[place] + product);
            for (label = 0; label < at.size() && (!is_used[label] || ++at[label] == extents[label]); ++label) {
                at[label] = 0;
            }
        }
        return made;
    }

private:
    /// Functions begin at 0 or above; behind them there may be elements that nothing reads.
    void add(std::vector<random_dimension> own, std::mt19937& random, std::vector<int>& used, std::vector<int>& said) {
        std::vector<index> shape;
        for (random_dimension& each : own) {
            index highest = each.constant;
            for (const auto& [label, coefficient] : each.terms) {
                const index reach = coefficient * (extents[static_cast<std::size_t>(label)] - 1);
                each.constant -= std::min<index>(reach, 0);
                highest += std::max<index>(reach, 0) - std::min<index>(reach, 0);
                used.push_back(label);
            }
            if (each.is_label()) {
                said.push_back(each.terms.begin()->first);
            }
            shape.push_back(highest + 1 + (each.is_label() ? 0 : static_cast<index>(random() % 2)));
        }
        operands.push_back(std::move(own));
        unranked<T>& made = tensors.emplace_back(shape);
        std::generate(made.data(), made.data() + made.size(), [&] { return small_number<T>(random); });
    }
};

}  // namespace einparallel::testing
