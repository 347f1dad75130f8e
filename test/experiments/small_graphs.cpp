#include "small_graphs.hpp"

#include "inputs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace experiments {

namespace {

/// Inputs for the builders. Two of them are no numbers at random: the classes and the choice of a token.
struct computed_inputs {
    using value_type = double;

    template <std::size_t Rank>
    ep::tensor<double, Rank> operator()(const std::string& name, const ep::extent (&extents)[Rank]) const {
        if constexpr (Rank == 2) {
            const ep::index width = extents[1];
            if (name == "Y") {
                return ep::generate<double>(
                           extents, [width](ep::index b, ep::index l) { return l == class_of(b, width) ? 1.0 : 0.0; })
                    .named(name);
            }
            if (name == "chosen") {
                return ep::generate<double>(
                           extents, [width](ep::index b, ep::index s) { return s == last_token(b, width) ? 1.0 : 0.0; })
                    .named(name);
            }
        }
        return ep::generate<double>(extents, numbers(name)).named(name);
    }
};

/// Inputs of CCSD with the symmetries of real orbitals. Occupied ones are numbered first.
struct symmetric_inputs {
    using value_type = double;
    ep::index occupied;

    template <std::size_t Rank>
    ep::tensor<double, Rank> operator()(const std::string& name, const ep::extent (&extents)[Rank]) const {
        const ep::index o = occupied;
        const auto starts = [&](std::size_t dimension) {
            return static_cast<ep::index>(extents[dimension]) == o ? 0 : o;
        };
        if constexpr (Rank == 4) {
            if (name == "t2") {
                return ep::generate<double>(
                           extents,
                           [](ep::index i, ep::index j, ep::index a, ep::index b) {
                               const auto [first, second] = std::minmax({std::pair(i, a), std::pair(j, b)});
                               return numbers("t2")(second.first, second.second, first.first, first.second);
                           })
                    .named(name);
            }
            return ep::generate<double>(
                       extents,
                       [=, at = std::array{starts(0), starts(1), starts(2), starts(3)}](ep::index p, ep::index q,
                                                                                        ep::index r, ep::index s) {
                           const auto [q1, p1] = std::minmax({p + at[0], q + at[1]});
                           const auto [s1, r1] = std::minmax({r + at[2], s + at[3]});
                           const auto [less, more] = std::minmax({std::pair(p1, q1), std::pair(r1, s1)});
                           return numbers("(pq|rs)")(more.first, more.second, less.first, less.second);
                       })
                .named(name);
        } else if constexpr (Rank == 2) {
            if (name == "t1") {
                return ep::generate<double>(extents, numbers(name)).named(name);
            }
            return ep::generate<double>(extents,
                                        [=, at = std::array{starts(0), starts(1)}](ep::index p, ep::index q) {
                                            const auto [less, more] = std::minmax({p + at[0], q + at[1]});
                                            return less == more ? 0.0 : numbers("f")(more, less);
                                        })
                .named(name);
        } else {
            return ep::generate<double>(extents,
                                        [occupied = name == "e_o"](ep::index p) {
                                            return occupied ? -2.0 - static_cast<double>(p)
                                                            : 1.0 + static_cast<double>(p);
                                        })
                .named(name);
        }
    }
};

}  // namespace

matrix_chain<double> small_matrix_chain(const matrix_chain_sizes& n) {
    return build_matrix_chain(n, computed_inputs{});
}

classifier<double> small_classifier(const classifier_sizes& n) {
    return build_classifier(n, computed_inputs{});
}

llama<double> small_llama(const llama_sizes& n) {
    return build_llama(n, computed_inputs{});
}

ccsd<double> small_ccsd(const ccsd_sizes& n) {
    return build_ccsd(n, symmetric_inputs{n.occupied});
}

}  // namespace experiments
