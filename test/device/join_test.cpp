// Joins by the bodies of device kernels, against op programs evaluated point by point.

#include "emulation.hpp"

#include "kernel/block_oracle.hpp"
#include "support/op_evaluate.hpp"

#include <einparallel/device/blocks.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using namespace einparallel;
using einparallel::index;
namespace launch = einparallel::detail::launch;
using kernel_test::pick;
using kernel_test::random_source;

constexpr element_type types[] = {{'f', 4}, {'f', 8}, {'c', 8}, {'c', 16}, {'b', 1}, {'i', 1}, {'i', 2},
                                  {'i', 4}, {'i', 8}, {'u', 1}, {'u', 2},  {'u', 4}, {'u', 8}};

/// visit(T()) for the type with this run-time value.
template <class Visit>
void with_type(element_type type, const Visit& visit) {
    const auto among = [&]<class... T>(std::type_identity<T>...) {
        static_cast<void>(((element_type_of<T>() == type && (visit(T()), true)) || ...));
    };
    among(std::type_identity<float>(), std::type_identity<double>(), std::type_identity<std::complex<float>>(),
          std::type_identity<std::complex<double>>(), std::type_identity<bool>(), std::type_identity<std::int8_t>(),
          std::type_identity<std::int16_t>(), std::type_identity<std::int32_t>(), std::type_identity<std::int64_t>(),
          std::type_identity<std::uint8_t>(), std::type_identity<std::uint16_t>(), std::type_identity<std::uint32_t>(),
          std::type_identity<std::uint64_t>());
}

using bytes = std::vector<std::byte>;

bytes random_elements(random_source& random, element_type type, std::size_t count) {
    bytes made(count * type.bytes);
    with_type(type, [&]<class T>(T /*type*/) {
        for (std::size_t number = 0; number < count; ++number) {
            const T value = kernel_test::random_value<T>(random);
            std::memcpy(made.data() + number * sizeof(T), &value, sizeof(T));
        }
    });
    return made;
}

/// How far two elements are apart, as a share of `size`; 0 where what is expected is no number, or huge terms cancel.
template <class T>
double distance(const T& a, const T& b, double size) {
    if constexpr (std::is_integral_v<T>) {
        return a == b ? 0 : 1;
    } else {
        const double magnitude = static_cast<double>(std::abs(b));
        if (!(magnitude < 1e25) || !(size < 1e25)) {
            return 0;
        }
        return static_cast<double>(std::abs(a - b)) / (1e-3 + magnitude + size);
    }
}

/// One join with memory of its own.
struct join_case {
    kernel_test::random_case<std::int8_t> shape;
    op_program program;
    std::vector<bytes> operands;
    bytes output;
    write_mode mode = write_mode::overwrite;
    bytes workspace;

    void run() {
        std::vector<strided_block> blocks;
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            const auto& of = shape.operands[operand];
            blocks.push_back({at(operands[operand], of, program.instructions()[operand].type()),
                              program.instructions()[operand].type(), of.labels, of.strides});
        }
        const block_call call{
            shape.extents,
            blocks,
            {at(output, shape.output, program.type()), program.type(), shape.output.labels, shape.output.strides},
            mode};
        workspace.assign(einparallel::detail::join_workspace_bytes(program, call) + 16, std::byte{0x7f});
        auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
        einparallel::detail::join_on_device(program, call, workspace.data() + (16 - address % 16) % 16, nullptr,
                                            [&](const launch::strided_join& part) {
                                                launch::join(nullptr, part, *launch::device_program_of(program));
                                            });
    }

    /// The largest distance() of an element from what it should be.
    double error_against(const bytes& before) {
        double worst = 0;
        with_type(program.type(), [&]<class T>(T /*type*/) {
            bytes expected = before;
            std::vector<const void*> elements(operands.size());
            const auto reduce = [&](T a, T b) -> T {
                switch (program.aggregates_by()) {
                    case reduction::prod:
                        return op::prod(a, b);
                    case reduction::max:
                        if constexpr (detail::is_ordered<T>) {
                            return op::max(a, b);
                        }
                        return a;
                    case reduction::min:
                        if constexpr (detail::is_ordered<T>) {
                            return op::min(a, b);
                        }
                        return a;
                    default:
                        return op::sum(a, b);
                }
            };
            const auto identity = [&]() -> T {
                switch (program.aggregates_by()) {
                    case reduction::prod:
                        return op::prod.identity<T>();
                    case reduction::max:
                        if constexpr (detail::is_ordered<T>) {
                            return op::max.identity<T>();
                        }
                        return T{};
                    case reduction::min:
                        if constexpr (detail::is_ordered<T>) {
                            return op::min.identity<T>();
                        }
                        return T{};
                    default:
                        return T{};
                }
            };
            const auto sums = shape.labels_of(false);
            const auto element_at = [](bytes& memory, const auto& tensor, const std::vector<index>& point) {
                return memory.data() + tensor.offset(point) * static_cast<index>(sizeof(T));
            };
            shape.for_each(shape.labels_of(true), [&](const std::vector<index>& point) {
                T sum = identity();
                double size = 0;
                std::vector<index> full = point;
                const std::function<void(std::size_t)> descend = [&](std::size_t depth) {
                    if (depth == sums.size()) {
                        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
                            const std::size_t wide = program.instructions()[operand].type().bytes;
                            elements[operand] = operands[operand].data() +
                                                shape.operands[operand].offset(full) * static_cast<index>(wide);
                        }
                        T value{};
                        testing::evaluate(program, elements.data(), &value);
                        sum = reduce(sum, value);
                        if constexpr (!std::is_integral_v<T>) {
                            size += static_cast<double>(std::abs(value));
                        }
                        return;
                    }
                    const auto label = static_cast<std::size_t>(sums[depth]);
                    for (full[label] = 0; full[label] < shape.extents[label]; ++full[label]) {
                        descend(depth + 1);
                    }
                    full[label] = 0;
                };
                descend(0);
                T held;
                std::byte* const into = element_at(expected, shape.output, point);
                std::memcpy(&held, into, sizeof(T));
                held = mode == write_mode::combine ? reduce(held, sum) : sum;
                std::memcpy(into, &held, sizeof(T));
                T found;
                std::memcpy(&found, element_at(output, shape.output, point), sizeof(T));
                worst = std::max(worst, distance(found, held, size));
                std::memcpy(element_at(output, shape.output, point), &held, sizeof(T));
            });
            worst = output == expected ? worst : 2;  // nothing else was written
        });
        return worst;
    }

private:
    static std::byte* at(bytes& memory, const kernel_test::strided_tensor<std::int8_t>& tensor, element_type type) {
        return memory.data() + tensor.origin * static_cast<index>(type.bytes);
    }
};

/// Memory for a shape and a program, run and compared.
double error_of(random_source& random, join_case& each) {
    for (std::size_t operand = 0; operand < each.shape.operands.size(); ++operand) {
        each.operands.push_back(random_elements(random, each.program.instructions()[operand].type(),
                                                each.shape.operands[operand].memory.size()));
    }
    each.output = random_elements(random, each.program.type(), each.shape.output.memory.size());
    each.mode = pick(random, 0, 2) == 0 ? write_mode::combine : write_mode::overwrite;
    const bytes before = each.output;
    each.run();
    return each.error_against(before);
}

reduction random_reduction(random_source& random, element_type type) {
    const reduction all[] = {reduction::sum, reduction::prod, reduction::max, reduction::min};
    return all[pick(random, 0, type.kind == 'c' ? 1 : 3)];
}

/// x·y…, scaled, added, divided, exp(x − y): those with kernels of their own, in one type.
op_program simple_program(random_source& random, element_type type, std::size_t operands) {
    op_program made(type.kind == 'f' || type.kind == 'c' ? reduction::sum : random_reduction(random, type),
                    std::vector<element_type>(operands, type));
    const auto call = [&](op_code code, op_register a, op_register b) {
        const op_register arguments[] = {a, b};
        return made.call({code}, type, type, arguments);
    };
    const auto last = [&] { return static_cast<op_register>(made.instructions().size() - 1); };
    if (pick(random, 0, 2) == 0) {
        with_type(type, [&]<class T>(T /*type*/) {
            std::array<std::uint64_t, 2> bits{};
            if constexpr (std::is_same_v<T, float>) {
                bits[0] = std::bit_cast<std::uint32_t>(1.5F);
            } else if constexpr (std::is_same_v<T, double>) {
                bits[0] = std::bit_cast<std::uint64_t>(1.5);
            } else if constexpr (std::is_same_v<T, std::complex<float>>) {
                bits = {std::bit_cast<std::uint32_t>(1.5F), std::bit_cast<std::uint32_t>(-0.5F)};
            } else if constexpr (std::is_same_v<T, std::complex<double>>) {
                bits = {std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(-0.5)};
            } else {
                bits[0] = static_cast<std::uint64_t>(static_cast<T>(3));
            }
            const op_register number = made.number(type, bits);
            call(op_code::multiply, number, 0);
        });
        for (op_register operand = 1; operand < operands; ++operand) {
            call(op_code::multiply, last(), operand);
        }
    } else if (operands == 2 && type.kind != 'b') {
        const op_code codes[] = {op_code::add, op_code::subtract, op_code::multiply, op_code::divide,
                                 op_code::shifted_exponential};
        const bool real = type.kind == 'f' || type.kind == 'c';
        call(codes[pick(random, 0, real ? 4 : 2)], 0, 1);
    } else {
        for (op_register operand = 1; operand < operands; ++operand) {
            call(op_code::multiply, operand == 1 ? 0 : last(), operand);
        }
    }
    return made;
}

/// A tree of instructions of any types.
op_program random_program(random_source& random, std::size_t operands) {
    std::vector<element_type> of_operands;
    for (std::size_t operand = 0; operand < operands; ++operand) {
        of_operands.push_back(types[pick(random, 0, 12)]);
    }
    op_program made;
    const element_type result = types[pick(random, 0, 12)];
    made = op_program(random_reduction(random, result), of_operands);
    const index length = pick(random, 1, 12);
    const auto any = [&] {
        return static_cast<op_register>(pick(random, 0, static_cast<index>(made.instructions().size()) - 1));
    };
    for (index number = 0; number < length; ++number) {
        const element_type type = types[pick(random, 0, 12)];
        const auto code = static_cast<op_code>(
            pick(random, static_cast<index>(op_code::negate), static_cast<index>(op_code::choice)));
        // complex numbers are cast to complex ones only
        const auto fits = [&](op_register from) { return made.instructions()[from].kind != 'c' || type.kind == 'c'; };
        op_register arguments[3] = {any(), any(), any()};
        bool possible = true;
        const int arity = arity_of(code);
        for (int place = 0; place < arity; ++place) {
            const bool condition = code == op_code::choice && place == 0;
            possible = possible && (condition || fits(arguments[place]));
        }
        if (!possible || code == op_code::cast || code == op_code::divide || code == op_code::log) {
            continue;  // fractions to integers: not beyond their range
        }
        if (code == op_code::absolute) {
            const element_type from = made.instructions()[arguments[0]].type();
            const element_type real{'f', from.bytes / 2};
            made.call({code}, from.kind == 'c' ? real : from, type, std::span(arguments).first(1));
            continue;
        }
        // Arguments that are fractions are not cast to integers: what is beyond their range has no meaning.
        bool narrows = type.kind != 'f' && type.kind != 'c' && type.kind != 'b';
        bool fraction_in = false;
        for (int place = 0; place < arity; ++place) {
            const char kind = made.instructions()[arguments[place]].kind;
            fraction_in = fraction_in || kind == 'f' || kind == 'c';
        }
        if ((narrows && fraction_in) || !detail::computes_in(code, type)) {
            continue;
        }
        made.call({code}, detail::compares(code) ? element_type_of<bool>() : type, type,
                  std::span(arguments).first(static_cast<std::size_t>(arity)));
    }
    const element_type last = made.type();
    if (last.kind == 'c' && (made.aggregates_by() == reduction::max || made.aggregates_by() == reduction::min)) {
        return random_program(random, operands);
    }
    return made;
}

double tolerance(element_type type) {
    return type.bytes == 4 || (type.kind == 'c' && type.bytes == 8) ? 2e-5 : 1e-11;
}

TEST_CASE("joins of every element type equal their programs point by point") {
    random_source random(3);
    for (int number = 0; number < 2500; ++number) {
        join_case each;
        const auto operands =
            static_cast<std::size_t>(pick(random, 0, 20) == 0 ? pick(random, 4, 6) : pick(random, 1, 3));
        each.shape = kernel_test::make_case<std::int8_t>(random, operands, 6, pick(random, 0, 3) == 0 ? 40 : 7, 6000);
        const element_type type = types[pick(random, 0, 12)];
        each.program = simple_program(random, type, operands);
        const double error = error_of(random, each);
        CAPTURE(number);
        CAPTURE(each.program.text());
        REQUIRE(error < tolerance(type));
    }
}

TEST_CASE("trees of instructions of mixed types equal the host's interpreter") {
    random_source random(4);
    for (int number = 0; number < 1500; ++number) {
        join_case each;
        const auto operands = static_cast<std::size_t>(pick(random, 1, 3));
        each.shape = kernel_test::make_case<std::int8_t>(random, operands, 4, 6, 400);
        each.program = random_program(random, operands);
        const double error = error_of(random, each);
        CAPTURE(number);
        CAPTURE(each.program.text());
        REQUIRE(error < 1e-4);
    }
}

TEST_CASE("long sums for few elements go in pieces, always in the same order") {
    random_source random(5);
    for (const bool rows : {true, false}) {
        for (const element_type type : {element_type{'f', 4}, element_type{'c', 16}, element_type{'i', 4}}) {
            join_case each;
            each.shape.extents = {3, 70001};
            each.shape.operands.resize(1);
            each.shape.operands[0].labels = {0, 1};
            each.shape.operands[0].strides = {rows ? 70001 : 1, rows ? 1 : 3};
            each.shape.operands[0].memory.resize(3 * 70001);
            each.shape.output.labels = {0};
            each.shape.output.strides = {1};
            each.shape.output.memory.resize(3);
            each.program = op_program(reduction::sum, std::vector{type});
            CHECK(error_of(random, each) < 1e-5);
            CHECK(each.workspace.size() > 16);
        }
    }
}

TEST_CASE("more loops than a launch takes") {
    random_source random(6);
    for (const std::size_t kept : {std::size_t{13}, std::size_t{6}}) {
        join_case each;
        each.shape.extents.assign(13, 2);
        each.shape.operands.resize(2);
        index size = 1;
        for (label_id label = 0; label < 13; ++label) {
            each.shape.operands[0].labels.push_back(label);
            each.shape.operands[1].labels.push_back(static_cast<label_id>(12 - label));
            each.shape.operands[0].strides.push_back(size);
            each.shape.operands[1].strides.push_back(size);
            if (static_cast<std::size_t>(label) < kept) {
                each.shape.output.labels.push_back(label);
                each.shape.output.strides.push_back(size);
            }
            size *= 2;
        }
        for (auto* const tensor : {&each.shape.operands[0], &each.shape.operands[1], &each.shape.output}) {
            tensor->memory.resize(8192);
        }
        each.program = simple_program(random, {'f', 8}, 2);
        CHECK(error_of(random, each) < 1e-11);
    }
}

TEST_CASE("sums of the columns of a tall matrix are taken in pieces, and those at once") {
    constexpr index rows = 50000;
    constexpr index columns = 64;
    std::vector<double> x(static_cast<std::size_t>(rows * columns));
    std::vector<double> expected(static_cast<std::size_t>(columns), 0);
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<double>(at * at % 31);
        expected[at % expected.size()] += x[at];
    }
    const op_program sum = op_program(reduction::sum, std::array{element_type_of<double>()});
    constexpr label_id of_matrix[] = {0, 1};
    constexpr label_id of_sums[] = {1};
    constexpr index extents[] = {rows, columns};
    constexpr index strides[] = {columns, 1};
    constexpr index dense[] = {1};
    std::vector<double> sums(expected.size(), -1);
    const strided_block matrix{x.data(), of_matrix, strides};
    const block_call call{extents, {&matrix, 1}, {sums.data(), of_sums, dense}};
    std::vector<double> workspace(einparallel::detail::join_workspace_bytes(sum, call) / sizeof(double));
    CHECK(workspace.size() > 256 * expected.size());
    einparallel::detail::join_on_device(sum, call, workspace.data(), nullptr, [&](const launch::strided_join& part) {
        launch::join(nullptr, part, *launch::device_program_of(sum));
    });
    CHECK(sums == expected);
}

}  // namespace
