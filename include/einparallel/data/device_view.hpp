#pragma once
// Device memory that the application owns, as a value.

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/local_tensor.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel {

/// A view of elements on this rank's device, row-major or with strides in elements. It does not own them. Runs on
/// devices read them in place, and write them where they are given for an output. Work on them that the application has
/// queued must be done when the run begins, or be in the stream device_run.stream. It must also be done when the host
/// reads them.
///
///     plan.run(world, ep::on_device, ep::bind(X, ep::device_view<double, 2>(pointer, {m, k})));
///     const auto rows = ep::device_view<double, 2>(mine, {my_rows, n})
///                           .distributed_over(world, {m, n}, {first_row, 0});
///     plan.run(world, ep::on_device, ep::into(Z.pinned(rows.pin()), rows));  // written in place
template <class T, std::size_t Rank>
class device_view {
    static_assert(
        detail::is_element<T>,
        "ep::device_view: elements are float, double, std::complex of these, halves, integers or bool, and not const");

public:
    /// A row-major view.
    device_view(T* elements, const detail::per_dimension<Rank>& extents)
        : elements_{reinterpret_cast<std::byte*>(elements),
                    whole_box({extents.begin(), extents.end()}),
                    {},
                    element_type_of<T>(),
                    true} {
        elements_.strides = dense_strides(elements_.held);
    }
    /// A view with these strides, in elements.
    device_view(T* elements, const detail::per_dimension<Rank>& extents, const detail::per_dimension<Rank>& strides)
        : device_view(elements, extents) {
        elements_.strides = {strides.begin(), strides.end()};
    }

    /// A view of this rank's elements of a result that stayed on the device, for kernels of the application.
    /// @throws error where the elements are on the host
    explicit device_view(const distributed<T, Rank>& result)
        : elements_(detail::checked(result.local_tensor()).elements) {
        detail::expect(
            elements_.is_on_device,
            "device_view: these elements are on the host: set device_run.results_stay to leave results on the device");
        elements_.held = whole_box(detail::extents_of(elements_.held));
    }
    /// Arrays, vectors and other objects on the host do not compile.
    template <class Other>
    explicit device_view(const Other& /*other*/) {
        static_assert(detail::fits<Other>,
                      "ep::device_view: give a pointer to device memory, then extents: ep::device_view<double, 2> "
                      "v(pointer, {m, n}); elements on the host are bound without ep::device_view");
    }

    /// The first element, or null where this rank has none.
    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(elements_.data); }
    /// Strides, in elements.
    [[nodiscard]] const std::vector<index>& strides() const { return elements_.strides; }

    /// ep::bind calls this. Every rank has the whole tensor on its device.
    [[nodiscard]] binding bound_to(const tensor<T, Rank>& placeholder) const {
        return {placeholder.node(), detail::input_in_memory({nullptr, elements_, nullptr, {}})};
    }

    /// A tensor in the application's own distribution, for from_distributed, bind and into. The tensor has these
    /// extents. This rank holds the elements of this view; the first of them has the index `lower`. Collective, like
    /// the constructor of ep::distributed.
    /// @throws error, the same on every rank
    [[nodiscard]] distributed<T, Rank> distributed_over(context& world, const detail::per_dimension<Rank>& extents,
                                                        const detail::per_dimension<Rank>& lower) const {
        return distributed<T, Rank>(detail::own_tensor(world, {extents.begin(), extents.end()}, elements_.at(lower)));
    }

private:
    detail::strided_box elements_;
};

/// ep::device_view(pointer, {m, k}): the rank is the number of extents.
template <class T, std::size_t Count>
device_view(T*, const extent (&)[Count]) -> device_view<T, Count>;

}  // namespace einparallel
