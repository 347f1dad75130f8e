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

/// A handle on this rank's elements of a tensor, and on the knowledge of who holds the rest. Copying shares the
/// elements. Those on a device (ep::device_run::results_stay, ep::device_view) are read in place by runs on devices;
/// gather, allgather, fetch, fetch_into, for_each_local, save_npy and printing copy this rank's elements through the
/// host, pinned. The communicators belong to the context: collective calls on a handle need it alive, local ones do
/// not. An empty handle knows no context, so a collective call on one throws there alone: default handles are for
/// all ranks or for none.
template <class T, std::size_t Rank>
class distributed {
    static_assert(detail::is_element<T>,
                  "ep::distributed: elements are float, double, std::complex of these, halves, integers or bool");

public:
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    /// An empty handle.
    distributed() = default;

    /// The application's own distribution: this rank holds the elements of `local`, the first of them at `lower` of a
    /// tensor with these extents. The elements are referred to and must outlive the handle and all runs that read it.
    /// A rank that holds nothing gives a view with an extent of 0, or a null pointer. Collective: the boxes are
    /// exchanged, so that every rank knows all of them.
    ///
    ///     ep::distributed<double, 2> d(world, {m, n}, {first_row, 0}, ep::view<double, 2>(rows, {my_rows, n}));
    /// @throws error, the same on every rank, where extents differ between ranks, a box reaches outside or has a
    /// negative extent, two boxes overlap, or some element is held by nobody
    distributed(context& world, const detail::per_dimension<Rank>& extents, const detail::per_dimension<Rank>& lower,
                view<T, Rank> local)
        : local_(detail::own_tensor(world, {extents.begin(), extents.end()}, detail::elements_of(local).at(lower))) {}

    /// The same of an array: one that is moved in is the handle's and its copies'; of another one that is gone when a
    /// run reads or writes it, the run says so.
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

    /// Without a context: refused.
    distributed(const detail::per_dimension<Rank>& /*extents*/, const detail::per_dimension<Rank>& /*lower*/,
                const view<T, Rank>& /*local*/) {
        static_assert(detail::fits<T>,
                      "ep::distributed: the context comes first: ep::distributed<double, 2> d(world, {m, n}, "
                      "{first_row, 0}, view)");
    }

    /// A pointer without extents: refused.
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

    /// The elements of held(), for reading and writing; extents of 0 (rank 0: a null pointer) where there is none.
    /// @throws error where they are on a device
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

    /// Who holds what.
    [[nodiscard]] const distribution& where() const { return *detail::checked(local_tensor()).where; }

    /// Its blocks as a pin, for a tensor that is to lie as this one does: `Z.pinned(z.pin())`. Local.
    /// @throws error where the blocks are no grid: other ranks without elements than the last ones, of a tensor that is
    /// cut along several dimensions or a number, or ranks in no order
    EINPARALLEL_INLINE [[nodiscard]] std::vector<pinned_part> pin() const {
        return detail::pin_of(*detail::checked(local_tensor()).where);
    }

    /// Calls f(global indices as std::array<index, Rank>, T&) for every element of this rank, in row-major order.
    /// Local. Elements on a device are copied to the host, and back when f has seen all.
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

    /// The whole tensor on rank `root`, an empty array elsewhere (one zero for rank 0). Collective. Each rank sends its
    /// elements to the root, without copying them first.
    /// @throws error, the same on every rank
    EINPARALLEL_INLINE [[nodiscard]] array<T, Rank> gather(int root) const { return gathered(root); }

    /// The whole tensor on every rank. Collective. Each rank sends its elements to every other, without copying them
    /// first.
    /// @throws error, the same on every rank
    EINPARALLEL_INLINE [[nodiscard]] array<T, Rank> allgather() const { return gathered(std::nullopt); }

    /// Elements of the tensor, from whichever ranks hold them, in the application's own layout: every rank asks for the
    /// box at `lower` with the extents of `here`, and finds it in `here`. Boxes may overlap (ghost cells), need not
    /// cover the tensor, and may be empty (an extent of 0, or a null pointer). The view may have any strides but 0, and
    /// may be memory of this very tensor. Collective. One message for each pair of ranks of which one holds what the
    /// other asks for, of just that, without copies where no stride is negative; a few small agreements before.
    ///
    ///     z.fetch_into({first_row, 0}, ep::view<double, 2>(rows, {my_rows, n}));
    /// @throws error, the same on every rank, where a box reaches outside; nothing is written then
    EINPARALLEL_INLINE void fetch_into(const detail::per_dimension<Rank>& lower, view<T, Rank> here) const {
        const detail::strided_box target = detail::elements_of(here).at(lower);
        detail::fetch_tensor(detail::checked(local_tensor()), target.held, detail::check_target(target),
                             [&] { return target; });
    }

    /// The same into the memory of another distributed tensor, in its own distribution, which all ranks know already.
    /// @throws error, the same on every rank, where extents differ
    EINPARALLEL_INLINE void fetch_into(const distributed& there) const {
        detail::fetch_like(detail::checked(local_tensor()), there.local_tensor());
    }

    /// The same in an array of this rank's: the box at `lower` with these extents. Collective.
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
    /// The elements for a run that may write over them, which has them alone once it has begun.
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

    /// True too for an empty handle, moved-from ones included.
    [[nodiscard]] bool holds_nothing() const {
        return local_tensor().where == nullptr || local_tensor().elements.held.empty();
    }

    detail::local_tensor local_;
    std::shared_ptr<detail::donation> given_{};  ///< where the elements were given to a run
};

inline namespace EINPARALLEL_WAY {

/// This rank's elements, and which they are: `[3:6, 0:5] of 6 x 5` and the elements below. Local.
template <class T, std::size_t Rank>
std::ostream& operator<<(std::ostream& stream, const distributed<T, Rank>& elements) {
    return detail::print_tensor(stream, elements.local_tensor());
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
