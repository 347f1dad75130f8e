#pragma once
// Memory spaces: where the blocks of a run are stored, and the work on them.

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

/// What a rank did in a span of time. `transfer`: from the start of a step's messages until a poll finds that they have
/// arrived. `wait`: its work is done, and it waits for messages. `agree`: from when a rank is ready until all ranks
/// begin, and from its last step until all ranks are done. In a run on devices, the times of work are those of the
/// device; `copy_out` and `copy_in` copy elements to the host and from the host; `wait` is the part of a transfer in
/// which the device had no work. `load` and `evict`: a move from storage or to it (options.paging). `wait_storage`: a
/// rank's work is done, and it waits for such a move.
enum class activity : std::int64_t {
    contract,
    combine,
    copy,
    read,
    transfer,
    wait,
    agree,
    copy_out,
    copy_in,
    load,
    evict,
    wait_storage
};

/// One activity of a rank, as a trace shows it. Times are in seconds since the ranks agreed to start.
struct trace_span {
    double begin = 0;                    ///< when it began; less than 0 for the first `agree`
    double end = 0;                      ///< when it ended
    std::int64_t rank = 0;               ///< rank that did it
    activity what = activity::contract;  ///< what was done
    std::int64_t vertex = 0;             ///< vertex that it was done for, in plan.vertices()
    std::int64_t bytes = 0;              ///< for transfers bytes handed to MPI; for copies and moves bytes moved
    std::int64_t received = 0;           ///< for transfers bytes received from MPI
};

/// Thrown where a memory space has too little memory.
class too_little_memory : public error {
    using error::error;
};

/// Stands for all work given to a memory space so far.
using work_token = std::uint64_t;
inline constexpr work_token no_work = 0;

/// A box of elements at two addresses: work reads at `from` and writes at `into`. Extents and strides are in elements;
/// no extent is 0.
struct box_pair {
    index_span extents;
    void* into;
    index_span into_strides;
    const void* from;
    index_span from_strides;
    std::size_t element_bytes;
};

/// Memory of one kind, as the executor sees it. The executor and the transport use only this interface. A space must
/// outlive all memory taken from it. Work is done in the order in which it is given. It may go on after the call that
/// gives it: finish() waits for it. The host reads and writes memory of on_host() only.
class memory_space : private detail::not_copied {
public:
    /// @throws error (too_little_memory on a device) or std::bad_alloc where there is too little memory
    [[nodiscard]] virtual void* allocate(std::size_t bytes) const = 0;
    virtual void deallocate(void* memory, std::size_t bytes) const noexcept = 0;

    /// Decides how calls like this one are computed in this memory, and which workspace they need. Null where there is
    /// nothing to decide.
    [[nodiscard]] virtual std::unique_ptr<prepared_call> decide(const kernel& /*work*/,
                                                                const block_call& /*call*/) const {
        return nullptr;
    }
    /// Runs a vertex's kernel on blocks of this memory.
    virtual void contract(const kernel& work, const block_call& call) const = 0;
    /// Z = softmax of one operand along a label. Elements are float or double.
    virtual void softmax(element_type element, const block_call& call, label_id along) const = 0;
    /// into = into ⊕ from
    virtual void combine(const kernel& work, const box_pair& boxes) const = 0;
    /// into = from
    virtual void copy(const box_pair& boxes) const = 0;

    /// Says what is wrong with an address that the user calls a device's (`is_on_device`) or the host's; empty where
    /// nothing is wrong.
    [[nodiscard]] virtual std::string refuses(const void* address, bool is_on_device) const = 0;
    /// The owner that keeps the space alive; null for a space that always lives.
    [[nodiscard]] virtual std::shared_ptr<const memory_space> owner() const { return nullptr; }

    /// Writes the elements of a box to host memory, where they are dense.
    using read_function = detail::function_ref<void(const box& region, void* into)>;
    /// Fills dense memory of this space with the elements of a box, which `read` writes to host memory.
    virtual void fill(const box& region, void* into, std::size_t element_bytes, read_function read) const = 0;

    /// Allocates `workspace` bytes of workspace.
    virtual void prepare(std::size_t /*workspace*/) const {}
    /// Frees memory that is not in use. Frees the workspace too, until the next prepare().
    virtual void trim() const {}

    [[nodiscard]] virtual work_token given() const { return no_work; }
    /// Returns when the work that a token stands for is done. Throws the error with which that work failed.
    virtual void finish(work_token /*work*/) const {}
    /// True where the work that a token stands for is done.
    [[nodiscard]] virtual bool is_done(work_token /*work*/) const { return true; }

    /// From now on measures the times of work, in a space whose work goes on after the calls that give it.
    virtual void watch() const {}
    /// The work since watch(), with times in seconds since then. Ends the measuring. @pre all this work is done
    [[nodiscard]] virtual std::vector<trace_span> watched() const { return {}; }
    /// Says which activity the work given from now on is, and for which vertex. Returns false where the space does not
    /// measure such work, so that the caller's own times hold.
    [[nodiscard]] virtual bool times(activity /*what*/, std::size_t /*vertex*/) const { return false; }

    /// Host memory through which elements pass on their way in and out. For a space of the host it is the space itself.
    [[nodiscard]] virtual const memory_space& on_host() const { return *this; }
    [[nodiscard]] bool is_host() const { return &on_host() == this; }
    /// Bytes of a slab, where messages travel through on_host() in slabs; 0 where they travel straight from this
    /// memory.
    [[nodiscard]] virtual std::size_t staging() const { return 0; }
    /// Copies to on_host() when the work that `after` stands for is done. Later work does not wait for the copy: before
    /// work writes to `from`, the caller must finish() the token returned.
    virtual work_token copy_out(const box_pair& boxes, work_token /*after*/) const {
        copy(boxes);
        return given();
    }
    /// Copies from on_host() when the work that `after` stands for is done. All later work waits for the copy.
    virtual work_token copy_in(const box_pair& boxes, work_token /*after*/) const {
        copy(boxes);
        return given();
    }

    /// Copies between this memory and on_host(). The copy is done when the call returns, and work under way goes on
    /// meanwhile. One thread may call this while another one gives work; neither touches what the other does.
    virtual void copy_page(const box_pair& boxes) const { copy(boxes); }

protected:
    ~memory_space() = default;
};

/// Ordinary memory of the host. Every allocation begins on a cache line. Work is done when the call returns.
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
    /// Allocates nothing for 0 bytes. @throws what allocate() throws
    memory_block(const memory_space& space, std::size_t bytes)
        : data_(bytes == 0 ? nullptr : space.allocate(bytes), {&space, bytes}) {}

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_.get()); }
    [[nodiscard]] std::size_t bytes() const noexcept { return data_.get_deleter().bytes; }

    /// Makes the block at least `least` bytes long. Where it grows, its contents are lost.
    /// @throws what allocate() throws; the block is empty then
    void grow(const memory_space& space, std::size_t least) {
        if (bytes() < least) {
            *this = {};
            *this = memory_block(space, least);
        }
    }

private:
    std::unique_ptr<void, memory_release> data_;
};

/// An allocation that keeps its memory space alive: results may outlive the context.
EINPARALLEL_INLINE std::shared_ptr<memory_block> shared_block(const memory_space& space, std::size_t bytes);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
