#pragma once
// Random einsums, meshes and cuts for the tests of schedules.

#include <support/make_task.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace einparallel::testing {

class random_tasks {
public:
    explicit random_tasks(unsigned seed) : engine_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
    bool one_in(int count) { return between(1, count) == 1; }

    /// 1-4 operands of rank 0-5, labels repeated within an operand now and then, any of them kept in the output.
    einsum_form form() {
        einsum_form made;
        const int labels = between(0, 5);
        const int operands = between(1, 4);
        std::vector<bool> used(static_cast<std::size_t>(labels), false);
        for (int operand = 0; operand < operands; ++operand) {
            std::vector<label_id> dimensions;
            const int rank = labels == 0 ? 0 : between(0, one_in(4) ? 5 : 3);
            for (int dimension = 0; dimension < rank; ++dimension) {
                const auto label = static_cast<label_id>(between(0, labels - 1));
                const bool again = std::ranges::find(dimensions, label) != dimensions.end();
                if (!again || one_in(4)) {
                    dimensions.push_back(label);
                    used[static_cast<std::size_t>(label)] = true;
                }
            }
            if (one_in(15)) {
                dimensions.insert(dimensions.begin(), no_label);
            }
            made.operands.push_back(std::move(dimensions));
        }
        // Labels are numbered without gaps: those that no operand took are dropped.
        std::vector<label_id> number(used.size(), no_label);
        for (std::size_t label = 0; label < used.size(); ++label) {
            if (used[label]) {
                number[label] = static_cast<label_id>(made.names.size());
                made.names.push_back(std::string(1, static_cast<char>('a' + label)));
            }
        }
        for (std::vector<label_id>& operand : made.operands) {
            for (label_id& label : operand) {
                label = label == no_label ? no_label : number[static_cast<std::size_t>(label)];
            }
        }
        for (std::size_t label = 0; label < made.names.size(); ++label) {
            if (!one_in(3)) {
                made.output.push_back(static_cast<label_id>(label));
            }
        }
        std::shuffle(made.output.begin(), made.output.end(), engine_);
        if (one_in(30)) {
            made.output.push_back(no_label);
        }
        return made;
    }

    /// 0-7 each, now and then more (a k ring over q ranks wants 2q), small enough together for many thousand cases.
    std::vector<index> extents(std::size_t labels) {
        std::vector<index> made;
        index points = 1;
        for (std::size_t label = 0; label < labels; ++label) {
            index extent = one_in(25) ? 0 : one_in(4) ? between(8, 26) : between(1, 7);
            while (points * extent > 1500) {
                --extent;
            }
            points *= extent == 0 ? 1 : extent;
            made.push_back(extent);
        }
        return made;
    }

    /// Up to 12 ranks, the prime factors of their number on labels at random, axes in any order.
    mesh ranks(std::size_t labels) {
        mesh made;
        if (labels == 0) {
            return made;
        }
        int left = between(1, 12);
        std::vector<int> parts(labels, 1);
        for (int prime = 2; left > 1; ++prime) {
            for (; left % prime == 0; left /= prime) {
                parts[static_cast<std::size_t>(between(0, static_cast<int>(labels) - 1))] *= prime;
            }
        }
        for (std::size_t label = 0; label < labels; ++label) {
            if (parts[label] > 1) {
                made.axes.push_back({static_cast<label_id>(label), parts[label]});
            }
        }
        std::shuffle(made.axes.begin(), made.axes.end(), engine_);
        return made;
    }

    /// Ascending numbers from 0 to the extent: uneven blocks, some of them empty.
    std::vector<index> cut_points(index extent, int parts) {
        std::vector<index> points{0, extent};
        while (static_cast<int>(points.size()) <= parts) {
            points.push_back(between(0, static_cast<int>(extent)));
        }
        std::ranges::sort(points);
        return points;
    }

    std::size_t any_cut(const std::vector<label_id>& labels) {
        return labels.empty() ? 0 : static_cast<std::size_t>(between(0, static_cast<int>(labels.size()) - 1));
    }

    /// A task of doubles, with the cuts of choose_cuts() or with any; nothing travels yet.
    task any_task() {
        const einsum_form of = form();
        const std::vector<index> lengths = extents(of.label_count());
        mesh grid = ranks(of.label_count());
        for (mesh_axis& axis : grid.axes) {
            if (one_in(3)) {
                axis.points = cut_points(lengths[static_cast<std::size_t>(axis.label)], axis.parts);
            }
        }
        task_cuts cuts = choose_cuts(of, lengths, grid);
        if (one_in(2)) {
            for (std::size_t operand = 0; operand < of.operands.size(); ++operand) {
                cuts.operands[operand] = any_cut(of.operands[operand]);
            }
            cuts.output = any_cut(of.output);
        }
        return make_task(of, lengths, std::vector<std::size_t>(of.operands.size(), sizeof(double)), sizeof(double),
                         grid, cuts);
    }

private:
    std::mt19937 engine_;
};

}  // namespace einparallel::testing
