#pragma once
// Elements of the differential test: their letters, the numbers in the inputs, and memory that either side reads.

#include "oracle.hpp"

#include <einparallel/notation/element_type.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace differential {

template <class T>
inline constexpr char letter_of = '?';
template <>
inline constexpr char letter_of<double> = 'd';
template <>
inline constexpr char letter_of<float> = 'f';
template <>
inline constexpr char letter_of<std::complex<double>> = 'z';
template <>
inline constexpr char letter_of<std::complex<float>> = 'c';
template <>
inline constexpr char letter_of<int> = 'i';
template <>
inline constexpr char letter_of<std::int64_t> = 'l';
template <>
inline constexpr char letter_of<std::uint8_t> = 'u';
template <>
inline constexpr char letter_of<bool> = 'b';
template <>
inline constexpr char letter_of<einparallel::float16> = 'h';
template <>
inline constexpr char letter_of<einparallel::bfloat16> = 'g';

/// "AdBfZd" as letters of elements by tensor.
[[nodiscard]] std::map<char, char> types_of(std::string_view text);

/// Elements in memory, with strides in elements.
struct strided_memory {
    const void* first = nullptr;
    char type = 'd';
    std::vector<long> extents;
    std::vector<long> strides;
};

/// Copies into or out of memory of any of these types.
void write_element(void* memory, char type, long offset, oracle::number value);
[[nodiscard]] oracle::number read_element(const void* memory, char type, long offset);
[[nodiscard]] std::size_t bytes_of(char type);

/// A case as the oracle sees it: extents, inputs, and what has to come out.
struct worked_case {
    std::map<char, char> types;
    std::map<char, oracle::tensor> inputs;
    std::map<char, oracle::tensor> expected;
    bool exact = true;
    std::string truth;          ///< without parameters
    std::vector<long> numbers;  ///< by parameter

    [[nodiscard]] bool is_half(char name) const { return types.at(name) == 'h' || types.at(name) == 'g'; }
    /// "" where the tensor that the library made is what the oracle made, otherwise a sentence.
    [[nodiscard]] std::string compare(char name, const strided_memory& made) const;
};

[[nodiscard]] worked_case work_out(int number, std::string_view truth, std::string_view extents, std::string_view types,
                                   bool exact, int draw, bool left_says);
/// Inputs are whole numbers from −2 to 2, of halves from −19 to 17, none of them 0 (bool: as many true as keep a sum of
/// products undecided), and depend on the case, the draw, the tensor and the index alone; those of tensors that are
/// indices lie inside.
/// @param left_says  a left-hand side has extents, and these count
template <class Case>
[[nodiscard]] worked_case work_out(const Case& given, int draw, bool left_says) {
    return work_out(given.number, given.truth, given.extents, given.types, given.exact, draw, left_says);
}

/// Visits the points of a box in row-major order: use(indices, number of the point).
template <class Use>
void for_each_index(const std::vector<long>& extents, Use use) {
    for (const long extent : extents) {
        if (extent == 0) {
            return;
        }
    }
    std::vector<long> at(extents.size(), 0);
    for (long number = 0;; ++number) {
        use(at, number);
        std::size_t dimension = extents.size();
        while (dimension > 0 && ++at[dimension - 1] == extents[dimension - 1]) {
            at[--dimension] = 0;
        }
        if (dimension == 0) {
            return;
        }
    }
}

/// A number from others, scattered well.
[[nodiscard]] std::uint64_t scattered(std::uint64_t a, std::uint64_t b, std::uint64_t c);

}  // namespace differential
