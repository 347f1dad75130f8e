// The room cuda on the stand-in: errors, devices, streams and events, the pool.

#include <doctest/doctest.h>

#include <einparallel/cuda/blas_handle.hpp>
#include <einparallel/cuda/device.hpp>
#include <einparallel/cuda/error.hpp>
#include <einparallel/cuda/memory.hpp>
#include <einparallel/cuda/stream.hpp>

#include "standin.hpp"

#include <support/sentence_of.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::detail;

namespace room_test {

namespace {

using ep::testing::sentence_of;

/// Doubles that are pinned, or on the device.
struct doubles {
    device_pool* pool = nullptr;
    std::size_t count = 0;
    double* data = nullptr;

    doubles(device_pool* from, std::size_t many) : pool(from), count(many) {
        data = static_cast<double*>(pool == nullptr ? allocate_pinned(8 * count) : pool->allocate(8 * count));
    }
    doubles(const doubles&) = delete;
    doubles& operator=(const doubles&) = delete;
    ~doubles() { pool == nullptr ? free_pinned(data) : pool->deallocate(data, 8 * count); }
};

}  // namespace

TEST_CASE("what fails is an error that names the call, the device and the place") {
    standin::restart({});
    standin::fail("cudaMalloc", 1, cudaErrorIllegalAddress);
    device_pool pool;
    try {
        static_cast<void>(pool.allocate(8));
        FAIL("nothing was thrown");
    } catch (const ep::cuda_error& thrown) {
        const std::string text = thrown.what();
        CHECK(text.find("cudaMalloc failed on the device: an illegal memory access was encountered (memory.ipp:") == 0);
        CHECK(thrown.code() == cudaErrorIllegalAddress);
    }
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("ranks of a node take the devices in turn, and other numbers are refused") {
    standin::restart({.devices = 2});
    CHECK(device_of_rank(0, -1) == 0);
    CHECK(device_of_rank(3, -1) == 1);
    CHECK(device_of_rank(3, 0) == 0);
    CHECK(sentence_of([] { device_of_rank(0, 2); }) == "there is no device 2, devices here are 0 to 1");
    standin::restart({.devices = 0, .code = cudaErrorNoDevice});
    CHECK(sentence_of([] { device_of_rank(0, -1); }) == "there is no CUDA device here: run without ep::on_device");
    standin::restart({.code = cudaErrorInsufficientDriver});
    CHECK(sentence_of([] {
              device_of_rank(0, -1);
          }).find("the driver of the device is for CUDA 12.4, older than the toolkit's ") == 0);
}

TEST_CASE("a guard leaves the device that it found") {
    standin::restart({.devices = 3});
    cudaSetDevice(2);
    int current = -1;
    {
        const device_guard outer(1);
        const device_guard inner(1);
        cudaGetDevice(&current);
        CHECK(current == 1);
    }
    cudaGetDevice(&current);
    CHECK(current == 2);
    CHECK(standin::switches() == 3);  // there and back, once
    CHECK(sentence_of([] { device_guard none(5); }).find("cudaSetDevice failed on the device") == 0);
}

TEST_CASE("the pool keeps what it gets back, and says what is missing") {
    standin::restart({.bytes = 4096});
    device_pool pool;
    void* const first = pool.allocate(1024);
    CHECK(std::isnan(*static_cast<double*>(first)));
    pool.deallocate(first, 1024);
    CHECK(pool.allocate(1024) == first);
    CHECK(standin::allocations() == 1);
    pool.deallocate(first, 1024);
    void* const large = pool.allocate(4096);  // for which the kept block makes room
    CHECK(pool.bytes() == 4096);
    CHECK(sentence_of([&] { static_cast<void>(pool.allocate(8)); }) ==
          "too little device memory: 8 bytes are asked for, 0 of 4096 are free");
    pool.deallocate(large, 4096);
    pool.trim();
    CHECK(standin::allocated() == 0);
}

TEST_CASE("addresses are known by their kind") {
    standin::restart({});
    device_pool pool;
    const doubles there(&pool, 4), here(nullptr, 4);
    const double own = 0;
    CHECK(owner_of_memory(there.data + 3).kind == memory_kind::device);
    CHECK(owner_of_memory(here.data).kind == memory_kind::pinned);
    CHECK(owner_of_memory(&own).kind == memory_kind::host);
    const stream on;
    CHECK(sentence_of([&] {
              copy_bytes(on.native(), there.data, &own, 8);
          }).find("cudaMemcpyAsync failed on the device") == 0);
    CHECK(sentence_of([&] { copy_bytes(on.native(), there.data + 1, here.data, 32); }) != "");
}

TEST_CASE("events tie streams together, and without them some order is wrong") {
    const auto copies_through_two_streams = [](bool waits, bool finishes) {
        device_pool pool;
        const doubles from(nullptr, 3), middle(&pool, 3), to(nullptr, 3);
        const stream first, second;
        event done, all;
        from.data[2] = 7;
        to.data[2] = 0;
        copy_bytes(first.native(), middle.data, from.data, 24);
        done.record(first.native());
        if (waits) {
            second.wait_for(done);
        }
        copy_bytes(second.native(), to.data, middle.data, 24);
        all.record(second.native());
        if (finishes) {
            all.wait();
            CHECK(all.is_done());
        }
        return to.data[2];
    };
    int unordered = 0, unfinished = 0;
    for (unsigned seed = 0; seed < 30; ++seed) {
        standin::restart({.seed = seed});
        CHECK(copies_through_two_streams(true, true) == 7);
        unordered += copies_through_two_streams(false, true) == 7 ? 0 : 1;
        unfinished += copies_through_two_streams(true, false) == 7 ? 0 : 1;
    }
    CHECK(unordered > 0);
    CHECK(unfinished > 0);
}

TEST_CASE("a stream that is captured is seen") {
    standin::restart({});
    const stream on;
    CHECK(!is_captured(on.native()));
    standin::capture(on.native(), true);
    CHECK(is_captured(on.native()));
}

TEST_CASE("a handle of cuBLAS has a stream and a workspace") {
    standin::restart({});
    device_pool pool;
    const stream on;
    const doubles workspace(&pool, 512);
    const blas_handle handle(on.native(), workspace.data, 4096);
    CHECK(handle.native() != nullptr);
    const std::array<double, 4> own{};
    CHECK(sentence_of([&] {
              blas_handle(on.native(), const_cast<double*>(own.data()), 32);
          }).find("cublasSetWorkspace failed on the device") == 0);
}

}  // namespace room_test
