#pragma once
// The device that a rank computes on: chosen by number, made current for a scope.

#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// The device that rank `local` of its node uses: number `asked`, or, where that is negative, local modulo the number
/// of devices. @throws error where there is no such device, or the driver is older than the toolkit
EINPARALLEL_INLINE int device_of_rank(int local, int asked);

/// Makes a device current for a scope; then the one that was, is again. No device is ever reset.
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
