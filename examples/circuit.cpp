// Amplitudes of a quantum circuit from a list of its gates: a network of tensors whose number is known when the list
// has been read.
//
//     mpiexec -n 4 circuit [FILE]
//
// A line of FILE is a gate and its qubits: `h 0`, `t 3`, `cz 0 1`, `cx 2 3`, `rx 0.7 1`. Without a file it is a random
// circuit on ten qubits.

#include "example.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace {

using complex = std::complex<double>;

/// A unitary matrix on one qubit or two, row-major, its index the bits of the qubits.
struct gate {
    std::vector<complex> matrix;
    std::vector<std::size_t> qubits;
};

/// @throws ep::error for a line that is no gate
gate read_gate(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    double angle = 0;
    words >> name;
    if (name == "rx") {
        words >> angle;
    }
    gate made;
    for (std::size_t qubit = 0; words >> qubit;) {
        made.qubits.push_back(qubit);
    }
    const double half = std::sqrt(0.5);
    const complex i(0, 1);
    if (name == "h") {
        made.matrix = {half, half, half, -half};
    } else if (name == "t") {
        made.matrix = {1, 0, 0, std::polar(1.0, std::numbers::pi / 4)};
    } else if (name == "rx") {
        made.matrix = {std::cos(angle / 2), -i * std::sin(angle / 2), -i * std::sin(angle / 2), std::cos(angle / 2)};
    } else if (name == "cz") {
        made.matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1};
    } else if (name == "cx") {
        made.matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
    }
    if (made.matrix.empty() || made.matrix.size() != std::size_t(1) << (2 * made.qubits.size())) {
        throw ep::error("circuit: '" + line + "' is no gate");
    }
    return made;
}

/// Layers of rotations and of entangled neighbours.
std::vector<gate> random_circuit(std::size_t qubits, std::size_t layers) {
    std::vector<gate> gates;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        for (std::size_t qubit = 0; qubit < qubits; ++qubit) {
            const double angle = 3 * example::numbers{layer}(ep::index(qubit));
            gates.push_back(read_gate("rx " + std::to_string(angle) + " " + std::to_string(qubit)));
            gates.push_back(read_gate((angle > 0 ? "t " : "h ") + std::to_string(qubit)));
        }
        for (std::size_t qubit = layer % 2; qubit + 1 < qubits; qubit += 2) {
            gates.push_back(read_gate("cz " + std::to_string(qubit) + " " + std::to_string(qubit + 1)));
        }
    }
    return gates;
}

/// Adds the circuit to a network, which begins with every qubit at 0; returns the label of each qubit at the end. Each
/// gate gives its qubits new labels. `given` makes an operand of an array.
template <class Given>
std::vector<std::size_t> add_circuit(ep::network<complex>& net, const std::vector<gate>& gates, std::size_t qubits,
                                     const Given& given) {
    std::vector<std::size_t> now;
    std::size_t labels = 0;
    for (std::size_t qubit = 0; qubit < qubits; ++qubit) {
        ep::array<complex, 1> zero({2});
        zero(0) = 1;
        net.add(given(std::move(zero)), {labels});
        now.push_back(labels++);
    }
    for (const gate& each : gates) {
        std::vector<std::size_t> around;
        for (std::size_t place = 0; place < each.qubits.size(); ++place) {
            around.push_back(labels++);
        }
        for (std::size_t place = 0; place < each.qubits.size(); ++place) {
            around.push_back(std::exchange(now[each.qubits[place]], around[place]));
        }
        if (each.qubits.size() == 1) {
            ep::array<complex, 2> matrix({2, 2});
            std::copy(each.matrix.begin(), each.matrix.end(), matrix.data());
            net.add(given(std::move(matrix)), around);
        } else {
            ep::array<complex, 4> matrix({2, 2, 2, 2});
            std::copy(each.matrix.begin(), each.matrix.end(), matrix.data());
            net.add(given(std::move(matrix)), around);
        }
    }
    return now;
}

/// The state by plain loops; qubit 0 is the highest bit.
std::vector<complex> state_of(const std::vector<gate>& gates, std::size_t qubits) {
    std::vector<complex> state(std::size_t(1) << qubits);
    state.front() = 1;
    for (const gate& each : gates) {
        std::vector<complex> next(state.size());
        const std::size_t side = std::size_t(1) << each.qubits.size();
        for (std::size_t from = 0; from < state.size(); ++from) {
            std::size_t column = 0;
            for (const std::size_t qubit : each.qubits) {
                column = 2 * column + (from >> (qubits - 1 - qubit) & 1U);
            }
            for (std::size_t row = 0; row < side; ++row) {
                std::size_t to = from;
                for (std::size_t place = 0; place < each.qubits.size(); ++place) {
                    const std::size_t bit = std::size_t(1) << (qubits - 1 - each.qubits[place]);
                    to = (row >> (each.qubits.size() - 1 - place) & 1U) != 0 ? to | bit : to & ~bit;
                }
                next[to] += each.matrix[row * side + column] * state[from];
            }
        }
        state = std::move(next);
    }
    return state;
}

/// True where one amplitude, planned over the ranks, and the whole state are those of the loops.
bool circuit(ep::context& world, const std::string& file) {
    std::vector<gate> gates;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        gates.push_back(read_gate(line));
    }
    if (file.empty()) {
        gates = random_circuit(10, 8);
    }
    std::size_t qubits = 0;
    for (const gate& each : gates) {
        qubits = std::max(qubits, 1 + *std::max_element(each.qubits.begin(), each.qubits.end()));
    }
    const std::vector<complex> reference = state_of(gates, qubits);

    // The amplitude of 0101…: every qubit ends in a vector with one 1.
    ep::network<complex> closed;
    const auto planned = [](auto made) { return ep::from_root(std::move(made), 0); };
    const std::vector<std::size_t> ends = add_circuit(closed, gates, qubits, planned);
    std::size_t bits = 0;
    for (std::size_t qubit = 0; qubit < qubits; ++qubit) {
        ep::array<complex, 1> last({2});
        last(ep::index(qubit % 2)) = 1;
        closed.add(planned(std::move(last)), {ends[qubit]});
        bits = 2 * bits + qubit % 2;
    }
    const ep::tensor<complex, 0> amplitude = closed.result("");
    const complex value = ep::evaluate(world, amplitude).allgather().value();

    // The whole state, on every rank for itself.
    ep::network<complex> open;
    const auto labels = add_circuit(open, gates, qubits, [](auto made) { return made; });
    const ep::unranked<complex> state = open.result(labels);
    double difference = std::abs(value - reference[bits]);
    for (std::size_t place = 0; place < reference.size(); ++place) {
        difference = std::max(difference, std::abs(state.data()[place] - reference[place]));
    }
    if (world.rank() == 0) {
        std::cout << qubits << " qubits, " << gates.size() << " gates\namplitude of 0101...: " << value
                  << "\nlargest difference from the state vector: " << difference << '\n';
    }
    return difference < 1e-10;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) { return circuit(world, argc > 1 ? argv[1] : ""); });
}
