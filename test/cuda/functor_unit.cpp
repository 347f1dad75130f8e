// A unit for devices, which nvcc compiles, or g++ as nvcc would: the kernels of its functors run on the stand-in.

#include "functors.hpp"

namespace functor_test {

struct unit_for_devices;

std::vector<recorded> recorded_for_devices(ep::index rows, ep::index columns) {
    std::vector<recorded> all = record<unit_for_devices>(rows, columns);
#if defined(__CUDACC_EXTENDED_LAMBDA__)
    EINPARALLEL_LABELS(i, k);
    const ep::tensor<double, 2> map(all[0].made);
    ep::tensor<double, 1> lambda;
    const double factor = 1.5;
    lambda(i) = ep::sum(k, ep::map([=] __host__ __device__(double x) { return factor * x; }, map(k, i)));
    all.push_back({"lambda", lambda.named("lambda").node()});
#endif
    return all;
}

/// One whose state no launch can have.
std::shared_ptr<ep::vertex> recorded_with_a_list() {
    EINPARALLEL_LABELS(i);
    const auto X = ep::generate<double>({5}, [](auto at) { return static_cast<double>(at); });
    ep::tensor<double, 1> listed;
    listed(i) = ep::map(in_a_list{{-1, 1}}, X(i));
    return listed.named("listed").node();
}

}  // namespace functor_test
