#pragma once

#include <einparallel/cuda/device.hpp>

#include <einparallel/cuda/check.hpp>
#include <einparallel/notation/error.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE int device_of_rank(int local, int asked) {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    int driver = 0;
    if (code == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) {
        const auto text = [](int version) {
            return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
        };
        refuse({"the driver of the device is for CUDA ", text(driver), ", older than the toolkit's ",
                text(CUDART_VERSION)});
    }
    expect(code != cudaErrorNoDevice && code != cudaErrorInsufficientDriver && (code != cudaSuccess || count > 0),
           "there is no CUDA device here: run without ep::on_device");
    check_cuda(code, "cudaGetDeviceCount");
    require(asked < count, {"there is no device ", asked, ", devices here are 0 to ", count - 1});
    return asked < 0 ? local % count : asked;
}

EINPARALLEL_INLINE device_guard::device_guard(int device) : now_(device) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != now_) {
        check_cuda(cudaSetDevice(now_), "cudaSetDevice");
    }
}

EINPARALLEL_INLINE void device_guard::set_back() noexcept {
    static_cast<void>(cudaSetDevice(before_));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
