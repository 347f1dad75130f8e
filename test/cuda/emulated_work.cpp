// The kernels of devices on the processor, in the order of the stand-in's streams.

#include "device/emulation.hpp"
#include "standin.hpp"

#include <einparallel/cuda/check.hpp>
#include <einparallel/device/launch.ipp>

#include <utility>

namespace device_test {

void give(einparallel::detail::launch::stream on, std::function<void()> work) {
    address_check() = &standin::expect_device;
    einparallel::detail::check_cuda(standin::launch(on, std::move(work)), "a kernel's launch");
}

}  // namespace device_test
