#pragma once
// How the inputs of the experiments' graphs come to be.
//
// Every builder takes a function object `inputs` with a member type value_type, the type of all elements, and calls
// inputs(name, {extents…}) once for each input: what comes back is an ep::tensor of that rank. A planner's benchmark
// wants placeholders; a run gives functions of the index, or files.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <cstddef>
#include <string>

namespace experiments {

namespace ep = einparallel;

/// Inputs that nobody has: all that planning needs.
template <class T>
struct placeholders {
    using value_type = T;

    template <std::size_t Rank>
    ep::tensor<T, Rank> operator()(const std::string& name, const ep::extent (&extents)[Rank]) const {
        return ep::placeholder<T>(extents).named(name);
    }
};

}  // namespace experiments
