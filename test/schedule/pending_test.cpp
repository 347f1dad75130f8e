// Sums left pending: producers that keep their summands, readers that work on them, all ranks played in one process
// against scalar loops on whole tensors.

#include "random_task.hpp"
#include "whole_tensor.hpp"

#include <einparallel/schedule/redistribute.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <support/check_programs.hpp>
#include <support/make_task.hpp>
#include <support/play.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace einparallel;
using namespace einparallel::testing;

/// An einsum, how it is cut and what it does with pending sums.
struct cut_einsum {
    einsum_form form;
    std::vector<index> extents;
    mesh ranks;
    pending_sums sums;
    played_operators operators = played_operators::sum_of_products;

    [[nodiscard]] task work(random_tasks& random) const {
        summed_einsum summed = with_sums(form, extents, sums, ranks);
        task_cuts cuts = choose_cuts(summed.form, summed.extents, ranks);
        if (random.one_in(2)) {
            for (std::size_t operand = 0; operand < form.operands.size(); ++operand) {
                cuts.operands[operand] = random.any_cut(summed.form.operands[operand]);
            }
            cuts.output = random.any_cut(summed.form.output);
        }
        return make_task(std::move(summed), std::vector<std::size_t>(form.operands.size(), 8), 8, ranks, cuts,
                         random.between(nothing_travels, static_cast<int>(form.operands.size()) - 1));
    }

    /// All of it on one rank, nothing pending.
    [[nodiscard]] task whole() const {
        return make_task(form, extents, std::vector<std::size_t>(form.operands.size(), 8), 8, {});
    }
};

/// Axes over some of the labels, on what `ranks` leaves of `most` ranks.
void add_axes(mesh& ranks, const std::vector<index>& extents, std::size_t labels, int most, random_tasks& random) {
    for (std::size_t label = 0; label < labels; ++label) {
        const int parts = random.between(1, 3);
        if (parts > 1 && parts <= extents[label] && ranks.size() * parts <= most) {
            ranks.axes.push_back({static_cast<label_id>(label), parts});
        }
    }
}

void shuffle(mesh& ranks, random_tasks& random) {
    for (std::size_t axis = ranks.axes.size(); axis > 1; --axis) {
        std::swap(ranks.axes[axis - 1],
                  ranks.axes[static_cast<std::size_t>(random.between(0, static_cast<int>(axis) - 1))]);
    }
}

/// A contraction to `bounds` that leaves `summands` summands: X(Z, k, l) ⊗ Y(some of Z, k, l).
cut_einsum producer(const std::vector<index>& bounds, int summands, played_operators operators, random_tasks& random) {
    cut_einsum made;
    made.operators = operators;
    made.form.operands.resize(2);
    for (std::size_t label = 0; label < bounds.size(); ++label) {
        made.form.names.push_back(std::string(1, static_cast<char>('a' + label)));
        made.form.operands[0].push_back(static_cast<label_id>(label));
        made.form.output.push_back(static_cast<label_id>(label));
        if (random.one_in(2)) {
            made.form.operands[1].push_back(static_cast<label_id>(label));
        }
        made.extents.push_back(bounds[label]);
    }
    int left = summands;
    for (const char* const name : {"k", "l"}) {
        const int parts = std::string(name) == "l" ? left : left % 2 == 0 && random.one_in(2) ? 2 : left;
        left /= parts;
        const auto label = static_cast<label_id>(made.form.names.size());
        made.form.names.emplace_back(name);
        made.extents.push_back(random.between(parts, parts + 2));
        made.form.operands[0].push_back(label);
        made.form.operands[1].push_back(label);
        if (parts > 1) {
            made.ranks.axes.push_back({label, parts});
        }
    }
    std::swap(made.form.operands[0][0], made.form.operands[0][static_cast<std::size_t>(
                                            random.between(0, static_cast<int>(made.form.operands[0].size()) - 1))]);
    add_axes(made.ranks, made.extents, bounds.size(), 12, random);
    shuffle(made.ranks, random);
    made.sums.output = true;
    return made;
}

/// Reads `tensors` pending tensors with these bounds and, unless it adds them up, now and then another factor; keeps
/// some of the labels.
cut_einsum reader(const std::vector<index>& bounds, int summands, int tensors, played_operators operators,
                  bool may_leave, random_tasks& random) {
    cut_einsum made;
    made.operators = tensors > 1 ? played_operators::sum_of_sums : operators;
    for (std::size_t label = 0; label < bounds.size(); ++label) {
        made.form.names.push_back(std::string(1, static_cast<char>('a' + label)));
        made.extents.push_back(bounds[label]);
        if (!random.one_in(3)) {
            made.form.output.push_back(static_cast<label_id>(label));
        }
    }
    std::vector<label_id> all;
    for (std::size_t label = 0; label < bounds.size(); ++label) {
        all.push_back(static_cast<label_id>(label));
    }
    made.form.operands.assign(static_cast<std::size_t>(tensors), all);
    made.sums.operands = (std::uint64_t{1} << tensors) - 1;
    made.sums.summands = summands;
    if (tensors == 1 && random.one_in(2)) {
        std::vector<label_id> factor;
        for (const label_id label : all) {
            if (random.one_in(2)) {
                factor.push_back(label);
            }
        }
        if (random.one_in(2)) {
            factor.push_back(static_cast<label_id>(made.form.names.size()));
            made.form.names.emplace_back("n");
            made.extents.push_back(random.between(1, 4));
            if (random.one_in(2)) {
                made.form.output.push_back(factor.back());
            }
        }
        made.form.operands.push_back(std::move(factor));
    }
    made.ranks.axes.push_back({carried_label(made.form.names.size()), summands});
    add_axes(made.ranks, made.extents, made.extents.size(), 12, random);
    shuffle(made.ranks, random);
    made.sums.output = may_leave && random.one_in(2);
    return made;
}

std::vector<index> bounds_of(const cut_einsum& of) {
    return detail::bounds_of(of.form.output, of.extents);
}

}  // namespace

TEST_CASE("readers of pending sums give what readers of finished ones give") {
    random_tasks random(20261121);
    int carried_on = 0;
    int added_up = 0;
    int moved = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        constexpr int numbers[] = {2, 3, 4, 6};
        const int summands = numbers[random.between(0, 3)];
        const int tensors = random.one_in(2) ? 1 : random.between(2, 3);
        const auto operators =
            tensors == 1 && random.one_in(2) ? played_operators::max_of_sums : played_operators::sum_of_products;
        std::vector<index> bounds(static_cast<std::size_t>(random.between(0, 2)));
        for (index& bound : bounds) {
            bound = random.one_in(20) ? 0 : random.between(1, 7);
        }
        std::vector<cut_einsum> chain;
        for (int tensor = 0; tensor < tensors; ++tensor) {
            chain.push_back(producer(bounds, summands, operators, random));
        }
        chain.push_back(reader(bounds, summands, tensors, operators, true, random));
        if (chain.back().sums.output) {
            const int left = detail::sharers(chain.back().form.output, chain.back().ranks);
            chain.push_back(reader(bounds_of(chain.back()), left, 1, chain.back().operators, false, random));
            chain.back().operators = operators;  // a single operand, or a factor that ⊗ takes
            ++carried_on;
        }
        added_up += tensors > 1 ? 1 : 0;

        // Inputs are read by all; every other operand is what an earlier vertex has made.
        std::vector<task> works;
        const std::array<loop_kernel, 3> kernels{loop_kernel(played_operators::sum_of_products),
                                                 loop_kernel(played_operators::max_of_sums),
                                                 loop_kernel(played_operators::sum_of_sums)};
        std::vector<played_vertex> vertices;
        std::vector<whole_tensor> inputs;
        inputs.reserve(16);
        std::vector<std::vector<int>> made_by(chain.size());  // by operand: an earlier vertex, or -1 - an input
        std::vector<whole_tensor> values;
        for (std::size_t number = 0; number < chain.size(); ++number) {
            const cut_einsum& each = chain[number];
            std::vector<whole_tensor> operands;
            for (std::size_t operand = 0; operand < each.form.operands.size(); ++operand) {
                if (each.sums.reads(operand)) {
                    const std::size_t from = number == static_cast<std::size_t>(tensors) ? operand : number - 1;
                    made_by[number].push_back(static_cast<int>(from));
                    operands.push_back(values[from]);
                } else {
                    made_by[number].push_back(-1 - static_cast<int>(inputs.size()));
                    inputs.push_back(
                        random_tensor(detail::bounds_of(each.form.operands[operand], each.extents), random));
                    operands.push_back(inputs.back());
                }
            }
            values.push_back(reference(each.whole(), operands, each.operators));
            works.push_back(each.work(random));
        }
        for (const whole_tensor& input : inputs) {
            vertices.push_back({{}, nullptr, reader_of(input)});
        }
        for (std::size_t number = 0; number < chain.size(); ++number) {
            vertices.push_back({works[number].form, &kernels[static_cast<std::size_t>(chain[number].operators)], {}});
        }
        int world = 1;
        for (const task& work : works) {
            world = std::max(world, work.ranks.size());
        }
        std::vector<program> programs;
        for (int rank = 0; rank < world; ++rank) {
            program mine;
            std::vector<buffer_id> results;
            std::size_t phase = 0;
            for (std::size_t number = 0; number < chain.size(); ++number) {
                const task& work = works[number];
                std::vector<buffer_id> operands;
                for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
                    const int from = made_by[number][operand];
                    if (from < 0) {
                        operands.push_back(mine.add_buffer(work.operands[operand].held_by(rank), 8));
                        if (!mine.buffers.back().region.empty()) {
                            mine.steps.push_back(
                                {phase, {}, {}, {read_source{static_cast<std::size_t>(-1 - from), operands.back()}}});
                        }
                        ++phase;
                        continue;
                    }
                    const distribution& resting = works[static_cast<std::size_t>(from)].output;
                    operands.push_back(schedule_redistribution(mine, resting, work.operands[operand], rank,
                                                               results[static_cast<std::size_t>(from)], phase++));
                    moved += rank == 0 && resting != work.operands[operand] ? 1 : 0;
                }
                results.push_back(schedule_vertex(mine, inputs.size() + number, work, rank, operands, phase));
                phase += phases_apart;
            }
            mine.results = {results.back()};
            programs.push_back(std::move(mine));
        }
        INFO(works.front().form.text() << "  " << works.back().form.text());
        REQUIRE(check_programs(programs,
                               [&](std::size_t vertex) -> const einsum_form& { return vertices[vertex].form; }) == "");
        std::vector<played_memory> apart = play(programs, vertices, false);
        REQUIRE(results_agree(works.back().output, programs, apart, values.back()));
        std::vector<played_memory> together = play(programs, vertices, true);
        REQUIRE(results_agree(works.back().output, programs, together, values.back()));
    }
    MESSAGE(carried_on << " sums carried on, " << added_up << " sums of several, " << moved << " summands moved");
    CHECK(carried_on > 1000);
    CHECK(added_up > 1000);
    CHECK(moved > 1000);
}

TEST_CASE("an einsum with its pending sums as labels") {
    const einsum_form product{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    const mesh ranks{{{1, 2}, {0, 3}}};
    const summed_einsum left = with_sums(product, {9, 8, 5}, {0, 1, true}, ranks);
    CHECK(left.form.text() == "ij,jk->+ik");
    CHECK(left.extents == std::vector<index>{9, 8, 5, 2});
    const task work = make_task(left, {8, 8}, 8, ranks, choose_cuts(left.form, left.extents, ranks));
    CHECK(work.output.bounds() == std::vector<index>{2, 9, 5});
    CHECK(work.output.replication() == 1);
    CHECK(work.output.held_by(4) == box{{{1, 2}, {3, 6}, {0, 5}}});  // j: 1, i: 1
    CHECK(algorithm_of(work) == algorithm::mn);

    // Two contracted axes make one dimension, numbered row-major.
    const einsum_form twice{{"i", "j", "k"}, {{0, 1, 2}}, {0}};
    const mesh around{{{2, 2}, {0, 2}, {1, 3}}};
    const summed_einsum both = with_sums(twice, {4, 3, 2}, {0, 1, true}, around);
    CHECK(both.extents.back() == 6);
    const task summed = make_task(both, {8}, 8, around, {{0}, 0});
    CHECK(summed.output.bounds() == std::vector<index>{6, 4});
    for (int rank = 0; rank < 12; ++rank) {
        const index summand = rank / 6 * 3 + rank % 3;
        const index half = rank / 3 % 2;
        CHECK(summed.output.held_by(rank) == box{{{summand, summand + 1}, {2 * half, 2 * half + 2}}});
        CHECK(summed.output.ranks_meeting(summed.output.held_by(rank)) == std::vector<int>{rank});
    }

    // A reader that leaves its own sum pending as well.
    const summed_einsum on = with_sums(product, {9, 8, 5}, {1, 2, true}, mesh{{{3, 2}, {1, 2}}});
    CHECK(on.form.text() == "+ i j,j k->++ i k");
    CHECK(on.extents == std::vector<index>{9, 8, 5, 2, 4});
}
