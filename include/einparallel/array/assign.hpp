#pragma once
// Assignment to labelled arrays and views: checks the statement, then lowers it to vertices that run at once.

#include <einparallel/array/array_leaves.hpp>
#include <einparallel/array/immediate.hpp>
#include <einparallel/array/lower.hpp>
#include <einparallel/array/one_hot.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/array/terms.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/typed_expression.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

// --- what a statement reads, as values

/// Lists the leaves of a statement term by term.
template <class Statement, class E>
auto listed_leaves(const E& right) {
    std::array<statement_leaf, E::leaf_count> leaves;
    statement_leaf* next = leaves.data();
    for_each_term<false>(right, [&]<class Term>(const Term& term, auto /*negative*/) {
        const statement_leaf* const first = next;
        for_each_leaf(term, [&]<class Operand, class Labels>(const leaf<Operand, Labels>& node, auto reduced) {
            constexpr bool in_place = !decltype(reduced)::value && !Statement::template aggregates<Term>;
            *next++ = {{handle_of(node.operand), Statement::ids::template ids<Labels>}, in_place, false};
        });
        if (next != first) {
            next[-1].ends_term = true;
        }
    });
    return leaves;
}

// --- one vertex that computes the output element by element from arrays and views

template <class Leaf>
inline constexpr bool is_joined_leaf = requires {
    &Leaf::operand_type::joined;
};
/// True where some operand is joined of several blocks of memory.
template <class E>
inline constexpr bool has_joined =
    []<class... Leaves>(type_list<Leaves...> /*all*/) { return (is_joined_leaf<Leaves> || ...); }(leaves_t<E>{});

template <class Statement, class Out, class E>
inline constexpr bool is_elementwise = E::is_flat && !has_joined<E> && !Statement::template aggregates<E> &&
                                       has_elements<E> && !is_product<Statement, Out, E> && E::leaf_count <= 64;

/// One bit for each leaf. It is set for the last leaf of each term.
template <class E>
inline constexpr std::uint64_t ends_of_terms = E::leaf_count == 0 ? 0 : std::uint64_t{1} << (E::leaf_count - 1);
template <class Sign, class... Terms>
    requires joins_terms<Sign>
inline constexpr std::uint64_t ends_of_terms<join_node<Sign, Terms...>> = [] {
    std::uint64_t ends = 0;
    std::size_t before = 0;
    ((ends |= ends_of_terms<Terms> << before, before += Terms::leaf_count), ...);
    return ends;
}();

/// Lists leaves as operands. Its type depends on the label ids of a statement, not on the statement.
template <class Ids>
struct block_list {
    strided_block* next;
    std::size_t count = 0;

    template <class Operand, class Labels>
    [[gnu::noinline]] value_at<stored_t<Operand>> leaf(const detail::leaf<Operand, Labels>& node) {
        *next++ = {handle_of(node.operand), Ids::template ids<Labels>};
        return {row_name(count++), 0};
    }
};

template <class Out, class Statement, class E>
[[gnu::cold]] void execute_elementwise(const strided_block& output, const E& right, write_mode mode, growth grow) {
    using leaves = block_list<typename Statement::ids>;
    std::array<strided_block, E::leaf_count> operands;
    join_work work;
    work.rows.operands = E::leaf_count;
    work.reduction = row_reduction_of<Out>(op::sum);
    leaves list{operands.data()};
    node_writer<op::sum_type, call_writer<true, false>, leaves>({work, nullptr}, list).template write_all<Out>(right);
    run_elementwise(Statement::ids::names, {output, Statement::left_labels}, operands, ends_of_terms<E>, work, mode,
                    grow);
}

// --- products of arrays, views and numbers: one value, one call

/// True for a statement of one term that is a product, of type Out, of arrays, views and numbers. If it is summed, then
/// over all labels that are missing on the left.
template <class Statement, class Out, class E>
inline constexpr bool is_one_product = [] {
    constexpr bool aggregates = Statement::template aggregates<E>;
    // More than two factors must all have one type; others would first have to be converted.
    constexpr bool reads_others = []<class... T>(type_list<T...> /*leaves*/) {
        return (!std::is_same_v<T, Out> || ...);
    }(typename leaf_types<E>::type{});
    return factors<Statement, E, Out, E>::only_leaves && !has_joined<E> && is_product<Statement, Out, E> &&
           !(reads_others && E::leaf_count > 2) && Statement::template fills_left<E> &&
           !(aggregates && loses<typename E::value_type, Out>);
}();

// --- execution

/// Computes `right` into the output, one vertex after the other. T is the type of the statement.
template <assignment How, class Out, class T, class Statement, class E>
void execute_in_steps(const strided_block& output, const E& right, growth grow) {
    immediate_builder builder(Statement::ids::names, {output, Statement::left_labels}, listed_leaves<Statement>(right),
                              grow);
    lowering<immediate_builder, Statement> lower(builder);

    constexpr bool subtracts = How == assignment::subtract;
    write_mode mode = How == assignment::set ? write_mode::overwrite : write_mode::combine;
    if constexpr (How == assignment::set && is_alone<Statement, Out, E>) {
        lower.template vertex_of<Out>(mode, right);
    } else if constexpr (!std::is_same_v<T, Out>) {  // the terms are added up first, so that the sum is rounded once
        lower.template reduce<Out>(mode, op::sum, with_sign<subtracts>(elementwise_terms<Statement, true>(right)),
                                   Statement::left_labels);
    } else {
        const auto accumulate = [&](const auto& term) {
            lower.template reduce<Out>(mode, op::sum, term, Statement::left_labels);
            mode = write_mode::combine;
        };
        const auto terms = elementwise_terms<Statement, false>(right);
        if constexpr (!std::is_same_v<std::remove_const_t<decltype(terms)>, no_terms>) {
            accumulate(with_sign<subtracts>(terms));
        }
        for_each_term<subtracts>(right, [&]<class Term>(const Term& term, auto negative) {
            if constexpr (is_direct<Statement, Term>) {
                accumulate(with_sign<decltype(negative)::value>(summand(term)));
            }
        });
    }
}

/// Computes `right`, of the type T, into the output. `How` says what happens to the old elements of the output.
template <assignment How, class Out, class T, class LeftLabels, class E>
void execute_typed(const strided_block& output, const E& right, growth grow) {
    using Statement = statement<LeftLabels, E>;
    if constexpr (How == assignment::subtract && is_complex<Out>::value && !Statement::template aggregates<E>) {
        // Signs change: a product with −1 makes a NaN of an infinite real or imaginary part.
        execute_typed<assignment::add, Out, T, LeftLabels>(output, with_sign<true>(right), grow);
    } else if constexpr (is_one_product<Statement, Out, E>) {
        static constexpr product_form form{Statement::ids::names,
                                           How == assignment::set ? write_mode::overwrite : write_mode::combine,
                                           !Statement::template aggregates<E>};
        constexpr std::size_t operands = E::leaf_count;
        std::array<strided_block, operands + 1> blocks{strided_block(output, Statement::left_labels)};
        strided_block* next = &blocks[1];
        Out scale = Out(1);
        for_each_factor(right, scale,
                        [&]<class Operand, class Labels>(const leaf<Operand, Labels>& factor, auto /*conjugated*/) {
                            *next++ = {handle_of(factor.operand), Statement::ids::template ids<Labels>};
                        });
        if constexpr (How == assignment::subtract) {
            scale = negate{}(scale);
        }
        run_product<Out, std::min<std::size_t>(operands, 3)>(form, blocks, scale, grow);
    } else if constexpr (is_elementwise<Statement, Out, E>) {
        execute_elementwise<Out, Statement>(output, with_sign<How == assignment::subtract>(right),
                                            How == assignment::set ? write_mode::overwrite : write_mode::combine, grow);
    } else {
        execute_in_steps<How, Out, T, Statement>(output, right, grow);
    }
}

/// True where Z += x is computed as Z = Z + x, so that x is not rounded before it is added.
template <class Out, class E>
inline constexpr bool adds_in_one = !is_number<Out> && !std::is_same_v<statement_type<Out, E>, Out>;

/// Assigns all elements: to(labels) = from(labels).
template <class To, class From>
void assign_elements(To&& to, const From& from) {
    [&]<std::size_t... Dimension>(std::index_sequence<Dimension...> /*dimensions*/) {
        to(label<'d', char(Dimension + 1)>()...) = from(label<'d', char(Dimension + 1)>()...);
    }
    (std::make_index_sequence<From::rank>());
}

/// A labelled array or view. It is an operand, and an einsum can be assigned to it.
template <class T, class Operand, class Labels>
class target
    : public written_leaf<target<T, Operand, Labels>, T, leaf<Operand, Labels>, array<T, Operand::rank>, false> {
public:
    /// @param grows  the array, if it may take its extents from the right-hand side; else null
    explicit target(Operand held, array<T, Operand::rank>* grows = nullptr)
        : target::written_leaf(typename target::node(std::move(held)), grows) {}

    using target::written_leaf::operator=;
    /// Computes the right-hand side into the elements. An array without elements takes its extents from the right-hand
    /// side.
    template <assignment How, class E>
    void take(const E& right) const {
        if constexpr (has_selections<Labels, E>) {
            take<How>(with_selections<Labels, E>(right));
        } else if constexpr (How != assignment::set && !Selects<Operand> && !waits<Operand> && adds_in_one<T, E>) {
            using Sign = std::conditional_t<How == assignment::add, plus, minus>;
            take<assignment::set>(make_join(Sign{}, this->read(), right));
        } else if constexpr (waits<Operand> || waits_for_extents<E>) {
            resolution<statement<Labels, E>, array_leaves> found(this->read(), right);
            expect(found.failure().empty(), found.failure());
            if constexpr (Selects<Operand>) {
                write_selected<How>(found, right);
            } else if constexpr (waits<Operand>) {
                write_at<How>(found, right);
            } else if (const strided_block all = handle_of(this->operand);  // a section, if read at functions, too
                       !lacks_extents(all) && found.template extents_of<Labels>() != this->operand.extents) {
                write_at<How>(found, right);
            } else if constexpr (is_selection<E> && std::is_same_v<typename E::value_type, T> &&
                                 How != assignment::subtract) {
                write_all<How>([&](const strided_block& output, write_mode mode, growth grow) {
                    array_leaves::gather(found, right, {output, decltype(found)::ids::template ids<Labels>}, mode,
                                         grow);
                });
            } else {
                take<How>(found.resolved(right));
            }
        } else {
            write_all<How>([&](const strided_block& output, write_mode /*mode*/, growth grow) {
                using Type = statement_type<T, E>;
                execute_typed<How, T, Type, Labels>(output, typed<Type>(right), grow);
            });
        }
    }

private:
    /// Writes all elements. An array without elements may take its extents from the right-hand side.
    template <assignment How, class Write>
    void write_all(const Write& write) const {
        Operand output = this->operand;
        const bool may_grow = How == assignment::set && this->handle_ != nullptr;
        const growing_array array{may_grow ? &this->handle_->elements_ : nullptr, output.extents.data(),
                                  output.strides.data()};
        write(handle_of(output), How == assignment::set ? write_mode::overwrite : write_mode::combine,
              may_grow ? &array : nullptr);
        if (may_grow) {
            this->handle_->extents_ = output.extents;
        }
    }

    /// Adds `right` to the elements at indices that are data, or replaces them by it.
    template <assignment How, class Found, class E>
    void write_selected(const Found& found, const E& right) const {
        using Read = decltype(labels_among<typename E::labels>(Labels{}));
        using Sum = std::conditional_t<How == assignment::set, T, computed_t<T>>;
        const auto x = array_leaves::value_of<Sum, Read>(found, with_sign<How == assignment::subtract>(right));
        found.take_apart(this->read(),
                         [&](const auto& z, const auto& ids, std::vector<data_index> indices, const auto&... tokens) {
                             const strided_block operands[] = {array_leaves::block_of<Found>(x),
                                                               array_leaves::block_of<Found>(tokens)...};
                             const auto add_to = [&](const strided_block& into) {
                                 run_selection(Found::ids::names, {into, ids}, operands,
                                               select_work_of<Sum>(std::move(indices), How == assignment::set),
                                               write_mode::combine, nullptr);
                             };
                             if constexpr (std::is_same_v<Sum, T>) {
                                 add_to(handle_of(z));
                             } else {  // elements that several indices name are added up in float
                                 const view<T, Operand::rank> elements(const_cast<T*>(z.data), z.extents, z.strides);
                                 array<Sum, Operand::rank> sums(z.extents, first_elements::unwritten);
                                 assign_elements(sums, elements);
                                 add_to(handle_of(view(sums)));
                                 assign_elements(elements, sums);
                             }
                         });
    }

    /// Writes elements at functions of labels. If several indices name one element, terms are added to it index by
    /// index.
    template <assignment How, class Found, class E>
    void write_at(Found& found, const E& right) const {
        const auto there = found.resolved(this->read()).operand;
        const auto shares = [&](auto extents) { return overlaps_itself(extents, there.strides.data()); };
        if (!shares(there.extents)) {
            target<T, std::remove_const_t<decltype(there)>, Labels>(there).template take<How>(found.resolved(right));
            return;
        }
        expect(How != assignment::set,
               "einsum: several indices on the left name one element: say += to add up what is assigned to it");
        expect(!is_half<T>,
               "einsum: several indices on the left name one element, which would be rounded after each addition: add "
               "up in an array of floats, then assign that");
        // The right-hand side must not read what another index writes.
        const strided_block output{handle_of(there), statement<Labels, E>::left_labels};
        const auto check = [&](const auto&... read) { (check_leaf(output, {read}), ...); };
        for_each_leaf(right, [&](const auto& each, auto /*reduced*/) {
            if constexpr (is_selection<std::remove_cvref_t<decltype(each)>>) {
                found.take_apart(each, [&](const auto& x, const auto& ids, const auto&, const auto&... tokens) {
                    check(strided_block{handle_of(x), ids}, array_leaves::block_of<Found>(tokens)...);
                });
            } else if constexpr (requires { array_leaves::block_of<Found>(found.resolved(each)); }) {
                check(array_leaves::block_of<Found>(found.resolved(each)));
            }
        });
        std::size_t alone = 0;  // the shortest label that, once fixed, ends this, or the shortest of all
        for (std::size_t label = 0, least = 2; label < Labels::size; ++label) {
            auto fixed = there.extents;
            fixed[label] = 1;
            const std::size_t rank = there.extents[label] <= 1 ? 2 : shares(fixed) ? 1 : 0;
            if (rank < least || (rank == least && there.extents[label] < there.extents[alone])) {
                alone = label;
                least = rank;
            }
        }
        interval& range = found.range_of(statement<Labels, E>::ids::template ids<Labels>[alone]);
        const interval all = range;
        for (index at = all.begin; at < all.end; ++at) {
            range = {at, at + 1};
            write_at<How>(found, right);
        }
        range = all;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
