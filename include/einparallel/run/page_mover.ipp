#pragma once
// The moves of a program between memory and storage.

#include <einparallel/graph/source.hpp>
#include <einparallel/io/box_reader.hpp>
#include <einparallel/io/file.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/run/page_thread.hpp>
#include <einparallel/run/program_buffers.ipp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Moves the pages of one program: one file for all tensors that it evicts, and a thread while it runs.
class page_mover {
public:
    EINPARALLEL_SELDOM explicit page_mover(const program& of_rank) {
        constexpr std::uint64_t page = 4096;
        for (const stored_tensor& each : of_rank.stored) {
            const bool is_scratch = each.is_scratch();
            offsets_.push_back(bytes_);
            bytes_ += is_scratch ? (each.bytes() + page - 1) / page * page : 0;
        }
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
                    copy_source(space, *from, holder.region, memory, holder.element_bytes);
                }
                continue;
            }
            moved_ += holder.bytes();
            if (from != nullptr) {
                thread_->give([from, &holder, memory] { from->stream(holder.region, memory); });
                continue;
            }
            const array_in_file array =
                stored.output != stored_tensor::no_vertex
                    ? *outputs_[stored.output]
                    : array_in_file{*file_, offsets_[each.stored], stored.element_bytes, stored.region};
            if (each.evicts) {
                thread_->give([array, &holder, memory] { write_box(array, holder.region, memory); });
            } else {
                thread_->give([array, &holder, memory] { read_box(array, holder.region, memory); });
            }
        }
    }

    /// Returns when the moves are done that must be at the end of the step at this position. @throws what they threw
    EINPARALLEL_SELDOM void end(std::size_t position) {
        if (due_[position] > 0) {
            thread_->wait(due_[position]);
        }
    }
    [[nodiscard]] bool must_wait(std::size_t position) const { return due_[position] > 0; }

    /// Ends the thread, and removes the file.
    EINPARALLEL_SELDOM void close() noexcept {
        thread_.reset();
        file_.reset();
    }

    /// Bytes moved to and from files since open().
    [[nodiscard]] std::size_t bytes_moved() const { return moved_; }

private:
    static bool goes_by_thread(const program& of_rank, const page_move& moved) {
        return of_rank.stored[moved.stored].is_in_file;
    }

    std::vector<std::uint64_t> offsets_;  ///< by stored tensor: where it begins in the file
    std::uint64_t bytes_ = 0;
    std::vector<std::size_t> due_;  ///< by step: the number of moves, of all so far, that are done at its end
    std::size_t moves_ = 0;         ///< moves of the thread
    std::size_t moved_ = 0;
    std::vector<const array_in_file*> outputs_;  ///< by output
    std::unique_ptr<scratch_file> file_;
    std::unique_ptr<page_thread> thread_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
