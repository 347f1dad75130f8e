#pragma once
// Random DAGs of up to 100 einsums of rank 6 at most, from the generator of the planner's tests.

#include <plan/random_graph.hpp>

#include <algorithm>
#include <vector>

namespace experiments {

/// The outputs of DAG number `seed`: 5 to 100 einsums, whose ⊗ is unknown in a third of the graphs and otherwise a
/// product or a sum; extents of four to eight lengths, powers of two, multiples of ten and primes; tensors of 10⁹
/// elements at most.
inline std::vector<test::node> build_random_graph(unsigned seed) {
    static constexpr int any_length[] = {1,  2,  3,  5,  7,   8,   10,  16,  20,   31,
                                         32, 48, 64, 97, 100, 128, 250, 512, 1000, 1024};
    test::random_graphs random(seed);
    test::graph_shape shape;
    shape.vertices = random.between(5, 100);
    shape.labels = random.between(4, 9);
    shape.tree = false;
    shape.sums = !random.one_in(3);
    shape.rank = random.between(3, 6);
    shape.reach = random.one_in(3) ? 0 : random.between(4, 30);
    shape.lengths.resize(static_cast<std::size_t>(random.between(4, 8)));
    std::generate(shape.lengths.begin(), shape.lengths.end(), [&] { return any_length[random.between(0, 19)]; });
    return random.graph(shape);
}

}  // namespace experiments
