#pragma once
// Ranks agree before they communicate: either all go on, or all throw an error with the same sentence.

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

/// FNV-1a hash over 64-bit words and bytes. Equal sequences of calls give equal values on all ranks.
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
    /// Equal distributions add equal values, however they are described. Ranks without elements do not count.
    EINPARALLEL_INLINE fingerprint& add(const distribution& where);

    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    EINPARALLEL_INLINE fingerprint& add_word(std::uint64_t number);
    void mix(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// A number that must be equal on all ranks, and the error sentence where it is not.
struct common {
    std::uint64_t value = 0;
    std::string_view sentence;
};

/// The error sentence of what f() throws; empty where it throws nothing. `doing` and a colon come first, unless the
/// sentence is one of the library's own.
EINPARALLEL_INLINE std::string failure_of(std::string_view doing, function_ref<void()> f);

/// The end of the error sentence about a distributed tensor that belongs to other ranks.
inline constexpr const char* lies_elsewhere =
    "was distributed on a context with other ranks, or with the same ranks in another order: move it here with gather "
    "and ep::from_root, or make an ep::distributed on this context from each rank's elements";

/// The numbers that one agreement reduces.
using agreement_numbers = std::array<std::uint64_t, 13>;

/// Sets least[i] to the smallest least[i] over all ranks. The last two numbers are taken for the first 8 letters of the
/// call's name. Every collective call begins with this, so all agreements have the same size. Collective.
/// @throws error, the same on every rank, where ranks are in different calls; it shows at most 31 letters of a name
EINPARALLEL_INLINE void least_of_all(const communicator& control, std::string_view call, agreement_numbers& least);

/// Bytes that are sent of an error sentence, its final null included; the rest is cut off.
inline constexpr std::size_t longest_sentence = 2048;

/// Either returns on all ranks the least `ready` of all ranks, or throws the same error on all ranks. If some rank has
/// a failure (a sentence that is not empty), the error has the sentence of the lowest such rank, and names that rank
/// where others have no failure. Otherwise it has the sentence of the first number that is not equal on all ranks.
/// Takes one allreduce of 104 bytes, and a broadcast only on failure. At most four numbers; the name of the call is the
/// text before the colon in the sentence of the first one. Collective.
EINPARALLEL_INLINE std::uint64_t agree(const communicator& control, std::string_view failure,
                                       std::initializer_list<common> numbers = {}, std::uint64_t ready = 1);

}  // namespace einparallel::EINPARALLEL_DETAIL
