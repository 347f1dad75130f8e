#pragma once

#include <einparallel/plan/sums.hpp>

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Finds them. A tensor may stay pending if it is no output and not pinned, neither its maker nor a reader is marked to
/// run without communication, and every reader takes it in summands of the same ⊕ (kernel::takes_summands) and gains
/// from it: it makes fewer elements of it, or it adds several such tensors up.
EINPARALLEL_INLINE class pending_finder {
public:
    explicit pending_finder(const einsum_graph& graph) : graph_(graph), readers_(graph.vertices.size()) {}

    pending_offers find() && {
        const std::size_t count = graph_.vertices.size();
        made_.leaves.assign(count, false);
        made_.reads.resize(count);
        for (std::size_t number = 0; number < count; ++number) {
            made_.leaves[number] = may_leave(number);
            for (const std::size_t input : graph_.inputs[number]) {
                if (readers_[input].empty() || readers_[input].back() != number) {
                    readers_[input].push_back(number);
                }
            }
        }
        for (const std::size_t output : graph_.outputs) {
            made_.leaves[output] = false;
        }
        for (std::size_t number = 0; number < count; ++number) {
            find_reads(number);
        }
        while (drop()) {
        }
        made_.any = std::find(made_.leaves.begin(), made_.leaves.end(), true) != made_.leaves.end();
        return std::move(made_);
    }

private:
    /// Operands up to which all sets of them are tried; beyond, each alone and all together.
    static constexpr std::size_t most_operands = 6;

    [[nodiscard]] const vertex& at(std::size_t number) const { return *graph_.vertices[number]; }

    [[nodiscard]] bool may_leave(std::size_t number) const {
        const vertex& each = at(number);
        return !each.is_input() && !each.wishes.pin && !each.wishes.without_communication &&
               each.work->aggregates_by() != reduction::unknown && elements(each) > 0;
    }

    [[nodiscard]] static double elements(const vertex& tensor) {
        double count = 1;
        for (const index bound : tensor.bounds) {
            count *= static_cast<double>(bound);
        }
        return count;
    }

    /// A label that can be cut and is summed over.
    [[nodiscard]] static bool aggregates(const vertex& einsum) {
        for (std::size_t label = 0; label < einsum.extents.size(); ++label) {
            if (einsum.extents[label] > 1 && !einsum.form.in_output(static_cast<label_id>(label))) {
                return true;
            }
        }
        return false;
    }

    void find_reads(std::size_t number) {
        const vertex& reader = at(number);
        if (reader.is_input() || reader.wishes.without_communication || reader.operands.size() > 64) {
            return;
        }
        const std::vector<std::size_t>& inputs = graph_.inputs[number];
        std::vector<std::uint64_t> tensors;  // the operands that read a tensor, one set for each that may be pending
        std::vector<double> sizes;
        for (std::size_t operand = 0; operand < inputs.size(); ++operand) {
            const vertex& read = at(inputs[operand]);
            const bool first = std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(operand),
                                         inputs[operand]) == inputs.begin() + static_cast<std::ptrdiff_t>(operand);
            if (!first || !made_.leaves[inputs[operand]] || read.element != reader.element ||
                read.work->aggregates_by() != reader.work->aggregates_by()) {
                continue;
            }
            tensors.push_back(operands_reading(number, inputs[operand]));
            sizes.push_back(elements(read));
        }
        const auto offer = [&](std::uint64_t chosen) {
            std::uint64_t operands = 0;
            std::size_t count = 0;
            bool shrinks = false;
            for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
                if (((chosen >> tensor) & 1U) != 0) {
                    operands |= tensors[tensor];
                    ++count;
                    shrinks = sizes[tensor] > elements(reader);
                }
            }
            if ((count > 1 || shrinks) && reader.work->takes_summands(operands)) {
                made_.reads[number].push_back(operands);
            }
        };
        if (tensors.empty()) {
            return;
        }
        const bool all_sets = tensors.size() <= most_operands;
        const std::uint64_t all = tensors.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << tensors.size()) - 1;
        if (all_sets) {
            for (std::uint64_t chosen = 1; chosen <= all; ++chosen) {
                offer(chosen);
            }
        } else {
            for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
                offer(std::uint64_t{1} << tensor);
            }
            offer(all);
        }
    }

    /// The operands by which a vertex reads a tensor.
    [[nodiscard]] std::uint64_t operands_reading(std::size_t number, std::size_t tensor) const {
        std::uint64_t operands = 0;
        for (std::size_t operand = 0; operand < graph_.inputs[number].size() && operand < 64; ++operand) {
            operands |= graph_.inputs[number][operand] == tensor ? std::uint64_t{1} << operand : 0;
        }
        return operands;
    }

    /// Drops what nobody can read or make; true where something was dropped.
    bool drop() {
        bool dropped = false;
        for (std::size_t number = 0; number < graph_.vertices.size(); ++number) {
            dropped =
                std::erase_if(
                    made_.reads[number],
                    [&](std::uint64_t operands) {
                        for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
                            if (((operands >> operand) & 1U) != 0 && !made_.leaves[graph_.inputs[number][operand]]) {
                                return true;
                            }
                        }
                        return false;
                    }) > 0 ||
                dropped;
            if (!made_.leaves[number]) {
                continue;
            }
            const auto takes = [&](std::size_t reader) {
                const std::uint64_t operands = operands_reading(reader, number);
                return std::any_of(made_.reads[reader].begin(), made_.reads[reader].end(),
                                   [&](std::uint64_t read) { return (read & operands) == operands; });
            };
            const std::vector<std::size_t>& readers = readers_[number];
            if (readers.empty() || !std::all_of(readers.begin(), readers.end(), takes) ||
                (!aggregates(at(number)) && made_.reads[number].empty())) {
                made_.leaves[number] = false;
                dropped = true;
            }
        }
        return dropped;
    }

    const einsum_graph& graph_;
    std::vector<std::vector<std::size_t>> readers_;
    pending_offers made_;
};

EINPARALLEL_INLINE pending_offers offers_of(const einsum_graph& graph, const options& asked) {
    if (asked.objective == objective::paper || asked.algorithm != algorithm::automatic) {
        return {};
    }
    return pending_finder(graph).find();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
