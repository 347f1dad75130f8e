// A dry run: what a computation would cost on 4,096 ranks, found out on a laptop, without MPI and without the data.
//
//     dry_run [RANKS [DRAWING]]        4096 where nothing is said
//
// Two-electron integrals over 800 atomic orbitals (3.3 TB in double precision) are transformed to the 100 occupied and
// 700 virtual orbitals of a molecule. Does that fit on 4,096 ranks with 1 GiB each? How many bytes are sent, and how
// long does it take? The plan says so; it goes into the file DRAWING, for Graphviz.

#include <einparallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace ep = einparallel;

int main(int argc, char** argv) {
    const int ranks = argc > 1 ? std::atoi(argv[1]) : 4096;
    constexpr ep::index orbitals = 800, occupied = 100, virtuals = 700;
    constexpr std::size_t limit = std::size_t{1} << 30;  // bytes of one rank

    // Placeholders have extents and no elements: all that planning needs.
    const auto ao = ep::placeholder<double>({orbitals, orbitals, orbitals, orbitals}).named("(pq|rs)");
    const auto C_o = ep::placeholder<double>({orbitals, occupied}).named("C_o");
    const auto C_v = ep::placeholder<double>({orbitals, virtuals}).named("C_v");

    // The computation, written as in a program that runs it (examples/mp2.cpp).
    EINPARALLEL_LABELS(p, q, r, s, i, a, j, b);
    ep::tensor<double, 4> iqrs, iqjs, iajs, iajb;
    iqrs(i, q, r, s) = C_o(p, i) * ao(p, q, r, s);
    iqjs(i, q, j, s) = C_o(r, j) * iqrs(i, q, r, s);
    iajs(i, a, j, s) = C_v(q, a) * iqjs(i, q, j, s);
    iajb(i, a, j, b) = C_v(s, b) * iajs(i, a, j, s);
    iqrs.named("(iq|rs)");
    iqjs.named("(iq|js)");
    iajs.named("(ia|js)");
    iajb.named("(ia|jb)");

    try {
        // Without a context, the number of ranks is an option; a plan that exceeds the limit is not considered.
        const ep::plan plan = ep::decompose({.processes = ranks, .memory_limit = limit}, iajb);
        std::cout << plan << '\n';

        std::size_t held = 0;
        for (int rank = 0; rank < ranks; rank += std::max(1, ranks / 16)) {  // a sample of the ranks
            held = std::max(held, plan.peak_bytes(rank));
        }
        std::cout << "numbers moved, the paper's cost: " << plan.cost()
                  << "\nbytes sent by all ranks: " << plan.bytes_sent() << "\nbytes held by one rank: " << held
                  << "\nseconds by the time model: " << plan.seconds() << std::endl;

        if (argc > 2) {
            std::ofstream(argv[2]) << plan.to_dot();
        }
        return held <= limit ? 0 : 1;
    } catch (const ep::error& failure) {
        std::cerr << failure.what() << '\n';
        return 1;
    }
}
