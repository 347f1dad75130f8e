#pragma once
// Bodies of device kernels on the processor: every thread of a block a fiber, barriers and warp operations among them.
//
// A barrier that not all threads reach, too much shared memory and too many threads throw. Shared memory begins as
// NaNs. Threads of a block run forwards in one block and backwards in the next, each to its next barrier, so that a
// missing barrier is a wrong answer. Counts the sectors of device memory that each warp's access touches.

#include <einparallel/device/body.hpp>
#include <einparallel/device/start.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace device_test {

using einparallel::index;

/// Accesses to device memory, since reset.
struct traffic {
    std::uint64_t read_bytes = 0;
    std::uint64_t read_sectors = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t written_sectors = 0;
    std::uint64_t launches = 0;

    /// Bytes of the sectors touched for each byte read, or written.
    [[nodiscard]] double read_ratio() const { return ratio(read_bytes, read_sectors); }
    [[nodiscard]] double write_ratio() const { return ratio(written_bytes, written_sectors); }

private:
    static double ratio(std::uint64_t bytes, std::uint64_t sectors) {
        return bytes == 0
                   ? 1
                   : static_cast<double>(sectors) * einparallel::detail::sector_bytes / static_cast<double>(bytes);
    }
};

/// Counted where `counting` is true, which costs time.
traffic& counted();
bool& counting();

/// Runs `thread(block, number, shared)` for all threads of all blocks, one block after the other.
class machine {
public:
    using thread_function = std::function<void(index block, int thread)>;

    /// The machine of this thread of the host.
    static machine& own();

    void run(const einparallel::detail::launch_shape& shape, const thread_function& body);

    // What a context is made of.
    [[nodiscard]] std::byte* shared() { return shared_.data(); }
    void barrier();
    void note(bool active, const void* address, std::size_t bytes, bool writes);

    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

private:
    struct fiber;
    struct access {
        std::uint64_t address;
        std::uint32_t number;  ///< of the thread's accesses
        std::uint16_t bytes;
        bool writes;
    };

    machine();
    ~machine();
    void run_block(index block, const thread_function& body);
    void wait();
    void count_sectors();

    std::vector<fiber*> fibers_;
    std::vector<std::byte> shared_;
    int threads_ = 0;
    int current_ = 0;
    int at_barrier_ = 0;
    std::uint64_t barriers_ = 0;
    std::vector<std::vector<access>> accesses_;  ///< by warp
    std::vector<std::uint32_t> numbers_;         ///< by thread
};

/// What a body sees.
class context {
public:
    context(machine& of, index block, int thread, int threads)
        : of_(of), block_(block), thread_(thread), threads_(threads) {}

    [[nodiscard]] index block() const { return block_; }
    [[nodiscard]] int thread() const { return thread_; }
    [[nodiscard]] int threads() const { return threads_; }
    [[nodiscard]] std::byte* shared() const { return of_.shared(); }
    void barrier() const { of_.barrier(); }
    template <class T>
    [[nodiscard]] T load(bool active, const T* address) const {
        of_.note(active, address, sizeof(T), false);
        T held{};
        if (active) {
            std::memcpy(static_cast<void*>(&held), address, sizeof(T));
        }
        return held;
    }
    template <class T>
    void store(bool active, T* address, const T& x) const {
        of_.note(active, address, sizeof(T), true);
        if (active) {
            std::memcpy(static_cast<void*>(address), &x, sizeof(T));
        }
    }

private:
    machine& of_;
    index block_;
    int thread_;
    int threads_;
};

/// Puts work into a stream: defined by who has streams, or does it at once.
void give(einparallel::detail::launch::stream on, std::function<void()> work);

/// Called for every address in device memory that is read or written; may be null.
using address_function = void (*)(const void*);
address_function& address_check();

}  // namespace device_test

namespace einparallel::detail {

template <class Body>
void start(launch::stream on, const Body& body, const launch_shape& shape) {
    static_assert(sizeof(Body) <= most_parameter_bytes);
    device_test::give(on, [body, shape] {
        device_test::machine& here = device_test::machine::own();
        here.run(shape, [&](index block, int thread) {
            device_test::context at(here, block, thread, shape.threads);
            body(at);
        });
    });
}

}  // namespace einparallel::detail
