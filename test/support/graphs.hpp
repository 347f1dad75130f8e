#pragma once
// Graphs by hand for tests of the executor: kernels of scalar loops, sources over arrays in memory, and the values that
// a graph must have, computed on whole tensors in one process.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/memory_source.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/run/context.hpp>

#include <support/play.hpp>
#include <support/sentence_of.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::testing {

namespace {  // simulated ranks have their own: what is inline would be one for all of them

/// Host memory that is counted.
struct counted_space final : host_space {
    static inline int allocations = 0;
    static inline std::size_t held = 0;
    static inline std::size_t most_held = 0;

    [[nodiscard]] void* allocate(std::size_t bytes) const override {
        ++allocations;
        held += bytes;
        most_held = std::max(most_held, held);
        return host_space::allocate(bytes);
    }
    void deallocate(void* memory, std::size_t bytes) const noexcept override {
        held -= bytes;
        host_space::deallocate(memory, bytes);
    }
};
const counted_space counted;

}  // namespace

/// Elements of matrices, and of the product of a left one and a right one, by scalar loops.
inline double left_at(index row, index column) {
    return static_cast<double>((3 * row + 5 * column) % 7 - 3);
}
inline double right_at(index row, index column) {
    return static_cast<double>((2 * row + 3 * column) % 5 - 2);
}
inline auto product_over(index inner) {
    return [inner](index row, index column) {
        double sum = 0;
        for (index at = 0; at < inner; ++at) {
            sum += left_at(row, at) * right_at(at, column);
        }
        return sum;
    };
}

/// A kernel of scalar loops that may be told to throw, counts its calls, and calls itself a contraction where it is a
/// sum of products of two operands, so that the planner forces algorithms on it.
class told_kernel : public kernel {
public:
    told_kernel(played_operators operators, std::size_t operands)
        : kernel(work_of(operators, operands), {}, reduction_of(operators), 2, &run), loops_(operators) {}
    told_kernel(const told_kernel&) = delete;
    told_kernel& operator=(const told_kernel&) = delete;

    bool throws = false;
    mutable int calls = 0;

private:
    static void run(const block_call& call, const kernel& of) {
        const auto& told = static_cast<const told_kernel&>(of);
        ++told.calls;
        if (told.throws) {
            throw std::runtime_error("this kernel was told to throw");
        }
        told.loops_.contract(call);
    }
    static detail::vertex_work work_of(played_operators operators, std::size_t operands) {
        if (operators == played_operators::sum_of_products) {
            return detail::product_work{operands};
        }
        return detail::join_work{};
    }
    static detail::row_reduction reduction_of(played_operators operators) {
        return operators == played_operators::max_of_sums ? detail::row_reduction_of<double>(op::max)
                                                          : detail::row_reduction_of<double>(op::sum);
    }

    loop_kernel loops_;
};

/// A whole tensor on every rank, dense, as the oracle holds it.
struct whole_tensor {
    std::vector<index> bounds;
    std::vector<double> elements;

    [[nodiscard]] double& at(const std::vector<index>& position) {
        return elements[static_cast<std::size_t>(offset(position))];
    }
    [[nodiscard]] index offset(const std::vector<index>& position) const {
        index number = 0;
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            number = number * bounds[dimension] + position[dimension];
        }
        return number;
    }
};

/// A pure function of the index, kept as a table; may throw on one rank.
class table_source final : public source {
public:
    explicit table_source(std::shared_ptr<const whole_tensor> values) : values_(std::move(values)) {}
    [[nodiscard]] source_kind kind() const override { return source_kind::everywhere; }
    void read(const box& region, void* destination) const override {
        if (throws) {
            throw std::runtime_error("this source was told to throw");
        }
        auto* next = static_cast<double*>(destination);
        for_each_point(region, [&](const std::vector<index>& point) {
            *next++ = values_->elements[static_cast<std::size_t>(values_->offset(point))];
        });
    }
    [[nodiscard]] std::string description() const override { return "table"; }

    bool throws = false;

private:
    std::shared_ptr<const whole_tensor> values_;
};

/// Small integers: sums and products of a few hundred of them are exact in double, in any order.
inline std::shared_ptr<whole_tensor> small_integers(const std::vector<index>& bounds, std::mt19937& random) {
    auto made = std::make_shared<whole_tensor>();
    made->bounds = bounds;
    made->elements.resize(static_cast<std::size_t>(whole_box(bounds).size()));
    for (double& element : made->elements) {
        element = static_cast<double>(random() % 5) - 2;
    }
    return made;
}

/// Every element computed apart from the library: for every point of the iteration space, join and aggregate.
inline std::shared_ptr<whole_tensor> einsum_of(const einsum_form& form, const std::vector<index>& extents,
                                               played_operators operators,
                                               const std::vector<std::shared_ptr<whole_tensor>>& operands) {
    const auto at_labels = [](const std::vector<label_id>& labels, const std::vector<index>& point) {
        std::vector<index> position;
        for (const label_id label : labels) {
            position.push_back(label == no_label ? 0 : point[static_cast<std::size_t>(label)]);
        }
        return position;
    };
    auto made = std::make_shared<whole_tensor>();
    for (const label_id label : form.output) {
        made->bounds.push_back(extents[static_cast<std::size_t>(label)]);
    }
    made->elements.assign(static_cast<std::size_t>(whole_box(made->bounds).size()), identity_of(operators));
    for_each_point(extents, [&](const std::vector<index>& point) {
        double joined = unit_of(operators);
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            joined = join(operators, joined, operands[operand]->at(at_labels(form.operands[operand], point)));
        }
        double& place = made->at(at_labels(form.output, point));
        place = aggregate(operators, place, joined);
    });
    return made;
}

/// A part of a whole tensor in memory of its own, as the application holds it, with the knowledge of all parts.
struct own_tensor {
    std::vector<double> elements;
    detail::local_tensor part;
};

/// Slabs of random thickness along a random dimension, some empty, in random order of ranks.
inline distribution random_slabs(const std::vector<index>& bounds, int ranks, std::mt19937& random) {
    std::vector<box> boxes(static_cast<std::size_t>(ranks), no_box(bounds.size()));
    std::vector<std::size_t> order(boxes.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        order[rank] = rank;
    }
    std::shuffle(order.begin(), order.end(), random);
    if (bounds.empty()) {
        boxes[order[0]] = {};
        return {bounds, std::move(boxes)};
    }
    const std::size_t dimension = random() % bounds.size();
    index begin = 0;
    for (std::size_t position = 0; position < order.size(); ++position) {
        const index left = bounds[dimension] - begin;
        const index taken = position + 1 == order.size() ? left : static_cast<index>(random() % 4) * left / 4;
        boxes[order[position]] = whole_box(bounds);
        boxes[order[position]].sides[dimension] = {begin, begin + taken};
        boxes[order[position]].nothing = taken == 0;
        begin += taken;
    }
    return {bounds, std::move(boxes)};
}

inline std::shared_ptr<own_tensor> part_of(whole_tensor& values, const distribution& where, const context& world) {
    auto made = std::make_shared<own_tensor>();
    const box held = where.held_by(world.rank());
    for_each_point(held, [&](const std::vector<index>& point) { made->elements.push_back(values.at(point)); });
    made->part = {
        nullptr,
        {reinterpret_cast<std::byte*>(made->elements.data()), held, dense_strides(held), element_type_of<double>()},
        std::make_shared<const distribution>(where),
        world.state()};
    return made;
}

/// `keep`: owns the values; null where they are the application's, which may change them.
inline std::shared_ptr<const source> source_in_memory(whole_tensor& values, std::optional<int> root,
                                                      std::shared_ptr<const void> keep = nullptr) {
    const box whole = whole_box(values.bounds);
    return std::make_shared<detail::memory_source>(
        detail::local_tensor{std::move(keep),
                             {reinterpret_cast<std::byte*>(values.elements.data()), whole, dense_strides(whole),
                              element_type_of<double>()},
                             nullptr,
                             {}},
        root);
}

inline std::shared_ptr<vertex> input_vertex(const std::vector<index>& bounds, std::shared_ptr<const source> origin,
                                            std::string name = {}) {
    auto made = std::make_shared<vertex>();
    made->bounds = bounds;
    made->element = element_type_of<double>();
    made->origin = std::move(origin);
    made->name = std::move(name);
    return made;
}

inline std::shared_ptr<vertex> einsum_vertex(einsum_form form, std::vector<index> extents,
                                             std::vector<std::shared_ptr<vertex>> operands,
                                             std::shared_ptr<const kernel> work, std::string name = {}) {
    auto made = std::make_shared<vertex>();
    for (const label_id label : form.output) {
        made->bounds.push_back(extents[static_cast<std::size_t>(label)]);
    }
    made->element = element_type_of<double>();
    made->form = std::move(form);
    made->extents = std::move(extents);
    made->operands = std::move(operands);
    made->work = std::move(work);
    made->name = std::move(name);
    return made;
}

/// Z(i,k) = sum over j of A(i,j) B(j,k), with the values that it must have.
struct product {
    std::shared_ptr<whole_tensor> a, b, z;
    std::shared_ptr<table_source> a_source, b_source;
    std::shared_ptr<told_kernel> work;
    std::shared_ptr<vertex> A, B, Z;

    product(index m, index k, index n, unsigned seed = 1) {
        std::mt19937 random(seed);
        a = small_integers({m, k}, random);
        b = small_integers({k, n}, random);
        a_source = std::make_shared<table_source>(a);
        b_source = std::make_shared<table_source>(b);
        A = input_vertex({m, k}, a_source, "A");
        B = input_vertex({k, n}, b_source, "B");
        work = std::make_shared<told_kernel>(played_operators::sum_of_products, 2);
        const einsum_form form{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
        Z = einsum_vertex(form, {m, k, n}, {A, B}, work, "Z");
        z = einsum_of(form, {m, k, n}, played_operators::sum_of_products, {a, b});
    }
    [[nodiscard]] tensor<double, 2> handle() const { return tensor<double, 2>(Z); }
};

/// Random graphs of einsums with everything that the executor has to cope with; the same on every rank for one seed.
class random_graph {
public:
    random_graph(const context& world, unsigned seed) : world_(world), random_(seed) {
        const std::size_t inputs = 2 + below(3);
        for (std::size_t input = 0; input < inputs; ++input) {
            add_input();
        }
        const std::size_t einsums = 1 + below(4);
        for (std::size_t einsum = 0; einsum < einsums; ++einsum) {
            add_einsum();
        }
        outputs.push_back(vertices.size() - 1);
        while (below(3) == 0) {
            outputs.push_back(below(vertices.size()));
        }
    }

    [[nodiscard]] std::vector<std::shared_ptr<vertex>> output_vertices() const {
        std::vector<std::shared_ptr<vertex>> made;
        for (const std::size_t output : outputs) {
            made.push_back(vertices[output]);
        }
        return made;
    }

    std::vector<std::shared_ptr<vertex>> vertices;
    std::vector<std::shared_ptr<whole_tensor>> values;
    std::vector<std::size_t> outputs;
    std::vector<binding> bindings;  ///< for all placeholders, also those that the outputs do not need
    std::map<std::string, int> seen;

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    void add_input() {
        std::vector<index> bounds;
        const std::size_t rank = below(5);
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            bounds.push_back(below(12) == 0 ? 0 : static_cast<index>(1 + below(5)));
        }
        const std::shared_ptr<whole_tensor> value = small_integers(bounds, random_);
        const int ranks = world_.size();
        std::shared_ptr<const source> origin;
        const std::size_t kind = below(5);
        const bool lasts = vertices.size() % 2 == 0;
        if (kind == 0) {
            origin = source_in_memory(*value, static_cast<int>(below(static_cast<std::size_t>(ranks))),
                                      lasts ? value : nullptr);
            ++seen["root"];
        } else if (kind == 1) {
            origin = distributed_here(*value, lasts);
            ++seen["resting"];
        } else if (kind == 2) {
            origin = std::make_shared<detail::function_source>("placeholder");
            ++seen["placeholder"];
        } else if (kind == 3) {
            origin = source_in_memory(*value, std::nullopt);
            ++seen["in memory"];
        } else {
            origin = std::make_shared<table_source>(value);
            ++seen["function"];
        }
        vertices.push_back(input_vertex(bounds, origin));
        values.push_back(value);
        if (kind == 2) {
            const std::size_t way = below(3);
            const std::shared_ptr<const source> bound =
                way == 0   ? source_in_memory(*value, std::nullopt)
                : way == 1 ? source_in_memory(*value, static_cast<int>(below(static_cast<std::size_t>(ranks))))
                           : distributed_here(*value);
            seen["bound distributed"] += bound->kind() == source_kind::resting ? 1 : 0;
            seen["bound on a root"] += bound->kind() == source_kind::root ? 1 : 0;
            bindings.push_back({vertices.back(), input_vertex(bounds, bound)});
        }
    }

    std::shared_ptr<const source> distributed_here(whole_tensor& value, bool lasts = false) {
        parts_.push_back(part_of(value, random_slabs(value.bounds, world_.size(), random_), world_));
        parts_.back()->part.keep = lasts ? std::make_shared<int>() : nullptr;
        return std::make_shared<detail::memory_source>(parts_.back()->part);
    }

    void add_einsum() {
        const std::size_t count = 1 + below(3);
        einsum_form form;
        std::vector<index> extents;
        std::vector<std::shared_ptr<vertex>> operands;
        std::vector<std::shared_ptr<whole_tensor>> of_operands;
        const char* const names = "abcdefghijklmnop";
        for (std::size_t operand = 0; operand < count; ++operand) {
            const std::size_t chosen = below(vertices.size());
            operands.push_back(vertices[chosen]);
            of_operands.push_back(values[chosen]);
            std::vector<label_id> labels;
            for (const index bound : vertices[chosen]->bounds) {
                std::vector<label_id> fitting;
                for (std::size_t label = 0; label < extents.size(); ++label) {
                    if (extents[label] == bound) {
                        fitting.push_back(static_cast<label_id>(label));
                    }
                }
                if (!fitting.empty() && below(4) != 0) {
                    labels.push_back(fitting[below(fitting.size())]);
                } else {
                    labels.push_back(static_cast<label_id>(extents.size()));
                    form.names.emplace_back(1, names[extents.size()]);
                    extents.push_back(bound);
                }
            }
            form.operands.push_back(std::move(labels));
        }
        for (std::size_t label = 0; label < extents.size(); ++label) {
            if (below(2) == 0 && form.output.size() < 4) {
                form.output.push_back(static_cast<label_id>(label));
            }
        }
        std::shuffle(form.output.begin(), form.output.end(), random_);
        index points = 1;
        for (const index extent : extents) {
            points *= extent;
        }
        if (points > 20000) {
            return add_einsum();
        }
        const played_operators operators =
            below(4) == 0 ? played_operators::max_of_sums : played_operators::sum_of_products;
        const std::shared_ptr<whole_tensor> value = einsum_of(form, extents, operators, of_operands);
        for (const double element : value->elements) {
            if (std::abs(element) > 1e12 && std::abs(element) < 1e300) {
                return add_einsum();  // keep integers exact
            }
        }
        values.push_back(value);
        vertices.push_back(einsum_vertex(form, extents, operands, std::make_shared<told_kernel>(operators, count)));
        ++seen["einsum of " + std::to_string(count)];
    }

    const context& world_;
    std::mt19937 random_;
    std::vector<std::shared_ptr<own_tensor>> parts_;
};

/// Number of elements in which output `position` of a run differs from the oracle, gathered on every rank.
template <std::size_t Rank>
int wrong_elements_of_rank(const results& made, std::size_t position, const whole_tensor& wanted) {
    const array<double, Rank> whole = made.at<double, Rank>(position).allgather();
    int wrong = whole.size() == static_cast<index>(wanted.elements.size()) ? 0 : 1;
    for (std::size_t element = 0; element < wanted.elements.size() && wrong == 0; ++element) {
        // NaN and infinity have to be the same too
        const double a = whole.data()[element];
        const double b = wanted.elements[element];
        wrong += a == b || (a != a && b != b) ? 0 : 1;
    }
    return wrong;
}

inline int wrong_elements(const results& made, std::size_t position, const whole_tensor& wanted) {
    switch (wanted.bounds.size()) {
        case 0:
            return wrong_elements_of_rank<0>(made, position, wanted);
        case 1:
            return wrong_elements_of_rank<1>(made, position, wanted);
        case 2:
            return wrong_elements_of_rank<2>(made, position, wanted);
        case 3:
            return wrong_elements_of_rank<3>(made, position, wanted);
        default:
            return wrong_elements_of_rank<4>(made, position, wanted);
    }
}

/// What is added to a sentence that the last rank alone brings.
inline std::string only_last(const context& world) {
    return world.size() == 1 ? "" : " (on rank " + std::to_string(world.size() - 1) + ")";
}

/// True where every rank brings the same text.
inline bool same_everywhere(const context& world, const std::string& text) {
    std::string of_root = text;
    of_root.resize(400);
    MPI_Bcast(of_root.data(), static_cast<int>(of_root.size()), MPI_CHAR, 0, world.control().native());
    std::string mine = text;
    mine.resize(400);
    int same = of_root == mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, world.control().native());
    return same == 1;
}

}  // namespace einparallel::testing
