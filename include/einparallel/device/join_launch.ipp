#pragma once
// Which body runs a join.

#include <einparallel/device/join_bodies.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// One join on its way to a body.
class join_launcher {
public:
    join_launcher(launch::stream on, const launch::strided_join& work, const join_code& code)
        : on_(on), work_(work), code_(code), shape_(shape_of(work, code.shared_bytes())) {}

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
        const plain_program<T, Operands, Function> program{{}, function, by(), identity.as<T>()};
        run(program);
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
        run(program);
    }

    template <class Program>
    void run(const Program& program) const {
        start_join(on_, work_, shape_, program, code_.register_bytes());
        if (shape_.pieces > 1) {
            join_code sum;
            sum.type = code_.type;
            sum.by = code_.by;
            sum.identity = code_.identity;
            sum.operands.push_back(cell_type_of(code_.type));
            sum.registers = 1;
            sum.wide = sum.type.bytes == 16;
            sum.plain = sum.type.kind == 'f' || sum.type.kind == 'c' ? plain_function::product : plain_function::none;
            join_launcher(on_, sum_of_pieces(work_, shape_), sum).run();
        }
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
