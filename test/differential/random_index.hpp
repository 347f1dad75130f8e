#pragma once
// Random statements at functions of labels and at data: of a statement whose tensors have a label for each dimension,
// some dimensions of operands, or of the left-hand side, are read, or written, elsewhere.
//
// Parameters are drawn when a case runs (draw.hpp): $c any coefficient, $n one that is not 0, $u 1 or -1, $p from 0 to
// 3, and $s, the last one of an index, what keeps it from being negative and up to 2 more.

#include "random.hpp"
#include "statement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace differential {

/// What a program has beside its statements, as far as indices take part in it.
struct index_world {
    std::string inputs;                 ///< letters
    std::map<char, std::size_t> ranks;  ///< by tensor
    std::map<char, char> tokens;        ///< types of tensors of integers that are indices
    int parameters = 0;
};

class index_maker {
public:
    /// @param tokens  types of integers that are indices
    index_maker(random_numbers& random, index_world& world, bool deferred, std::string tokens)
        : random_(random), world_(world), deferred_(deferred), tokens_(std::move(tokens)) {}

    /// Σ of labels, each with a parameter, and a constant: "$c3i+r+$s4".
    place function(const std::vector<std::pair<char, char>>& terms) {
        place made;
        for (const auto& [kind, label] : terms) {
            const bool is_one = kind == '1';
            const std::string number = is_one ? "" : std::to_string(world_.parameters++);
            const std::string sign = made.of.empty() ? "" : "+";
            made.truth += sign + (is_one ? "" : "$" + std::string(1, kind) + number) + label;
            made.cpp += (sign.empty() ? "" : " + ") + (is_one ? "" : "r.n(" + number + ") * ") + label;
            made.of += label;
        }
        const std::string number = std::to_string(world_.parameters++);
        made.truth += std::string(made.of.empty() ? "" : "+") + "$s" + number;
        made.cpp += std::string(made.of.empty() ? "" : " + ") + "r.n(" + number + ")";
        return made;
    }

    /// A new tensor of integers with these labels, and the index that it is.
    place data(const labels& of, bool alone) {
        char name = 'A';
        while (has(world_.inputs, name) || has("TUYZ", name)) {
            ++name;
        }
        world_.inputs += name;
        world_.ranks[name] = of.size();
        world_.tokens[name] = random_.one_of(std::vector<char>(tokens_.begin(), tokens_.end()));
        place made{name + ("(" + label_arguments(of) + ")"), name + of, of};
        if (!alone && random_.chance(25)) {
            made.cpp = "2 * " + made.cpp + " + 1";
            made.truth = "2" + made.truth + "+1";
        }
        return made;
    }

    /// Changes where the operands of a statement are read. @param unsaid  as many labels may stand in functions only
    void change_operands(statement& line, std::size_t unsaid) {
        std::set<char> names;
        for (const term& each : line.terms) {
            collect(each.value, names);
        }
        for (const char name : names) {
            for (std::size_t tries = static_cast<std::size_t>(random_.between(0, 5) / 2); tries > 0; --tries) {
                const statement before = line;
                const index_world world = world_;
                change(line, name);
                if (unsaid_labels(line).size() > unsaid) {
                    line = before;
                    world_ = world;
                }
            }
        }
    }

    /// Changes where a statement writes, unless more labels than `unsaid` would stand in functions only.
    void change_left(statement& line, std::size_t unsaid) {
        const statement before = line;
        const index_world world = world_;
        write_elsewhere(line);
        if (unsaid_labels(line).size() > unsaid) {
            line = before;
            world_ = world;
        }
    }

private:
    void write_elsewhere(statement& line) {
        std::vector<place> at = line.written().places();
        const bool merges = at.size() > 1 && line.assignment != "=" && random_.chance(60);
        const int how = merges ? 1 : random_.between(0, 1);
        if (how == 0 && !at.empty()) {  // data, alone or beside labels
            const auto named = static_cast<std::size_t>(random_.between(0, static_cast<int>(at.size()) - 1));
            at[named] = data(at[named].of, line.assignment == "=" || random_.chance(70));
            for (std::size_t dimension = 0; dimension < at.size() && !deferred_; ++dimension) {
                at[dimension] =
                    dimension != named && random_.chance(25) ? function({{'1', at[dimension].of[0]}}) : at[dimension];
            }
        } else if (merges) {  // several indices name one element
            const std::size_t last = at.size() - 1;
            at[last - 1] = function({{unit(), at[last - 1].of[0]}, {unit(), at[last].of[0]}});
            at.pop_back();
        } else {
            for (place& each : at) {
                each = random_.chance(60) ? function({{unit(), each.of[0]}}) : each;
            }
            if (line.left.empty()) {
                return;
            }
            const int more = random_.between(0, 3);
            if (more < 2) {  // a label twice, or one slice
                at.insert(at.begin() + random_.between(0, static_cast<int>(at.size())),
                          more == 0 ? function({{'c', line.left[0]}}) : function({}));
            }
        }
        expression written = line.written();
        written.read_at(std::move(at));
        line.left = unite({}, written.of);
        line.at = written.at;
        world_.ranks[line.name] = line.rank();
    }

    /// The coefficient of a label on the left of what is recorded is 1 or -1.
    char unit() { return random_.chance(30) ? '1' : deferred_ ? 'u' : 'n'; }

    static void collect(const expression& e, std::set<char>& names) {
        if (e.is_leaf() && !has("TUYZ", e.word[0])) {
            names.insert(e.word[0]);
        }
        for (const expression& each : e.arguments) {
            collect(each, names);
        }
    }
    template <class Use>
    static void for_each_leaf(expression& e, const Use& use) {
        if (e.is_leaf()) {
            use(e);
        }
        for (expression& each : e.arguments) {
            for_each_leaf(each, use);
        }
    }

    /// A product: what one of its operands has beside the others is summed with them.
    static bool is_product(const expression& e) {
        return e.is_leaf() || e.is_number() || e.word == "one_hot" ||
               (e.word == "*" && std::all_of(e.arguments.begin(), e.arguments.end(), is_product));
    }

    /// One dimension of a tensor, the same wherever the statement reads it.
    void change(statement& line, char name) {
        const expression* found = nullptr;
        bool differ = false;  // a stencil reads a tensor here and there
        labels others = line.left;
        for (term& each : line.terms) {
            labels all;
            bool reads = false;
            for_each_leaf(each.value, [&](expression& leaf) {
                all = unite(all, leaf.of);
                reads = reads || leaf.word[0] == name;
                if (leaf.word[0] == name) {
                    differ = differ || (found != nullptr && truth(*found, {}, {}) != truth(leaf, {}, {}));
                    found = &leaf;
                }
            });
            others = reads && is_product(each.value) ? unite(others, all) : others;
        }
        if (found == nullptr || differ || world_.tokens.count(name) > 0) {
            return;
        }
        std::vector<place> at = found->places();
        const int how = random_.between(1, 100);
        std::vector<std::size_t> plain;
        for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
            if (at[dimension].is_label()) {
                plain.push_back(dimension);
            }
        }
        if (how <= 15 || plain.empty()) {  // one dimension more
            if (at.size() > 3) {
                return;
            }
            place more = at.empty() || at.front().of.empty() || random_.chance(60)
                             ? function({})
                             : function({{'c', at.front().of[0]}});
            at.insert(at.begin() + random_.between(0, static_cast<int>(at.size())), std::move(more));
        } else {
            place& changed = at[random_.one_of(plain)];
            const char label = changed.of[0];
            if (how <= 38) {
                changed = data(changed.of, false);
            } else if (how <= 65 || others.empty()) {
                changed = function({{random_.chance(40) ? '1' : 'n', label}});
            } else {
                const char other = random_.one_of(std::vector<char>(others.begin(), others.end()));
                changed =
                    other == label
                        ? function({{'n', label}})
                        : function({{random_.chance(50) ? '1' : 'n', label}, {random_.chance(50) ? '1' : 'c', other}});
            }
            if (random_.chance(15)) {
                changed.padding = world_.parameters;
                world_.parameters += 2;
            }
        }
        if (std::all_of(at.begin(), at.end(), [](const place& each) { return each.of.empty(); })) {
            return;  // an element, not an operand
        }
        world_.ranks[name] = at.size();
        for (term& each : line.terms) {
            for_each_leaf(each.value, [&](expression& leaf) {
                if (leaf.word[0] == name) {
                    leaf.read_at(at);
                }
            });
        }
    }

    /// Labels of which no operand says the extent: they stand in functions, or alone in tensors that are also read at
    /// functions of them.
    labels unsaid_labels(statement line) const {
        std::map<char, std::vector<place>> reads;
        labels all = line.left;
        labels said;
        const auto read = [&](const expression& leaf) {
            all = unite(all, leaf.of);
            for (place& each : leaf.places()) {
                const bool is_data =
                    std::any_of(each.truth.begin(), each.truth.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
                said = is_data ? unite(said, each.of) : said;
                each.of = is_data ? labels() : each.of;
                reads[leaf.word[0]].push_back(std::move(each));
            }
        };
        for (term& each : line.terms) {
            for_each_leaf(each.value, read);
        }
        if (!deferred_ || !line.at.empty()) {
            read(line.written());
        }
        for (const auto& [name, places] : reads) {
            labels own;
            labels in_functions;
            for (const place& each : places) {
                labels& to = each.is_label() ? own : in_functions;
                to = unite(to, each.of);
            }
            said = unite(said, without(own, in_functions));
        }
        return without(all, said);
    }

    random_numbers& random_;
    index_world& world_;
    bool deferred_;
    std::string tokens_;
};

}  // namespace differential
