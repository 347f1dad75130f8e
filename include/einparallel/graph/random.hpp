#pragma once
// Random numbers by index: a pure function of the seed and of the element's indices, so that they are the same on any
// number of ranks. Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3").

#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace einparallel {

namespace detail {

/// Ten rounds of Philox. For each key this is a bijection of 128 bits.
EINPARALLEL_HOST_DEVICE constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                                      std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {std::uint32_t(second >> 32U) ^ counter[1] ^ key[0], std::uint32_t(second),
                   std::uint32_t(first >> 32U) ^ counter[3] ^ key[1], std::uint32_t(first)};
        key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
    }
    return counter;
}

/// 128 random bits for the indices of an element. Each call of philox takes two indices. The key of the first call is
/// the seed; the key of the next ones is the first half of the bits before.
template <std::integral... Index>
EINPARALLEL_HOST_DEVICE constexpr std::array<std::uint32_t, 4> random_bits(std::uint64_t seed, Index... indices) {
    constexpr std::size_t rank = sizeof...(Index);
    const std::array<std::uint64_t, rank + 2> at{std::uint64_t(indices)..., 0, 0};
    std::array<std::uint32_t, 4> bits{std::uint32_t(seed), std::uint32_t(seed >> 32U), 0, 0};
    for (std::size_t pair = 0; pair == 0 || pair < rank; pair += 2) {
        bits = philox({std::uint32_t(at[pair]), std::uint32_t(at[pair] >> 32U), std::uint32_t(at[pair + 1]),
                       std::uint32_t(at[pair + 1] >> 32U) | std::uint32_t(rank << 28U)},
                      {bits[0], bits[1]});
    }
    return bits;
}

/// A number in [0, 1) with 53 random bits.
EINPARALLEL_HOST_DEVICE constexpr double unit_interval(std::uint32_t high, std::uint32_t low) {
    return (double(high >> 5U) * 67108864.0 + double(low >> 6U)) / 9007199254740992.0;
}

}  // namespace detail

/// Uniform random numbers in [0, 1).
///
///     ep::tensor<double, 2> A = ep::generate<double>({m, n}, ep::uniform(7));
///     a(i, j) = ep::join(ep::uniform(7), ep::iota(i), ep::iota(j));                 // the same numbers in an array
class uniform {
public:
    static constexpr const char* name = "uniform";  ///< name in formulas

    /// Another seed gives other numbers.
    constexpr explicit uniform(std::uint64_t seed) : seed_(seed) {}

    /// The number at this index.
    template <std::integral... Index>
    EINPARALLEL_HOST_DEVICE constexpr double operator()(Index... at) const {
        const std::array<std::uint32_t, 4> bits = detail::random_bits(seed_, at...);
        return detail::unit_interval(bits[0], bits[1]);
    }

private:
    std::uint64_t seed_;
};

/// Normal random numbers with mean 0 and variance 1 (Box and Muller 1958).
class normal {
public:
    static constexpr const char* name = "normal";  ///< name in formulas

    /// Another seed gives other numbers.
    constexpr explicit normal(std::uint64_t seed) : seed_(seed) {}

    /// The number at this index.
    template <std::integral... Index>
    EINPARALLEL_HOST_DEVICE double operator()(Index... at) const {
        const std::array<std::uint32_t, 4> bits = detail::random_bits(seed_, at...);
        const double radius = std::sqrt(-2.0 * std::log(1.0 - detail::unit_interval(bits[0], bits[1])));
        return radius * std::cos(6.283185307179586477 * detail::unit_interval(bits[2], bits[3]));
    }

private:
    std::uint64_t seed_;
};

}  // namespace einparallel
