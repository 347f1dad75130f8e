// The heat equation on a plate whose edge is kept at 0: steps of the five-point stencil. The planner cuts the plate,
// and the halo exchange follows from the indices.
//
//     mpiexec -n 4 stencil [ROWS [COLUMNS [STEPS]]]

#include "example.hpp"

#include <einparallel.hpp>

#include <cstddef>
#include <iostream>
#include <utility>

namespace ep = einparallel;

namespace {

/// True where the temperatures are those of plain loops, and what moved is what is counted by hand.
bool stencil(ep::context& world, ep::index rows, ep::index columns, ep::index steps) {
    EINPARALLEL_LABELS(i, j);
    const auto before = ep::placeholder<double>({rows, columns}).named("before");
    const auto with_edge = ep::padded(before, {1, 1}, {1, 1}, 0.0);
    ep::tensor<double, 2> after;
    after(i, j) = before(i, j) + 0.2 * (with_edge(i, j + 1) + with_edge(i + 2, j + 1) + with_edge(i + 1, j) +
                                        with_edge(i + 1, j + 2) - 4.0 * with_edge(i + 1, j + 1));
    after.named("after");

    // For a plate this small the default objective, time, would rightly leave all to one rank.
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, after);

    // Temperatures stay on the ranks from step to step: a block's own rows are read where they lie.
    ep::array<double, 2> start({rows, columns});
    start(i, j) = ep::join(example::numbers{1}, ep::iota(i), ep::iota(j));
    ep::results run = plan.run(world, ep::bind(before, start));
    for (ep::index step = 1; step < steps; ++step) {
        run = plan.run(world, ep::bind(before, run.get(after)));
    }
    const ep::array<double, 2> result = run.get(after).allgather();

    // By hand: every boundary between blocks is crossed by the edges on both of its sides, once for all five terms.
    std::size_t boundaries = 0;
    for (const auto& [label, parts] : plan.partition(after)) {
        boundaries += std::size_t(parts - 1) * std::size_t(label == "i" ? columns : rows);
        if (world.rank() == 0) {
            std::cout << label << ": " << parts << (parts == 1 ? " part\n" : " parts\n");
        }
    }
    if (world.rank() == 0) {
        std::cout << "bytes of a step: " << plan.bytes_sent()
                  << "\ncounted by hand: " << 2 * boundaries * sizeof(double) << '\n';
    }

    ep::array<double, 2> reference = start;
    for (ep::index step = 0; step < steps && world.rank() == 0; ++step) {
        ep::array<double, 2> next = reference;
        const auto at = [&](ep::index row, ep::index column) {
            const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
            return inside ? reference(row, column) : 0.0;
        };
        for (ep::index row = 0; row < rows; ++row) {
            for (ep::index column = 0; column < columns; ++column) {
                next(row, column) += 0.2 * (at(row - 1, column) + at(row + 1, column) + at(row, column - 1) +
                                            at(row, column + 1) - 4.0 * at(row, column));
            }
        }
        reference = std::move(next);
    }
    const bool right = example::agrees(world, {result.data(), std::size_t(result.size())},
                                       {reference.data(), std::size_t(reference.size())});
    return example::moved_as_predicted(world, plan, run) && right &&
           plan.bytes_sent() == 2 * boundaries * sizeof(double);
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return stencil(world, example::argument(argc, argv, 1, 60), example::argument(argc, argv, 2, 40),
                       example::argument(argc, argv, 3, 50));
    });
}
