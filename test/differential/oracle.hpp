#pragma once
// The oracle: statements written in a small language of its own, computed point by point by nested loops over
// std::vector. It includes nothing of the library, and the library knows nothing of it.
//
// A program is lines separated by ';', each `<tensor><labels>=<expression>`, where tensors are capital letters and
// labels small ones, in row-major order:
//     expression := <tensor><labels> | #<number> | (<word> <expression>…) | (<word>:<labels> <expression>)
// `Zac=(sum:b (* Aab Bbc))` is a matrix product. A dot among the labels of an operand is an index that stays 0: a
// dimension of extent 1 that is broadcast. Words with labels aggregate over them: sum prod max min softmax.

#include <complex>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oracle {

using number = std::complex<double>;

/// Dense, row-major.
struct tensor {
    std::vector<long> extents;
    std::vector<number> elements;

    [[nodiscard]] long size() const;
};

/// An operand as it stands in the text.
struct leaf {
    char name = 'A';
    std::string labels;
};

/// Every operand in a program, in the order written; what the lines make is not left out.
[[nodiscard]] std::vector<leaf> leaves_of(std::string_view program);

/// The left-hand sides, in the order written.
[[nodiscard]] std::vector<leaf> outputs_of(std::string_view program);

/// Reads "a3 b12" as extents by label.
[[nodiscard]] std::map<char, long> extents_of(std::string_view text);

/// Computes a program line by line: adds what the lines make to `tensors`, which has the inputs. Everything is real
/// unless `is_complex`.
/// @throws std::logic_error for a text that is no program
void compute(std::string_view program, const std::map<char, long>& extents, bool is_complex,
             std::map<char, tensor>& tensors);

}  // namespace oracle
