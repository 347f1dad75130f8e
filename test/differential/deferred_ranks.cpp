#include "deferred_ranks.hpp"

#include <einparallel/array/array.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>

#include <algorithm>
#include <complex>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace differential {

namespace {

/// Where the elements of an input come from.
enum class origin { generated, root, bound_array, bound_distributed, own_distribution, earlier_result };
inline constexpr int origins = 6;

EINPARALLEL_LABELS(a, b, c, d, e, f);

/// A statement that copies a tensor.
template <class T, std::size_t Rank>
ep::tensor<T, Rank> copy_of(const ep::tensor<T, Rank>& original) {
    static_assert(Rank <= 6);
    ep::tensor<T, Rank> copied;
    [&]<std::size_t... Dimension>(std::index_sequence<Dimension...>) {
        const std::tuple labels(a, b, c, d, e, f);
        copied(std::get<Dimension>(labels)...) = original(std::get<Dimension>(labels)...);
    }
    (std::make_index_sequence<Rank>());
    return copied;
}

template <class T, std::size_t Rank>
ep::tensor<T, Rank> placeholder(const std::array<ep::extent, Rank>& extents) {
    if constexpr (Rank == 0) {
        return ep::placeholder<T>(extents);
    } else {
        ep::extent braced[Rank];
        std::copy(extents.begin(), extents.end(), braced);
        return ep::placeholder<T>(braced);
    }
}

/// use<T, rank>() for an element's letter and a rank: all that generate.cpp writes for deferred cases.
template <class T, std::size_t Most = 6, class Use>
auto with_rank(std::size_t rank, const Use& use) {
    switch (rank) {
        case 0:
            return use.template operator()<T, 0>();
        case 1:
            return use.template operator()<T, 1>();
        case 2:
            return use.template operator()<T, 2>();
        case 3:
            return use.template operator()<T, std::min<std::size_t>(3, Most)>();
        case 4:
            return use.template operator()<T, std::min<std::size_t>(4, Most)>();
        case 5:
            return use.template operator()<T, std::min<std::size_t>(5, Most)>();
        case 6:
            return use.template operator()<T, std::min<std::size_t>(6, Most)>();
        default:
            throw std::logic_error("deferred_ranks: no tensor of rank " + std::to_string(rank));
    }
}
template <class Use>
auto with_type(char type, std::size_t rank, const Use& use) {
    switch (type) {
        case 'd':
            return with_rank<double>(rank, use);
        case 'f':
            return with_rank<float>(rank, use);
        case 'z':
            return with_rank<std::complex<double>>(rank, use);
        case 'i':
            return with_rank<int>(rank, use);
        case 'l':
            return with_rank<std::int64_t, 2>(rank, use);
        case 'b':
            return with_rank<bool>(rank, use);
        case 'h':
            return with_rank<ep::float16>(rank, use);
        case 'g':
            return with_rank<ep::bfloat16>(rank, use);
        default:
            throw std::logic_error(std::string("deferred_ranks: no tensor of type ") + type);
    }
}

}  // namespace

deferred_ranks::deferred_ranks(const test_case<deferred_room>& given, int draw, ep::context& world, trial tries)
    : number_(given.number + 13 * draw),
      outputs_(given.outputs),
      worked_(work_out(given, draw, false)),
      world_(world),
      tries_(std::move(tries)) {}

/// A pure function of the index, called with as many integers as there are dimensions.
template <class T, std::size_t Rank>
ep::tensor<T, Rank> deferred_ranks::generated(char name, const std::array<ep::extent, Rank>& extents) const {
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
ep::distributed<T, Rank> deferred_ranks::own(char name, const std::array<ep::extent, Rank>& extents) {
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

void deferred_ranks::fill(char name, char type, void* memory) const {
    const oracle::tensor& from = worked_.inputs.at(name);
    for (long element = 0; element < from.size(); ++element) {
        write_element(memory, type, element, from.elements[static_cast<std::size_t>(element)]);
    }
}

template <class T, std::size_t Rank>
ep::tensor<T, Rank> deferred_ranks::typed_input(char name) {
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
            const auto copied = copy_of(generated<T, Rank>(name, extents));
            return ep::from_distributed(evaluated(world_, copied.node()).get(copied));
        }
        default:
            return generated<T, Rank>(name, extents);
    }
}

template <class T, std::size_t Rank>
std::string deferred_ranks::compared(char name, const ep::distributed<T, Rank>& made) const {
    const ep::array<T, Rank> whole = made.allgather();
    const auto strides = whole.strides();
    return worked_.compare(name, {whole.data(),
                                  letter_of<T>,
                                  {whole.extents().begin(), whole.extents().end()},
                                  {strides.begin(), strides.end()}});
}

std::shared_ptr<ep::vertex> deferred_ranks::make_input(char name, char type, std::size_t rank) {
    return with_type(type, rank, [&]<class T, std::size_t Rank>() { return typed_input<T, Rank>(name).node(); });
}

void deferred_ranks::run_outputs(const std::vector<output>& outputs) {
    std::vector<std::shared_ptr<ep::vertex>> made;
    for (const output& each : outputs) {
        made.push_back(each.made);
    }
    tries_(*this, made, [&](const ep::results& results) {
        std::string said;
        for (std::size_t position = 0; position < outputs.size(); ++position) {
            const output& each = outputs[position];
            said += with_type(each.type, each.rank, [&]<class T, std::size_t Rank>() {
                return compared(outputs_[position], results.get(ep::tensor<T, Rank>(each.made)));
            });
        }
        return said;
    });
}

}  // namespace differential
