#pragma once
// Replaces leaves that wait for extents: ep::iota(i), the count in ep::mean, and operands that are read at functions of
// labels. This is done when a statement has its operands: their extents give those of the labels.

#include <einparallel/kernel/joined.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// True where some leaf of E waits for extents.
template <class E>
inline constexpr bool waits_for_extents = []<class... Leaves>(type_list<Leaves...> /*all*/) {
    return (waits<typename Leaves::operand_type> || ...);
}(leaves_t<E>{});

template <class Index, bool Recorded>
inline constexpr bool index_stands_in = true;
template <DataIndex Index, bool Recorded>
inline constexpr bool index_stands_in<Index, Recorded> = leaves_stand_in<Recorded, typename token_of<Index>::type>;
template <class Operand, class... Indices, bool Recorded>
inline constexpr bool stands_in<indexed_operand<Operand, Indices...>, Recorded> = stands_in<Operand, Recorded> &&
                                                                                  (index_stands_in<Indices, Recorded> &&
                                                                                   ...);

}  // namespace einparallel::detail

namespace einparallel::EINPARALLEL_DETAIL {

/// True where E is a single operand that is read at indices that are data.
template <class E>
inline constexpr bool is_selection = false;
template <Selects Operand, class Labels>
inline constexpr bool is_selection<leaf<Operand, Labels>> = true;

/// True where E is an operand of the type Memory with these labels, in any order.
template <class Memory, class Labels, class E>
inline constexpr bool is_operand = false;
template <class Memory, class... Labels, class Operand, class... Own>
inline constexpr bool is_operand<Memory, label_list<Labels...>, leaf<Operand, label_list<Own...>>> =
    std::is_base_of_v<Memory, Operand> && (appears_in<Labels, label_list<Own...>> && ...);

/// The labels of `Labels` that are in the list `Some`, too.
template <class Some, class... Labels>
auto labels_among(label_list<Labels...> /*all*/)
    -> united_t<std::conditional_t<appears_in<Labels, Some>, label_list<Labels>, label_list<>>...>;

/// How an index is written. A label alone runs through the whole dimension. Indices that are data are checked when they
/// are read.
enum class index_kind : std::uint8_t { label, function, data };

/// Where a statement reads one of its operands, or writes its output.
struct statement_read {
    const void* tensor = nullptr;     ///< identifies the tensor: equal for all operands that read it
    affine_map at;                    ///< without bounds where they are not known
    std::vector<index_kind> written;  ///< by dimension
    bool is_output = false;
    bool is_iota = false;       ///< no tensor: the indices along a label
    bool is_forgotten = false;  ///< an output that a new tensor replaces: its extents count only where no others do
};

/// Writes the extents of a statement's labels to `extents`, by label id. A label that is an index by itself has the
/// extent of the dimension, unless the same tensor is also read at a function of the label, as in A(i) + A(i + 1). A
/// label that has no extent by this rule gets the largest one with which no index lies outside. Returns what is wrong,
/// else an empty text: two extents of a label, an extent that nothing gives, or an index outside. The text names the
/// label or the operand, the index and the extents.
EINPARALLEL_INLINE std::string find_extents(std::span<const std::string_view> names,
                                            std::span<const statement_read> operands, std::span<index> extents);

/// The tensor that an operand reads.
template <class Operand>
const Operand& read_tensor(const Operand& held) {
    return held;
}
template <class Operand, class... Indices>
const Operand& read_tensor(const indexed_operand<Operand, Indices...>& held) {
    return held.operand;
}

/// The index of a leaf along a dimension, as a function of label ids.
template <class Ids, class Index>
index_function function_of(const Index& written) {
    const auto& function = as_index(written);
    index_function made{{}, function.constant};
    if constexpr (!DataIndex<Index>) {
        [&]<class... Labels>(const affine_index<Labels...>& /*terms*/) {
            [[maybe_unused]] std::size_t at = 0;
            (made.terms.push_back({Ids::template id<Labels>, function.coefficients[at++]}), ...);
        }(function);
        std::erase_if(made.terms, [](const index_term& term) { return term.coefficient == 0; });
    }
    return made;
}
template <class Index>
inline constexpr index_kind kind_of_index = DataIndex<Index> ? index_kind::data
                                            : Label<Index>   ? index_kind::label
                                                             : index_kind::function;
template <class Operand>
std::vector<index_kind> kinds_in(const Operand& /*held*/) {
    return std::vector<index_kind>(Operand::rank, index_kind::label);
}
template <class Operand, class... Indices>
std::vector<index_kind> kinds_in(const indexed_operand<Operand, Indices...>& /*held*/) {
    return {kind_of_index<Indices>...};
}
template <class Ids, class Operand, class... Labels>
affine_map map_of(const leaf<Operand, label_list<Labels...>>& node, index_span bounds = {}) {
    affine_map made{{}, {bounds.begin(), bounds.end()}};
    if constexpr (requires { node.operand.indices; }) {
        std::apply([&](const auto&... each) { made.functions = {function_of<Ids>(each)...}; }, node.operand.indices);
    } else {
        made.functions = {function_of<Ids>(Labels{})...};
    }
    return made;
}

/// Learns the extents of a statement's labels from its leaves, and rebuilds the statement with them. `Source` has these
/// functions. tensor_of(operand) and extents_of(operand) return the tensor and its extents, which are empty where they
/// are not known. indices<Labels>(range) makes a leaf whose elements are the indices of the range. within(operand,
/// ranges) returns the operand at these ranges only. at(operand, map, labels, ranges) returns an operand with these
/// labels that reads the given one at the map.
template <class Statement, class Source>
class resolution {
public:
    using ids = typename Statement::ids;

    template <class Left, class Right>
    resolution(const Left& left, const Right& right) {
        std::vector<statement_read> operands;
        learn(left, operands);
        statement_read& output = operands.front();
        output.is_output = true;
        output.is_forgotten = Source::rebinds && !waits<typename Left::operand_type>;
        if (all_in(output.at.bounds, [](index extent) { return extent == 0; })) {
            output.at.bounds = {};
        }
        learn(right, operands);
        std::array<index, ids::size> extents{};
        extents.fill(-1);
        try {
            failure_ = find_extents(ids::names, operands, extents);
        } catch (const error& overflow) {
            failure_ = overflow.what();
        }
        std::transform(extents.begin(), extents.end(), ranges_.begin(), [&](index extent) {
            return interval{0, failure_.empty() ? extent : 0};
        });
    }

    /// What is wrong; empty where nothing is.
    const std::string& failure() const { return failure_; }

    /// The range of a label. After a change of it, resolved() returns the statement at these indices only.
    interval& range_of(label_id label) { return ranges_[std::size_t(label)]; }

    auto resolved(const auto& node) const {
        return rebuilt(node, [&](const auto& each) { return resolved(each); });
    }
    template <class Labels>
    auto resolved(const leaf<iota_operand, Labels>& /*node*/) const {
        return Source::template indices<Labels>(ranges_[std::size_t(ids::template ids<Labels>[0])]);
    }
    template <class Operand, class Labels>
        requires(!waits<Operand>)
    auto resolved(const leaf<Operand, Labels>& node) const {
        return leaf<Operand, Labels>(Source::within(node.operand, ranges_of(ids::template ids<Labels>)));
    }
    template <class Operand, class... Indices, class Labels>
        requires(!Selects<indexed_operand<Operand, Indices...>>)
    auto resolved(const leaf<indexed_operand<Operand, Indices...>, Labels>& node) const {
        const auto& labels = ids::template ids<Labels>;
        const auto made = Source::at(node.operand.operand, map_of<ids>(node), labels, ranges_of(labels));
        return leaf<std::remove_const_t<decltype(made)>, Labels>(made);
    }
    /// Computes an operand at indices that are data first, so that maps and products read it as a tensor.
    template <Selects Operand, class Labels>
    auto resolved(const leaf<Operand, Labels>& node) const {
        return Source::selected(*this, node);
    }
    template <class Over, class Inner, class Labels>
    auto resolved(const leaf<count_operand<Over, Inner>, Labels>& /*node*/) const {
        using T = typename count_operand<Over, Inner>::value_type;
        constexpr auto reduced = Statement::reduced_by(std::type_identity<reduce_node<op::sum_type, Over, Inner>>{});
        double count = 1;
        for (std::size_t label = 0; label < reduced.size(); ++label) {
            count *= reduced[label] ? double(ranges_[label].size()) : 1;
        }
        return constant<T, double>(count);
    }

    /// Takes an operand apart that is read or written at indices that are data: calls use(operand, labels, indices,
    /// tokens…). Each such index has a label of its own, with an id after those of the statement; these labels are the
    /// last ones of the operand.
    template <class Operand, class... Indices, class Labels, class Use>
    void take_apart(const leaf<indexed_operand<Operand, Indices...>, Labels>& node, const Use& use) const {
        using plain =
            united_t<std::conditional_t<DataIndex<Indices>, label_list<>, typename affine_of<Indices>::labels>...>;
        constexpr std::size_t rank = plain::size + indexed_operand<Operand, Indices...>::data_indices;
        const auto& held = node.operand.operand;
        affine_map at = map_of<ids>(node);
        std::array<label_id, rank> labels{};
        std::array<interval, rank> ranges{};
        std::copy_n(ids::template ids<plain>.begin(), plain::size, labels.begin());
        std::copy_n(ranges_of(ids::template ids<plain>).begin(), plain::size, ranges.begin());
        std::vector<data_index> indices;
        std::size_t dimension = 0;
        const auto add = [&]<class Index>(const Index& /*written*/) {
            if constexpr (DataIndex<Index>) {
                const auto extents = Source::extents_of(held);
                const auto label = label_id(ids::size + indices.size());
                const index extent = extents.empty() ? 0 : extents[dimension];
                labels[plain::size + indices.size()] = label;
                ranges[plain::size + indices.size()] = {0, extent};
                at.functions[dimension] = {{{label, 1}}};
                std::string name = Source::name_of(held, dimension);
                if constexpr (requires { typename Index::along; }) {
                    name = Index::along::name;
                }
                indices.push_back({element_type_of<typename Index::value_type>(), extent, std::move(name)});
            }
            ++dimension;
        };
        const auto tokens = std::apply(
            [&](const auto&... each) {
                (add(each), ...);
                return std::tuple_cat(token(each)...);
            },
            node.operand.indices);
        std::apply(
            [&](const auto&... each) {
                use(Source::at(held, at, labels, ranges), labels, std::move(indices), each...);
            },
            tokens);
    }
    /// The extents of a tensor with these labels.
    template <class Labels>
    std::array<index, Labels::size> extents_of() const {
        std::array<index, Labels::size> extents{};
        const auto ranges = ranges_of(ids::template ids<Labels>);
        std::transform(ranges.begin(), ranges.end(), extents.begin(), [](interval range) { return range.size(); });
        return extents;
    }
    template <std::size_t Count>
    std::array<interval, Count> ranges_of(const std::array<label_id, Count>& labels) const {
        std::array<interval, Count> ranges{};
        std::transform(labels.begin(), labels.end(), ranges.begin(),
                       [&](label_id label) { return ranges_[std::size_t(label)]; });
        return ranges;
    }

private:
    template <class E>
    static void learn(const E& node, std::vector<statement_read>& operands) {
        for_each_leaf(node, [&]<class Operand, class Labels>(const leaf<Operand, Labels>& each, auto /*reduced*/) {
            if constexpr (requires { Source::extents_of(read_tensor(each.operand)); }) {
                const auto& held = read_tensor(each.operand);
                operands.push_back(
                    {Source::tensor_of(held), map_of<ids>(each, Source::extents_of(held)), kinds_in(each.operand)});
            } else if constexpr (std::is_same_v<Operand, iota_operand>) {
                const index& extent = each.operand.extent;
                operands.push_back({&extent, map_of<ids>(each, {&extent, extent < 0 ? 0U : 1U}), {index_kind::label}});
                operands.back().is_iota = true;
            }
            if constexpr (Selects<Operand>) {
                std::apply([&](const auto&... index) { (learn_data(index, operands), ...); }, each.operand.indices);
            }
        });
    }
    template <class Index>
    static void learn_data(const Index& written, std::vector<statement_read>& operands) {
        if constexpr (DataIndex<Index>) {
            learn<typename token_of<Index>::type>(written, operands);
        }
    }
    template <class Index>
    auto token(const Index& written) const {
        if constexpr (!DataIndex<Index>) {
            return std::tuple<>();
        } else {
            using Labels = united_t<typename Index::labels>;
            const typename token_of<Index>::type& token = written;
            return std::tuple(Source::template value_of<typename Index::value_type, Labels>(*this, token));
        }
    }

    std::array<interval, ids::size> ranges_;
    std::string failure_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
