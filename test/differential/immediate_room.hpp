#pragma once
// What an immediate case is run in: operands in dense arrays and in strided views of all kinds, the output likewise.

#include "element.hpp"
#include "test_case.hpp"

#include <einparallel/array/array.hpp>
#include <einparallel/array/assign.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/shape.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include "functors.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace differential {

namespace ep = einparallel;

/// Where a strided tensor lies in memory with gaps: everything that is not an element must stay as it was.
struct strided_place {
    std::vector<std::byte> memory;
    std::vector<std::byte> before;
    std::vector<long> extents;
    std::vector<long> strides;
    long first = 0;  ///< element with all indices 0
    char type = 'd';
};

class immediate_room {
public:
    explicit immediate_room(const test_case<immediate_room>& given, int draw = 0);

    /// A parameter.
    [[nodiscard]] ep::index n(std::size_t parameter) const { return worked_.numbers.at(parameter); }

    template <class T, std::size_t Rank>
    ep::array<T, Rank> dense(char name) const {
        ep::array<T, Rank> made(shape<Rank>(name));
        fill(name, letter_of<T>, made.data());
        return made;
    }

    /// With strides of any order and sign, and gaps.
    template <class T, std::size_t Rank>
    ep::view<const T, Rank> strided(char name) {
        return view_of<T, Rank>(place(name, letter_of<T>));
    }
    /// The same for writing. The elements are what the case puts there, or NaN.
    template <class T, std::size_t Rank>
    ep::view<T, Rank> strided_output(char name) {
        return view_of<T, Rank>(place(name, letter_of<T>));
    }

    template <class T, std::size_t Rank>
    void check(const ep::array<T, Rank>& made) {
        const auto strides = made.strides();
        compare({made.data(),
                 letter_of<T>,
                 {made.extents().begin(), made.extents().end()},
                 {strides.begin(), strides.end()}});
    }
    template <class T, std::size_t Rank>
    void check(const ep::view<T, Rank>& made) {
        compare({made.data(),
                 letter_of<T>,
                 {made.extents().begin(), made.extents().end()},
                 {made.strides().begin(), made.strides().end()}});
    }

    /// "" or what went wrong, and in which of the checks.
    [[nodiscard]] std::string verdict() const;
    [[nodiscard]] const worked_case& worked() const { return worked_; }
    /// Strided operands seen: n negative strides, p permuted, g gaps.
    [[nodiscard]] const std::string& layouts() const { return layouts_; }

private:
    template <std::size_t Rank>
    std::array<ep::index, Rank> shape(char name) const {
        std::array<ep::index, Rank> extents{};
        const std::vector<long>& known = tensor(name).extents;
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            extents[dimension] = known.at(dimension);
        }
        return extents;
    }
    template <class T, std::size_t Rank>
    ep::view<T, Rank> view_of(strided_place& at) {
        std::array<ep::index, Rank> extents{};
        std::array<ep::index, Rank> strides{};
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            extents[dimension] = at.extents.at(dimension);
            strides[dimension] = at.strides.at(dimension);
        }
        return {reinterpret_cast<T*>(at.memory.data()) + at.first, extents, strides};
    }

    [[nodiscard]] const oracle::tensor& tensor(char name) const;
    void fill(char name, char type, void* memory) const;
    strided_place& place(char name, char type);
    void compare(const strided_memory& made);

    int number_;
    char output_;
    worked_case worked_;
    std::vector<std::unique_ptr<strided_place>> places_;
    std::string failures_;
    std::string layouts_;
    int checks_ = 0;
};

}  // namespace differential
