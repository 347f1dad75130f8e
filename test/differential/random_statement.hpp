#pragma once
// Random labelled statements: every kind of term that the notation has, with random labels; and short programs of
// several statements.

#include "random.hpp"
#include "random_index.hpp"
#include "statement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace differential {

/// Statements that follow each other, ready to be printed.
struct random_program : index_world {
    std::vector<statement> lines;
    orders dimensions;            ///< orders of the dimensions, by tensor
    std::map<char, int> extents;  ///< by label
    std::string outputs;          ///< letters
    char type = 'd';
    bool exact = true;  ///< whole numbers in, whole numbers out, in any order of summation

    [[nodiscard]] char type_of(char name) const { return tokens.count(name) > 0 ? tokens.at(name) : type; }
    [[nodiscard]] std::string truth_text() const {
        std::vector<std::string> texts;
        for (const statement& each : lines) {
            texts.push_back(truth(each, dimensions));
        }
        return join_texts(texts, ";");
    }
    [[nodiscard]] std::string cpp_text(const std::string& between) const {
        std::vector<std::string> texts;
        for (const statement& each : lines) {
            texts.push_back(cpp(each, dimensions));
        }
        return join_texts(texts, between);
    }
    [[nodiscard]] std::string extents_text() const {
        std::string text;
        for (const auto& [label, extent] : extents) {
            text += (text.empty() ? "" : " ") + std::string(1, label) + std::to_string(extent);
        }
        return text;
    }
};

class statement_maker {
public:
    explicit statement_maker(random_numbers& random) : random_(random) {}

    static constexpr int kinds = 11;
    static constexpr int indexed_kinds = 13;

    /// One statement whose first term is of this kind (0 … kinds − 1).
    random_program make(int kind, char type, bool deferred, long most_points) {
        return make(kind, type, deferred, most_points, nullptr);
    }
    /// The same at functions of labels and at data, integers of these types (0 … indexed_kinds − 1).
    random_program make_indexed(int kind, char type, bool deferred, const std::string& tokens) {
        index_maker indices(random_, program_, deferred, tokens);
        return make(kind, type, deferred, 1500, &indices);
    }

    static constexpr int chains = 12;

    /// Several statements, the later ones reading the earlier ones.
    random_program chain(int kind, char type, long most_points) {
        start(type);
        labels pool = "ijklmnst";
        random_.shuffle(pool);
        const char i = pool[0], j = pool[1], k = pool[2], l = pool[3], m = pool[4];
        const auto on = [](std::initializer_list<char> list) { return labels(list.begin(), list.end()); };
        const auto times = [](std::vector<expression> factors) { return call("*", std::move(factors)); };
        const auto line = [&](char name, const labels& left, expression value) {
            program_.lines.push_back({name, left, "=", {{false, std::move(value)}}});
        };
        const auto input = [&](char name, const labels& of) {
            if (!has(program_.inputs, name)) {
                program_.inputs += name;
                program_.ranks[name] = of.size();
            }
            return leaf(name, of);
        };
        const auto equal = [&](char a, char b) { same_.push_back({a, b}); };
        program_.outputs = "Z";
        program_.ranks['Z'] = 2;
        switch (kind) {
            case 0:  // a chain of products
                line('T', on({i, k}), times({input('A', on({i, j})), input('B', on({j, k}))}));
                line('Z', on({i, l}), times({leaf('T', on({i, k})), input('C', on({k, l}))}));
                break;
            case 1:  // the paper's (A B) + (C (D E))
                program_.lines.push_back({'Z',
                                          on({i, k}),
                                          "=",
                                          {{false, times({input('A', on({i, j})), input('B', on({j, k}))})},
                                           {random_.chance(50), times({input('C', on({i, l})), input('D', on({l, m})),
                                                                       input('E', on({m, k}))})}}});
                break;
            case 2:  // both operands are one vertex
                line('T', on({i, j}), times({input('A', on({i, k})), input('B', on({k, j}))}));
                line('Z', on({i, l}), times({leaf('T', on({i, j})), leaf('T', on({l, j}))}));
                equal(i, l);
                break;
            case 3:  // three consumers and two outputs
                line('T', on({i, j}), times({input('A', on({i, k})), input('B', on({k, j}))}));
                line('U', on({i, l}), times({leaf('T', on({i, j})), input('C', on({j, l}))}));
                line('Z', on({j, l}), times({leaf('T', on({i, j})), leaf('U', on({i, l}))}));
                program_.outputs = "ZT";
                program_.ranks['T'] = 2;
                break;
            case 4:  // attention
                line('T', on({i, j}), times({input('A', on({i, k})), input('B', on({j, k}))}));
                line('U', on({i, j}), over("softmax", on({j}), times({leaf('T', on({i, j})), number("0.125")})));
                line('Z', on({i, l}), times({leaf('U', on({i, j})), input('C', on({j, l}))}));
                program_.exact = false;
                break;
            case 5:  // a max that is read by a product
                line('T', on({i, m}),
                     over("max", {}, call("abs", {call("-", {input('A', on({i, j, m})), input('B', on({j}))})})));
                line('Z', on({i, k}), times({leaf('T', on({i, m})), input('C', on({m, k}))}));
                break;
            case 6:  // a diagonal, and its sum
                line('T', on({i, j}), times({input('A', on({i, k})), input('B', on({k, j}))}));
                line('U', on({i}), leaf('T', on({i, i})));
                line('Z', {}, times({leaf('U', on({i})), input('C', on({i}))}));
                equal(i, j);
                program_.ranks['Z'] = 0;
                break;
            case 7:  // layers: the handle is bound again
                line('Z', on({i, k}),
                     call("tanh", {over("sum", on({j}), times({input('A', on({i, j})), input('B', on({j, k}))}))}));
                line('Z', on({i, k}),
                     call("tanh", {over("sum", on({j}), times({leaf('Z', on({i, j})), input('B', on({j, k}))}))}));
                line('Z', on({i, k}), times({leaf('Z', on({i, j})), input('C', on({j, k}))}));
                equal(j, k);
                program_.exact = false;
                break;
            case 8:  // accumulation
                line('Z', on({i, k}), times({input('A', on({i, j})), input('B', on({j, k}))}));
                program_.lines.push_back(
                    {'Z', on({i, k}), "+=", {{false, times({input('C', on({i, l})), input('D', on({l, k}))})}}});
                program_.lines.push_back({'Z', on({i, k}), "-=", {{false, input('E', on({k}))}}});
                break;
            case 9:  // the paper's distance, then a minimum
                line('T', on({i, k}),
                     over("sum", {},
                          times({call("-", {input('A', on({i, j})), input('B', on({k, j}))}),
                                 call("-", {leaf('A', on({i, j})), leaf('B', on({k, j}))})})));
                line('Z', on({i}), over("min", {}, call("+", {leaf('T', on({i, k})), input('C', on({k}))})));
                program_.ranks['Z'] = 1;
                break;
            case 10:  // higher ranks: (ab|cd) transformed twice
                line('T', on({i, k, l, m}), times({input('A', on({j, k, l, m})), input('B', on({j, i}))}));
                line('Z', on({i, k}), times({leaf('T', on({i, k, l, m})), input('C', on({l, m, k}))}));
                break;
            default:  // one-sided sums on the way, and a batch label all along
                line('T', on({m, i, k}), times({input('A', on({m, i, j})), input('B', on({m, j, k, l}))}));
                line('Z', on({m, k}), times({leaf('T', on({m, i, k})), input('C', on({m}))}));
                break;
        }
        finish(most_points, true);
        return program_;
    }

    static constexpr int indexed_chains = 10;

    /// Several statements, of which later ones read, or write, what earlier ones made at functions of labels and at
    /// data.
    random_program indexed_chain(int kind, char type, const std::string& tokens) {
        start(type);
        index_maker indices(random_, program_, true, tokens);
        labels pool = "ijklmnst";
        random_.shuffle(pool);
        const char i = pool[0], j = pool[1], k = pool[2], l = pool[3], m = pool[4], n = pool[5];
        const auto on = [](std::initializer_list<char> list) { return labels(list.begin(), list.end()); };
        const auto times = [](std::vector<expression> factors) { return call("*", std::move(factors)); };
        const auto input = [&](char name, const labels& of) {
            program_.inputs += name;
            program_.ranks[name] = of.size();
            return leaf(name, of);
        };
        const auto at = [](char name, std::vector<place> places) {
            expression made = leaf(name, {});
            made.read_at(std::move(places));
            return made;
        };
        const auto line = [&](const expression& left, const std::string& assignment, expression value) {
            program_.lines.push_back(
                {left.word[0], unite({}, left.of), assignment, {{false, std::move(value)}}, left.at});
        };
        const auto shifted = [&](char label) { return indices.function({{random_.chance(70) ? '1' : 'n', label}}); };
        const auto one = [&](char label) { return indices.function({{random_.chance(50) ? '1' : 'u', label}}); };
        const char whole = kind == 3 || kind == 4 || kind == 6 || kind == 8 ? 'Z' : 'T';
        line(leaf(whole, on({i, l})), "=", times({input('A', on({i, j})), input('B', on({j, l}))}));
        program_.outputs = random_.chance(30) && whole == 'T' ? "ZT" : "Z";
        program_.ranks[whole] = 2;
        program_.ranks['Z'] = 2;
        const auto padded = [&](place of) {
            of.padding = program_.parameters;
            program_.parameters += 2;
            return of;
        };
        switch (kind) {
            case 0:  // a correlation of a product, its extent what fits
                line(leaf('Z', on({k, l})), "=",
                     times({at('T', {indices.function({{'1', k}, {'1', m}}), at_label(l)}), input('C', on({m}))}));
                break;
            case 1:  // rows that tokens name
                line(leaf('Z', on({n, l})), "=",
                     times({number("2"), at('T', {indices.data(on({n}), false), at_label(l)})}));
                break;
            case 2:  // a stencil
                line(leaf('Z', on({m, n})), "=",
                     times({call("-",
                                 {at('T', {shifted(m), shifted(n)}),
                                  call("+", {at('T', {shifted(m), shifted(n)}), at('T', {shifted(m), shifted(n)})})}),
                            input('C', on({m, n}))}));
                break;
            case 3:  // a part is written, then another one
                line(at('Z', {one(k), at_label(l)}),
                     random_.chance(50) ? "=" : "+=", times({input('C', on({k, m})), input('D', on({m, l}))}));
                line(at('Z', {indices.function({}), one(n)}), "=", times({number("3"), input('E', on({n}))}));
                break;
            case 4:  // rows are replaced
                line(at('Z', {indices.data(on({k}), true), at_label(l)}), "=",
                     times({input('C', on({k, m})), input('D', on({l, m}))}));
                break;
            case 5:  // a one-hot operand
                line(leaf('Z', on({n, l})), "=",
                     times({expression{"one_hot", on({i}), {leaf(indices.data(on({n}), true).truth[0], on({n}))}, {}},
                            leaf('T', on({i, l}))}));
                break;
            case 6:  // sums to what tokens name
                line(at('Z', {indices.data(on({k}), false), at_label(l)}),
                     "-=", times({input('C', on({k, m})), input('D', on({m, l}))}));
                break;
            case 7:  // a convolution with an edge
                line(leaf('Z', on({m, n})), "=",
                     times({at('T', {padded(indices.function({{'1', m}, {'1', k}})), padded(shifted(n))}),
                            input('C', on({k})), input('D', on({m, n}))}));
                break;
            case 8:  // a product of polynomials: several indices name one element
                line(at('Z', {indices.function({{'1', k}, {'u', m}}), at_label(l)}),
                     "+=", times({input('C', on({k})), input('D', on({m, l}))}));
                break;
            default:  // from back to front, beside a row, its maximum
                line(leaf('Z', on({k})), "=",
                     over("max", {},
                          call("-", {at('T', {indices.function({{'u', k}}), at_label(l)}),
                                     at('T', {indices.function({}), at_label(l)})})));
                program_.ranks['Z'] = 1;
                break;
        }
        finish(4000, true);
        return program_;
    }

private:
    random_program make(int kind, char type, bool deferred, long most_points, index_maker* indices) {
        start(type);
        labels pool = "ijklmnst";
        random_.shuffle(pool);
        const auto left_size = static_cast<std::size_t>(random_.between(kind == 4 ? 1 : 0, 3));
        left_ = pool.substr(0, left_size);
        statement made;
        made.left = left_;
        const int terms = random_.between(1, 6) < 4 ? 1 : random_.between(2, indices == nullptr ? 3 : 2);
        for (int number = 0; number < terms; ++number) {
            const auto summed_size = static_cast<std::size_t>(random_.between(number == 0 ? 1 : 0, 2));
            summed_ = pool.substr(left_size, summed_size);
            // Later terms may lack labels of the left-hand side: they are repeated, their sums where these are said.
            const labels kept = number == 0 || random_.chance(60) ? left_ : some_of(left_);
            if (number > 0 && kept.empty() && summed_.empty()) {
                continue;
            }
            const bool negative = !is_bool() && random_.chance(30);
            expression term = number > 0     ? make_term(is_bool() ? 0 : random_.between(0, 5), kept)
                              : kind < kinds ? make_term(kind, kept)
                                             : make_indexed_term(kind, kept, *indices);
            if (kept.size() < left_.size() && !summed_.empty()) {
                term = over("sum", {}, std::move(term));
            }
            made.terms.push_back({negative, std::move(term)});
        }
        made.assignment = random_.chance(70) ? "=" : random_.chance(50) || is_bool() ? "+=" : "-=";
        program_.ranks['Z'] = left_.size();
        if (indices != nullptr) {
            do {
                indices->change_operands(made, uses_output_ ? 0 : 1);
            } while (program_.parameters == 0 && program_.tokens.empty());
            if (!uses_output_ && random_.chance(55)) {
                indices->change_left(made, 1);
                program_.inputs += made.at.empty() || made.assignment != "=" ? "" : "Z";
            }
        }
        if (made.assignment != "=" || uses_output_) {
            program_.inputs += 'Z';
        }
        program_.lines.push_back(std::move(made));
        program_.outputs = "Z";
        finish(most_points, deferred);
        return program_;
    }

    void start(char type) {
        program_ = {};
        program_.type = type;
        same_.clear();
        uses_output_ = false;
    }
    [[nodiscard]] bool is_complex() const { return program_.type == 'z' || program_.type == 'c'; }
    [[nodiscard]] bool is_real() const { return program_.type == 'd'; }
    [[nodiscard]] bool is_bool() const { return program_.type == 'b'; }
    [[nodiscard]] bool is_whole() const { return program_.type == 'i'; }
    [[nodiscard]] bool is_float() const { return program_.type == 'f' || program_.type == 'h' || program_.type == 'g'; }

    labels some_of(labels from) {
        random_.shuffle(from);
        from.resize(static_cast<std::size_t>(random_.between(0, static_cast<int>(from.size()))));
        return from;
    }

    /// A new input with these labels in some order, once in a while a diagonal.
    expression operand(labels of) {
        random_.shuffle(of);
        if (!of.empty() && of.size() < 4 && random_.chance(10)) {
            of += of[0];
        }
        const char name = static_cast<char>('A' + count_of_inputs());
        program_.inputs += name;
        program_.ranks[name] = of.size();
        return leaf(name, of);
    }
    [[nodiscard]] int count_of_inputs() const {
        return static_cast<int>(
            std::count_if(program_.inputs.begin(), program_.inputs.end(), [](char name) { return name != 'Z'; }));
    }

    /// New inputs that have all of these labels between them.
    std::vector<expression> operands(const labels& all, std::size_t count) {
        std::vector<labels> parts(count);
        for (const char label : all) {
            const auto must = static_cast<std::size_t>(random_.between(0, static_cast<int>(count) - 1));
            for (std::size_t part = 0; part < count; ++part) {
                if (part == must || random_.chance(40)) {
                    parts[part] += label;
                }
            }
        }
        std::vector<expression> made;
        for (const labels& each : parts) {
            made.push_back(operand(each));
        }
        return made;
    }

    expression scaled(expression inner) {
        if (is_bool() || random_.chance(65)) {
            return inner;
        }
        const std::string by =
            is_whole() ? random_.one_of<std::string>({"2", "3"}) : random_.one_of<std::string>({"0.5", "2.0", "3.0"});
        return random_.chance(70) || is_whole() ? call("*", {number(by), std::move(inner)})
                                                : call("/", {std::move(inner), number("4.0")});
    }

    /// ⊗ of two, with the words that ordered elements allow.
    expression join_of_two(const labels& all) {
        std::vector<expression> two = operands(all, 2);
        std::vector<std::string> words = {"+", "-", "*", "square", "skew"};
        if (!is_complex()) {
            words.insert(words.end(), {"absolute", "absolute", "larger", "smaller"});
        }
        const std::string& word = random_.one_of(words);
        if (word == "square") {
            const expression difference = call("-", two);
            return call("*", {difference, difference});
        }
        if (word == "absolute") {
            return call("abs", {call("-", std::move(two))});
        }
        return call(word, std::move(two));
    }

    std::string reduction() { return is_complex() ? "sum" : random_.one_of<std::string>({"sum", "max", "max", "min"}); }

    /// A map of a value that is no larger than some hundreds.
    expression mapped(expression inner) {
        std::vector<std::string> words = {"affine", "neg"};
        if (!is_complex()) {
            words.insert(words.end(), {"abs", "relu"});
        }
        if (is_real() || is_float()) {
            words.insert(words.end(), {"tanh", "sigmoid"});
        }
        if (is_real()) {
            words.insert(words.end(), {"exp", "log", "sqrt", "silu", "gelu", "power"});
        }
        const std::string& word = random_.one_of(words);
        const bool exact = word == "affine" || word == "neg" || word == "abs" || word == "relu";
        program_.exact = program_.exact && exact;
        if (word == "exp") {
            return call("exp", {call("*", {std::move(inner), number("0.0625")})});
        }
        if (word == "log" || word == "sqrt") {
            return call(word, {call("+", {call("abs", {std::move(inner)}), number("1.0")})});
        }
        if (word == "power") {
            return call("pow", {std::move(inner), number("2.0")});
        }
        return call(word, {std::move(inner)});
    }

    expression make_term(int kind, const labels& kept) {
        const labels all = unite(kept, summed_);
        switch (kind) {
            case 0:  // Σ of a product
                return scaled(call("*", operands(all, static_cast<std::size_t>(random_.between(2, 4)))));
            case 1:  // ⊕ over all that is missing
                return scaled(over(reduction(), {}, join_of_two(all)));
            case 2:  // a map of a named ⊕
                return mapped(summed_.empty() ? join_of_two(all) : over(reduction(), summed_, join_of_two(all)));
            case 3:  // a map, in place or not
                if (kept == left_ && random_.chance(50)) {
                    uses_output_ = true;
                    return call("*", {mapped(leaf('Z', left_)), operand(kept)});
                }
                return mapped(operand(kept));
            case 4: {  // softmax, alone or in a product
                const labels rows = random_.chance(50) || summed_.empty() ? kept : all;
                if ((!is_real() && !is_float()) || rows.empty()) {
                    return operand(kept);
                }
                program_.exact = false;
                expression weights = over("softmax", labels(1, rows.back()), operand(rows));
                if (random_.chance(50)) {
                    weights = call("*", {std::move(weights), operand(unite(rows, {}))});
                }
                // Only its own label may be summed behind a softmax without saying so.
                const bool says_so = rows == all && (summed_.size() > 1 || (summed_.size() == 1 && random_.chance(50)));
                return says_so ? over("sum", summed_, std::move(weights)) : weights;
            }
            case 5:  // a difference in a product
            {
                const labels inner = some_of(all);
                expression difference = call("-", {operand(inner), operand(inner)});
                return call("*", {std::move(difference), operand(all)});
            }
            case 6:  // ⊗ of three
                return call("mix", operands(all, 3));
            case 7:  // a reduction in a sum
                if (!is_real() || summed_.empty()) {
                    return scaled(call("*", operands(all, 2)));
                }
                program_.exact = false;
                return call("*", {operand(all),
                                  call("exp", {call("*", {over("max", summed_, join_of_two(all)), number("0.125")})})});
            case 8:  // a quotient
                if (!is_real()) {
                    return operand(all);
                }
                program_.exact = false;
                return call("/", {operand(all), call("+", {call("abs", {operand(some_of(all))}), number("1.5")})});
            case 9:  // ⊕ = ×, of few factors
                if (!is_real()) {
                    return operand(all);
                }
                return over("prod", {}, call("*", operands(all, 2)));
            default:  // one operand, its labels in another order, partly summed
                return scaled(operand(all));
        }
    }

    /// Terms that are made of indices.
    expression make_indexed_term(int kind, const labels& kept, index_maker& indices) {
        const labels all = unite(kept, summed_);
        if (kind == kinds) {  // a one-hot operand, its place kept or summed
            const labels v(1, random_.chance(80) || kept.empty() ? summed_[0] : kept[0]);
            labels others = without(all, v);
            random_.shuffle(others);
            const labels token = others.substr(0, 1);
            const char name = indices.data(token, true).truth[0];
            std::vector<expression> factors = {{"one_hot", v, {leaf(name, token)}, {}},
                                               operand(unite(some_of(without(others, token)), v))};
            if (random_.chance(50)) {
                std::swap(factors[0], factors[1]);
            }
            const labels missing = without(others, call("*", factors).free(left_));
            if (!missing.empty()) {
                factors.push_back(operand(missing));
            }
            return call("*", std::move(factors));
        }
        // A tensor here and there, along one label, or along all that another operand has.
        const expression center = leaf(operand(all).word[0], all);
        program_.ranks[center.word[0]] = all.size();
        const bool along_all = random_.chance(50);
        const auto along = static_cast<std::size_t>(random_.between(0, static_cast<int>(all.size()) - 1));
        const bool is_padded = random_.chance(40);
        const int padding = program_.parameters;
        program_.parameters += is_padded ? 2 : 0;
        const auto there = [&] {
            std::vector<place> at = center.places();
            for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
                if (dimension == along || along_all) {
                    at[dimension] = indices.function({{random_.chance(80) ? '1' : 'n', all[dimension]}});
                    at[dimension].padding = dimension == along && is_padded ? padding : -1;
                }
            }
            expression made = center;
            made.read_at(std::move(at));
            return made;
        };
        expression made = is_bool() ? call("*", {there(), there()})
                                    : call("+", {there(), call("*", {number("3"), call("-", {there(), there()})})});
        return along_all ? call("*", {std::move(made), operand(all)}) : made;
    }

    /// Extents, within the bound on points; orders of dimensions for tensors that statements make (a handle of one
    /// statement is written in the order of its labels).
    void finish(long most_points, bool reorder) {
        labels all;
        for (const statement& each : program_.lines) {
            all = unite(all, each.left);
            for (const term& one : each.terms) {
                collect(one.value, all);
            }
        }
        for (const char label : all) {
            program_.extents[label] = random_.between(1, 7);
        }
        const auto points = [&] {
            long product = 1;
            for (const auto& [label, extent] : program_.extents) {
                product *= extent;
            }
            return product;
        };
        while (points() > most_points) {
            const char label = all[static_cast<std::size_t>(random_.between(0, static_cast<int>(all.size()) - 1))];
            program_.extents[label] = std::max(1, program_.extents[label] - 1);
        }
        for (const auto& [a, b] : same_) {
            program_.extents[a] = program_.extents[b];
        }
        if (reorder) {
            for (const char name : program_.inputs) {
                add_order(name, program_.ranks[name]);
            }
            for (const statement& each : program_.lines) {
                add_order(each.name, each.rank());
            }
        }
    }
    void add_order(char name, std::size_t rank) {
        if (program_.tokens.count(name) > 0) {
            return;
        }
        std::vector<std::size_t> order;
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            order.push_back(dimension);
        }
        random_.shuffle(order);
        program_.dimensions.emplace(name, std::move(order));
    }
    static void collect(const expression& e, labels& all) {
        if (e.is_leaf() || e.word == "one_hot") {
            all = unite(all, e.of);
        }
        for (const expression& each : e.arguments) {
            collect(each, all);
        }
    }

    random_numbers& random_;
    random_program program_;
    std::vector<std::pair<char, char>> same_;
    labels left_;
    labels summed_;
    bool uses_output_ = false;
};

}  // namespace differential
