// The unit that uses the library on somebody else's communicator.

#include "solver.hpp"

#include <einparallel.hpp>

namespace ep = einparallel;

namespace {

class own final : public solver {
public:
    std::vector<double> multiply(MPI_Comm ranks, int n) const override {
        ep::context on{ranks};
        const auto all = ep::evaluate(on, recorded(n)).gather(0);
        return std::vector<double>(all.data(), all.data() + all.size());
    }

    ep::context world(MPI_Comm ranks) const override { return ep::context{ranks}; }

    ep::array<double, 2> sums(int n) const override {
        ep::array<double, 2> made({n, n});
        for (int row = 0; row < n; ++row) {
            for (int column = 0; column < n; ++column) {
                made(row, column) = row + column;
            }
        }
        return made;
    }

    ep::array<double, 2> product(const ep::array<double, 2>& left, const ep::array<double, 2>& right) const override {
        return ep::einsum<"ij,jk->ik">(left, right);
    }

    ep::tensor<double, 2> recorded(int n) const override {
        EINPARALLEL_LABELS(i, j, k);
        const ep::tensor<double, 2> A =
            ep::generate<double>({n, n}, [](auto row, auto column) { return static_cast<double>(row + column); });
        const ep::tensor<double, 2> B =
            ep::generate<double>({n, n}, [](auto row, auto column) { return static_cast<double>(row - column); });
        ep::tensor<double, 2> C;
        C(i, k) = A(i, j) * B(j, k);
        return C;
    }

    ep::plan planned(ep::context& world, const ep::tensor<double, 2>& wanted) const override {
        return ep::decompose(world, {.objective = ep::objective::bytes}, wanted);
    }

    ep::distributed<double, 2> run(ep::context& world, const ep::plan& plan) const override { return plan.run(world); }

    ep::array<double, 1> squares(ep::context& world, const ep::distributed<double, 2>& of) const override {
        EINPARALLEL_LABELS(i, j);
        const ep::tensor<double, 2> X = ep::from_distributed(of);
        ep::tensor<double, 1> norms;
        norms(i) = X(i, j) * X(i, j);
        return ep::evaluate(world, norms).allgather();
    }

    ep::array<double, 2> gathered(const ep::distributed<double, 2>& of) const override { return of.allgather(); }

    const void* internal() const override {
        // A function where the library is compiled, a template of one where it is not.
        void (*const rows)(const ep::detail::loop_nest&, ep::detail::row_worker&) = &ep::detail::run_rows;
        return reinterpret_cast<const void*>(rows);
    }
};

}  // namespace

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
const solver& compiled_solver() {
#else
const solver& header_only_solver() {
#endif
    static const own only;
    return only;
}
