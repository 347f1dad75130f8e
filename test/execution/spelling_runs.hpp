#pragma once
// One statement on the ranks that run the test, and where the program has a stand-in for devices on that.

#include <einparallel.hpp>

#include <support/spelled.hpp>

#include <cstddef>
#include <string>

#if defined(EINPARALLEL_TEST_STANDIN)
#include <einparallel/data/on_device.hpp>
#endif

namespace spelling_test {

namespace ep = einparallel;

/// @param only_host  running sums are made by the host alone
template <class T, std::size_t Rank>
void check_runs(const std::string& spelling, ep::context& world, const ep::options& asked,
                const ep::tensor<T, Rank>& made, const ep::testing::expectation& expected,
                [[maybe_unused]] bool only_host = false) {
    const ep::plan plan = ep::decompose(world, asked, made);
    ep::testing::check_elements(spelling + " on ranks", plan.run(world).get(made).allgather(), expected);
#if defined(EINPARALLEL_TEST_STANDIN)
    if (!only_host) {
        ep::testing::check_elements(spelling + " on devices", plan.run(world, ep::on_device).get(made).allgather(),
                                    expected);
    }
#endif
}

}  // namespace spelling_test
