#pragma once

#include <einparallel/data/files/einsum_files.hpp>

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/network.hpp>
#include <einparallel/io/box_reader.hpp>
#include <einparallel/io/file.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/plan_cache.ipp>
#include <einparallel/run/replay.ipp>

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A file that takes its name when it is whole.
class new_file : private not_copied {
public:
    explicit new_file(std::string name)
        : name_(std::move(name)), beside_(name_ + "." + std::to_string(::getpid()) + ".part"), file_(beside_) {}
    ~new_file() {
        if (!is_whole_) {
            ::unlink(beside_.c_str());
        }
    }

    output_file& file() { return file_; }

    /// Closes the file and gives it its name. @throws error
    EINPARALLEL_SELDOM void finish() {
        file_.close();
        std::error_code failed;
        std::filesystem::rename(beside_, name_, failed);
        require(!failed, {"'", name_, "' cannot be written: ", failed.message()});
        is_whole_ = true;
    }

private:
    std::string name_;
    std::string beside_;
    output_file file_;
    bool is_whole_ = false;
};

/// The vertex of an einsum of files of one element type; a file that is named twice is one input.
EINPARALLEL_SELDOM std::shared_ptr<vertex> einsum_of_files(std::string_view text,
                                                           const std::vector<std::string>& paths) {
    operand_list operands;
    std::vector<std::shared_ptr<vertex>> known;
    std::optional<element_type> element;
    for (std::size_t number = 0; number < paths.size(); ++number) {
        const auto before = find_in(paths, paths[number]) - paths.begin();
        if (std::size_t(before) < number) {
            known.push_back(known[std::size_t(before)]);
        } else {
            const npy_file file(paths[number]);
            require(!element || *element == file.type(),
                    {"einsum_files: '", paths[number], "' is of type ", written_element(file.type()), ", '",
                     paths.front(), "' of type ", written_element(element.value_or(file.type()))});
            element = file.type();
            known.push_back(npy_vertex(paths[number], file.type(), file.shape().size()));
            expect(known.back()->failure.empty(), known.back()->failure);
        }
        append(operands, unranked_operand{known.back()->bounds, {}, nullptr, nullptr, known.back()});
    }
    expect(element.has_value(), "einsum_files: no input is given");
    std::shared_ptr<vertex> made;
    with_element(*element, [&]<class T>(std::type_identity<T> /*element*/) {
        if constexpr (!is_half<T>) {
            made = einsum_of(text, false, operands, &product_of_type<T>, 0)->node;
        }
    });
    require(made != nullptr, {"einsum_files: elements of type ", written_element(*element),
                              " are not computed with: write them to the files as float"});
    expect(made->failure.empty(), made->failure);
    return made;
}

/// Runs a plan for one rank, whose one output goes to a file.
EINPARALLEL_SELDOM void run_into_file(const plan& made, const array_in_file& output, const std::string& folder) {
    const context alone(MPI_COMM_SELF);
    plan_cache cache(*alone.state(), the_host);
    prepared_plan ready(made, 0, the_host.staging());
    program_replay& moves = ready.moves();
    for (std::size_t number = 0; number < made.vertices().size(); ++number) {
        moves.sources()[number] = made.vertices()[number].origin->origin.get();
    }
    moves.lay_out(the_host);
    cache.transfers.reserve(moves.messages());
    cache.scratch.grow(the_host, moves.scratch_bytes());
    moves.pages().place(moves.of_rank(), the_host, 0);
    moves.pages().open(folder, {&output});
    std::string failure;
    moves.replay(the_host, cache.transfers, cache.scratch.data(), {.call = "einsum_files"}, failure);
    expect(failure.empty(), failure);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM void einsum_files(std::string_view text, const std::vector<std::string>& inputs,
                                     const std::string& output, const file_options& how) {
    namespace fs = std::filesystem;
    const std::shared_ptr<vertex> made = detail::einsum_of_files(text, inputs);
    std::error_code none;
    for (const std::string& input : inputs) {
        detail::require(!fs::equivalent(input, output, none), {"einsum_files: the output '", output, "' is an input"});
    }
    detail::require(how.overwrite || !fs::exists(output, none),
                    {"einsum_files: '", output, "' exists: say .overwrite = true to replace it"});
    options asked;
    asked.memory_limit = how.memory_limit == 0 ? std::size_t(-1) / 2 : how.memory_limit;
    asked.paging = true;
    const plan planned = detail::plan_into_files(asked, {made});
    detail::new_file into(output);
    const std::string preamble = detail::npy_preamble(made->element, made->bounds);
    const box whole = whole_box(made->bounds);
    into.file().reserve(preamble.size() + std::uint64_t(whole.size()) * made->element.bytes);
    into.file().write(preamble.data(), preamble.size(), 0);
    const detail::array_in_file elements{into.file(), preamble.size(), made->element.bytes, whole, true};
    const std::string folder = fs::path(output).parent_path().string();
    detail::run_into_file(planned, elements, !how.scratch.empty() ? how.scratch : folder.empty() ? "." : folder);
    into.finish();
}

}  // namespace einparallel
