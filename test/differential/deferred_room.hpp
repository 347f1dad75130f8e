#pragma once
// What a deferred case is run in, as the written units see it: inputs and outputs by element type and rank. Nothing
// here knows of ranks, so the units are compiled once for every MPI library that the test runs with
// (deferred_ranks.hpp).

#include "element.hpp"
#include "test_case.hpp"

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/shape.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>

#include "functors.hpp"

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace differential {

namespace ep = einparallel;

class deferred_room {
public:
    /// An output, with its type erased.
    struct output {
        std::shared_ptr<ep::vertex> made;
        char type = 'd';
        std::size_t rank = 0;
    };

    deferred_room() = default;
    deferred_room(const deferred_room&) = delete;
    deferred_room& operator=(const deferred_room&) = delete;
    virtual ~deferred_room() = default;

    /// A parameter.
    [[nodiscard]] virtual ep::index n(std::size_t parameter) const = 0;

    template <class T, std::size_t Rank>
    ep::tensor<T, Rank> input(char name) {
        return ep::tensor<T, Rank>(make_input(name, letter_of<T>, Rank));
    }

    /// What the case ends with: its outputs, in the order of their letters.
    template <class... Outputs>
    void run(const Outputs&... outputs) {
        run_outputs({of(outputs)...});
    }

protected:
    virtual std::shared_ptr<ep::vertex> make_input(char name, char type, std::size_t rank) = 0;
    virtual void run_outputs(const std::vector<output>& outputs) = 0;

private:
    template <class T, std::size_t Rank>
    static output of(const ep::tensor<T, Rank>& made) {
        return {made.node(), letter_of<T>, Rank};
    }
};

}  // namespace differential
