#pragma once
// For statements on arrays: what is known of their leaves, and what replaces leaves that wait for extents: ep::iota,
// and operands at functions of labels or at indices that are data.

#include <einparallel/array/immediate.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/kernel/joined.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The `Source` of resolution for statements on arrays: what is known of leaves, and what replaces ep::iota and
/// operands at functions of labels.
struct array_leaves {
    static constexpr bool rebinds = false;

    static auto extents_of(const auto& held) -> decltype(index_span(held.extents)) { return held.extents; }
    template <class T, std::size_t Rank>
    static const void* tensor_of(const array_operand<T, Rank>& held) {
        return held.data;
    }
    template <class T, std::size_t Rank>
    static const void* tensor_of(const joined_operand<T, Rank>& held) {
        return held.blocks.front().operand.data;
    }
    template <class Held>
    static Held within(Held held, const std::array<interval, Held::rank>& ranges) {
        for (std::size_t dimension = 0; dimension < Held::rank; ++dimension) {
            held.data = element_behind(held.data, ranges[dimension].begin * held.strides[dimension]);
            held.extents[dimension] = ranges[dimension].size();
        }
        return held;
    }
    template <class T, std::size_t Rank, std::size_t Labels>
    static auto at(const array_operand<T, Rank>& held, const affine_map& where,
                   const std::array<label_id, Labels>& labels, const std::array<interval, Labels>& ranges) {
        array_operand<T, Labels> made;
        made.data = element_behind(held.data, where.strides_along(labels, no_box(Rank), held.strides, made.strides));
        return within(made, ranges);
    }
    template <class T, std::size_t Rank, class... Where>
    static auto at(const owned_operand<T, Rank>& held, const Where&... where) {
        const auto made = at(static_cast<const array_operand<T, Rank>&>(held), where...);
        return owned_operand<T, std::remove_const_t<decltype(made)>::rank>{made, held.owner};
    }
    template <class T, std::size_t Rank, std::size_t Labels>
    static auto at(const joined_operand<T, Rank>& held, const affine_map& where,
                   const std::array<label_id, Labels>& labels, const std::array<interval, Labels>& ranges) {
        struct owned_blocks : joined_blocks {
            joined_operand<T, Rank> joined;
        };
        const auto made = std::make_shared<owned_blocks>();
        made->joined = held;
        made->elsewhere = &made->joined.value;
        made->at = where.shifted(
            [&](label_id label) { return ranges[std::size_t(find_in(labels, label) - labels.begin())].begin; });
        for (const auto& block : held.blocks) {
            box& region = made->boxes.emplace_back();
            for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
                const index first = block.lower[dimension];
                region.sides.push_back({first, first + block.operand.extents[dimension]});
            }
            made->blocks.push_back({block.operand.data, {block.operand.strides.begin(), block.operand.strides.end()}});
        }
        joined_read<T, Labels> operand{{&made->joined.value, {}, {}}, made};
        std::transform(ranges.begin(), ranges.end(), operand.extents.begin(),
                       [](interval range) { return range.size(); });
        return operand;
    }
    /// The name of a dimension in errors.
    static std::string name_of(const auto& /*held*/, std::size_t dimension) {
        return "dimension " + std::to_string(dimension);
    }
    /// A new array as an operand with these labels.
    template <class T, class Labels, class Found>
    static auto new_operand(const Found& found) {
        const auto made =
            std::make_shared<array<T, Labels::size>>(found.template extents_of<Labels>(), first_elements::unwritten);
        return owned_operand<T, Labels::size>{{made->data(), made->extents(), made->strides()}, made};
    }
    /// An expression as an operand with these labels. It is computed into a new array, unless it is such an operand.
    template <class T, class Labels, class Found, class E>
    static auto value_of(const Found& found, const E& expression) {
        if constexpr (is_operand<array_operand<T, Labels::size>, Labels, E>) {
            return found.resolved(expression);
        } else {
            const auto held = new_operand<T, Labels>(found);
            target<T, array_operand<T, Labels::size>, Labels>(held).template take<assignment::set>(
                found.resolved(expression));
            return leaf<owned_operand<T, Labels::size>, Labels>(held);
        }
    }
    template <class Found, class Operand, class Labels>
    static strided_block block_of(const leaf<Operand, Labels>& node) {
        return {handle_of(node.operand), Found::ids::template ids<Labels>};
    }
    /// Reads elements at indices that are data into `output`.
    template <class Found, class Operand, class Labels>
    static void gather(const Found& found, const leaf<Operand, Labels>& node, const strided_block& output,
                       write_mode mode, growth grow) {
        using T = typename Operand::value_type;
        found.take_apart(
            node, [&](const auto& x, const auto& labels, std::vector<data_index> indices, const auto&... tokens) {
                const strided_block operands[] = {{handle_of(x), labels}, block_of<Found>(tokens)...};
                run_selection(Found::ids::names, output, operands, select_work_of<T>(std::move(indices), false), mode,
                              grow);
            });
    }
    template <class Found, class Operand, class Labels>
    static auto selected(const Found& found, const leaf<Operand, Labels>& node) {
        const auto held = new_operand<typename Operand::value_type, Labels>(found);
        gather(found, node, {handle_of(held), Found::ids::template ids<Labels>}, write_mode::overwrite, nullptr);
        return leaf<owned_operand<typename Operand::value_type, Labels::size>, Labels>(held);
    }
    template <class Labels>
    static auto indices(interval range) {
        return leaf<counted_operand, Labels>(counted_operand{{nullptr, {range.size()}, {1}}, range.begin});
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
