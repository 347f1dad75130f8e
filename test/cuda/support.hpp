#pragma once
// What tests of runs on devices share: agreement of ranks, sentences that all of them throw, elements as a vector.

#include <doctest/doctest.h>

#include <einparallel/array/array.hpp>

#include <support/sentence_of.hpp>

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace device_runs {

inline bool anywhere(bool here) {
    int one = here ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all != 0;
}

inline bool same_everywhere(const std::string& text) {
    std::vector<char> root(4096);
    text.copy(root.data(), root.size() - 1);
    MPI_Bcast(root.data(), static_cast<int>(root.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    return !anywhere(text != root.data());
}

/// Checks that f throws a sentence with these words, the same on all ranks.
template <class F>
void refused(const std::string& words, const F& f) {
    const std::string got = einparallel::testing::sentence_of(f);
    CHECK_MESSAGE(got.find(words) != std::string::npos, got);
    CHECK(same_everywhere(got));
}

template <std::size_t Rank>
std::vector<double> elements(const einparallel::array<double, Rank>& of) {
    return {of.data(), of.data() + of.size()};
}

}  // namespace device_runs
