#pragma once
// The moves of a program between memory and storage.

#include <einparallel/graph/source.hpp>
#include <einparallel/io/box_reader.hpp>
#include <einparallel/io/file.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/run/extra_memory.hpp>
#include <einparallel/run/page_thread.hpp>
#include <einparallel/run/program_buffers.ipp>
#include <einparallel/run/side_thread.hpp>
#include <einparallel/run/trace.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Moves the pages of one program, by a thread while it runs. Tensors that it evicts lie in one file; those of a run on
/// a device in pinned memory of the host, as far as that may go, and in the file behind it.
class page_mover {
public:
    EINPARALLEL_SELDOM explicit page_mover(const program& of_rank) {
        std::size_t count = 0;
        due_.assign(of_rank.steps.size() + 1, 0);
        for (std::size_t at = 0; at < of_rank.steps.size(); ++at) {
            for (const page_move& moved : of_rank.steps[at].pages) {
                count += goes_by_thread(of_rank, moved) ? 1 : 0;
                due_[at + moved.until] = std::max(due_[at + moved.until], count);
            }
        }
        moves_ = count;
    }

    /// Decides where the tensors lie that are evicted from `space`. Those of a device lie in memory of the host as long
    /// as it takes no more than `host_limit` bytes. @throws error where there is not so much pinned memory
    EINPARALLEL_SELDOM void place(const program& of_rank, const memory_space& space, std::size_t host_limit) {
        constexpr std::uint64_t page = 4096;
        std::size_t pinned = 0;
        bytes_ = 0;
        places_.resize(of_rank.stored.size());
        for (std::size_t number = 0; number < places_.size(); ++number) {
            const stored_tensor& each = of_rank.stored[number];
            stored_place& put = places_[number];
            if (!each.is_scratch()) {
                continue;
            }
            if (!space.is_host() && each.bytes() <= host_limit - pinned) {
                pinned += each.bytes();
                put.on_host.grow(space.on_host(), each.bytes());
                continue;
            }
            put = {{}, bytes_};
            bytes_ += (each.bytes() + page - 1) / page * page;
        }
        if (!space.is_host() && moves_ > 0) {
            through_.grow(space.on_host(), bytes_to_files);
        }
    }

    /// True where a run needs a folder for its file.
    [[nodiscard]] bool needs_folder() const { return bytes_ > 0; }
    /// Bytes of the file.
    [[nodiscard]] std::uint64_t file_bytes() const { return bytes_; }

    /// Makes the file, with all the room that it needs, and starts the thread. `outputs`: the files of outputs, where
    /// these are written to files. @throws error
    EINPARALLEL_SELDOM void open(const std::string& folder, std::vector<const array_in_file*> outputs = {}) {
        outputs_ = std::move(outputs);
        if (needs_folder()) {
            file_ = std::make_unique<scratch_file>(folder);
            file_->reserve(bytes_);
        }
        if (moves_ > 0) {
            thread_ = std::make_unique<page_thread>(moves_);
        }
        moved_ = 0;
    }

    /// Makes the next run note its moves for a trace, or none where `seen` is null.
    EINPARALLEL_SELDOM void watch(trace* seen) {
        seen_ = seen;
        spans_.clear();
        if (seen != nullptr) {
            spans_.reserve(moves_);
            zero_ = side_seconds() - seen->now();
        }
    }

    /// Begins the moves of a step. `starts`: the first byte of each buffer. Moves that need the application's code, and
    /// those of elements in memory, are done when the call returns.
    EINPARALLEL_SELDOM void begin(const program& of_rank, const step& now, const memory_space& space,
                                  const std::vector<std::byte*>& starts, const std::vector<const source*>& sources,
                                  function_ref<bool(buffer_id)> is_borrowed) {
        for (const page_move& each : now.pages) {
            const stored_tensor& stored = of_rank.stored[each.stored];
            const buffer& holder = of_rank[each.buffer];
            std::byte* const memory = starts[std::size_t(each.buffer)];
            const source* const from = stored.input == stored_tensor::no_vertex ? nullptr : sources[stored.input];
            if (!goes_by_thread(of_rank, each)) {
                if (!is_borrowed(each.buffer)) {
                    const timed_span reading(seen_, activity::read, stored.input);
                    copy_source(space, *from, holder.region, memory, holder.element_bytes);
                }
                continue;
            }
            moved_ += holder.bytes();
            if (seen_ != nullptr) {
                const std::size_t of = stored.tensor < of_rank.vertices.size() ? stored.tensor : now.vertex;
                spans_.push_back({0, 0, 0, each.evicts ? activity::evict : activity::load, std::int64_t(of),
                                  std::int64_t(holder.bytes())});
            }
            const stored_place& put = places_[each.stored];
            const work_token before = space.given();
            if (std::byte* const on_host = put.on_host.data(); on_host != nullptr) {
                give([&space, &stored, &holder, memory, on_host, before, evicts = each.evicts] {
                    space.finish(before);
                    const laid_block there = lay_out({stored.region, stored.element_bytes}, holder.region);
                    move_page(space, holder, memory, there.in(on_host), there.strides, evicts);
                });
                continue;
            }
            const pass_function pass = passing(stored, put, from, each.evicts);
            if (space.is_host()) {
                give([pass, &holder, memory] { pass(holder.region, memory); });
                continue;
            }
            give([this, pass, &space, &holder, memory, before, evicts = each.evicts] {
                space.finish(before);
                pass_through(space, holder, memory, evicts, pass);
            });
        }
    }

    /// Returns when the moves are done that must be at the end of the step at this position. @throws what they threw
    EINPARALLEL_SELDOM void end(std::size_t position) {
        if (due_[position] > 0) {
            thread_->wait(due_[position]);
        }
    }
    [[nodiscard]] bool must_wait(std::size_t position) const { return due_[position] > 0; }

    /// Ends the thread, and removes the file. Memory of the host stays for later runs.
    EINPARALLEL_SELDOM void close() noexcept {
        thread_.reset();
        file_.reset();
        for (const trace_span& each : spans_) {
            if (each.end > 0) {
                seen_->add(each);
            }
        }
        watch(nullptr);
    }

    /// Bytes moved to and from storage since open().
    [[nodiscard]] std::size_t bytes_moved() const { return moved_; }

private:
    /// Where a tensor lies that is evicted.
    struct stored_place {
        memory_block on_host{};    ///< its memory, where it lies in memory of the host
        std::uint64_t offset = 0;  ///< where it begins in the file
    };

    /// Reads a box of storage into memory of the host, or writes it from there.
    using pass_function = std::function<void(const box& region, void* on_host)>;

    EINPARALLEL_SELDOM pass_function passing(const stored_tensor& stored, const stored_place& put, const source* from,
                                             bool evicts) const {
        if (from != nullptr) {
            return [from](const box& region, void* on_host) { from->stream(region, on_host); };
        }
        const array_in_file array = stored.output != stored_tensor::no_vertex
                                        ? *outputs_[stored.output]
                                        : array_in_file{*file_, put.offset, stored.element_bytes, stored.region};
        return [array, evicts](const box& region, void* on_host) {
            evicts ? write_box(array, region, on_host) : read_box(array, region, on_host);
        };
    }

    static bool goes_by_thread(const program& of_rank, const page_move& moved) {
        return of_rank.stored[moved.stored].is_in_file;
    }

    /// Gives the thread a move, whose span is the last one.
    EINPARALLEL_SELDOM void give(page_thread::task_function task) {
        if (seen_ == nullptr) {
            thread_->give(std::move(task));
            return;
        }
        thread_->give([task = std::move(task), span = &spans_.back(), zero = zero_] {
            span->begin = side_seconds() - zero;
            task();
            span->end = side_seconds() - zero;
        });
    }

    /// Copies a buffer, or a slab of one, to memory of the host or from there.
    EINPARALLEL_SELDOM static void move_page(const memory_space& space, const buffer& holder, std::byte* memory,
                                             std::byte* on_host, const std::vector<index>& strides, bool evicts) {
        const std::vector<index> extents = extents_of(holder.region);
        const std::vector<index> dense = strides_of({holder.region, holder.element_bytes});
        space.copy_page(evicts ? box_pair{extents, on_host, strides, memory, dense, holder.element_bytes}
                               : box_pair{extents, memory, dense, on_host, strides, holder.element_bytes});
    }

    /// Moves a buffer of a device to or from a file, slab by slab.
    EINPARALLEL_SELDOM void pass_through(const memory_space& space, const buffer& holder, std::byte* memory,
                                         bool evicts, const pass_function& pass) const {
        for_each_slab(holder.region, holder.element_bytes, bytes_to_files, [&](const box& region) {
            const buffer slab{region, holder.element_bytes};
            if (!evicts) {
                pass(region, through_.data());
            }
            move_page(space, slab, memory, through_.data(), strides_of(slab), evicts);
            if (evicts) {
                pass(region, through_.data());
            }
            memory += slab.bytes();
        });
    }

    std::vector<stored_place> places_;  ///< by stored tensor
    std::uint64_t bytes_ = 0;           ///< of the file
    std::vector<std::size_t> due_;      ///< by step: the number of moves, of all so far, that are done at its end
    std::size_t moves_ = 0;             ///< moves of the thread
    std::size_t moved_ = 0;
    std::vector<const array_in_file*> outputs_;  ///< by output
    memory_block through_;
    trace* seen_ = nullptr;          ///< of the run
    std::vector<trace_span> spans_;  ///< of its moves; those that are not done end at 0
    double zero_ = 0;                ///< side_seconds() when the trace's time is 0
    std::unique_ptr<scratch_file> file_;
    std::unique_ptr<page_thread> thread_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
