#pragma once
// What a run returns: this rank's elements of the outputs.

#include <einparallel/data/distributed.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

template <class Stream>
struct printed_results : refused {
    static_assert(fits<Stream>, "ep::results: print one output, not all results: std::cout << results.get(Z)");
    const printed_results& operator<<(const auto& /*next*/) const;
};

}  // namespace detail

/// The results of a run: this rank's elements of each output of the plan. They are on the host, or on this rank's
/// device with ep::device_run::results_stay. The next run of the same plan uses the memory of released results again. A
/// tensor that is an output twice is computed once, and so are outputs with equal statements (the plan's table shows
/// them): their handles share the elements, like copies of one handle, and each handle keeps them alive.
class results {
public:
    /// An output, with its type erased.
    struct part {
        std::vector<std::weak_ptr<vertex>> made_by{};  ///< the output, and the outputs equal to it
        detail::local_tensor here{};                   ///< the elements of this rank
    };

    /// Empty: the results of no run.
    results() = default;
    /// For the library's own use.
    results(std::vector<part> outputs, std::size_t bytes_sent, std::size_t extra_bytes_sent, std::size_t bytes_paged)
        : outputs_(std::move(outputs)),
          bytes_sent_(bytes_sent),
          extra_bytes_sent_(extra_bytes_sent),
          bytes_paged_(bytes_paged) {}

    /// The output that `made` stands for. Local.
    /// @throws error where the plan was made for other outputs
    template <class T, std::size_t Rank>
    [[nodiscard]] distributed<T, Rank> get(const tensor<T, Rank>& made) const {
        for (const part& each : outputs_) {
            if (made.node() != nullptr &&
                detail::any_in(each.made_by, [&](const auto& by) { return by.lock() == made.node(); })) {
                return typed<T, Rank>(each);
            }
        }
        const std::string name = made.node() == nullptr ? "" : made.node()->name;
        throw error("results: " + (name.empty() ? "this tensor" : "'" + name + "'") +
                    " is not an output of the plan that ran");
    }

    /// Output number `position`, in the order of the outputs given to decompose(). Local.
    template <class T, std::size_t Rank>
    [[nodiscard]] distributed<T, Rank> at(std::size_t position) const {
        detail::require(position < outputs_.size(),
                        {"results: there is no output ", position, ", the plan has ", outputs_.size()});
        return typed<T, Rank>(outputs_[position]);
    }

    /// The one output of a plan. Local.
    /// @throws error where the plan has several outputs, or one of another type
    template <class T, std::size_t Rank>
    operator distributed<T, Rank>() const {  // implicit by design: ep::distributed<double, 2> z = plan.run(world);
        detail::require(outputs_.size() == 1,
                        {"results: the plan has ", outputs_.size(), " outputs, choose one with get()"});
        return typed<T, Rank>(outputs_.front());
    }

    /// Number of outputs.
    [[nodiscard]] std::size_t size() const { return outputs_.size(); }

    /// Bytes of elements that this rank handed to MPI for other ranks, as many as plan.bytes_sent(rank) predicts.
    [[nodiscard]] std::size_t bytes_sent() const { return bytes_sent_; }
    /// Bytes that this rank sent in addition to bytes_sent(): to move bound values into the distribution that the plan
    /// reads, and outputs into the memory that ep::into gave.
    [[nodiscard]] std::size_t extra_bytes_sent() const { return extra_bytes_sent_; }

    /// Bytes of elements that this rank moved between memory and files, as many as plan.bytes_paged(rank) predicts.
    [[nodiscard]] std::size_t bytes_paged() const { return bytes_paged_; }

    /// Does not compile: print one output, results.get(Z).
    template <class Stream>
    friend detail::printed_results<Stream> operator<<(Stream& stream, const results& /*several*/);

private:
    template <class T, std::size_t Rank>
    static distributed<T, Rank> typed(const part& each) {
        const element_type element = each.here.elements.element;
        const std::size_t rank = each.here.where->bounds().size();
        detail::require(element == element_type_of<T>(),
                        {"results: the output has elements of type ", detail::written_element(element), ", not ",
                         detail::written_element(element_type_of<T>())});
        detail::require(rank == Rank, {"results: the output has ", rank, " dimensions, not ", Rank});
        return distributed<T, Rank>(each.here);
    }

    std::vector<part> outputs_;
    std::size_t bytes_sent_ = 0;
    std::size_t extra_bytes_sent_ = 0;
    std::size_t bytes_paged_ = 0;
};

}  // namespace einparallel
