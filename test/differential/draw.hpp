#pragma once
// A case with numbers for its extents, coefficients and constants: drawn anew each time that it runs.

#include "oracle.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace differential {

struct drawn_case {
    std::string truth;                          ///< without parameters
    std::map<char, long> extents;               ///< by label
    std::map<char, std::vector<long>> tensors;  ///< extents of those that lines read, by letter
    std::map<char, long> largest;               ///< of tensors that are indices: the largest element allowed
    std::vector<char> distinct;                 ///< of these: whose elements must differ
    std::vector<long> numbers;                  ///< by parameter, for the library's side
};

/// Draw 0 of a case has the extents that are written. Extents of tensors follow from those of labels: what is read at
/// functions has up to two elements more than are read. A label that stands in functions only has the largest extent
/// with which no index lies outside.
/// @param left_says  a left-hand side has extents, and these count
[[nodiscard]] drawn_case draw_case(std::string_view truth, std::string_view extents, int number, int draw,
                                   bool left_says);

}  // namespace differential
