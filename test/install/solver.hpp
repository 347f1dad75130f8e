#pragma once
// What the application asks of the unit that uses the library. solver.cpp is compiled header-only and against the
// compiled library, and a program may hold both.

#include <einparallel.hpp>

#include <mpi.h>

#include <vector>

class solver {
public:
    /// The product of two n x n matrices, A(i,j) = i + j and B(j,k) = j - k, computed by all ranks; the result on rank
    /// 0.
    [[nodiscard]] virtual std::vector<double> multiply(MPI_Comm ranks, int n) const = 0;

    // The same piece by piece: the handles pass between units.
    [[nodiscard]] virtual einparallel::context world(MPI_Comm ranks) const = 0;
    [[nodiscard]] virtual einparallel::array<double, 2> sums(int n) const = 0;  ///< A
    /// Computed at once, in this process.
    [[nodiscard]] virtual einparallel::array<double, 2> product(const einparallel::array<double, 2>& left,
                                                                const einparallel::array<double, 2>& right) const = 0;
    [[nodiscard]] virtual einparallel::tensor<double, 2> recorded(int n) const = 0;  ///< A * B
    [[nodiscard]] virtual einparallel::plan planned(einparallel::context& world,
                                                    const einparallel::tensor<double, 2>& wanted) const = 0;
    [[nodiscard]] virtual einparallel::distributed<double, 2> run(einparallel::context& world,
                                                                  const einparallel::plan& plan) const = 0;
    /// The sum of squares of each row.
    [[nodiscard]] virtual einparallel::array<double, 1> squares(
        einparallel::context& world, const einparallel::distributed<double, 2>& of) const = 0;
    [[nodiscard]] virtual einparallel::array<double, 2> gathered(
        const einparallel::distributed<double, 2>& of) const = 0;

    /// Where an internal function of the library is that runs einsums for this unit.
    [[nodiscard]] virtual const void* internal() const = 0;

protected:
    ~solver() = default;
};

const solver& header_only_solver();
const solver& compiled_solver();

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
const solver& (*const own_solver)() = compiled_solver;
#else
const solver& (*const own_solver)() = header_only_solver;
#endif
