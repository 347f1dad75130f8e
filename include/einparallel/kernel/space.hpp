#pragma once
// Memory spaces: where a run's blocks live, and what works on them.

#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel {

/// `transfer`: from the start of a step's messages until a poll saw them arrived; `wait`: for them, work being done;
/// `agree`: from when a rank is ready until all begin, and from its last step until all are done. Of a run on devices
/// work has the device's times, `copy_out` and `copy_in` are elements on their way to the host and from there, and
/// `wait` is what of a transfer passed without work on the device.
enum class activity : std::int64_t { contract, combine, copy, read, transfer, wait, agree, copy_out, copy_in };

/// Seconds since the ranks agreed to start.
struct trace_span {
    double begin = 0;                    ///< when it began; of the first `agree` less than 0
    double end = 0;                      ///< when it ended
    std::int64_t rank = 0;               ///< where
    activity what = activity::contract;  ///< what was done
    std::int64_t vertex = 0;             ///< in plan.vertices()
    std::int64_t bytes = 0;              ///< transfers: handed to MPI; copies out and in
    std::int64_t received = 0;           ///< transfers: bytes that came from MPI
};

/// A memory space has too little memory.
class too_little_memory : public error {
    using error::error;
};

/// Stands for all work given to a memory space so far.
using work_token = std::uint64_t;
inline constexpr work_token no_work = 0;

/// Elements at two addresses. Extents and strides in elements; no extent is 0.
struct box_pair {
    index_span extents;
    void* into;
    index_span into_strides;
    const void* from;
    index_span from_strides;
    std::size_t element_bytes;
};

/// Memory of one kind, as the executor sees it: a value that neither the executor nor the transport looks behind.
/// Outlives all memory taken from it. Work is done in the order in which it is given, and may go on after the call:
/// finish() waits for it. The host looks into on_host() only.
class memory_space : private detail::not_copied {
public:
    /// @throws too_little_memory or std::bad_alloc where there is none
    [[nodiscard]] virtual void* allocate(std::size_t bytes) const = 0;
    virtual void deallocate(void* memory, std::size_t bytes) const noexcept = 0;

    /// How calls like this one are computed in this memory, and the workspace that they need, decided once; null where
    /// neither is a question.
    [[nodiscard]] virtual std::unique_ptr<prepared_call> decide(const kernel& /*work*/,
                                                                const block_call& /*call*/) const {
        return nullptr;
    }
    /// Runs a vertex's kernel on blocks of this memory.
    virtual void contract(const kernel& work, const block_call& call) const = 0;
    /// Z = softmax of one operand along a label, float or double.
    virtual void softmax(element_type element, const block_call& call, label_id along) const = 0;
    /// into = into ⊕ from
    virtual void combine(const kernel& work, const box_pair& boxes) const = 0;
    /// into = from
    virtual void copy(const box_pair& boxes) const = 0;

    /// What is wrong with an address that is said to be a device's, or not to be; empty where nothing is.
    [[nodiscard]] virtual std::string refuses(const void* address, bool is_on_device) const = 0;
    /// Who keeps the space alive; null where it always is.
    [[nodiscard]] virtual std::shared_ptr<const memory_space> owner() const { return nullptr; }

    /// Writes dense elements of a box into host memory.
    using read_function = detail::function_ref<void(const box& region, void* into)>;
    /// Fills memory of this space, dense, with the elements of a box that the host reads.
    virtual void fill(const box& region, void* into, std::size_t element_bytes, read_function read) const = 0;

    /// Allocates so many bytes of workspace.
    virtual void prepare(std::size_t /*workspace*/) const {}
    /// Frees what nobody has, until prepare() the workspace too.
    virtual void trim() const {}

    [[nodiscard]] virtual work_token given() const { return no_work; }
    /// Returns when the work that a token stands for is done. Throws what it failed with.
    virtual void finish(work_token /*work*/) const {}
    /// True where it is.
    [[nodiscard]] virtual bool is_done(work_token /*work*/) const { return true; }

    /// Where work goes on after the calls that give it: times it from now on.
    virtual void watch() const {}
    /// The work since watch(), which is done, in seconds since then; it is timed no longer.
    [[nodiscard]] virtual std::vector<trace_span> watched() const { return {}; }
    /// Says what is given from now on, while it is watched. False: the caller's time is the work's.
    [[nodiscard]] virtual bool times(activity /*what*/, std::size_t /*vertex*/) const { return false; }

    /// Host memory that elements pass through on their way in and out; this memory itself where it is the host's.
    [[nodiscard]] virtual const memory_space& on_host() const { return *this; }
    [[nodiscard]] bool is_host() const { return &on_host() == this; }
    /// Messages travel through on_host(), in slabs of so many bytes; 0: straight from this memory.
    [[nodiscard]] virtual std::size_t staging() const { return 0; }
    /// Copies to on_host() when the work that `after` stands for is done. Later work does not wait: whoever lets it
    /// write `from` finishes this before.
    virtual work_token copy_out(const box_pair& boxes, work_token /*after*/) const {
        copy(boxes);
        return given();
    }
    /// Copies from on_host() when the work that `after` stands for is done. All later work waits.
    virtual work_token copy_in(const box_pair& boxes, work_token /*after*/) const {
        copy(boxes);
        return given();
    }

protected:
    ~memory_space() = default;
};

/// Ordinary memory, every allocation on a cache line; work is done when the call returns.
class host_space : public memory_space {
public:
    [[nodiscard]] std::string refuses(const void* /*address*/, bool is_on_device) const override {
        return is_on_device ? "these elements are in a device's memory: plan.run(world, ep::on_device)" : "";
    }
    [[nodiscard]] void* allocate(std::size_t bytes) const override;
    void deallocate(void* memory, std::size_t bytes) const noexcept override;
    [[nodiscard]] std::unique_ptr<prepared_call> decide(const kernel& work, const block_call& call) const override {
        return work.decider() == nullptr ? nullptr : work.decider()(call, work);
    }
    void contract(const kernel& work, const block_call& call) const override { work.contract(call); }
    void softmax(element_type element, const block_call& call, label_id along) const override;
    void combine(const kernel& work, const box_pair& boxes) const override {
        work.combine(boxes.extents, boxes.into, boxes.into_strides, boxes.from, boxes.from_strides);
    }
    void copy(const box_pair& boxes) const override;
    void fill(const box& region, void* into, std::size_t /*element_bytes*/, read_function read) const override {
        read(region, into);
    }
};

namespace EINPARALLEL_DETAIL {

inline constinit const host_space the_host;

struct memory_release {
    const memory_space* space = nullptr;
    std::size_t bytes = 0;
    void operator()(void* memory) const noexcept { space->deallocate(memory, bytes); }
};

/// One allocation in a memory space.
class memory_block {
public:
    memory_block() = default;
    /// No allocation for 0 bytes. @throws as allocate()
    memory_block(const memory_space& space, std::size_t bytes)
        : data_(bytes == 0 ? nullptr : space.allocate(bytes), {&space, bytes}) {}

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_.get()); }
    [[nodiscard]] std::size_t bytes() const noexcept { return data_.get_deleter().bytes; }

    /// Has at least so many bytes; what was in fewer is gone. @throws as allocate(): then there is no memory
    void grow(const memory_space& space, std::size_t least) {
        if (bytes() < least) {
            *this = {};
            *this = memory_block(space, least);
        }
    }

private:
    std::unique_ptr<void, memory_release> data_;
};

/// An allocation that keeps its space: results may outlive the context.
EINPARALLEL_INLINE std::shared_ptr<memory_block> shared_block(const memory_space& space, std::size_t bytes);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
