#pragma once

#include <einparallel/run/communication_thread.hpp>

#include <einparallel/notation/error.hpp>

#include <mpi.h>

#include <string>
#include <system_error>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE communication_thread::communication_thread() {
    try {
        thread_ = std::thread([this] { advance(); });
    } catch (const std::system_error& failure) {
        throw error(std::string("use_communication_thread: no thread can be had: ") + failure.what());
    }
}

EINPARALLEL_VIRTUAL communication_thread::~communication_thread() {
    step_ = over;
    step_.notify_one();
    thread_.join();
}

EINPARALLEL_INLINE void communication_thread::begin(transport& ranks) {
    ranks_ = &ranks;
    arrived_.reset();
    step_ = given;
    step_.notify_one();
}

EINPARALLEL_INLINE std::optional<double> communication_thread::end() {
    step_ = enough;
    step_.notify_one();
    step_.wait(enough);
    return arrived_;
}

EINPARALLEL_INLINE void communication_thread::advance() {
    for (;;) {
        step_.wait(none);
        if (step_ == over) {
            return;
        }
        for (bool is_there = false; step_ == given && !is_there; std::this_thread::yield()) {
            is_there = ranks_->poll();
            if (is_there) {
                arrived_ = MPI_Wtime();
            }
        }
        step_.wait(given);
        step_ = none;
        step_.notify_one();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
