#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace oracle {

namespace {

/// The index of each label a … z at the point that the loops have come to.
using point = std::array<long, 26>;

std::size_t slot(char label) {
    if (label < 'a' || label > 'z') {
        throw std::logic_error(std::string("oracle: no label: ") + label);
    }
    return static_cast<std::size_t>(label - 'a');
}

/// Steps the labels to the next point, the last one fastest. False after the last point.
bool advance(std::string_view labels, const point& extents, point& at) {
    for (std::size_t position = labels.size(); position-- > 0;) {
        const std::size_t label = slot(labels[position]);
        if (++at[label] < extents[label]) {
            return true;
        }
        at[label] = 0;
    }
    return false;
}

bool has_points(std::string_view labels, const point& extents) {
    for (const char label : labels) {
        if (extents[slot(label)] == 0) {
            return false;
        }
    }
    return true;
}

template <class T>
T as(number value) {
    if constexpr (std::is_same_v<T, double>) {
        return value.real();
    } else {
        return value;
    }
}

template <class T>
struct node {
    std::string word;            // empty for a leaf and for a number
    std::string labels;          // of a leaf, or of an aggregation
    const tensor* of = nullptr;  // a leaf's elements
    std::vector<place> at;       // a leaf's indices where they are not labels
    const std::map<char, tensor>* all = nullptr;
    T value{};  // a number
    std::vector<node> arguments;
};

long index_of(const place& of, const std::map<char, tensor>& tensors, const point& at);

/// The number of an element, or -1 where it lies in what is around the tensor; `around` is told that.
long offset_of(const tensor& of, const std::vector<place>& places, const std::map<char, tensor>& tensors,
               const point& at, double& around) {
    long offset = 0;
    bool is_outside = false;
    for (std::size_t dimension = 0; dimension < places.size(); ++dimension) {
        const place& each = places[dimension];
        const long index = index_of(each, tensors, at) - each.before;
        if (index < -each.before || index >= of.extents[dimension] + each.after) {
            throw std::logic_error("oracle: an index outside");
        }
        around = each.before + each.after > 0 ? each.around : around;
        is_outside = is_outside || index < 0 || index >= of.extents[dimension];
        offset = offset * of.extents[dimension] + index;
    }
    return is_outside ? -1 : offset;
}

long index_of(const place& of, const std::map<char, tensor>& tensors, const point& at) {
    long sum = of.constant;
    for (const auto& [factor, term] : of.terms) {
        if (term.name == '\0') {
            sum += factor * at[slot(term.labels[0])];
        } else {
            const tensor& data = tensors.at(term.name);
            double around = 0;
            const long offset = offset_of(data, places_of(term), tensors, at, around);
            sum += factor * static_cast<long>(data.elements[static_cast<std::size_t>(offset)].real());
        }
    }
    return sum;
}

template <class T>
T element_of(const node<T>& leaf, const point& at) {
    if (!leaf.at.empty()) {
        double around = 0;
        const long offset = offset_of(*leaf.of, leaf.at, *leaf.all, at, around);
        return offset < 0 ? T(around) : as<T>(leaf.of->elements[static_cast<std::size_t>(offset)]);
    }
    long offset = 0;
    for (std::size_t dimension = 0; dimension < leaf.labels.size(); ++dimension) {
        const char label = leaf.labels[dimension];
        offset = offset * leaf.of->extents[dimension] + (label == '.' ? 0 : at[slot(label)]);
    }
    return as<T>(leaf.of->elements[static_cast<std::size_t>(offset)]);
}

template <class T>
T evaluate(const node<T>& of, const point& extents, point& at);

/// The points of the labels are gone through from the start, and the point is left as it was.
template <class T, class Use>
void for_each_point(const node<T>& of, const point& extents, point& at, Use use) {
    if (!has_points(of.labels, extents)) {
        return;
    }
    const point before = at;
    for (const char label : of.labels) {
        at[slot(label)] = 0;
    }
    do {
        use(evaluate(of.arguments.front(), extents, at));
    } while (advance(of.labels, extents, at));
    at = before;
}

template <class T>
T aggregate(const node<T>& of, const point& extents, point& at) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::string& word = of.word;
    T sum = word == "prod" ? T(1) : word == "max" ? T(-infinity) : word == "min" ? T(infinity) : T(0);
    if (word == "softmax") {
        if constexpr (std::is_same_v<T, double>) {
            const T mine = evaluate(of.arguments.front(), extents, at);
            for_each_point(of, extents, at, [&](T each) { sum += std::exp(each - mine); });
            return 1 / sum;
        }
    }
    for_each_point(of, extents, at, [&](T each) {
        if (word == "sum") {
            sum += each;
        } else if (word == "prod") {
            sum *= each;
        } else if constexpr (std::is_same_v<T, double>) {
            sum = (word == "max") == (each > sum) ? each : sum;
        } else {
            throw std::logic_error("oracle: " + word + " of complex numbers");
        }
    });
    return sum;
}

template <class T>
T map_of(const std::string& word, T x) {
    if (word == "neg") {
        return -x;
    }
    if (word == "abs") {
        return T(std::abs(x));
    }
    if (word == "exp") {
        return std::exp(x);
    }
    if (word == "sqrt") {
        return std::sqrt(x);
    }
    if (word == "tanh") {
        return std::tanh(x);
    }
    if (word == "log") {
        return std::log(x);
    }
    if (word == "affine") {
        return T(3) * x + T(1);
    }
    if constexpr (std::is_same_v<T, double>) {
        if (word == "sigmoid") {
            return 1 / (1 + std::exp(-x));
        }
        if (word == "relu") {
            return x > 0 ? x : 0;
        }
        if (word == "silu") {
            return x / (1 + std::exp(-x));
        }
        if (word == "gelu") {
            return x * std::erfc(-x / std::sqrt(2.0)) / 2;
        }
    } else if (word == "conj") {
        return std::conj(x);
    }
    throw std::logic_error("oracle: no map " + word);
}

template <class T>
T join_of(const std::string& word, T x, T y) {
    if (word == "+") {
        return x + y;
    }
    if (word == "-") {
        return x - y;
    }
    if (word == "*") {
        return x * y;
    }
    if (word == "/") {
        return x / y;
    }
    if (word == "pow") {
        return std::pow(x, y);
    }
    if (word == "skew") {
        return x - T(2) * y;
    }
    if constexpr (std::is_same_v<T, double>) {
        if (word == "larger") {
            return x > y ? x : y;
        }
        if (word == "smaller") {
            return x < y ? x : y;
        }
    }
    throw std::logic_error("oracle: no join " + word);
}

template <class T>
T evaluate(const node<T>& of, const point& extents, point& at) {
    if (of.of != nullptr) {
        return element_of(of, at);
    }
    if (of.word.empty()) {
        return of.value;
    }
    const std::string& word = of.word;
    if (word == "sum" || word == "prod" || word == "max" || word == "min" || word == "softmax") {
        return aggregate(of, extents, at);
    }
    if (word == "mix") {  // of three: a join that no two of its arguments make
        return evaluate(of.arguments[0], extents, at) * evaluate(of.arguments[1], extents, at) -
               evaluate(of.arguments[2], extents, at);
    }
    T value = evaluate(of.arguments.front(), extents, at);
    if (word == "one_hot") {
        return value == T(static_cast<double>(at[slot(of.labels[0])])) ? T(1) : T(0);
    }
    if (of.arguments.size() == 1) {
        return word == "*" ? value : map_of(word, value);
    }
    for (std::size_t argument = 1; argument < of.arguments.size(); ++argument) {
        value = join_of(word, value, evaluate(of.arguments[argument], extents, at));
    }
    return value;
}

/// Reads from the front of a text.
class reader {
public:
    explicit reader(std::string_view text) : text_(text) {}

    leaf read_leaf() {
        leaf read;
        read.name = take();
        read.labels = read_while([](char c) { return (c >= 'a' && c <= 'z') || c == '.'; });
        if (peek() == '[') {
            do {
                take();
                read.at.push_back(read_place());
                for (const auto& [factor, term] : read.at.back().terms) {
                    for (const char label : term.labels) {
                        read.labels += read.labels.find(label) == std::string::npos ? std::string(1, label) : "";
                    }
                }
            } while (peek() == ',');
            expect(']');
        }
        return read;
    }

    place read_place() {
        place read;
        const std::size_t begin = at_;
        for (bool more = true; more;) {
            const bool has_number = (peek() >= '0' && peek() <= '9') || peek() == '-';
            const long number = has_number ? read_number() : 1;
            if (peek() >= 'a' && peek() <= 'z') {
                read.is_label = at_ == begin;
                read.terms.push_back({number, {'\0', std::string(1, take()), {}}});
            } else if (peek() >= 'A' && peek() <= 'Z') {
                read.terms.push_back({number, read_leaf()});
            } else if (has_number) {
                read.constant += number;
            } else {
                throw std::logic_error("oracle: no index");
            }
            more = peek() == '+';
            read.is_label = read.is_label && !more;
            at_ += more ? 1 : 0;
        }
        if (peek() == '<') {
            take();
            read.before = read_number();
            expect(':');
            read.after = read_number();
            expect('=');
            read.around = static_cast<double>(read_number());
            expect('>');
        }
        return read;
    }
    long read_number() {
        const std::string digits = read_while([](char c) { return (c >= '0' && c <= '9') || c == '-'; });
        return std::strtol(digits.c_str(), nullptr, 10);
    }

    template <class T>
    node<T> read_expression(const std::map<char, tensor>& tensors) {
        node<T> read;
        skip();
        if (peek() == '#') {
            take();
            const std::string digits = read_while([](char c) { return c != ' ' && c != ')' && c != ';'; });
            read.value = T(std::strtod(digits.c_str(), nullptr));
            return read;
        }
        if (peek() != '(') {
            const leaf operand = read_leaf();
            read.labels = operand.labels;
            read.of = &tensors.at(operand.name);
            read.at = operand.at;
            read.all = &tensors;
            if ((read.at.empty() ? read.labels.size() : read.at.size()) != read.of->extents.size()) {
                throw std::logic_error("oracle: wrong number of labels");
            }
            return read;
        }
        take();
        read.word = read_while([](char c) { return c != ' ' && c != ':'; });
        if (peek() == ':') {
            take();
            read.labels = read_while([](char c) { return c >= 'a' && c <= 'z'; });
        }
        for (skip(); peek() != ')'; skip()) {
            read.arguments.push_back(read_expression<T>(tensors));
        }
        take();
        return read;
    }

    void skip() {
        while (peek() == ' ') {
            take();
        }
    }
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    char take() {
        if (at_ >= text_.size()) {
            throw std::logic_error("oracle: the text ends too early");
        }
        return text_[at_++];
    }
    void expect(char wanted) {
        skip();
        if (take() != wanted) {
            throw std::logic_error(std::string("oracle: expected ") + wanted);
        }
    }

private:
    template <class Is>
    std::string read_while(Is is) {
        std::string read;
        while (at_ < text_.size() && is(text_[at_])) {
            read += text_[at_++];
        }
        return read;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

template <class T>
tensor made_by(const node<T>& right, std::string_view labels, const point& extents) {
    tensor made;
    for (const char label : labels) {
        made.extents.push_back(extents[slot(label)]);
    }
    made.elements.reserve(static_cast<std::size_t>(made.size()));
    if (has_points(labels, extents)) {
        point at{};
        do {
            made.elements.push_back(evaluate(right, extents, at));
        } while (advance(labels, extents, at));
    }
    return made;
}

/// One element after the other: what is added to is what stands there by then.
template <class T>
void write_part(const leaf& left, const node<T>& right, const point& extents, std::map<char, tensor>& tensors) {
    tensor& made = tensors.at(left.name);
    point at{};
    if (!has_points(left.labels, extents)) {
        return;
    }
    std::vector<bool> is_written(made.elements.size());
    do {
        double around = 0;
        const long offset = offset_of(made, left.at, tensors, at, around);
        made.elements[static_cast<std::size_t>(offset)] = evaluate(right, extents, at);
        made.is_written_twice = made.is_written_twice || is_written[static_cast<std::size_t>(offset)];
        is_written[static_cast<std::size_t>(offset)] = true;
    } while (advance(left.labels, extents, at));
}

template <class T>
void compute_as(std::string_view program, const std::map<char, long>& by_label,
                const std::map<char, precision>& precisions, std::map<char, tensor>& tensors) {
    point extents{};
    for (const auto& [label, extent] : by_label) {
        extents[slot(label)] = extent;
    }
    reader text(program);
    for (text.skip(); text.peek() != '\0'; text.skip()) {
        const leaf left = text.read_leaf();
        text.expect('=');
        const node<T> right = text.template read_expression<T>(tensors);
        if (left.at.empty()) {
            tensors.insert_or_assign(left.name, made_by(right, left.labels, extents));
        } else {
            write_part(left, right, extents, tensors);
        }
        const auto to = precisions.find(left.name);
        if (to != precisions.end() && to->second.digits > 0) {
            for (number& each : tensors.at(left.name).elements) {
                each = rounded(each.real(), to->second);
            }
        }
        text.skip();
        if (text.peek() == ';') {
            text.take();
        }
    }
}

bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

}  // namespace

long tensor::size() const {
    long count = 1;
    for (const long extent : extents) {
        count *= extent;
    }
    return count;
}

std::vector<leaf> leaves_of(std::string_view program) {
    std::vector<leaf> found;
    bool is_left = true;
    bool is_inside = false;  // of brackets
    for (std::size_t at = 0; at < program.size(); ++at) {
        is_left = program[at] == ';' || (is_left && program[at] != '=');
        is_inside = program[at] == '[' || (is_inside && program[at] != ']');
        if (is_capital(program[at])) {
            leaf read = reader(program.substr(at)).read_leaf();
            if (!is_left || is_inside || !read.at.empty()) {
                found.push_back(std::move(read));
            }
        }
    }
    return found;
}

std::vector<place> places_of(const leaf& operand) {
    std::vector<place> all = operand.at;
    if (all.empty()) {
        for (const char label : operand.labels) {
            all.push_back({{{1, {'\0', std::string(1, label), {}}}}, 0, true});
        }
    }
    return all;
}

leaf leaf_in(std::string_view text) {
    return reader(text).read_leaf();
}
place place_in(std::string_view text) {
    return reader(text).read_place();
}

std::pair<long, long> reach(const place& of, const std::map<char, long>& extents) {
    std::pair<long, long> reached{of.constant, of.constant};
    for (const auto& [factor, term] : of.terms) {
        if (term.name == '\0') {
            const long last = factor * (extents.at(term.labels[0]) - 1);
            (last < 0 ? reached.first : reached.second) += last;
        }
    }
    return reached;
}

std::vector<leaf> outputs_of(std::string_view program) {
    std::vector<leaf> found;
    bool is_left = true;
    for (std::size_t at = 0; at < program.size(); ++at) {
        if (is_left && is_capital(program[at])) {
            found.push_back(reader(program.substr(at)).read_leaf());
        }
        is_left = program[at] == ';' || (is_left && !is_capital(program[at]) && program[at] == ' ');
    }
    return found;
}

std::map<char, long> extents_of(std::string_view text) {
    std::map<char, long> extents;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] >= 'a' && text[at] <= 'z') {
            extents[text[at]] = std::strtol(std::string(text.substr(at + 1)).c_str(), nullptr, 10);
        }
    }
    return extents;
}

double rounded(double value, const precision& to) {
    if (value == 0 || !std::isfinite(value)) {
        return value;
    }
    const int unit = std::max(std::ilogb(value), to.lowest) - to.digits + 1;
    const double near = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    return std::ilogb(near) > to.highest ? std::copysign(HUGE_VAL, value) : near;
}

void compute(std::string_view program, const std::map<char, long>& extents, bool is_complex,
             const std::map<char, precision>& precisions, std::map<char, tensor>& tensors) {
    if (is_complex) {
        compute_as<number>(program, extents, precisions, tensors);
    } else {
        compute_as<double>(program, extents, precisions, tensors);
    }
}

}  // namespace oracle
