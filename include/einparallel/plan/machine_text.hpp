#pragma once
// Machines as text: for people, and as JSON from one program to the next.

#include <einparallel/cost/machine.hpp>
#include <einparallel/notation/compiled.hpp>

#include <string>
#include <string_view>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string machine_text(const machine& shown);

/// @throws error, one sentence that begins with `who`, where the levels of a machine, or the nodes of its ranks, do not
/// belong to this number of ranks
EINPARALLEL_INLINE void check_levels(const machine& asked, int processes, const char* who);

}  // namespace EINPARALLEL_DETAIL

/// Writes the constants: "2.00us per message, 10.0GB/s, 50.0Gflop/s, 24.0 flop in the time of a copied element, 10.0%
/// of the shorter of arithmetic and transfer exposed"; with levels, messages and bytes of each: "8 ranks: 500ns per
/// message, 25.0GB/s; all ranks: 2.00us per message, 12.5GB/s, 1 transfer at once".
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const machine& shown) {
    return stream << detail::machine_text(shown);
}

/// A machine as JSON, so that it is measured once and not in every job. Members: the fields of ep::machine; of a level
/// those of ep::machine_level.
EINPARALLEL_INLINE [[nodiscard]] std::string to_json(const machine& saved);

/// The machine in a JSON text. Members that are missing keep their built-in values, so that a text without levels is a
/// machine without levels. @throws error where the text is no JSON, has other members, or numbers that no machine has
EINPARALLEL_INLINE [[nodiscard]] machine machine_from_json(std::string_view text);

}  // namespace einparallel
