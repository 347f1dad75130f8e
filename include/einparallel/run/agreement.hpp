#pragma once
// Ranks agree before they communicate: either all go on, or all throw the same sentence.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// FNV-1a over 64-bit words and bytes: the same on every rank for the same sequence of calls.
class fingerprint {
public:
    fingerprint& add(std::integral auto number) { return add_word(std::uint64_t(number)); }
    template <class Value>
    fingerprint& add(const std::vector<Value>& values) {
        for_each_in(values, [&](const Value& each) { add(each); });
        return *this;
    }
    EINPARALLEL_INLINE fingerprint& add(std::string_view text);
    EINPARALLEL_INLINE fingerprint& add(const box& region);
    /// Equal where distributions are, however they are described: ranks without elements do not count.
    EINPARALLEL_INLINE fingerprint& add(const distribution& where);

    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    EINPARALLEL_INLINE fingerprint& add_word(std::uint64_t number);
    void mix(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// A number that must be the same on all ranks, and what is wrong where it is not.
struct common {
    std::uint64_t value = 0;
    std::string_view sentence;
};

/// The sentence of what f() throws; empty where it throws nothing. `doing` goes in front of what is not the library's
/// own sentence.
EINPARALLEL_INLINE std::string failure_of(std::string_view doing, function_ref<void()> f);

/// What is said of a distributed tensor that belongs to other ranks.
inline constexpr const char* lies_elsewhere =
    "was distributed on a context with other ranks, or with the same ranks in another order: move it here with gather "
    "and ep::from_root, or make an ep::distributed on this context from each rank's elements";

/// The numbers of one agreement.
using agreement_numbers = std::array<std::uint64_t, 13>;

/// least[i] = the smallest least[i] over all ranks, after the name of the call has been put into the last two. Every
/// collective call begins so, and thus all agreements are of one size. Collective.
/// @throws error, the same on every rank, where ranks are in calls of different names, of which it says 32 letters
EINPARALLEL_INLINE void least_of_all(const communicator& control, std::string_view call, agreement_numbers& least);

/// The longest sentence that travels; what is longer is cut.
inline constexpr std::size_t longest_sentence = 2048;

/// Collective. Returns on all ranks, or throws the same error on all: where some rank has a failure (a sentence that
/// is not empty), the sentence of the lowest such rank, which it names where others have none; else the sentence of
/// the first number that is not the same everywhere. Then the least `ready` of all ranks. One allreduce of 104 bytes,
/// and a broadcast only on failure. Up to four numbers; what their first sentence says before a colon is the name of
/// the call.
EINPARALLEL_INLINE std::uint64_t agree(const communicator& control, std::string_view failure,
                                       std::initializer_list<common> numbers = {}, std::uint64_t ready = 1);

}  // namespace einparallel::EINPARALLEL_DETAIL
