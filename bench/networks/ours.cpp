// ep::network on a network from a file that make.py writes: `ours FILE RESULT TIMES`. Writes the elements of the result
// and prints for each time the seconds of search and contraction together.

#include <einparallel.hpp>

#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace ep = einparallel;

/// A number in [-1, 1) of two numbers, the same as in networks.py.
double hashed(std::uint64_t tensor, std::uint64_t element) {
    std::uint64_t mixed = tensor * 0x9e3779b97f4a7c15U + element * 0xd1b54a32d192ed03U + 1;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31U;
    return static_cast<double>(mixed >> 11U) / 4503599627370496.0 - 1;
}

/// Element `at` of tensor `number`, which is of this kind.
std::complex<double> element(const std::string& kind, std::uint64_t number, std::uint64_t at) {
    const std::complex<double> i(0, 1);
    if (kind == "zero" || kind == "one") {
        return at == (kind == "one" ? 1U : 0U) ? 1 : 0;
    }
    if (kind == "gate") {  // a unitary of three angles
        const double turn = hashed(number, 0) * 1.5;
        const double phase = at % 2 == 0 ? 0 : hashed(number, 1) * 3;
        const double other = at / 2 == 0 ? 0 : hashed(number, 2) * 3;
        const double size = at == 0 || at == 3 ? std::cos(turn) : at == 1 ? -std::sin(turn) : std::sin(turn);
        return size * std::exp(i * (phase + other));
    }
    if (kind == "fsim") {  // |01⟩ and |10⟩ exchange with a factor of −i, |11⟩ is turned by π/6
        return at == 0 ? 1 : at == 6 || at == 9 ? -i : at == 15 ? std::exp(-i * (std::acos(-1.0) / 6)) : 0;
    }
    return hashed(number, at);
}

template <class T>
std::vector<T> numbers(const std::string& line) {
    std::istringstream stream(line);
    std::vector<T> read;
    for (T number = 0; stream >> number;) {
        read.push_back(number);
    }
    return read;
}

template <class T>
void run(std::istream& file, std::size_t limit, const char* result, int times) {
    const auto line = [&] {
        std::string read;
        std::getline(file, read);
        return read;
    };
    const std::vector<ep::index> extents = numbers<ep::index>(line());
    const std::vector<int> output = numbers<int>(line());
    const std::size_t count = numbers<std::size_t>(line()).at(0);
    std::vector<ep::unranked<T>> tensors;
    std::vector<std::vector<int>> labels;
    for (std::size_t number = 0; number < count; ++number) {
        std::istringstream stream(line());
        std::string kind, rest;
        stream >> kind;
        std::getline(stream, rest);
        labels.push_back(numbers<int>(rest));
        std::vector<ep::index> shape;
        for (const int label : labels.back()) {
            shape.push_back(extents.at(static_cast<std::size_t>(label)));
        }
        ep::unranked<T>& made = tensors.emplace_back(shape);
        const double scale = kind == "hash" ? std::sqrt(3.0) * std::pow(static_cast<double>(made.size()), -0.25)
                                            : 1;  // sums are about 1
        for (ep::index at = 0; at < made.size(); ++at) {
            const std::complex<double> value = element(kind, number, static_cast<std::uint64_t>(at)) * scale;
            if constexpr (std::is_same_v<T, double>) {
                made.data()[at] = value.real();
            } else {
                made.data()[at] = value;
            }
        }
    }
    for (int time = 0; time < times; ++time) {
        const auto start = std::chrono::steady_clock::now();
        ep::network<T> net;
        for (std::size_t number = 0; number < count; ++number) {
            net.add(tensors[number], labels[number]);
        }
        const ep::unranked<T> made = net.memory_limit(limit).result(output);
        std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << std::endl;
        std::ofstream(result, std::ios::binary)
            .write(reinterpret_cast<const char*>(made.data()),
                   static_cast<std::streamsize>(sizeof(T) * static_cast<std::size_t>(made.size())));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "ours FILE RESULT TIMES\n";
        return 1;
    }
    try {
        std::ifstream file(argv[1]);
        std::string element;
        std::size_t limit = 0;
        std::string rest;
        file >> element >> limit;
        std::getline(file, rest);
        if (element == "complex") {
            run<std::complex<double>>(file, limit, argv[2], std::stoi(argv[3]));
        } else {
            run<double>(file, limit, argv[2], std::stoi(argv[3]));
        }
    } catch (const std::exception& caught) {
        std::cerr << argv[1] << ": " << caught.what() << '\n';
        return 1;
    }
}
