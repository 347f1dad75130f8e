#pragma once
// The constants of the time model.

namespace einparallel {

/// Constants of the time model. The defaults describe one core of a current server and a 100 Gbit/s network; they are
/// not measured unless the user asks: ranks and runs would disagree about values that are measured unasked.
///
///     ep::plan plan = ep::decompose(world, {.machine = ep::machine::h200}, Z);     // to run on GPUs
struct machine {
    double seconds_per_message = 2.0e-6;  ///< latency α
    double seconds_per_byte = 1.0e-10;    ///< inverse bandwidth β per rank
    double seconds_per_flop = 2.0e-11;    ///< inverse of the flop rate per rank
    double exposed = 0.1;  ///< share of the shorter of arithmetic and transfer that a ring's step does not hide
    double operations_per_touch = 24;  ///< operations that take as long as to pack, copy or add an element in memory

    /// Constants for ranks that compute on one NVIDIA H200 each. From its data sheet: 67 Tflop/s of float and of double
    /// in matrix products, 4.8 TB/s of memory (an element of 8 bytes is read and written), PCIe 5 at 64 GB/s each way.
    /// The network of the defaults is slower than that, so its bandwidth counts. Assumed, not measured: 4 µs until a
    /// kernel or a copy begins, twice for a message through the host, and the value of `exposed`.
    static const machine h200;

    friend bool operator==(const machine&, const machine&) = default;
};

inline constexpr machine machine::h200{.seconds_per_message = 2.0e-6 + 2 * 4.0e-6,
                                       .seconds_per_byte = 1.0e-10,
                                       .seconds_per_flop = 1 / 67e12,
                                       .exposed = 0.1,
                                       .operations_per_touch = 2 * 8 / 4.8e12 * 67e12};

/// Calls visit(name, value) once for every field. JSON, hashes and the ranks' agreement use this list.
constexpr void describe(const machine& constants, const auto& visit) {
    visit("seconds_per_message", constants.seconds_per_message);
    visit("seconds_per_byte", constants.seconds_per_byte);
    visit("seconds_per_flop", constants.seconds_per_flop);
    visit("exposed", constants.exposed);
    visit("operations_per_touch", constants.operations_per_touch);
}

}  // namespace einparallel
