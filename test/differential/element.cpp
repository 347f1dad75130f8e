#include "element.hpp"

#include "draw.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace differential {

namespace {

template <class Use>
auto with_type(char type, Use use) {
    switch (type) {
        case 'd':
            return use(double{});
        case 'f':
            return use(float{});
        case 'z':
            return use(std::complex<double>{});
        case 'c':
            return use(std::complex<float>{});
        case 'i':
            return use(int{});
        case 'l':
            return use(std::int64_t{});
        case 'u':
            return use(std::uint8_t{});
        case 'b':
            return use(bool{});
        case 'h':
            return use(einparallel::float16{});
        case 'g':
            return use(einparallel::bfloat16{});
        default:
            throw std::logic_error("differential: no element type");
    }
}

bool is_complex(char type) {
    return type == 'z' || type == 'c';
}

bool is_half(char type) {
    return type == 'h' || type == 'g';
}

/// How far two numbers may differ that were summed in different orders; two of them that are rounded to halves may
/// become neighbours.
double tolerance(char type) {
    return type == 'g' ? 0x1p-7 : type == 'h' ? 0x1p-10 : type == 'f' || type == 'c' ? 2e-4 : 1e-11;
}

/// Digits and range of the halves, to which the oracle rounds what has a name.
oracle::precision precision_of(char type) {
    return type == 'g'   ? oracle::precision{8, -126, 127}
           : type == 'h' ? oracle::precision{11, -14, 15}
                         : oracle::precision{};
}

oracle::number input_number(std::uint64_t random, char type, double share_of_true) {
    static const oracle::number of_reals[] = {-2.0, -1.0, 1.0, 2.0};
    static const oracle::number of_halves[] = {-2.0, -1.0, 1.0, 2.0, 17.0, -19.0};  // sums of them are no halves
    static const oracle::number of_complex[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    if (type == 'b') {
        return static_cast<double>(random % 1000) < 1000 * share_of_true ? 1.0 : 0.0;
    }
    return is_complex(type) ? of_complex[random % 8] : is_half(type) ? of_halves[random % 6] : of_reals[random % 4];
}

}  // namespace

std::map<char, char> types_of(std::string_view text) {
    std::map<char, char> types;
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        types[text[at]] = text[at + 1];
    }
    return types;
}

std::uint64_t scattered(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    std::uint64_t mixed = a * 0x9E3779B97F4A7C15U + b * 0xC2B2AE3D27D4EB4FU + c * 0x165667B19E3779F9U;
    for (int round = 0; round < 2; ++round) {
        mixed ^= mixed >> 31U;
        mixed *= 0xBF58476D1CE4E5B9U;
    }
    return mixed >> 20U;
}

void write_element(void* memory, char type, long offset, oracle::number value) {
    with_type(type, [&](auto kind) {
        using T = decltype(kind);
        T& place = static_cast<T*>(memory)[offset];
        if constexpr (requires { kind.imag(); }) {
            place = T(value);
        } else if constexpr (std::is_same_v<T, bool>) {
            place = value.real() != 0;
        } else {
            place = static_cast<T>(value.real());
        }
    });
}

oracle::number read_element(const void* memory, char type, long offset) {
    return with_type(type, [&](auto kind) -> oracle::number {
        const auto value = static_cast<const decltype(kind)*>(memory)[offset];
        if constexpr (requires { kind.imag(); }) {
            return value;
        } else {
            return static_cast<double>(value);
        }
    });
}

std::size_t bytes_of(char type) {
    return with_type(type, [](auto kind) { return sizeof(kind); });
}

std::string worked_case::compare(char name, const strided_memory& made) const {
    std::ostringstream said;
    const oracle::tensor& wanted = expected.at(name);
    if (made.type != types.at(name)) {
        said << name << " has elements of type " << made.type << ", not " << types.at(name);
        return said.str();
    }
    if (made.extents != wanted.extents) {
        said << name << " has other extents";
        for (std::size_t dimension = 0; dimension < made.extents.size(); ++dimension) {
            said << " " << made.extents[dimension] << "/"
                 << (dimension < wanted.extents.size() ? wanted.extents[dimension] : -1);
        }
        return said.str();
    }
    long wrong = 0;
    for_each_index(wanted.extents, [&](const std::vector<long>& at, long number) {
        long offset = 0;
        for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
            offset += at[dimension] * made.strides[dimension];
        }
        const oracle::number got = read_element(made.first, made.type, offset);
        oracle::number want = wanted.elements[static_cast<std::size_t>(number)];
        want = made.type == 'b' ? oracle::number(want.real() != 0 ? 1 : 0) : want;
        const bool same = std::isnan(want.real()) ? std::isnan(got.real())
                          : exact                 ? got == want
                                  : std::abs(got - want) <= tolerance(made.type) * (1 + std::abs(want)) || got == want;
        if (!same && wrong++ == 0) {
            said.precision(17);
            said << name << "(";
            for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
                said << (dimension > 0 ? ", " : "") << at[dimension];
            }
            said << ") is " << got << ", the oracle says " << want;
        }
    });
    if (wrong > 1) {
        said << ", and " << wrong - 1 << " of " << wanted.size() << " more";
    }
    return said.str();
}

namespace {

/// Elements of a tensor that is an index: from 0 to the largest one, or as many different ones as there are elements.
void fill_with_indices(oracle::tensor& tensor, long most, bool distinct, int number, char name) {
    auto random = [&, drawn = std::uint64_t{0}](long below) mutable {
        return static_cast<long>(
            scattered(static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(name), ++drawn) %
            static_cast<std::uint64_t>(below));
    };
    std::vector<long> all;
    for (long value = 0; value <= most; ++value) {
        all.push_back(value);
    }
    for (long element = 0; element < tensor.size(); ++element) {
        const auto chosen = all.begin() + random(static_cast<long>(all.size()));
        tensor.elements.emplace_back(static_cast<double>(*chosen));
        if (distinct) {
            all.erase(chosen);
        }
    }
}

}  // namespace

worked_case work_out(int number, std::string_view truth, std::string_view extents, std::string_view types, bool exact,
                     int draw, bool left_says) {
    worked_case made;
    made.exact = exact;
    made.types = types_of(types);
    const drawn_case drawn = draw_case(truth, extents, number, draw, left_says);
    made.truth = drawn.truth;
    made.numbers = drawn.numbers;
    number += 100003 * draw;
    const std::map<char, long>& by_label = drawn.extents;
    const std::vector<oracle::leaf> outputs = oracle::outputs_of(drawn.truth);
    const std::vector<oracle::leaf> leaves = oracle::leaves_of(drawn.truth);

    // As many true as make Σ∏ true in half of the elements, were they independent.
    double summed = 1;
    for (const auto& [label, extent] : by_label) {
        const bool kept = outputs.front().labels.find(label) != std::string::npos;
        summed *= kept ? 1.0 : static_cast<double>(std::max(extent, 1L));
    }
    const double share = std::pow(0.7 / summed, 1.0 / static_cast<double>(std::max<std::size_t>(leaves.size(), 1)));

    for (const oracle::leaf& leaf : leaves) {
        // A tensor that some line makes is an input only where that line itself, the first, reads it.
        const bool is_made = std::any_of(outputs.begin(), outputs.end(), [&](const oracle::leaf& output) {
            return output.name == leaf.name && output.at.empty();
        });
        const bool reads_itself = outputs.size() == 1;
        if (made.inputs.count(leaf.name) > 0 || (is_made && !reads_itself)) {
            continue;
        }
        oracle::tensor& input = made.inputs[leaf.name];
        input.extents = drawn.tensors.at(leaf.name);
        const auto largest = drawn.largest.find(leaf.name);
        if (largest != drawn.largest.end()) {
            const bool distinct =
                std::find(drawn.distinct.begin(), drawn.distinct.end(), leaf.name) != drawn.distinct.end();
            fill_with_indices(input, largest->second, distinct, number, leaf.name);
            continue;
        }
        const char type = made.types.at(leaf.name);
        for (long element = 0; element < input.size(); ++element) {
            input.elements.push_back(
                input_number(scattered(static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(leaf.name),
                                       static_cast<std::uint64_t>(element)),
                             type, share));
        }
    }
    const bool any_complex =
        std::any_of(made.types.begin(), made.types.end(), [](const auto& each) { return is_complex(each.second); });
    made.expected = made.inputs;
    std::map<char, oracle::precision> rounded;
    for (const auto& [name, type] : made.types) {
        rounded[name] = precision_of(type);
    }
    oracle::compute(drawn.truth, by_label, any_complex, rounded, made.expected);
    return made;
}

}  // namespace differential
