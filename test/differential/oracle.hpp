#pragma once
// The oracle: statements written in a small language of its own, computed point by point by nested loops over
// std::vector. It includes nothing of the library, and the library knows nothing of it.
//
// A program is lines separated by ';', each `<tensor><labels>=<expression>`, where tensors are capital letters and
// labels small ones, in row-major order:
//     expression := <operand> | #<number> | (<word> <expression>…) | (<word>:<labels> <expression>)
//     operand    := <tensor><labels> | <tensor>[<place>,…]
//     place      := <sum of labels, operands and integers> | <sum><<before>:<after>=<value>>
// `Zac=(sum:b (* Aab Bbc))` is a matrix product. A dot among the labels of an operand is an index that stays 0: a
// dimension of extent 1 that is broadcast. Words with labels aggregate over them: sum prod max min softmax; one_hot
// compares. `Z[2a+1,b]=A[Ta+b<1:2=0>]` writes a part of Z, and keeps the rest; it reads A with one 0 before it and two
// behind it.

#include <complex>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oracle {

using number = std::complex<double>;

/// Dense, row-major.
struct tensor {
    std::vector<long> extents;
    std::vector<number> elements;
    bool is_written_twice = false;  ///< an element of it, by one line

    [[nodiscard]] long size() const;
};

struct summand;

/// An index: Σ factor · label + Σ factor · operand + constant.
struct place {
    std::vector<summand> terms;
    long constant = 0;
    bool is_label = false;  ///< a label alone
    long before = 0;        ///< elements that stand around the tensor
    long after = 0;
    double around = 0;
};

/// An operand as it stands in the text.
struct leaf {
    char name = 'A';
    std::string labels;     ///< by dimension; with places all that stand in them, once each
    std::vector<place> at;  ///< by dimension; empty where each is a label or a dot
};

/// A term of an index.
struct summand {
    long factor = 1;
    leaf of;  ///< a label is one without a name
};

/// By dimension, labels as well.
[[nodiscard]] std::vector<place> places_of(const leaf& operand);

/// Reads an operand, or a place, from the front of a text.
[[nodiscard]] leaf leaf_in(std::string_view text);
[[nodiscard]] place place_in(std::string_view text);

/// From the lowest value of the labels' part of an index to the highest.
[[nodiscard]] std::pair<long, long> reach(const place& of, const std::map<char, long>& extents);

/// Every operand in a program, in the order written; what the lines make is not left out. A part that is written counts
/// as one, for the rest is kept.
[[nodiscard]] std::vector<leaf> leaves_of(std::string_view program);

/// The left-hand sides, in the order written.
[[nodiscard]] std::vector<leaf> outputs_of(std::string_view program);

/// Reads "a3 b12" as extents by label.
[[nodiscard]] std::map<char, long> extents_of(std::string_view text);

/// What elements are rounded to: binary digits, and the powers of two of the smallest and the largest normal numbers.
struct precision {
    int digits = 0;  ///< 0: nothing is rounded
    int lowest = 0;
    int highest = 0;
};

/// The nearest number of a precision, the even one of two; infinite beyond the largest. Real.
[[nodiscard]] double rounded(double value, const precision& to);

/// Computes a program line by line: adds what the lines make to `tensors`, which has the inputs. Everything is real
/// unless `is_complex`. What a line makes is rounded when the line ends.
/// @throws std::logic_error for a text that is no program
void compute(std::string_view program, const std::map<char, long>& extents, bool is_complex,
             const std::map<char, precision>& precisions, std::map<char, tensor>& tensors);

}  // namespace oracle
