// A step of the heat equation on all ranks beside one-rank runs of the library, each with its share of the rows, on all
// of them at the same time: what the halo exchange costs.
//
//     mpiexec -n 2 heat [N [STEPS [ROUNDS]]]

#include <einparallel.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <vector>

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j);

/// A plate and its step, planned for the ranks of a communicator.
class plate {
public:
    plate(MPI_Comm of, ep::index rows, ep::index columns)
        : world_(of), before_(ep::placeholder<double>({rows, columns})) {
        const auto edged = ep::padded(before_, {1, 1}, {1, 1}, 0.0);
        after_(i, j) = before_(i, j) + 0.2 * (edged(i, j + 1) + edged(i + 2, j + 1) + edged(i + 1, j) +
                                              edged(i + 1, j + 2) - 4.0 * edged(i + 1, j + 1));
        after_.pinned({{i, world_.size()}});
        plan_.emplace(ep::decompose(world_, after_));
        now_ = plan_->run(world_, ep::bind(before_, ep::generate<double>({rows, columns}, ep::uniform(1)))).get(after_);
    }

    /// Seconds of a step on the slowest rank of all.
    double seconds(int steps) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int step = 0; step < steps; ++step) {
            now_ = plan_->run(world_, ep::bind(before_, now_)).get(after_);
        }
        double took = (MPI_Wtime() - begin) / steps;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return took;
    }

private:
    ep::context world_;
    ep::tensor<double, 2> before_;
    ep::tensor<double, 2> after_;
    std::optional<ep::plan> plan_;
    ep::distributed<double, 2> now_;
};

double median(std::vector<double> all) {
    std::nth_element(all.begin(), all.begin() + std::ptrdiff_t(all.size() / 2), all.end());
    return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const ep::index n = argc > 1 ? std::atol(argv[1]) : 4096;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 7;
    MPI_Init(&argc, &argv);
    {
        int ranks = 0;
        int rank = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        plate together(MPI_COMM_WORLD, n, n);
        plate alone(MPI_COMM_SELF, n / ranks, n);
        std::vector<double> of_all, of_own, ratios;
        for (int round = 0; round < rounds; ++round) {
            of_all.push_back(together.seconds(steps));
            of_own.push_back(alone.seconds(steps));
            ratios.push_back(of_own.back() / of_all.back());
        }
        if (rank == 0) {
            std::cout << n << " x " << n << " on " << ranks << " ranks: " << 1e3 * median(of_all) << " ms a step, "
                      << ranks << " runs of " << n / ranks << " rows each: " << 1e3 * median(of_own) << " ms, ratio "
                      << median(ratios) << '\n';
        }
    }
    MPI_Finalize();
}
