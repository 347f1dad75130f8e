#pragma once
// Which body runs a join.

#include <einparallel/device/join_bodies.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/start.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// One join on its way to a body.
class join_launcher {
public:
    join_launcher(launch::stream on, const launch::strided_join& work, const join_code& code)
        : on_(on), work_(work), code_(code), shape_(shape_of(work, code)) {}

    void run() const {
        const bool single = code_.type.bytes == (code_.type.kind == 'f' ? 4 : 8);
        if (code_.plain == plain_function::none) {
            code_.wide ? with_cells<2>() : with_cells<1>();
        } else if (code_.type.kind == 'f') {
            single ? with_reals<float>() : with_reals<double>();
        } else {
            single ? with_fractions<complex_pair<float>>() : with_fractions<complex_pair<double>>();
        }
    }

private:
    template <class T>
    static T number_of(std::complex<double> number) {
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(number.real());
        } else {
            using real = decltype(T::re);
            return {static_cast<real>(number.real()), static_cast<real>(number.imag())};
        }
    }

    template <class T>
    void with_fractions() const {
        const T first = number_of<T>(code_.factors[0]);
        if (code_.plain == plain_function::sum) {
            plain<T, 2>(scaled_sum<T>{first, number_of<T>(code_.factors[1])});
        } else if (code_.operands.size() == 1) {
            plain<T, 1>(scaled_product<T, 1>{first});
        } else {
            plain<T, 2>(scaled_product<T, 2>{first});
        }
    }

    template <class T>
    void with_reals() const {
        if (code_.plain == plain_function::quotient) {
            plain<T, 2>(quotient<T>{});
        } else if (code_.plain == plain_function::exponential) {
            plain<T, 2>(exponential_of_difference<T>{});
        } else {
            with_fractions<T>();
        }
    }

    template <class T, int Operands, class Function>
    void plain(const Function& function) const {
        op_cell<2> identity{{code_.identity[0], code_.identity[1]}};
        const plain_program<T, Operands, Function> program{function, by(), identity.as<T>()};
        shape_.sums ? sum(program) : map(program);
    }

    [[nodiscard]] reduction by() const {
        return code_.by == op_code::multiply  ? reduction::prod
               : code_.by == op_code::larger  ? reduction::max
               : code_.by == op_code::smaller ? reduction::min
                                              : reduction::sum;
    }

    template <int Words>
    void with_cells() const {
        switch (code_.operands.size()) {
            case 0:
            case 1:
                cells<Words, 1>();
                return;
            case 2:
                cells<Words, 2>();
                return;
            case 3:
            case 4:
                cells<Words, 4>();
                return;
            default:
                cells<Words, launch::most_operands>();
        }
    }

    template <int Words, int Operands>
    void cells() const {
        cell_program<Words, Operands> program{};
        std::copy(code_.operands.begin(), code_.operands.end(), program.operand_types);
        program.operand_count = static_cast<int>(code_.operands.size());
        program.count = static_cast<int>(code_.instructions.size());
        program.result_register = static_cast<std::uint8_t>(code_.result);
        program.type = cell_type_of(code_.type);
        program.by = code_.by;
        std::copy_n(code_.identity.begin(), Words, program.identity.words);
        std::copy(code_.instructions.begin(), code_.instructions.end(), program.code);
        shape_.sums ? sum(program) : map(program);
    }

    template <class Body>
    void fill(Body& body) const {
        body.output = work_.output;
        std::copy_n(work_.operands, work_.operand_count, body.from);
        body.points = static_cast<std::uint32_t>(shape_.points);
        body.combine = work_.combine;
        const auto add = [&](int first, int end) {
            for (int loop = end; loop-- > first;) {
                if (work_.extents[loop] > 1) {
                    auto& into = body.loops.loop[body.loops.all++];
                    into.size = static_cast<std::uint32_t>(work_.extents[loop]);
                    into.extent = divisor(into.size);
                    std::copy_n(work_.strides[loop], 1 + work_.operand_count, into.strides);
                }
            }
        };
        add(0, work_.output_loops);
        body.loops.outputs = body.loops.all;
        add(work_.output_loops, work_.loops);
    }

    template <class Program>
    void map(const Program& program) const {
        join_map<Program> body{};
        body.program = program;
        fill(body);
        const index of_block = index{join_points} * shape_.across;
        start(on_, body,
              {(shape_.points + of_block - 1) / of_block, shape_.across,
               code_.plain == plain_function::none ? shape_.across * code_.shared_bytes() : 0});
    }

    template <class Program>
    void sum(const Program& program) const {
        join_sum<Program> body{};
        body.program = program;
        fill(body);
        body.terms = static_cast<std::uint32_t>(shape_.terms);
        body.piece_terms = static_cast<std::uint32_t>(shape_.piece_terms);
        body.pieces = static_cast<std::uint32_t>(shape_.pieces);
        body.by_pieces = divisor(body.pieces);
        body.across = shape_.across;
        body.along = shape_.along;
        body.sum_fast = shape_.sum_fast;
        const int threads = shape_.across * shape_.along;
        const auto value_bytes = static_cast<int>(sizeof(typename Program::value));
        body.sums_at = threads * (code_.plain == plain_function::none ? code_.shared_bytes() - value_bytes : 0);
        const bool in_pieces = shape_.pieces > 1;
        if (in_pieces) {
            body.output = work_.workspace;
            body.combine = false;
        }
        const index groups = (shape_.points + shape_.across - 1) / shape_.across;
        start(on_, body, {groups * shape_.pieces, threads, body.sums_at + threads * value_bytes});
        if (in_pieces) {
            add_pieces();
        }
    }

    /// Z (⊕)= ⊕ of the pieces.
    void add_pieces() const {
        launch::strided_join whole;
        whole.output = work_.output;
        whole.operands[0] = work_.workspace;
        whole.operand_count = 1;
        whole.combine = work_.combine;
        whole.output_loops = work_.output_loops;
        whole.loops = work_.output_loops + 1;
        index step = 1;
        for (int loop = work_.output_loops; loop-- > 0;) {
            whole.extents[loop] = work_.extents[loop];
            whole.strides[loop][0] = work_.strides[loop][0];
            whole.strides[loop][1] = step;
            step *= work_.extents[loop];
        }
        whole.extents[work_.output_loops] = shape_.pieces;
        whole.strides[work_.output_loops][1] = step;
        join_code code;
        code.type = code_.type;
        code.by = code_.by;
        code.identity = code_.identity;
        code.operands.push_back(cell_type_of(code_.type));
        code.registers = 1;
        code.wide = code.type.bytes == 16;
        code.plain = code.type.kind == 'f' || code.type.kind == 'c' ? plain_function::product : plain_function::none;
        join_launcher(on_, whole, code).run();
    }

    launch::stream on_;
    const launch::strided_join& work_;
    const join_code& code_;
    join_shape shape_;
};

inline void launch_join(launch::stream on, const launch::strided_join& work, const op_program& program) {
    const join_code code = code_of(program);
    join_launcher(on, work, code).run();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
