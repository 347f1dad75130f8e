#pragma once
// The memory of a device as the executor sees it. Work, copies out, copies in, and copies of tensors that wait on the
// host have one stream each.

#include <einparallel/cuda/blas_handle.hpp>
#include <einparallel/cuda/memory.hpp>
#include <einparallel/cuda/stream.hpp>
#include <einparallel/device/contraction.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Pinned host memory that belongs to a device space.
class pinned_space final : public host_space {
public:
    /// `of`: the device space that it belongs to.
    pinned_space(const memory_space& of, int device) : of_(of), device_(device) {}
    [[nodiscard]] void* allocate(std::size_t bytes) const override;
    void deallocate(void* memory, std::size_t /*bytes*/) const noexcept override { free_pinned(memory); }
    [[nodiscard]] std::shared_ptr<const memory_space> owner() const override { return of_.owner(); }

private:
    const memory_space& of_;
    int device_;
};

/// Settings of a device space.
struct device_settings {
    int device = 0;
    bool is_direct = false;                             ///< MPI sends from and receives into device memory
    std::size_t slab = std::size_t{4} << 20;            ///< bytes of elements that go through the host at a time
    device_pool::allocate_function allocate = nullptr;  ///< a function of the application; null: cudaMalloc
    device_pool::release_function release = nullptr;

    friend bool operator==(const device_settings&, const device_settings&) = default;
};

/// A stream with the events that mark the ends of its latest work.
struct device_lane {
    static constexpr std::size_t events = 64;
    stream on;
    std::array<event, events> done;
    std::uint64_t count = 0;
};

/// The streams, the memory pool and the BLAS handle of a device space.
struct device_lanes {
    EINPARALLEL_INLINE explicit device_lanes(const device_settings& settings)
        : pool(settings.allocate, settings.release, by_number[0].on.native()) {}

    std::array<device_lane, 4> by_number;
    device_pool pool;
    event begun;
    std::optional<blas_handle> blas;
};

/// One piece of work on a device for a trace.
struct watched_work {
    event begin{true};
    event end{true};
    trace_span span;
};

/// The work on a device since `origin`, for a trace.
struct device_watch {
    event origin{true};
    trace_span next{};  ///< activity and vertex that times() has announced for the next work
    std::vector<watched_work> all{};
};

/// Memory of one device. Kernels and copies between boxes go to one stream. Messages that leave and messages that
/// arrive have one further stream each, so that they move while kernels run; so have tensors that wait on the host.
/// Where a stream needs the results of another, copy_out() and copy_in() make it wait for an event. Every call makes
/// the device current, and restores the device that was current before.
class device_space final : public memory_space, public std::enable_shared_from_this<device_space> {
public:
    /// @throws error, cuda_error
    explicit device_space(const device_settings& settings);
    ~device_space();

    [[nodiscard]] const device_settings& settings() const { return settings_; }
    /// Bytes of the pinned flag in which kernels report that an integer was divided by zero.
    static constexpr std::size_t flag_bytes = sizeof(std::uint32_t);
    /// Begins the work of a run. If the application names a stream, the run waits for the work in it. @throws error
    /// where that stream is being captured into a graph
    void begin(CUstream_st* application) const;

    [[nodiscard]] void* allocate(std::size_t bytes) const override;
    void deallocate(void* memory, std::size_t bytes) const noexcept override { lanes_->pool.deallocate(memory, bytes); }
    void contract(const kernel& work, const block_call& call) const override;
    void softmax(element_type element, const block_call& call, label_id along) const override;
    void combine(const kernel& work, const box_pair& boxes) const override;
    void copy(const box_pair& boxes) const override;
    void fill(const box& region, void* into, std::size_t element_bytes, read_function read) const override;
    [[nodiscard]] std::string refuses(const void* address, bool is_on_device) const override;
    [[nodiscard]] std::shared_ptr<const memory_space> owner() const override { return weak_from_this().lock(); }
    [[nodiscard]] std::unique_ptr<prepared_call> decide(const kernel& work, const block_call& call) const override;
    void prepare(std::size_t workspace) const override { workspace_.grow(*this, workspace); }
    void trim() const override {
        workspace_ = {};
        lanes_->pool.trim();
    }
    [[nodiscard]] work_token given() const override;
    void finish(work_token work) const override { event_of(work).wait(); }
    [[nodiscard]] bool is_done(work_token work) const override { return event_of(work).is_done(); }
    void watch() const override;
    [[nodiscard]] std::vector<trace_span> watched() const override;
    [[nodiscard]] bool times(activity what, std::size_t vertex) const override;
    [[nodiscard]] const memory_space& on_host() const override { return host_; }
    [[nodiscard]] std::size_t staging() const override { return settings_.is_direct ? 0 : settings_.slab; }
    work_token copy_out(const box_pair& boxes, work_token after) const override;
    work_token copy_in(const box_pair& boxes, work_token after) const override;
    void copy_page(const box_pair& boxes) const override;

private:
    enum lane_number : std::uint8_t { working, leaving, arriving, paging };
    class decided_call;

    [[nodiscard]] CUstream_st* stream_of(lane_number of) const { return lanes_->by_number[of].on.native(); }
    /// A token for all work of a lane so far. The events of a lane are used in turn: if later work has reused the event
    /// of a token, a wait for the token waits for that work, too.
    EINPARALLEL_INLINE work_token mark(lane_number of) const;
    EINPARALLEL_INLINE const event& event_of(work_token work) const;
    /// Gives work to a lane. Where work is watched, records an event before and after it, and notes it as activity
    /// `what`, by default the one that times() has announced. `bytes`: bytes of a copy.
    template <class F>
    void give(lane_number on, F&& work, std::optional<activity> what = {}, std::size_t bytes = 0) const;
    EINPARALLEL_INLINE void copy_on(lane_number on, const box_pair& boxes, std::optional<activity> what = {}) const;
    /// The same for a lane that no trace watches.
    EINPARALLEL_INLINE void copy_unwatched(lane_number on, const box_pair& boxes) const;

    device_settings settings_;
    pinned_space host_;
    mutable std::optional<device_lanes> lanes_;
    memory_block blas_workspace_;
    mutable memory_block workspace_;
    std::array<memory_block, 2> read_through_;
    memory_block divided_;  ///< the pinned flag for a division by zero, flag_bytes bytes
    mutable std::array<work_token, 2> read_done_{};
    mutable std::optional<device_watch> watch_;
    /// The ⊕ of the last combine() in device code; the program is null where ⊕ is a functor of the application.
    mutable std::pair<std::pair<reduction, element_type>, std::shared_ptr<const launch::device_program>> combined_by_{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
