#pragma once
// The device on which a rank computes: its choice by number, and a guard that makes it current for a scope.

#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The number of the device that a rank uses: `asked`, or, where `asked` is negative, `local` modulo the number of
/// devices. `local`: number of the rank on its node. @throws error where there is no such device, or the driver is
/// older than the toolkit
EINPARALLEL_INLINE int device_of_rank(int local, int asked);

/// Makes a device current for a scope, and then restores the device that was current before. Resets no device.
class device_guard : private not_copied {
public:
    /// @throws cuda_error
    EINPARALLEL_INLINE explicit device_guard(int device);
    ~device_guard() {
        if (before_ != now_) {
            set_back();
        }
    }

private:
    EINPARALLEL_INLINE void set_back() noexcept;

    int now_;
    int before_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
