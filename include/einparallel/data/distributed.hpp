#pragma once
// A tensor whose elements lie on the ranks of a context: what a run returns, or the application's own.

#include <einparallel/array/array.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/data/collect.hpp>
#include <einparallel/data/own_layout.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/run/context.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

/// A handle to this rank's elements of a distributed tensor. It also knows which rank holds which other elements.
/// Copies of a handle share the elements. Elements may lie on a device (ep::device_run::results_stay, ep::device_view):
/// runs on devices read them in place; gather, allgather, fetch, fetch_into, for_each_local, save_npy and printing copy
/// this rank's elements through pinned host memory. The communicators belong to the context, so it must be alive in
/// collective calls on a handle; local calls need it only to copy elements from a device. An empty handle knows no
/// context, so a collective call on it throws on that rank only: use empty handles on all ranks or on none.
template <class T, std::size_t Rank>
class distributed {
    static_assert(detail::is_element<T>,
                  "ep::distributed: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    /// An empty handle.
    distributed() = default;

    /// A handle to a tensor in the application's own distribution. The tensor has these extents. This rank holds the
    /// elements of `local`; the first of them has the index `lower` in the tensor. The handle refers to the elements:
    /// they must outlive the handle and all runs that read it. A rank that holds nothing gives a view with an extent of
    /// 0, or with a null pointer. Collective: the ranks exchange their boxes, so that every rank knows all of them.
    ///
    ///     ep::distributed<double, 2> d(world, {m, n}, {first_row, 0}, ep::view<double, 2>(rows, {my_rows, n}));
    /// @throws error, the same on every rank, where extents differ between ranks, a box reaches outside of the tensor
    /// or has a negative extent, two boxes overlap, or no rank holds some element
    distributed(context& world, const detail::per_dimension<Rank>& extents, const detail::per_dimension<Rank>& lower,
                view<T, Rank> local)
        : local_(detail::own_tensor(world, {extents.begin(), extents.end()}, detail::elements_of(local).at(lower))) {}

    /// Like the constructor above, for an array. The handle and its copies own an array that is moved in. They refer to
    /// any other array; a run throws if this array is gone when the run reads or writes it.
    template <class Array, class = std::enable_if_t<std::is_same_v<std::remove_reference_t<Array>, array<T, Rank>>>>
    distributed(context& world, const detail::per_dimension<Rank>& extents, const detail::per_dimension<Rank>& lower,
                Array&& local)
        : distributed(world, extents, lower, view<T, Rank>(local)) {
        if constexpr (!std::is_lvalue_reference_v<Array>) {
            local_.keep = std::make_shared<const Array>(std::move(local));
        } else if (local.data() != nullptr) {
            local_.life = detail::life_of(local.data());
        }
    }

    /// Does not compile: the context is missing.
    distributed(const detail::per_dimension<Rank>& /*extents*/, const detail::per_dimension<Rank>& /*lower*/,
                const view<T, Rank>& /*local*/) {
        static_assert(detail::fits<T>,
                      "ep::distributed: the context comes first: ep::distributed<double, 2> d(world, {m, n}, "
                      "{first_row, 0}, view)");
    }

    /// Does not compile: a pointer has no extents.
    distributed(context& /*world*/, const detail::per_dimension<Rank>& /*extents*/,
                const detail::per_dimension<Rank>& /*lower*/, const void* /*local*/) {
        static_assert(
            detail::fits<T>,
            "ep::distributed: this rank's block needs extents: ep::view<double, 2>(pointer, {rows, columns})");
    }

    /// For the library's own use. @pre the local tensor holds elements of type T in Rank dimensions
    explicit distributed(detail::local_tensor local) : local_(std::move(local)) {}

    /// Extents of the whole tensor.
    [[nodiscard]] std::array<index, Rank> extents() const {
        std::array<index, Rank> whole{};
        for (std::size_t dimension = 0; dimension < Rank && local_tensor().where != nullptr; ++dimension) {
            whole[dimension] = local_tensor().where->bounds()[dimension];
        }
        return whole;
    }

    /// The box of the tensor that this rank holds, in global indices.
    [[nodiscard]] const box& held() const { return local_tensor().elements.held; }

    /// A view of the elements of held(), for reading and writing. If this rank holds none, its pointer is null and its
    /// extents are 0.
    /// @throws error where the elements are on a device
    [[nodiscard]] view<T, Rank> local() const {
        detail::expect(!local_tensor().elements.is_on_device,
                       "distributed: local() needs elements on the host, and these are on a device: copy them by "
                       "fetch, gather or for_each_local, or take their address from ep::device_view(z).data()");
        std::array<index, Rank> shape{};
        std::array<index, Rank> strides{};
        for (std::size_t dimension = 0; dimension < Rank && !holds_nothing(); ++dimension) {
            shape[dimension] = local_tensor().elements.held.sides[dimension].size();
            strides[dimension] = local_tensor().elements.strides[dimension];
        }
        return {holds_nothing() ? nullptr : reinterpret_cast<T*>(local_tensor().elements.data), shape, strides};
    }

    /// The distribution: which rank holds which box.
    [[nodiscard]] const distribution& where() const { return *detail::checked(local_tensor()).where; }

    /// A pin to the blocks of this tensor. `Z.pinned(z.pin())` makes Z lie as `z` does. Local.
    /// @throws error where the blocks do not form a grid with the ranks in its order. Ranks without elements must come
    /// last, if several dimensions are cut or if the tensor has no dimensions
    EINPARALLEL_INLINE [[nodiscard]] std::vector<pinned_part> pin() const {
        return detail::pin_of(*detail::checked(local_tensor()).where);
    }

    /// Calls f(global indices as std::array<index, Rank>, T&) for every element of this rank, in row-major order.
    /// Local. Elements on a device are copied to the host, and copied back after the last call of f.
    void for_each_local(auto&& f) const {
        if (holds_nothing()) {
            return;
        }
        const detail::local_tensor all =
            local_tensor().elements.is_on_device ? detail::on_host(local_tensor()) : local_tensor();
        T* const elements = reinterpret_cast<T*>(all.elements.data);
        std::array<index, Rank> first{};
        detail::for_each_index(all.elements.held, first, [&](const std::array<index, Rank>& at) {
            index offset = 0;
            for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
                offset += (at[dimension] - all.elements.held.sides[dimension].begin) * all.elements.strides[dimension];
            }
            std::invoke(f, at, elements[offset]);
        });
        detail::write_back(local_tensor(), all);
    }

    /// Returns the whole tensor on rank `root`, and an empty array on the other ranks (with one zero if Rank is 0).
    /// Collective. Each rank sends its elements to `root`, from where they lie if they are dense and on the host.
    /// @throws error, the same on every rank
    EINPARALLEL_INLINE [[nodiscard]] array<T, Rank> gather(int root) const { return gathered(root); }

    /// Returns the whole tensor on every rank. Collective. Each rank sends its elements to every other rank, from where
    /// they lie if they are dense and on the host.
    /// @throws error, the same on every rank
    EINPARALLEL_INLINE [[nodiscard]] array<T, Rank> allgather() const { return gathered(std::nullopt); }

    /// Copies a box of the tensor into `here`, from the ranks that hold its elements. Every rank asks for its own box,
    /// which begins at `lower` and has the extents of `here`. Boxes may overlap (ghost cells), need not cover the
    /// tensor, and may be empty (an extent of 0, or a null pointer). The view may have any strides with which no two of
    /// its elements share memory; its memory may belong to this tensor. Collective. The ranks first agree in a few
    /// small messages. Then each rank sends each other rank the elements that this one asks for, in one message. They
    /// are sent from where they lie, unless they are on a device, a stride is negative, `here` is memory of this
    /// tensor, or the message consists of many short runs.
    ///
    ///     z.fetch_into({first_row, 0}, ep::view<double, 2>(rows, {my_rows, n}));
    /// @throws error, the same on every rank, where a box reaches outside of the tensor; nothing is written then
    EINPARALLEL_INLINE void fetch_into(const detail::per_dimension<Rank>& lower, view<T, Rank> here) const {
        const detail::strided_box target = detail::elements_of(here).at(lower);
        detail::fetch_tensor(detail::checked(local_tensor()), target.held, detail::check_target(target),
                             [&] { return target; });
    }

    /// Copies the tensor into the memory of `there`, which has the same extents and its own distribution. Collective.
    /// All ranks know the boxes of `there` already, so they exchange none.
    /// @throws error, the same on every rank, where extents differ
    EINPARALLEL_INLINE void fetch_into(const distributed& there) const {
        detail::fetch_like(detail::checked(local_tensor()), there.local_tensor());
    }

    /// Like fetch_into, but returns a new array with the box that begins at `lower` and has these extents. Collective.
    /// @throws error, the same on every rank
    EINPARALLEL_INLINE [[nodiscard]] array<T, Rank> fetch(const detail::per_dimension<Rank>& lower,
                                                          const detail::per_dimension<Rank>& extents) const {
        array<T, Rank> made;
        const box wanted = detail::box_at(lower, extents);
        detail::fetch_tensor(detail::checked(local_tensor()), wanted, detail::negative_extent(extents), [&] {
            made = array<T, Rank>(static_cast<const std::array<index, Rank>&>(extents));
            return detail::elements_of(view<T, Rank>(made)).at(lower);
        });
        return made;
    }

    /// For the library's own use.
    [[nodiscard]] const detail::local_tensor& local_tensor() const {
        return given_ == nullptr ? local_ : detail::not_given(*given_);
    }
    /// Gives the elements to a run, which may write over them. The handle no longer has them when the run has begun.
    [[nodiscard]] std::shared_ptr<detail::donation> give() {
        given_ = std::make_shared<detail::donation>(
            detail::donation{local_tensor().where == nullptr ? nullptr : detail::input_in_memory(local_tensor())});
        local_ = {};
        return given_;
    }

private:
    [[nodiscard]] array<T, Rank> gathered(std::optional<int> root) const {
        array<T, Rank> whole;
        detail::gather_tensor(detail::checked(local_tensor()), root, [&] {
            whole = array<T, Rank>(extents());
            return reinterpret_cast<std::byte*>(whole.data());
        });
        return whole;
    }

    /// Also true for an empty handle, such as one that was moved from.
    [[nodiscard]] bool holds_nothing() const {
        return local_tensor().where == nullptr || local_tensor().elements.held.empty();
    }

    detail::local_tensor local_;
    std::shared_ptr<detail::donation> given_{};  ///< null unless the elements were given to a run
};

inline namespace EINPARALLEL_WAY {

/// Prints the box that this rank holds, as `[3:6, 0:5] of 6 x 5`, and its elements below. Local.
template <class T, std::size_t Rank>
std::ostream& operator<<(std::ostream& stream, const distributed<T, Rank>& elements) {
    return detail::print_tensor(stream, elements.local_tensor());
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
