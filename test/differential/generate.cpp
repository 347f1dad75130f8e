// Writes the translation units of the differential test: generate <folder> <every> <immediate units> <deferred units>.
// Of so many einsums one is written, in <kind>_<unit>.cpp, and of the statements, which vary more, every other one and
// all at indices; those with functors are in deferred_functors.cpp.
// The same units on every machine: the seed is fixed, and so are the random numbers (random.hpp).

#include "random.hpp"
#include "random_einsum.hpp"
#include "random_statement.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace differential;

/// One case, printed.
struct written_case {
    std::string text, truth, extents, types, outputs, notes, body;
    bool exact = true;
    int draws = 1;
};

std::string type_name(char letter) {
    switch (letter) {
        case 'd':
            return "double";
        case 'f':
            return "float";
        case 'z':
            return "std::complex<double>";
        case 'c':
            return "std::complex<float>";
        case 'i':
            return "int";
        case 'l':
            return "std::int64_t";
        case 'u':
            return "std::uint8_t";
        case 'h':
            return "ep::float16";
        case 'g':
            return "ep::bfloat16";
        default:
            return "bool";
    }
}

std::string tensor_arguments(char type, std::size_t rank) {
    return "<" + type_name(type) + ", " + std::to_string(rank) + ">";
}

std::string quoted(const std::string& text) {
    return "\"" + text + "\"";
}

std::string letter(std::size_t operand) {
    return std::string(1, static_cast<char>('A' + operand));
}

/// The type of a product of these, as numpy and C++ promote; products of halves are floats.
char common_type(const std::string& types) {
    const auto any = [&](const char* of) { return types.find_first_of(of) != std::string::npos; };
    if (any("zc")) {
        return any("zd") ? 'z' : 'c';
    }
    return any("d") ? 'd' : any("fgh") ? 'f' : any("i") ? 'i' : 'b';
}

class writer {
public:
    explicit writer(random_numbers& random) : random_(random) {}

    written_case einsum(const random_einsum& e, const std::string& types, bool deferred) {
        written_case made;
        made.text = e.written;
        made.truth = e.truth;
        made.extents = e.extents;
        made.outputs = "Z";
        made.notes = e.notes + (e.extents.find('0') != std::string::npos ? "0" : "");
        std::string arguments;
        for (std::size_t operand = 0; operand < e.ranks.size(); ++operand) {
            made.types += letter(operand) + types[operand];
            const std::string how = deferred ? "input" : random_.chance(50) ? "dense" : "strided";
            made.body += "    const auto " + letter(operand) + " = r." + how +
                         tensor_arguments(types[operand], e.ranks[operand]) + "('" + letter(operand) + "');\n";
            arguments += (operand > 0 ? ", " : "") + letter(operand);
        }
        const char out = common_type(types);
        made.types += std::string("Z") + out;
        const std::string call = "ep::einsum<" + quoted(e.written) + ">(" + arguments + ")";
        if (deferred) {
            made.body += "    r.run(" + call + ");\n";
        } else {
            made.body += "    r.check(" + call + ");\n    const auto Z = r.strided_output" +
                         tensor_arguments(out, e.output_rank) + "('Z');\n    ep::einsum_into<" + quoted(e.written) +
                         ">(Z, " + arguments + ");\n    r.check(Z);\n";
        }
        return made;
    }

    written_case program(const random_program& p, bool deferred) {
        written_case made;
        made.text = p.cpp_text(" ");
        made.truth = p.truth_text();
        made.extents = p.extents_text();
        made.outputs = p.outputs;
        made.exact = p.exact;
        const auto is_input = [&](char name) { return p.inputs.find(name) != std::string::npos; };
        for (const char name : p.inputs) {
            made.types += std::string(1, name) + p.type_of(name);
            const bool is_output = p.outputs.find(name) != std::string::npos;
            if (deferred || !is_output) {
                const std::string how = deferred ? "input" : random_.chance(50) ? "dense" : "strided";
                made.body += std::string("    ") + (is_output ? "" : "const ") + "auto " + name + " = r." + how +
                             tensor_arguments(p.type_of(name), p.ranks.at(name)) + "('" + name + "');\n";
            }
        }
        std::set<char> declared;
        for (const statement& each : p.lines) {
            if (!declared.insert(each.name).second || (deferred && is_input(each.name))) {
                continue;
            }
            if (!is_input(each.name)) {
                made.types += std::string(1, each.name) + p.type;
            }
            const std::string arguments = tensor_arguments(p.type, each.rank());
            made.body += deferred ? "    ep::tensor" + arguments + " " + each.name + ";\n"
                                  : std::string("    ") + (random_.chance(50) ? "auto " : "const auto ") + each.name +
                                        " = r.strided_output" + arguments + "('" + each.name + "');\n";
        }
        made.body += "    " + p.cpp_text("\n    ") + "\n";
        std::string outputs;
        for (const char name : p.outputs) {
            outputs += (outputs.empty() ? "" : ", ") + std::string(1, name);
        }
        made.body += (deferred ? "    r.run(" : "    r.check(") + outputs + ");\n";
        return made;
    }

private:
    random_numbers& random_;
};

/// A case with its number among all of its kind, from which its values are drawn.
struct numbered_case : written_case {
    int number = 0;
};

void write_unit(const std::string& folder, const std::string& kind, const std::string& unit,
                const std::vector<numbered_case>& cases) {
    std::ofstream file(folder + "/" + kind + "_" + unit + ".cpp");
    const std::string room = kind + "_room";
    file << "// Written by generate.cpp.\n#include <differential/" << room << ".hpp>\n\nnamespace differential {\n\n"
         << "EINPARALLEL_LABELS(i, j, k, l, m, n, s, t);\n\n";
    for (const numbered_case& each : cases) {
        file << "static void run_" << each.number << "(" << room << "& r) {\n" << each.body << "}\n\n";
    }
    file << "static const test_case<" << room << "> all[] = {\n";
    for (const numbered_case& each : cases) {
        file << "    {" << each.number << ", " << quoted(each.text) << ",\n     " << quoted(each.truth) << ", "
             << quoted(each.extents) << ", " << quoted(each.types) << ", " << quoted(each.outputs) << ", "
             << (each.exact ? "true" : "false") << ", " << quoted(each.notes) << ", &run_" << each.number << ", "
             << each.draws << "},\n";
    }
    file << "};\n\ntest_part<" << room << "> " << kind << "_part_" << unit << "();\ntest_part<" << room << "> " << kind
         << "_part_" << unit << "() {\n    return {all, " << cases.size() << "};\n}\n\n}  // namespace differential\n";
}

void write_list(const std::string& folder, const std::string& kind, const std::vector<std::string>& units, int every) {
    std::ofstream file(folder + "/" + kind + "_list.hpp");
    const std::string part = "test_part<" + kind + "_room>";
    file << "#pragma once\n// Written by generate.cpp.\n\nnamespace differential {\n\n"
         << "/// Of so many cases one was written.\ninline constexpr int written_every = " << every << ";\n\n";
    for (const std::string& unit : units) {
        file << part << " " << kind << "_part_" << unit << "();\n";
    }
    file << "\ninline std::vector<" << part << "> " << kind << "_parts() {\n    return {\n";
    for (const std::string& unit : units) {
        file << "        " << kind << "_part_" << unit << "(),\n";
    }
    file << "    };\n}\n\n}  // namespace differential\n";
}

/// Random cases, without repetitions.
class suite {
public:
    suite() : random_(20240601), einsums_(random_), statements_(random_), writer_(random_) {}

    std::vector<written_case> einsums(int count, char type, bool deferred) {
        std::vector<written_case> made;
        while (static_cast<int>(made.size()) < count) {
            einsum_wish wish;
            const int dice = random_.between(1, 100);
            wish.operands = dice <= 15 ? 1 : dice <= 60 ? 2 : dice <= 77 ? 3 : dice <= 88 ? 4 : dice <= 95 ? 5 : 6;
            wish.classes = wish.operands == 2 && random_.chance(70);
            wish.ellipsis = random_.chance(8);
            wish.zero = random_.chance(3);
            const int size = random_.between(1, 100);
            wish.most_points = size <= 30 ? 200 : size <= 75 || deferred ? 2000 : size <= 97 ? 20000 : 200000;
            const random_einsum e = einsums_.make(wish);
            const bool has_room = type != 'h' || e.output_rank <= 6;  // as the deferred room has
            if (!has_room || !seen_.insert(e.key()).second) {
                continue;
            }
            std::string types(e.ranks.size(), type);
            if (type == 'x') {
                for (char& each : types) {
                    each = random_.one_of<char>({'d', 'f', 'z', 'i'});
                }
                types[0] = 'd';
            }
            if (type == 'h') {  // any of the halves, and here and there a float
                for (char& each : types) {
                    each = random_.one_of<char>({'h', 'g', 'h', 'g', 'f'});
                }
            }
            made.push_back(writer_.einsum(e, types, deferred));
        }
        return made;
    }

    /// An ellipsis with an extent of 0.
    std::vector<written_case> empty_broadcasts(int count, char type) {
        std::vector<written_case> made;
        while (static_cast<int>(made.size()) < count) {
            einsum_wish wish;
            wish.operands = random_.between(2, 3);
            wish.ellipsis = true;
            wish.zero = true;
            const random_einsum e = einsums_.make(wish);
            if (e.notes.find('b') != std::string::npos && seen_.insert(e.key()).second) {
                made.push_back(writer_.einsum(e, std::string(e.ranks.size(), type), false));
            }
        }
        return made;
    }

    std::vector<written_case> statements(int count, char type, bool deferred) {
        std::vector<written_case> made;
        for (int number = 0; number < count; ++number) {
            made.push_back(writer_.program(
                statements_.make(number % statement_maker::kinds, type, deferred, number % 4 == 0 ? 10000 : 1500),
                deferred));
        }
        return made;
    }

    std::vector<written_case> chains(int count, char type) {
        std::vector<written_case> made;
        for (int number = 0; number < count; ++number) {
            made.push_back(writer_.program(statements_.chain(number % statement_maker::chains, type, 4000), true));
        }
        return made;
    }

    /// Statements at functions of labels and at data, each run with several draws of what may vary.
    std::vector<written_case> indexed(int count, char type, bool deferred, int draws) {
        std::vector<written_case> made;
        for (int number = 0; number < count; ++number) {
            const int kind = type == 'b' ? std::vector<int>{0, 10, 11, 12}[static_cast<std::size_t>(number % 4)]
                                         : kind_++ % statement_maker::indexed_kinds;
            made.push_back(
                writer_.program(statements_.make_indexed(kind, type, deferred, deferred ? "il" : "ilu"), deferred));
            made.back().draws = draws;
        }
        return made;
    }
    std::vector<written_case> indexed_chains(int count, char type, int draws) {
        std::vector<written_case> made;
        for (int number = 0; number < count; ++number) {
            made.push_back(
                writer_.program(statements_.indexed_chain(number % statement_maker::indexed_chains, type, "il"), true));
            made.back().draws = draws;
        }
        return made;
    }

private:
    random_numbers random_;
    einsum_maker einsums_;
    statement_maker statements_;
    writer writer_;
    int kind_ = 0;  // of statements at indices: each call goes on where the last one ended
    std::set<std::string> seen_;
};

void append(std::vector<written_case>& to, std::vector<written_case> more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// The application's own functors (functors.hpp): such cases are compiled once more, as nvcc would for devices.
bool calls_functor(const written_case& each) {
    return each.body.find("affine{}") != std::string::npos || each.body.find("skew{}") != std::string::npos ||
           each.body.find("mix{}") != std::string::npos;
}

std::vector<written_case> taken_out(std::vector<written_case>& of, bool (*chosen)(const written_case&)) {
    const auto others = std::stable_partition(of.begin(), of.end(), chosen);
    std::vector<written_case> found(of.begin(), others);
    of.erase(of.begin(), others);
    return found;
}

/// One einsum in so many, one statement in three and, of what reads and writes arrays at indices, every other one. Of
/// tensors all of those: on many ranks each is drawn once.
bool is_written(const numbered_case& one, const std::string& kind, int every) {
    const bool is_einsum = one.body.find("ep::einsum<") != std::string::npos;
    const bool at_indices = one.draws > 1;
    return every == 1 || (at_indices  ? kind == "deferred" || one.number % 2 == 1
                          : is_einsum ? one.number % every == every - 2
                                      : one.number % 3 == 1);
}

/// Each part of the cases goes into one of the units, in turn; those with functors into one of their own.
void write_all(const std::string& folder, const std::string& kind, const std::vector<std::vector<written_case>>& parts,
               int every, std::size_t units) {
    std::vector<std::vector<numbered_case>> chosen(units);
    std::vector<numbered_case> functors;
    int number = 0;
    std::size_t unit = 0;
    for (const std::vector<written_case>& part : parts) {
        const bool has_functors = kind == "deferred" && !part.empty() && calls_functor(part.front());
        std::vector<numbered_case>& made = has_functors ? functors : chosen[unit++ % units];
        for (const written_case& each : part) {
            numbered_case one{each, number++};
            if (is_written(one, kind, every)) {
                made.push_back(std::move(one));
            }
        }
    }
    std::vector<std::string> names;
    for (unit = 0; unit < units; ++unit) {
        names.push_back(std::to_string(unit));
        write_unit(folder, kind, names.back(), chosen[unit]);
    }
    if (!functors.empty()) {
        names.emplace_back("functors");
        write_unit(folder, kind, names.back(), functors);
    }
    write_list(folder, kind, names, every);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: generate <folder> <every> <immediate units> <deferred units>\n";
        return EXIT_FAILURE;
    }
    suite cases;
    // A unit has few element types, so that few kernels are compiled in each, and as many cases as a compiler has
    // memory for: the headers are read once for all of them.
    std::vector<std::vector<written_case>> immediate;
    immediate.push_back(cases.einsums(320, 'd', false));
    append(immediate.back(), cases.einsums(320, 'd', false));
    immediate.push_back(cases.einsums(140, 'f', false));
    append(immediate.back(), cases.einsums(140, 'z', false));
    immediate.push_back(cases.einsums(100, 'c', false));
    append(immediate.back(), cases.einsums(90, 'i', false));
    append(immediate.back(), cases.einsums(60, 'b', false));
    append(immediate.back(), cases.einsums(24, 'x', false));
    append(immediate.back(), cases.statements(22, 'i', false));
    immediate.push_back(cases.statements(46, 'd', false));
    append(immediate.back(), cases.statements(46, 'd', false));
    immediate.push_back(cases.statements(26, 'f', false));
    append(immediate.back(), cases.statements(22, 'z', false));

    std::vector<std::vector<written_case>> deferred;
    deferred.push_back(cases.einsums(240, 'd', true));
    append(deferred.back(), cases.einsums(20, 'f', true));
    append(deferred.back(), cases.einsums(30, 'z', true));
    append(deferred.back(), cases.einsums(15, 'i', true));
    append(deferred.back(), cases.einsums(15, 'b', true));
    deferred.push_back(cases.statements(22, 'd', true));
    append(deferred.back(), cases.statements(22, 'd', true));
    append(deferred.back(), cases.chains(24, 'd'));
    append(deferred.back(), cases.chains(24, 'd'));
    append(immediate.back(), cases.empty_broadcasts(8, 'f'));
    deferred.push_back(taken_out(deferred.back(), calls_functor));

    // At indices: behind all others, which stay what they are.
    immediate.push_back(cases.indexed(20, 'd', false, 36));
    append(immediate.back(), cases.indexed(12, 'i', false, 36));
    append(immediate.back(), cases.indexed(6, 'f', false, 36));
    append(immediate.back(), cases.indexed(6, 'z', false, 36));
    append(immediate.back(), cases.indexed(4, 'c', false, 36));
    append(immediate.back(), cases.indexed(6, 'b', false, 36));
    deferred.push_back(cases.indexed(13, 'd', true, 18));
    append(deferred.back(), cases.indexed(3, 'f', true, 18));
    append(deferred.back(), cases.indexed(3, 'z', true, 18));
    append(deferred.back(), cases.indexed(4, 'i', true, 18));
    append(deferred.back(), cases.indexed(3, 'b', true, 18));
    append(deferred.back(), cases.indexed_chains(10, 'd', 18));
    append(deferred[2], taken_out(deferred.back(), calls_functor));

    // Halves, behind those.
    immediate.push_back(cases.einsums(60, 'h', false));
    deferred.push_back(cases.einsums(20, 'h', true));
    for (const char type : {'h', 'g'}) {
        append(immediate.back(), cases.statements(22, type, false));
        append(immediate.back(), cases.indexed(6, type, false, 36));
        append(deferred.back(), cases.statements(11, type, true));
        append(deferred.back(), cases.chains(12, type));
        append(deferred.back(), cases.indexed(4, type, true, 18));
        append(deferred.back(), cases.indexed_chains(5, type, 18));
    }
    append(deferred[2], taken_out(deferred.back(), calls_functor));

    const std::string folder = argv[1];
    const int every = std::atoi(argv[2]);
    write_all(folder, "immediate", immediate, every, static_cast<std::size_t>(std::atoi(argv[3])));
    write_all(folder, "deferred", deferred, every, static_cast<std::size_t>(std::atoi(argv[4])));
    return EXIT_SUCCESS;
}
