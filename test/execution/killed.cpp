// A rank that is killed in the middle of a run; the job is to end within seconds, with MPI's own report.

#include <einparallel/data/execute.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/run/decompose.hpp>

#include <mpi.h>

#include <csignal>

namespace ep = einparallel;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        ep::context world(MPI_COMM_WORLD);
        const auto made = [](int factor) {
            return ep::generate<double>({96, 96}, [factor](auto i, auto j) { return double(factor * i + j); });
        };
        const auto first = ep::einsum<"ij,jk->ik">(made(1), made(2));
        const auto second = ep::einsum<"ij,jk->ik">(first, made(3));
        const ep::plan plan =
            ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = ep::algorithm::mn}, second);
        world.on_vertex([&](std::size_t number, std::size_t /*count*/, const std::string& /*name*/) {
            if (number == 2 && world.rank() == world.size() - 1) {
                static_cast<void>(std::raise(SIGKILL));
            }
        });
        static_cast<void>(plan.run(world));
    }
    MPI_Finalize();
    return 0;
}
