#pragma once
// Random strided einsums with run-time labels, and what they should give by plain recursion over all labels.
// Written apart from the library: it shares the interface's structs with it and nothing else.

#include <einparallel/kernel/block_call.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace kernel_test {

using einparallel::index;
using einparallel::label_id;

using random_source = std::mt19937_64;

inline index pick(random_source& random, index low, index high) {
    return std::uniform_int_distribution<index>(low, high)(random);
}

template <class T>
T random_value(random_source& random) {
    if constexpr (std::is_same_v<T, bool>) {
        return pick(random, 0, 2) == 0;
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(pick(random, -100, 100));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(pick(random, -512, 512)) / static_cast<T>(256);
    } else {
        using real = typename T::value_type;
        return {random_value<real>(random), random_value<real>(random)};
    }
}

/// What outputs hold before an overwriting call: poison where the type has any.
template <class T>
T poison() {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(101);
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::numeric_limits<T>::quiet_NaN();
    } else {
        using real = typename T::value_type;
        return {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::quiet_NaN()};
    }
}

/// A strided tensor in memory of its own.
template <class T>
struct strided_tensor {
    std::vector<label_id> labels;
    std::vector<index> strides;
    index origin = 0;
    std::vector<T> memory;
    // std::vector<bool> has no data(): bool lives in bytes
    static_assert(!std::is_same_v<T, bool>);

    [[nodiscard]] index offset(const std::vector<index>& point) const {
        index at = origin;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] >= 0) {
                at += strides[dimension] * point[static_cast<std::size_t>(labels[dimension])];
            }
        }
        return at;
    }
};

/// Storage type of T in a strided_tensor.
template <class T>
using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// Memory for these labels with permuted, padded and reversed strides; `broadcast` allows strides of 0.
template <class T>
strided_tensor<T> random_layout(random_source& random, const std::vector<label_id>& labels,
                                const std::vector<index>& extents, bool broadcast) {
    strided_tensor<T> tensor;
    tensor.labels = labels;
    tensor.strides.assign(labels.size(), 0);
    std::vector<std::size_t> order(labels.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        order[position] = position;
    }
    const bool plain = pick(random, 0, 2) == 0;
    if (plain) {
        std::reverse(order.begin(), order.end());
    } else {
        std::shuffle(order.begin(), order.end(), random);
    }
    index size = plain || pick(random, 0, 3) > 0 ? 1 : 2;
    for (const std::size_t dimension : order) {
        const index extent = labels[dimension] < 0 ? 1 : extents[static_cast<std::size_t>(labels[dimension])];
        if (broadcast && pick(random, 0, 9) == 0) {
            continue;
        }
        tensor.strides[dimension] = size;
        size *= std::max<index>(extent, 1);
        size += plain ? 0 : pick(random, 0, 3) == 0 ? pick(random, 1, 3) : 0;
        if (!plain && pick(random, 0, 4) == 0) {
            tensor.origin += tensor.strides[dimension] * (std::max<index>(extent, 1) - 1);
            tensor.strides[dimension] = -tensor.strides[dimension];
        }
    }
    tensor.memory.resize(static_cast<std::size_t>(size));
    return tensor;
}

/// One einsum on blocks with data.
template <class T>
struct random_case {
    std::vector<index> extents;
    std::vector<strided_tensor<stored<T>>> operands;
    strided_tensor<stored<T>> output;

    /// Calls visit(point) for every point of the labels in `chosen`.
    void for_each(const std::vector<label_id>& chosen,
                  const std::function<void(const std::vector<index>&)>& visit) const {
        std::vector<index> point(extents.size(), 0);
        const std::function<void(std::size_t)> descend = [&](std::size_t depth) {
            if (depth == chosen.size()) {
                visit(point);
                return;
            }
            const auto label = static_cast<std::size_t>(chosen[depth]);
            for (point[label] = 0; point[label] < extents[label]; ++point[label]) {
                descend(depth + 1);
            }
            point[label] = 0;
        };
        descend(0);
    }

    [[nodiscard]] std::vector<label_id> labels_of(bool in_output) const {
        std::vector<label_id> found;
        for (std::size_t label = 0; label < extents.size(); ++label) {
            const auto id = static_cast<label_id>(label);
            const auto has = [id](const auto& tensor) {
                return std::ranges::find(tensor.labels, id) != tensor.labels.end();
            };
            if (has(output) == in_output && (in_output || std::ranges::any_of(operands, has))) {
                found.push_back(id);
            }
        }
        return found;
    }
};

/// Random labels; every label is in an operand. @param largest extents go up to this; @param points limit of the size
template <class T>
random_case<T> make_case(random_source& random, std::size_t operand_count, std::size_t most_labels, index largest,
                         index points) {
    random_case<T> made;
    const auto label_count = static_cast<std::size_t>(pick(random, 0, static_cast<index>(most_labels)));
    index size = 1;
    for (std::size_t label = 0; label < label_count; ++label) {
        index extent = pick(random, 0, 40) == 0 ? 0 : pick(random, 1, largest);
        if (size * extent > points) {
            extent = 1;
        }
        size *= std::max<index>(extent, 1);
        made.extents.push_back(extent);
    }
    std::vector<std::vector<label_id>> lists(operand_count);
    for (std::size_t label = 0; label < label_count; ++label) {
        const auto id = static_cast<label_id>(label);
        bool used = false;
        for (std::vector<label_id>& list : lists) {
            if (pick(random, 0, 9) < 5) {
                list.push_back(id);
                used = true;
            }
        }
        if (!used) {
            lists[static_cast<std::size_t>(pick(random, 0, static_cast<index>(operand_count) - 1))].push_back(id);
        }
    }
    std::vector<label_id> written;
    for (std::size_t label = 0; label < label_count; ++label) {
        if (pick(random, 0, 9) < 6) {
            written.push_back(static_cast<label_id>(label));
        }
    }
    for (std::vector<label_id>& list : lists) {
        if (!list.empty() && pick(random, 0, 7) == 0) {  // a diagonal
            list.push_back(list[static_cast<std::size_t>(pick(random, 0, static_cast<index>(list.size()) - 1))]);
        }
        if (pick(random, 0, 11) == 0) {
            list.push_back(einparallel::no_label);
        }
        std::shuffle(list.begin(), list.end(), random);
        made.operands.push_back(random_layout<stored<T>>(random, list, made.extents, true));
        for (auto& element : made.operands.back().memory) {
            element = static_cast<stored<T>>(random_value<T>(random));
        }
    }
    if (pick(random, 0, 11) == 0) {
        written.push_back(einparallel::no_label);
    }
    std::shuffle(written.begin(), written.end(), random);
    made.output = random_layout<stored<T>>(random, written, made.extents, false);
    return made;
}

/// The call for a case; spans refer to the case and to `blocks`.
template <class T>
einparallel::block_call call_of(random_case<T>& made, std::vector<einparallel::strided_block>& blocks,
                                einparallel::write_mode mode) {
    blocks.clear();
    for (const auto& operand : made.operands) {
        blocks.push_back({operand.memory.data() + operand.origin, einparallel::element_type_of<T>(), operand.labels,
                          operand.strides});
    }
    return {made.extents,
            blocks,
            {made.output.memory.data() + made.output.origin, einparallel::element_type_of<T>(), made.output.labels,
             made.output.strides},
            mode};
}

}  // namespace kernel_test
