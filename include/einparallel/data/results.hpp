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
    static_assert(fits<Stream>, "ep::results: an output is printed, std::cout << results.get(Z)");
    const printed_results& operator<<(const auto& /*next*/) const;
};

}  // namespace detail

/// One part per output of the plan. Holds the elements of this rank, on the host, or on its device where
/// ep::device_run::results_stay says so; what the application lets go of, the next run of the same plan uses again.
/// A tensor that is named twice among the outputs is computed once, and so are outputs of equal statements (the
/// plan's table says so): all are handles on the same elements, as copies of a handle are, and each keeps them
/// alive.
class results {
public:
    /// An output, with its type erased.
    struct part {
        std::vector<std::weak_ptr<vertex>> made_by{};  ///< the output, and those that are equal
        detail::local_tensor here{};                   ///< the elements of this rank
    };

    /// The results of no run.
    results() = default;
    /// For the library's own use.
    results(std::vector<part> outputs, std::size_t bytes_sent, std::size_t extra_bytes_sent)
        : outputs_(std::move(outputs)), bytes_sent_(bytes_sent), extra_bytes_sent_(extra_bytes_sent) {}

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

    /// Output number `position`, in the order in which decompose() was given them. Local.
    template <class T, std::size_t Rank>
    [[nodiscard]] distributed<T, Rank> at(std::size_t position) const {
        detail::require(position < outputs_.size(),
                        {"results: there is no output ", position, ", the plan has ", outputs_.size()});
        return typed<T, Rank>(outputs_[position]);
    }

    /// The one output of a plan. Local.
    /// @throws error where the plan has several, or one of another type
    template <class T, std::size_t Rank>
    operator distributed<T, Rank>() const {  // implicit by design: ep::distributed<double, 2> z = plan.run(world);
        detail::require(outputs_.size() == 1,
                        {"results: the plan has ", outputs_.size(), " outputs, choose one with get()"});
        return typed<T, Rank>(outputs_.front());
    }

    /// Number of outputs.
    [[nodiscard]] std::size_t size() const { return outputs_.size(); }

    /// Element bytes that this rank handed to MPI for others: what plan.bytes_sent(rank) says.
    [[nodiscard]] std::size_t bytes_sent() const { return bytes_sent_; }
    /// Bytes beside bytes_sent() that it sent to bring bound values from where they rested to where the plan reads
    /// them.
    [[nodiscard]] std::size_t extra_bytes_sent() const { return extra_bytes_sent_; }

    /// Refused: outputs may be of any type.
    template <class Stream>
    friend detail::printed_results<Stream> operator<<(Stream& stream, const results& /*several*/);

private:
    template <class T, std::size_t Rank>
    static distributed<T, Rank> typed(const part& each) {
        const element_type element = each.here.elements.element;
        const std::size_t rank = each.here.where->bounds().size();
        detail::require(element == element_type_of<T>(),
                        {"results: the output has elements of type ", detail::name_of_element(element), ", not ",
                         detail::name_of_element(element_type_of<T>())});
        detail::require(rank == Rank, {"results: the output has ", rank, " dimensions, not ", Rank});
        return distributed<T, Rank>(each.here);
    }

    std::vector<part> outputs_;
    std::size_t bytes_sent_ = 0;
    std::size_t extra_bytes_sent_ = 0;
};

}  // namespace einparallel
