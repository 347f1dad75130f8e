#pragma once
// What a deferred case is run in: inputs of every kind in turn, then one plan after another for what the case records.

#include "element.hpp"
#include "test_case.hpp"

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/array.hpp>
#include <einparallel/kernel/view.hpp>
#include <einparallel/notation/functions.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/distributed.hpp>
#include <einparallel/run/results.hpp>
#include <einparallel/run/sources.hpp>

#include "functors.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace differential {

namespace ep = einparallel;

/// Where the elements of an input come from.
enum class origin { generated, root, bound_array, bound_distributed, own_distribution, earlier_result };
inline constexpr int origins = 6;

/// Plans and runs one vertex, sparing bytes. With the planner and the executor, which the written units need not
/// compile.
[[nodiscard]] ep::results evaluated(ep::context& world, const std::shared_ptr<ep::vertex>& made);

/// An einsum that copies a tensor, by rank.
template <std::size_t Rank>
auto copy_of(const auto& tensor) {
    static_assert(Rank <= 6);
    if constexpr (Rank == 0) {
        return ep::einsum<"->">(tensor);
    } else if constexpr (Rank == 1) {
        return ep::einsum<"a->a">(tensor);
    } else if constexpr (Rank == 2) {
        return ep::einsum<"ab->ab">(tensor);
    } else if constexpr (Rank == 3) {
        return ep::einsum<"abc->abc">(tensor);
    } else if constexpr (Rank == 4) {
        return ep::einsum<"abcd->abcd">(tensor);
    } else if constexpr (Rank == 5) {
        return ep::einsum<"abcde->abcde">(tensor);
    } else {
        return ep::einsum<"abcdef->abcdef">(tensor);
    }
}

class deferred_room {
public:
    /// "" or what is wrong with a result.
    using comparison = std::function<std::string(const ep::results&)>;
    /// Tries the plans for these outputs that the test wants to have tried.
    using trial =
        std::function<void(deferred_room&, const std::vector<std::shared_ptr<ep::vertex>>&, const comparison&)>;

    deferred_room(const test_case<deferred_room>& given, ep::context& world, trial tries)
        : number_(given.number),
          outputs_(given.outputs),
          worked_(work_out(given.number, given.truth, given.extents, given.types, given.exact)),
          world_(world),
          tries_(std::move(tries)) {}

    template <class T, std::size_t Rank>
    ep::tensor<T, Rank> input(char name) {
        const oracle::tensor& values = worked_.inputs.at(name);
        std::array<ep::extent, Rank> extents{};
        std::array<ep::index, Rank> plain{};
        for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
            extents[dimension] = plain[dimension] = values.extents.at(dimension);
        }
        const auto kind = static_cast<origin>((number_ + name) % origins);
        kinds_ += static_cast<char>('0' + static_cast<int>(kind));
        const int root = (number_ / origins) % world_.size();
        switch (kind) {
            case origin::root: {
                ep::array<T, Rank> elements(plain);
                if (world_.rank() == root) {
                    fill(name, letter_of<T>, elements.data());
                }
                return ep::from_root(std::move(elements), root);
            }
            case origin::bound_array: {
                auto elements = std::make_shared<ep::array<T, Rank>>(plain);
                fill(name, letter_of<T>, elements->data());
                keep_.push_back(elements);
                const ep::tensor<T, Rank> made = placeholder<T, Rank>(extents);
                bindings_.push_back(ep::bind(made, *elements));
                return made;
            }
            case origin::bound_distributed: {
                const ep::tensor<T, Rank> made = placeholder<T, Rank>(extents);
                bindings_.push_back(ep::bind(made, own<T, Rank>(name, extents)));
                return made;
            }
            case origin::own_distribution:
                return ep::from_distributed(own<T, Rank>(name, extents));
            case origin::earlier_result: {
                const auto copied = copy_of<Rank>(generated<T, Rank>(name, extents));
                return ep::from_distributed(evaluated(world_, copied.node()).get(copied));
            }
            default:
                return generated<T, Rank>(name, extents);
        }
    }

    /// What the case ends with: its outputs, in the order of their letters.
    template <class... Outputs>
    void run(const Outputs&... outputs) {
        tries_(*this, {outputs.node()...}, [&](const ep::results& made) {
            std::string said;
            std::size_t position = 0;
            ((said += compared(outputs_[position++], made.get(outputs))), ...);
            return said;
        });
    }

    [[nodiscard]] const std::vector<ep::binding>& bindings() const { return bindings_; }
    [[nodiscard]] ep::context& world() { return world_; }
    [[nodiscard]] int number() const { return number_; }
    /// The origins of the inputs, as digits.
    [[nodiscard]] const std::string& kinds() const { return kinds_; }

private:
    template <class T, std::size_t Rank>
    static ep::tensor<T, Rank> placeholder(const std::array<ep::extent, Rank>& extents) {
        if constexpr (Rank == 0) {
            return ep::placeholder<T>(extents);
        } else {
            ep::extent braced[Rank];
            std::copy(extents.begin(), extents.end(), braced);
            return ep::placeholder<T>(braced);
        }
    }

    /// A pure function of the index, called with as many integers as there are dimensions.
    template <class T, std::size_t Rank>
    ep::tensor<T, Rank> generated(char name, const std::array<ep::extent, Rank>& extents) const {
        std::vector<T> elements(static_cast<std::size_t>(worked_.inputs.at(name).size()));
        for (std::size_t element = 0; element < elements.size(); ++element) {
            T one{};
            write_element(&one, letter_of<T>, 0, worked_.inputs.at(name).elements[element]);
            elements[element] = one;
        }
        const auto function = [extents, elements = std::move(elements)](auto... at) -> T {
            ep::index number = 0;
            std::size_t dimension = 0;
            ((number = number * extents[dimension++] + at), ...);
            static_cast<void>(dimension);
            return elements[static_cast<std::size_t>(number)];
        };
        if constexpr (Rank == 0) {
            return ep::generate<T>(extents, function);
        } else {
            ep::extent braced[Rank];
            std::copy(extents.begin(), extents.end(), braced);
            return ep::generate<T>(braced, function);
        }
    }

    /// The application's own distribution: slabs along the first dimension, the first ranks last, some ranks with
    /// nothing; a tensor without dimensions lies on one rank.
    template <class T, std::size_t Rank>
    ep::distributed<T, Rank> own(char name, const std::array<ep::extent, Rank>& extents) {
        auto whole = std::make_shared<ep::array<T, Rank>>([&] {
            std::array<ep::index, Rank> plain{};
            std::copy(extents.begin(), extents.end(), plain.begin());
            return plain;
        }());
        fill(name, letter_of<T>, whole->data());
        keep_.push_back(whole);
        const ep::index turned = world_.size() - 1 - world_.rank();
        std::array<ep::extent, Rank> lower{};
        std::array<ep::index, Rank> shape{};
        if constexpr (Rank == 0) {
            return {world_, extents, lower,
                    ep::view<T, 0>(turned == 0 ? whole->data() : nullptr, std::array<ep::index, 0>{},
                                   std::array<ep::index, 0>{})};
        } else {
            const ep::index rows = extents[0];
            const ep::index each = rows / world_.size() + 1;
            const ep::index first = std::min(turned * each, rows);
            lower[0] = first;
            shape[0] = std::min(each, rows - first);
            for (std::size_t dimension = 1; dimension < Rank; ++dimension) {
                shape[dimension] = extents[dimension];
            }
            const auto strides = whole->strides();
            return {world_, extents, lower, ep::view<T, Rank>(whole->data() + first * strides[0], shape, strides)};
        }
    }

    void fill(char name, char type, void* memory) const {
        const oracle::tensor& from = worked_.inputs.at(name);
        for (long element = 0; element < from.size(); ++element) {
            write_element(memory, type, element, from.elements[static_cast<std::size_t>(element)]);
        }
    }

    template <class T, std::size_t Rank>
    std::string compared(char name, const ep::distributed<T, Rank>& made) const {
        const ep::array<T, Rank> whole = made.allgather();
        const auto strides = whole.strides();
        return worked_.compare(name, {whole.data(),
                                      letter_of<T>,
                                      {whole.extents().begin(), whole.extents().end()},
                                      {strides.begin(), strides.end()}});
    }

    int number_;
    std::string outputs_;
    worked_case worked_;
    ep::context& world_;
    trial tries_;
    std::vector<ep::binding> bindings_;
    std::vector<std::shared_ptr<void>> keep_;
    std::string kinds_;
};

}  // namespace differential
