#pragma once
// Labelled statements as trees, printed twice: as C++ for the library, and in the oracle's language.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace differential {

using labels = std::string;  // small letters

inline bool has(const labels& set, char label) {
    return set.find(label) != labels::npos;
}
inline labels without(const labels& some, const labels& others) {
    labels kept;
    std::copy_if(some.begin(), some.end(), std::back_inserter(kept), [&](char label) { return !has(others, label); });
    return kept;
}
inline labels both(const labels& a, const labels& b) {
    return without(a, without(a, b));
}
inline labels unite(labels a, const labels& b) {
    for (const char label : b) {
        a += has(a, label) ? "" : labels(1, label);
    }
    return a;
}

/// An index of a tensor in both languages: a label alone, a function of labels, or data.
struct place {
    std::string cpp;
    std::string truth;
    labels of;
    int padding = -1;  ///< parameters with this number and the next say how much stands around the tensor, if any

    [[nodiscard]] bool is_label() const { return truth.size() == 1 && truth == of; }
};
inline place at_label(char label) {
    return {std::string(1, label), std::string(1, label), labels(1, label)};
}

/// An expression: a leaf (word is its capital letter), a number (word begins with a digit), a reduction or softmax
/// (with labels `over`; empty means all that are missing on the left), a one-hot operand, a map or a join.
struct expression {
    std::string word;
    labels of;
    std::vector<expression> arguments = {};
    std::vector<place> at = {};  ///< of a leaf, by dimension; empty where each is a label alone

    /// The indices of a leaf, by dimension.
    [[nodiscard]] std::vector<place> places() const {
        std::vector<place> all = at;
        if (at.empty()) {
            std::transform(of.begin(), of.end(), std::back_inserter(all), at_label);
        }
        return all;
    }
    /// Makes these the indices of a leaf.
    void read_at(std::vector<place> all) {
        of.clear();
        for (const place& each : all) {
            of += each.of;
        }
        at = std::all_of(all.begin(), all.end(), [](const place& each) { return each.is_label(); })
                 ? std::vector<place>()
                 : std::move(all);
    }

    [[nodiscard]] bool is_leaf() const { return word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z'; }
    [[nodiscard]] bool is_number() const { return word[0] >= '0' && word[0] <= '9'; }
    [[nodiscard]] bool is_reduction() const {
        return word == "sum" || word == "prod" || word == "max" || word == "min";
    }

    /// Labels that are left after its own reductions.
    [[nodiscard]] labels free(const labels& left) const {
        if (is_leaf()) {
            return unite({}, of);
        }
        labels all;
        for (const expression& each : arguments) {
            all = unite(all, each.free(left));
        }
        if (word == "one_hot") {
            return unite(all, of);
        }
        if (is_reduction()) {
            return of.empty() ? both(all, left) : without(all, of);
        }
        return all;
    }
};

inline expression leaf(char name, const labels& of) {
    return {std::string(1, name), of, {}, {}};
}
inline expression number(const std::string& text) {
    return {text, {}, {}, {}};
}
inline expression call(const std::string& word, std::vector<expression> arguments) {
    return {word, {}, std::move(arguments), {}};
}
/// ⊕ over named labels; over all that are missing on the left where there are none.
inline expression over(const std::string& word, const labels& of, expression inner) {
    return {word, of, {std::move(inner)}, {}};
}

/// One term of a right-hand side and its sign.
struct term {
    bool negative = false;
    expression value;
};

/// `Z(left) = …`, `+=` or `-=`.
struct statement {
    char name = 'Z';
    labels left;
    std::string assignment = "=";
    std::vector<term> terms;
    std::vector<place> at = {};  ///< where a part is written; empty where the whole is

    [[nodiscard]] expression written() const { return {std::string(1, name), left, {}, at}; }
    [[nodiscard]] std::size_t rank() const { return at.empty() ? left.size() : at.size(); }
};

/// The order in which a tensor keeps its dimensions, against the order in which a statement writes them.
using orders = std::map<char, std::vector<std::size_t>>;

/// A leaf's indices by dimension of its tensor.
inline std::vector<place> in_order(const expression& leaf, const orders& of_tensors) {
    const std::vector<place> written = leaf.places();
    const auto found = of_tensors.find(leaf.word[0]);
    if (found == of_tensors.end()) {
        return written;
    }
    std::vector<place> ordered;
    for (const std::size_t from : found->second) {
        ordered.push_back(written[from]);
    }
    return ordered;
}

inline std::string join_texts(const std::vector<std::string>& texts, const std::string& between) {
    std::string joined;
    for (std::size_t number = 0; number < texts.size(); ++number) {
        joined += (number > 0 ? between : "") + texts[number];
    }
    return joined;
}

inline std::string label_arguments(const labels& of) {
    std::vector<std::string> names;
    for (const char label : of) {
        names.emplace_back(1, label);
    }
    return join_texts(names, ", ");
}

/// What stands around padded tensors.
inline const char* const around = "2";

inline std::string cpp(const expression& e, const orders& of_tensors) {
    if (e.is_leaf()) {
        std::vector<std::string> indices;
        std::vector<std::string> before;
        std::vector<std::string> after;
        bool is_padded = false;
        for (const place& each : in_order(e, of_tensors)) {
            is_padded = is_padded || each.padding >= 0;
            indices.push_back(each.cpp);
            before.push_back(each.padding < 0 ? "0" : "r.n(" + std::to_string(each.padding) + ")");
            after.push_back(each.padding < 0 ? "0" : "r.n(" + std::to_string(each.padding + 1) + ")");
        }
        const std::string read = is_padded ? "ep::padded(" + e.word + ", {" + join_texts(before, ", ") + "}, {" +
                                                 join_texts(after, ", ") + "}, " + around + ")"
                                           : e.word;
        return read + "(" + join_texts(indices, ", ") + ")";
    }
    if (e.is_number()) {
        return e.word;
    }
    if (e.word == "one_hot") {
        return "ep::one_hot(" + cpp(e.arguments[0], of_tensors) + ", " + e.of + ")";
    }
    std::vector<std::string> arguments;
    for (const expression& each : e.arguments) {
        arguments.push_back(cpp(each, of_tensors));
    }
    if (e.word == "+" || e.word == "-" || e.word == "*" || e.word == "/") {
        return "(" + join_texts(arguments, " " + e.word + " ") + ")";
    }
    if (e.word == "neg") {
        return "(-" + arguments[0] + ")";
    }
    if (e.is_reduction() || e.word == "softmax") {
        return "ep::" + e.word + "(" + label_arguments(e.of) + (e.of.empty() ? "" : ", ") + arguments[0] + ")";
    }
    if (e.word == "affine") {
        return "ep::map(affine{}, " + arguments[0] + ")";
    }
    if (e.word == "mix" || e.word == "skew") {
        return "ep::join(" + e.word + "{}, " + join_texts(arguments, ", ") + ")";
    }
    const std::string word = e.word == "larger" ? "max" : e.word == "smaller" ? "min" : e.word;
    return word + "(" + join_texts(arguments, ", ") + ")";
}

inline std::string truth(const expression& e, const labels& left, const orders& of_tensors) {
    if (e.is_leaf()) {
        const bool has_labels_only = e.at.empty();
        std::vector<std::string> indices;
        for (const place& each : in_order(e, of_tensors)) {
            const auto parameter = [&](int next) { return "$p" + std::to_string(each.padding + next); };
            indices.push_back(each.truth);
            indices.back() += each.padding < 0 ? "" : "<" + parameter(0) + ":" + parameter(1) + "=" + around + ">";
        }
        return has_labels_only ? e.word + join_texts(indices, "") : e.word + "[" + join_texts(indices, ",") + "]";
    }
    if (e.is_number()) {
        return "#" + e.word;
    }
    std::string text = "(" + e.word + (e.word == "one_hot" ? ":" + e.of : "");
    if (e.is_reduction() || e.word == "softmax") {
        const labels free = e.arguments[0].free(left);
        text += ":" + (e.of.empty() ? without(free, left) : e.of);
    }
    for (const expression& each : e.arguments) {
        text += " " + truth(each, left, of_tensors);
    }
    return text + ")";
}

inline std::string cpp(const statement& s, const orders& of_tensors) {
    std::string text = cpp(s.written(), of_tensors) + " " + s.assignment + " ";
    for (std::size_t number = 0; number < s.terms.size(); ++number) {
        const term& each = s.terms[number];
        text += number == 0 ? (each.negative ? "-" : "") : (each.negative ? " - " : " + ");
        text += cpp(each.value, of_tensors);
    }
    return text + ";";
}

inline std::string truth(const statement& s, const orders& of_tensors) {
    const std::string left = truth(s.written(), s.left, of_tensors);
    std::string sum;
    for (const term& each : s.terms) {
        const labels missing = without(each.value.free(s.left), s.left);
        std::string one = truth(each.value, s.left, of_tensors);
        one = missing.empty() ? one : "(sum:" + missing + " " + one + ")";
        one = each.negative ? "(neg " + one + ")" : one;
        sum = sum.empty() ? one : "(+ " + sum + " " + one + ")";
    }
    if (s.assignment != "=") {
        sum = "(" + s.assignment.substr(0, 1) + " " + left + " " + sum + ")";
    }
    return left + "=" + sum;
}

}  // namespace differential
