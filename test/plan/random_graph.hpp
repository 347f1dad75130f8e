#pragma once
// Random EinGraphs for the planner's tests.

#include "graphs.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace test {

struct graph_shape {
    int vertices = 4;          ///< einsums
    int labels = 3;            ///< at most, per einsum
    bool tree = true;          ///< every einsum has one consumer at most
    bool any_sources = false;  ///< inputs on a root, resting somewhere, bound later
    bool empty_extents = false;
    int processes = 1;  ///< ranks that sources may name
    bool sums = false;  ///< products and sums of terms, which take their operands in summands
    int rank = 3;       ///< at most, of a tensor
    int reach = 0;      ///< an einsum reads the last so many einsums; 0: any
    std::vector<ep::index> lengths = {1, 2, 3, 4, 5, 8, 9};
    double elements = 1e9;  ///< at most, of a tensor
};

class random_graphs {
public:
    explicit random_graphs(unsigned seed) : engine_(seed) {}

    int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
    bool one_in(int count) { return between(1, count) == 1; }

    /// Ascending numbers from 0 to the extent: uneven blocks, some of them empty.
    std::vector<ep::index> cut_points(ep::index extent, int parts) {
        std::vector<ep::index> points{0, extent};
        while (static_cast<int>(points.size()) <= parts) {
            points.push_back(between(0, static_cast<int>(extent)));
        }
        std::ranges::sort(points);
        return points;
    }

    /// Einsums over inputs and over each other; the last one is the root of the tree, or in a DAG every einsum that
    /// nobody reads is an output.
    std::vector<node> graph(const graph_shape& shape) {
        std::vector<node> made;
        std::vector<node> inputs;
        std::vector<bool> read;
        for (int vertex = 0; vertex < shape.vertices; ++vertex) {
            std::vector<node> operands;
            const int count = one_in(6) ? 3 : one_in(4) ? 1 : 2;
            double points = 1;
            const bool last = vertex + 1 == shape.vertices;
            for (int operand = 0; operand < count; ++operand) {
                const int oldest = shape.reach == 0 ? 0 : std::max(0, vertex - shape.reach);
                const int pick = made.empty() || one_in(4) ? -1 : between(oldest, vertex - 1);
                const bool inner = pick >= 0 && (!shape.tree || !read[static_cast<std::size_t>(pick)]);
                node next;
                if (inner) {
                    next = made[static_cast<std::size_t>(pick)];
                } else if (!inputs.empty() && one_in(4)) {
                    next = inputs[static_cast<std::size_t>(between(0, static_cast<int>(inputs.size()) - 1))];
                } else {
                    inputs.push_back(any_input(shape));
                    next = inputs.back();
                }
                points *= elements_of(next->bounds);
                if (operand > 0 && points > most_points) {
                    break;
                }
                if (inner) {
                    read[static_cast<std::size_t>(pick)] = true;
                }
                operands.push_back(std::move(next));
            }
            if (last && shape.tree) {
                for (std::size_t other = 0; other < made.size(); ++other) {
                    if (!read[other]) {
                        operands.push_back(made[other]);
                    }
                }
            }
            const paper_join known = !shape.sums ? paper_join::opaque
                                     : one_in(3) ? paper_join::terms
                                                 : paper_join::product;
            made.push_back(join(std::move(operands), shape, known));
            read.push_back(false);
        }
        if (shape.tree) {
            return {made.back()};
        }
        std::vector<node> outputs;
        for (std::size_t vertex = 0; vertex < made.size(); ++vertex) {
            if (!read[vertex] || one_in(5)) {
                outputs.push_back(made[vertex]);
            }
        }
        if (one_in(10) && !inputs.empty()) {
            outputs.push_back(inputs.front());
        }
        return outputs;
    }

private:
    static constexpr double most_points = 4e18;  // of an einsum: they are counted in 64 bits

    static double elements_of(const std::vector<ep::index>& bounds) {
        double count = 1;
        for (const ep::index bound : bounds) {
            count *= static_cast<double>(bound);
        }
        return count;
    }

    node any_input(const graph_shape& shape) {
        std::vector<ep::index> bounds(static_cast<std::size_t>(between(0, shape.rank)));
        for (ep::index& bound : bounds) {
            bound =
                shape.empty_extents && one_in(20)
                    ? 0
                    : shape.lengths[static_cast<std::size_t>(between(0, static_cast<int>(shape.lengths.size()) - 1))];
        }
        while (elements_of(bounds) > shape.elements) {
            bounds.pop_back();
        }
        if (!shape.any_sources || one_in(2)) {
            return input(bounds);
        }
        if (one_in(3)) {
            return input(bounds, ep::source_kind::placeholder);
        }
        if (one_in(2)) {
            return input(bounds, ep::source_kind::root, between(0, shape.processes - 1));
        }
        // Somebody's own distribution: slabs along the last dimension, in any order of ranks.
        const int holders = between(1, shape.processes);
        std::vector<ep::box> boxes;
        for (int rank = 0; rank < holders; ++rank) {
            boxes.push_back(ep::whole_box(bounds));
            if (bounds.empty()) {
                boxes.back().nothing = rank > 0;
            } else {
                boxes.back().sides.back() = ep::block_of(bounds.back(), holders, rank);
            }
        }
        std::shuffle(boxes.begin(), boxes.end(), engine_);
        return resting_input(bounds, boxes);
    }

    /// An einsum that fits: dimensions of equal extent share labels now and then, an operand's own too.
    node join(std::vector<node> operands, const graph_shape& shape, paper_join known) {
        std::string letters;
        std::vector<ep::index> extents;
        std::string text;
        for (const node& operand : operands) {
            text += &operand == &operands.front() ? "" : ",";
            std::string own;
            for (const ep::index bound : operand->bounds) {
                std::string fitting;
                for (std::size_t label = 0; label < letters.size(); ++label) {
                    const bool again = own.find(letters[label]) != std::string::npos;
                    if (extents[label] == bound && (!again || one_in(6))) {
                        fitting += letters[label];
                    }
                }
                const bool full = static_cast<int>(letters.size()) >= shape.labels;
                if (!fitting.empty() && (full || !one_in(4))) {
                    own += fitting[static_cast<std::size_t>(between(0, static_cast<int>(fitting.size()) - 1))];
                } else {
                    own += static_cast<char>('a' + static_cast<int>(letters.size()));
                    letters += own.back();
                    extents.push_back(bound);
                }
            }
            text += own;
        }
        std::string kept;
        double elements = 1;
        for (std::size_t label = 0; label < letters.size(); ++label) {
            const double more = elements * static_cast<double>(extents[label]);
            if (!one_in(3) && static_cast<int>(kept.size()) < shape.rank && more <= shape.elements) {
                kept += letters[label];
                elements = more;
            }
        }
        std::shuffle(kept.begin(), kept.end(), engine_);
        return einsum(text + "->" + kept, std::move(operands), known);
    }

    std::mt19937 engine_;
};

}  // namespace test
