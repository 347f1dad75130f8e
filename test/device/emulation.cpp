#include "emulation.hpp"

#include <ucontext.h>
#include <algorithm>
#include <csetjmp>
#include <memory>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace device_test {

traffic& counted() {
    static thread_local traffic all;
    return all;
}

bool& counting() {
    static thread_local bool on = false;
    return on;
}

address_function& address_check() {
    static address_function given = nullptr;
    return given;
}

/// A thread of a block: a stack that is used again by the next blocks.
struct machine::fiber {
    static constexpr std::size_t stack_bytes = 256 << 10;

    fiber() : stack(new std::byte[stack_bytes]) {
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack.get();
        inside.uc_stack.ss_size = stack_bytes;
        inside.uc_link = nullptr;
        const auto self = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&inside, reinterpret_cast<void (*)()>(&fiber::enter), 2, static_cast<unsigned>(self),
                    static_cast<unsigned>(self >> 32U));
#if defined(__SANITIZE_THREAD__)
        sanitized = __tsan_create_fiber(0);
#endif
    }

    static void enter(unsigned low, unsigned high) {
        auto* const self =
            reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(low) | static_cast<std::uintptr_t>(high) << 32U);
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(nullptr, &self->host_bottom, &self->host_size);
#endif
        for (;;) {
            try {
                (*self->body)(self->block, self->thread);
            } catch (...) {
                self->failure = std::current_exception();
            }
            self->done = true;
            self->leave();
        }
    }

    /// From the host's stack into the fiber, until it leaves.
    void resume() {
#if defined(__SANITIZE_ADDRESS__)
        void* fake = nullptr;
        __sanitizer_start_switch_fiber(&fake, stack.get(), stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
        host_sanitized = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(sanitized, 0);
#endif
        if (_setjmp(host_state) == 0) {
            if (entered) {
                _longjmp(state, 1);
            }
            entered = true;
            setcontext(&inside);
        }
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    }

    /// From the fiber back to the host's stack, until it is resumed.
    void leave() {
#if defined(__SANITIZE_ADDRESS__)
        void* fake = nullptr;
        __sanitizer_start_switch_fiber(&fake, host_bottom, host_size);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(host_sanitized, 0);
#endif
        if (_setjmp(state) == 0) {
            _longjmp(host_state, 1);
        }
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake, &host_bottom, &host_size);
#endif
    }

    std::unique_ptr<std::byte[]> stack;
    ucontext_t inside{};
    std::jmp_buf state;
    std::jmp_buf host_state;
    bool entered = false;
    const thread_function* body = nullptr;
    index block = 0;
    int thread = 0;
    bool done = false;
    const std::uint64_t* awaited = nullptr;  ///< a counter that has to leave this value
    std::uint64_t seen = 0;
    std::exception_ptr failure;
#if defined(__SANITIZE_ADDRESS__)
    const void* host_bottom = nullptr;
    std::size_t host_size = 0;
#endif
#if defined(__SANITIZE_THREAD__)
    void* sanitized = nullptr;
    void* host_sanitized = nullptr;
#endif
};

machine::machine() = default;
machine::~machine() {
    for (fiber* const each : fibers_) {
        delete each;
    }
}

machine& machine::own() {
    static thread_local machine here;
    return here;
}

void machine::run(const einparallel::detail::launch_shape& shape, const thread_function& body) {
    if (shape.threads < 1 || shape.threads > 1024 || shape.threads % einparallel::detail::warp_size != 0) {
        throw std::runtime_error("emulation: threads of a block: " + std::to_string(shape.threads));
    }
    if (shape.blocks < 1 || shape.blocks >= index{1} << 31 ||
        shape.shared_bytes > einparallel::detail::most_shared_bytes) {
        throw std::runtime_error("emulation: blocks " + std::to_string(shape.blocks) + ", shared memory " +
                                 std::to_string(shape.shared_bytes));
    }
    ++counted().launches;
    threads_ = shape.threads;
    while (fibers_.size() < static_cast<std::size_t>(threads_)) {
        fibers_.push_back(new fiber);
    }
    const auto warps = static_cast<std::size_t>(threads_ / einparallel::detail::warp_size);
    accesses_.resize(warps);
    numbers_.assign(static_cast<std::size_t>(threads_), 0);
    for (index block = 0; block < shape.blocks; ++block) {
        shared_.assign(static_cast<std::size_t>(shape.shared_bytes), std::byte{0xff});
        run_block(block, body);
    }
}

void machine::run_block(index block, const thread_function& body) {
    at_barrier_ = 0;
    for (int thread = 0; thread < threads_; ++thread) {
        fiber& each = *fibers_[static_cast<std::size_t>(thread)];
        each.body = &body;
        each.block = block;
        each.thread = thread;
        each.done = false;
        each.awaited = nullptr;
    }
    for (int left = threads_; left > 0;) {
        bool moved = false;
        for (int number = 0; number < threads_; ++number) {
            current_ = block % 2 == 0 ? number : threads_ - 1 - number;
            fiber& each = *fibers_[static_cast<std::size_t>(current_)];
            if (each.done || (each.awaited != nullptr && *each.awaited == each.seen)) {
                continue;
            }
            each.awaited = nullptr;
            each.resume();
            moved = true;
            left -= each.done ? 1 : 0;
            if (each.failure) {
                const std::exception_ptr failure = each.failure;
                each.failure = nullptr;
                std::rethrow_exception(failure);
            }
        }
        if (!moved) {
            for (fiber*& each : fibers_) {  // they stand in the middle of a body
                delete each;
            }
            fibers_.clear();
            throw std::runtime_error("emulation: threads of block " + std::to_string(block) +
                                     " wait for others that are done or elsewhere");
        }
    }
    if (counting()) {
        count_sectors();
    }
}

void machine::wait() {
    fibers_[static_cast<std::size_t>(current_)]->leave();
}

void machine::barrier() {
    if (++at_barrier_ == threads_) {
        at_barrier_ = 0;
        ++barriers_;
        return;
    }
    fiber& self = *fibers_[static_cast<std::size_t>(current_)];
    self.awaited = &barriers_;
    self.seen = barriers_;
    wait();
}

void machine::note(bool active, const void* address, std::size_t bytes, bool writes) {
    if (active && address_check() != nullptr) {
        address_check()(address);
    }
    if (!counting()) {
        return;
    }
    const auto thread = static_cast<std::size_t>(current_);
    const std::uint32_t number = numbers_[thread]++;
    if (active) {
        accesses_[thread / einparallel::detail::warp_size].push_back(
            {reinterpret_cast<std::uintptr_t>(address), number, static_cast<std::uint16_t>(bytes), writes});
    }
}

void machine::count_sectors() {
    constexpr std::uint64_t sector = einparallel::detail::sector_bytes;
    for (std::vector<access>& all : accesses_) {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> touched;
        for (const access& each : all) {
            (each.writes ? counted().written_bytes : counted().read_bytes) += each.bytes;
            for (std::uint64_t at = each.address / sector; at <= (each.address + each.bytes - 1) / sector; ++at) {
                touched.emplace_back(each.number, at * 2 + (each.writes ? 1 : 0));
            }
        }
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (const auto& each : touched) {
            ++(each.second % 2 == 1 ? counted().written_sectors : counted().read_sectors);
        }
        all.clear();
    }
    std::fill(numbers_.begin(), numbers_.end(), 0U);
}

}  // namespace device_test
