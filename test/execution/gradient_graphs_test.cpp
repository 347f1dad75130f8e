// Gradients of random graphs against central differences of scalar loops in long double.

#include <einparallel.hpp>

#include <support/long_suite.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace gradient_graphs_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k, l, r);

using real = long double;

/// A matrix, for scalar loops.
struct matrix {
    int rows = 0;
    int columns = 0;
    std::vector<real> elements{};

    matrix(int m, int n) : rows(m), columns(n), elements(std::size_t(m * n)) {}
    real& operator()(int row, int column) { return elements[std::size_t(row * columns + column)]; }
    real operator()(int row, int column) const { return elements[std::size_t(row * columns + column)]; }
};

/// How near what was computed is to a place without a derivative.
struct kinks {
    real nearest = 1;
    void at(real distance) { nearest = std::min(nearest, std::abs(distance)); }
};

using tensor = ep::tensor<double, 2>;
using loops = std::function<matrix(const std::vector<matrix>&, kinks&)>;

/// A tensor of the graph, and how scalar loops make it of those before it.
struct step {
    tensor made;
    int rows;
    int columns;
    loops compute;  ///< none: an input
    std::string written;
};

class random_graph {
public:
    explicit random_graph(unsigned seed) : random_(seed) {
        const int inputs = 2 + chosen(2);
        for (int input = 0; input < inputs; ++input) {
            const int rows = 1 + chosen(4);
            const int columns = input > 0 && chosen(2) == 0 ? steps[0].rows : 1 + chosen(4);
            const auto salt = unsigned(random_());
            steps.push_back({ep::generate<double>({rows, columns},
                                                  [salt](auto a, auto b) { return element(salt, int(a), int(b)); }),
                             rows, columns, nullptr, "input"});
            matrix values(rows, columns);
            for (int at = 0; at < rows * columns; ++at) {
                values.elements[std::size_t(at)] = element(salt, at / columns, at % columns);
            }
            given.push_back(values);
        }
        for (int count = 2 + chosen(4); count > 0;) {
            const std::size_t before = steps.size();
            add(any(), any(), any());
            count -= steps.size() > before ? 1 : 0;
        }
        for (std::size_t number = given.size(); number < steps.size(); ++number) {
            const tensor& summand = steps[number].made;
            const ep::tensor<double, 2> w =
                ep::generate<double>({steps[number].rows, steps[number].columns},
                                     [number](auto a, auto b) { return element(unsigned(number), int(a), int(b)); });
            ep::tensor<double, 0> sum;
            sum() = summand(i, j) * w(i, j);
            if (number == given.size()) {
                loss = sum;
            } else {
                loss() = loss() + sum();
            }
        }
    }

    /// The loss of these inputs.
    [[nodiscard]] real value(std::vector<matrix> all, kinks& near) const {
        real sum = 0;
        for (std::size_t number = given.size(); number < steps.size(); ++number) {
            all.push_back(steps[number].compute(all, near));
            for (int at = 0; at < steps[number].rows * steps[number].columns; ++at) {
                sum += all.back().elements[std::size_t(at)] *
                       element(unsigned(number), at / steps[number].columns, at % steps[number].columns);
            }
        }
        return sum;
    }
    [[nodiscard]] std::string written() const {
        std::string all;
        for (const step& each : steps) {
            all += each.written + " [" + std::to_string(each.rows) + ", " + std::to_string(each.columns) + "]; ";
        }
        return all;
    }

    std::vector<step> steps;
    std::vector<matrix> given;
    ep::tensor<double, 0> loss;

private:
    static double element(unsigned salt, int row, int column) {
        std::minstd_rand next(salt + 7919U * unsigned(row) + 104729U * unsigned(column) + 1);
        next.discard(3);
        return 2.4 * (double(next() % 100003U) / 100003.0) - 1.2;
    }
    int chosen(int below) { return int(random_() % unsigned(below)); }
    int any() { return chosen(int(steps.size())); }

    /// Element by element, of these steps.
    template <class Function>
    void map(const tensor& made, const char* name, int a, int b, Function function) {
        const step& like = steps[std::size_t(a)];
        const int rows = like.rows;
        const int columns = like.columns;
        steps.push_back({made, rows, columns,
                         [=](const std::vector<matrix>& all, kinks& near) {
                             matrix z(rows, columns);
                             for (std::size_t at = 0; at < z.elements.size(); ++at) {
                                 z.elements[at] =
                                     function(all[std::size_t(a)].elements[at], all[std::size_t(b)].elements[at], near);
                             }
                             return z;
                         },
                         std::string(name) + " of " + std::to_string(a) + ", " + std::to_string(b)});
    }
    /// Row by row of one step: function(row of it, index of the row, result, near).
    template <class Function>
    void of_rows(const tensor& made, const char* name, int a, int columns, Function function) {
        const int rows = steps[std::size_t(a)].rows;
        steps.push_back({made, rows, columns,
                         [=](const std::vector<matrix>& all, kinks& near) {
                             matrix z(rows, columns);
                             for (int row = 0; row < rows; ++row) {
                                 const auto x = [&, row](int column) { return all[std::size_t(a)](row, column); };
                                 function(
                                     x, [&](int column) -> real& { return z(row, column); }, near);
                             }
                             return z;
                         },
                         std::string(name) + " of " + std::to_string(a)});
    }
    /// In any other way: function(all, result).
    void other(const tensor& made, const char* name, int rows, int columns,
               const std::function<void(const std::vector<matrix>&, matrix&, kinks&)>& function) {
        steps.push_back({made, rows, columns,
                         [=](const std::vector<matrix>& all, kinks& near) {
                             matrix z(rows, columns);
                             function(all, z, near);
                             return z;
                         },
                         name});
    }

    void add_map(int a, int b);
    void add_rows(int a);
    void add_other(int a, int b, int c);
    void add(int a, int b, int c) {
        switch (chosen(3)) {
            case 0:
                return add_map(a, b);
            case 1:
                return add_rows(a);
            default:
                return add_other(a, b, c);
        }
    }

    std::minstd_rand random_;
};

void random_graph::add_map(int a, int b) {
    const step& first = steps[std::size_t(a)];
    b = steps[std::size_t(b)].rows == first.rows && steps[std::size_t(b)].columns == first.columns ? b : a;
    const tensor A = first.made;
    const tensor B = steps[std::size_t(b)].made;
    tensor Z;
    const auto one = [&](const char* name, auto function) {
        map(Z, name, a, a, [=](real x, real /*y*/, kinks& near) { return function(x, near); });
    };
    switch (chosen(29)) {
        case 0:
            Z(i, j) = exp(0.3 * A(i, j));
            return one("exp", [](real x, kinks&) { return std::exp(real(0.3) * x); });
        case 1:
            Z(i, j) = log(A(i, j) * A(i, j) + 1.0);
            return one("log", [](real x, kinks&) { return std::log(x * x + 1); });
        case 2:
            Z(i, j) = sqrt(A(i, j) * A(i, j) + 0.5);
            return one("sqrt", [](real x, kinks&) { return std::sqrt(x * x + real(0.5)); });
        case 3:
            Z(i, j) = tanh(A(i, j)) * sin(A(i, j));
            return one("tanh sin", [](real x, kinks&) { return std::tanh(x) * std::sin(x); });
        case 4:
            Z(i, j) = cos(A(i, j)) - tan(0.2 * tanh(A(i, j)));
            return one("cos tan", [](real x, kinks&) { return std::cos(x) - std::tan(real(0.2) * std::tanh(x)); });
        case 5:
            Z(i, j) = erf(A(i, j)) * A(i, j);
            return one("erf", [](real x, kinks&) { return std::erf(x) * x; });
        case 6:
            Z(i, j) = sigmoid(A(i, j));
            return one("sigmoid", [](real x, kinks&) { return 1 / (1 + std::exp(-x)); });
        case 7:
            Z(i, j) = relu(A(i, j)) - 0.1 * A(i, j);
            return one("relu", [](real x, kinks& near) {
                near.at(x);
                return std::max(x, real(0)) - real(0.1) * x;
            });
        case 8:
            Z(i, j) = silu(A(i, j));
            return one("silu", [](real x, kinks&) { return x / (1 + std::exp(-x)); });
        case 9:
            Z(i, j) = gelu(A(i, j));
            return one("gelu", [](real x, kinks&) { return x * (1 + std::erf(x / std::numbers::sqrt2_v<real>)) / 2; });
        case 10:
            Z(i, j) = abs(A(i, j));
            return one("abs", [](real x, kinks& near) {
                near.at(x);
                return std::abs(x);
            });
        case 11:
            Z(i, j) = pow(tanh(A(i, j)), 3.0) + pow(2.0, tanh(A(i, j)));
            return one("powers",
                       [](real x, kinks&) { return std::pow(std::tanh(x), real(3)) + std::exp2(std::tanh(x)); });
        case 12:
            Z(i, j) = -A(i, j);
            return one("minus", [](real x, kinks&) { return -x; });
        case 13:
            Z(i, j) = floor(A(i, j)) * A(i, j);
            return one("floor", [](real x, kinks& near) {
                near.at(x - std::round(x));
                return std::floor(x) * x;
            });
        case 14:
            Z(i, j) = ep::sign(A(i, j)) + round(A(i, j)) * 0.25 + A(i, j);
            return one("sign", [](real x, kinks& near) {
                near.at(x);
                near.at(x - std::floor(x) - real(0.5));
                return real(x > 0 ? 1 : -1) + std::round(x) / 4 + x;
            });
        case 15:
            Z(i, j) = A(i, j) + B(i, j);
            return map(Z, "+", a, b, [](real x, real y, kinks&) { return x + y; });
        case 16:
            Z(i, j) = A(i, j) - 0.5 * B(i, j);
            return map(Z, "-", a, b, [](real x, real y, kinks&) { return x - y / 2; });
        case 17:
            Z(i, j) = A(i, j) * B(i, j);
            return map(Z, "*", a, b, [](real x, real y, kinks&) { return x * y; });
        case 18:
            Z(i, j) = A(i, j) / (2.0 + B(i, j) * B(i, j));
            return map(Z, "/", a, b, [](real x, real y, kinks&) { return x / (2 + y * y); });
        case 19:
        case 20:
            if (a == b) {
                return;
            }
            Z(i, j) = max(A(i, j), B(i, j)) * min(A(i, j), 0.3);
            return map(Z, "max", a, b, [](real x, real y, kinks& near) {
                near.at(x - y);
                near.at(x - real(0.3));
                return std::max(x, y) * std::min(x, real(0.3));
            });
        case 21:
            Z(i, j) = pow(1.0 + A(i, j) * A(i, j), tanh(B(i, j)));
            return map(Z, "pow", a, b, [](real x, real y, kinks&) { return std::pow(1 + x * x, std::tanh(y)); });
        case 22:
            Z(i, j) = atan2(A(i, j), 3.0 + tanh(B(i, j)));
            return map(Z, "atan2", a, b, [](real x, real y, kinks&) { return std::atan2(x, 3 + std::tanh(y)); });
        case 23:
        case 24:
            if (a == b) {
                return;
            }
            Z(i, j) = ep::where(A(i, j) > B(i, j), A(i, j) * B(i, j), 2.0 * B(i, j));
            return map(Z, "where", a, b, [](real x, real y, kinks& near) {
                near.at(x - y);
                return x > y ? x * y : 2 * y;
            });
        case 25: {
            const int columns = first.columns;
            Z(i, j) = A(i, columns - 1 - j) * A(i, j);
            return of_rows(Z, "backwards", a, columns, [columns](const auto& x, const auto& z, kinks&) {
                for (int column = 0; column < columns; ++column) {
                    z(column) = x(columns - 1 - column) * x(column);
                }
            });
        }
        case 26: {
            const int rows = first.rows;
            const int columns = first.columns;
            Z(j, i) = tanh(A(i, j));
            return other(Z, "transposed", columns, rows, [=](const auto& all, matrix& z, kinks&) {
                for (int at = 0; at < rows * columns; ++at) {
                    z(at % columns, at / columns) = std::tanh(all[std::size_t(a)](at / columns, at % columns));
                }
            });
        }
        default: {
            const int rows = first.rows;
            const int columns = first.columns;
            Z(i, j) = ep::reshape(A, {columns, rows})(i, j) * 0.7;
            return other(Z, "reshaped", columns, rows, [=](const auto& all, matrix& z, kinks&) {
                for (std::size_t at = 0; at < z.elements.size(); ++at) {
                    z.elements[at] = all[std::size_t(a)].elements[at] * real(0.7);
                }
            });
        }
    }
}

void random_graph::add_rows(int a) {
    const tensor A = steps[std::size_t(a)].made;
    const int columns = steps[std::size_t(a)].columns;
    tensor Z;
    ep::tensor<double, 1> m;
    const auto less = [&](const char* name, auto of_row) {  // what a row is reduced to, from each element
        Z(i, j) = A(i, j) * A(i, j) - m(i);
        of_rows(Z, name, a, columns, [=](const auto& x, const auto& z, kinks& near) {
            const real reduced = of_row(x, near);
            for (int column = 0; column < columns; ++column) {
                z(column) = x(column) * x(column) - reduced;
            }
        });
    };
    switch (chosen(10)) {
        case 0:
            m(i) = A(i, j) / 3.0;
            return less("sum", [=](const auto& x, kinks&) {
                real sum = 0;
                for (int column = 0; column < columns; ++column) {
                    sum += x(column);
                }
                return sum / 3;
            });
        case 1:
        case 2: {
            const bool is_max = chosen(2) == 0;
            m(i) = ep::max(A(i, j));
            if (!is_max) {
                m(i) = ep::min(A(i, j));
            }
            return less(is_max ? "max" : "min", [=](const auto& x, kinks& near) {
                std::vector<real> sorted;
                for (int column = 0; column < columns; ++column) {
                    sorted.push_back(is_max ? -x(column) : x(column));
                }
                std::sort(sorted.begin(), sorted.end());
                near.at(columns > 1 ? sorted[1] - sorted[0] : real(1));
                return is_max ? -sorted[0] : sorted[0];
            });
        }
        case 3:
            m(i) = ep::prod(A(i, j) + 0.1);
            return less("prod", [=](const auto& x, kinks&) {
                real product = 1;
                for (int column = 0; column < columns; ++column) {
                    product *= x(column) + real(0.1);
                }
                return product;
            });
        case 4:
            m(i) = ep::sum(j, ep::softmax(j, A(i, j)) * A(i, j));
            return less("softmax", [=](const auto& x, kinks&) {
                real sum = 0;
                real product = 0;
                for (int column = 0; column < columns; ++column) {
                    sum += std::exp(x(column));
                    product += std::exp(x(column)) * x(column);
                }
                return product / sum;
            });
        case 5:
            Z(i, j) = ep::softmax(j, 3.0 * A(i, j));
            return of_rows(Z, "softmax itself", a, columns, [=](const auto& x, const auto& z, kinks&) {
                real sum = 0;
                for (int column = 0; column < columns; ++column) {
                    sum += std::exp(3 * x(column));
                }
                for (int column = 0; column < columns; ++column) {
                    z(column) = std::exp(3 * x(column)) / sum;
                }
            });
        case 6:
            Z(i, j) = ep::cumsum(j, sin(A(i, j)));
            return of_rows(Z, "cumsum", a, columns, [=](const auto& x, const auto& z, kinks&) {
                for (int column = 0; column < columns; ++column) {
                    z(column) = std::sin(x(column)) + (column > 0 ? z(column - 1) : 0);
                }
            });
        case 7:
            Z(i, j) = ep::cumprod(j, A(i, j));
            return of_rows(Z, "cumprod", a, columns, [=](const auto& x, const auto& z, kinks&) {
                for (int column = 0; column < columns; ++column) {
                    z(column) = x(column) * (column > 0 ? z(column - 1) : 1);
                }
            });
        case 8: {
            const int count = (columns + 1) / 2;
            Z(i, k) = ep::top_k(k, j, A(i, j), count).values;
            return of_rows(Z, "top_k", a, count, [=](const auto& x, const auto& z, kinks& near) {
                std::vector<real> sorted;
                for (int column = 0; column < columns; ++column) {
                    sorted.push_back(x(column));
                }
                std::sort(sorted.rbegin(), sorted.rend());
                for (int column = 0; column < columns; ++column) {
                    near.at(column > 0 ? sorted[std::size_t(column)] - sorted[std::size_t(column - 1)] : real(1));
                    if (column < count) {
                        z(column) = sorted[std::size_t(column)];
                    }
                }
            });
        }
        default:
            Z(i, j) = A(i, j);
            m(i) = A(i, 0) * A(i, 0);
            Z(i, 0) = m(i);
            return of_rows(Z, "first column", a, columns, [=](const auto& x, const auto& z, kinks&) {
                for (int column = 0; column < columns; ++column) {
                    z(column) = column == 0 ? x(0) * x(0) : x(column);
                }
            });
    }
}

void random_graph::add_other(int a, int b, int c) {
    const tensor A = steps[std::size_t(a)].made;
    const tensor B = steps[std::size_t(b)].made;
    const int rows = steps[std::size_t(a)].rows;
    const int columns = steps[std::size_t(a)].columns;
    const int b_rows = steps[std::size_t(b)].rows;
    const int b_columns = steps[std::size_t(b)].columns;
    const auto x = [a](const std::vector<matrix>& all, int row, int column) {
        return all[std::size_t(a)](row, column);
    };
    const auto y = [b](const std::vector<matrix>& all, int row, int column) {
        return all[std::size_t(b)](row, column);
    };
    tensor Z;
    // z(row, column) += what `term` says for each of so many terms
    const auto sums = [&](const char* name, int m, int n, int terms, auto term) {
        other(Z, name, m, n, [=](const std::vector<matrix>& all, matrix& z, kinks&) {
            for (int row = 0; row < m; ++row) {
                for (int column = 0; column < n; ++column) {
                    for (int of = 0; of < terms; ++of) {
                        z(row, column) += term(all, row, column, of);
                    }
                }
            }
        });
    };
    switch (chosen(15)) {
        case 0:
        case 1:
            if (columns == b_rows) {
                Z(i, k) = A(i, j) * B(j, k);
                return sums("product", rows, b_columns, columns, [=](const auto& all, int row, int column, int of) {
                    return x(all, row, of) * y(all, of, column);
                });
            }
            return;
        case 2:
            if (columns == b_columns) {
                Z(i, k) = 0.5 * A(i, j) * B(k, j);
                return sums("transposed product", rows, b_rows, columns,
                            [=](const auto& all, int row, int column, int of) {
                                return x(all, row, of) * y(all, column, of) / 2;
                            });
            }
            return;
        case 3:
            if (columns == b_rows) {
                Z(i, k) = ep::sum(tanh(A(i, j) - B(j, k)));
                return sums("distances", rows, b_columns, columns, [=](const auto& all, int row, int column, int of) {
                    return std::tanh(x(all, row, of) - y(all, of, column));
                });
            }
            return;
        case 4:
            if (columns == b_columns && rows >= b_rows) {
                Z(i, j) = A(i + r, j) * B(r, j);
                return sums("convolution", rows - b_rows + 1, columns, b_rows,
                            [=](const auto& all, int row, int column, int of) {
                                return x(all, row + of, column) * y(all, of, column);
                            });
            }
            return;
        case 5:
            if (columns == b_columns) {
                Z(i, j) = ep::padded(A, {b_rows - 1, 0}, {0, 0}, 0.5)(i + r, j) * B(r, j);
                return sums("padded", rows, columns, b_rows, [=](const auto& all, int row, int column, int of) {
                    const int at = row + of - b_rows + 1;
                    return (at < 0 ? real(0.5) : x(all, at, column)) * y(all, of, column);
                });
            }
            return;
        case 6:
            if (columns == b_columns && rows >= b_rows) {
                Z(i, j) = A(2 * i + r, j) * B(r, j);
                return sums("with strides", (rows - b_rows) / 2 + 1, columns, b_rows,
                            [=](const auto& all, int row, int column, int of) {
                                return x(all, 2 * row + of, column) * y(all, of, column);
                            });
            }
            return;
        case 7:
            if (rows == columns) {
                Z(i, j) = A(i, i) * A(i, j);
                return sums("diagonal", rows, columns, 1, [=](const auto& all, int row, int column, int /*of*/) {
                    return x(all, row, row) * x(all, row, column);
                });
            }
            return;
        case 8: {
            const ep::tensor<int, 1> token =
                ep::generate<int>({5}, [rows](auto at) { return int(at * at + 1) % rows; });
            Z(i, j) = exp(0.2 * A(token(i), j));
            return sums("embedding", 5, columns, 1, [=](const auto& all, int row, int column, int /*of*/) {
                return std::exp(real(0.2) * x(all, (row * row + 1) % rows, column));
            });
        }
        case 9:
            if (columns == b_columns) {
                const ep::tensor<int, 1> token =
                    ep::generate<int>({b_rows}, [rows](auto at) { return int(3 * at + 1) % rows; });
                Z(i, j) = A(i, j) * A(i, j);
                Z(token(i), j) += B(i, j);
                return other(Z, "scattered", rows, columns, [=](const std::vector<matrix>& all, matrix& z, kinks&) {
                    for (int at = 0; at < rows * columns; ++at) {
                        z.elements[std::size_t(at)] = std::pow(all[std::size_t(a)].elements[std::size_t(at)], real(2));
                    }
                    for (int at = 0; at < b_rows * columns; ++at) {
                        z((3 * (at / columns) + 1) % rows, at % columns) += y(all, at / columns, at % columns);
                    }
                });
            }
            return;
        case 10:
            if (columns == b_columns && b_rows <= rows) {
                const ep::tensor<int, 1> token =
                    ep::generate<int>({b_rows}, [rows](auto at) { return rows - 1 - int(at); });
                Z(i, j) = A(i, j) * A(i, j);
                Z(token(i), j) = B(i, j);
                return sums("replaced", rows, columns, 1, [=](const auto& all, int row, int column, int /*of*/) {
                    return rows - 1 - row < b_rows ? y(all, rows - 1 - row, column)
                                                   : x(all, row, column) * x(all, row, column);
                });
            }
            return;
        case 11:
            if (columns == b_columns) {
                Z(i, j) = sin(ep::concatenate(0, A, B)(i, j));
                return sums("concatenated", rows + b_rows, columns, 1,
                            [=](const auto& all, int row, int column, int /*of*/) {
                                return std::sin(row < rows ? x(all, row, column) : y(all, row - rows, column));
                            });
            }
            return;
        case 12:
            if (rows > 1) {
                Z(i, j) = ep::slice(A, {1, 0}, {rows, columns})(i, j) * A(0, j);
                return sums("slice", rows - 1, columns, 1, [=](const auto& all, int row, int column, int /*of*/) {
                    return x(all, row + 1, column) * x(all, 0, column);
                });
            }
            return;
        case 13:
            if (columns == b_columns) {
                Z(i, j) = A(i, j);
                Z(i, j) = Z(i, j) + ep::sum(B(k, j) * B(k, l));
                return sums("broadcast", rows, columns, 1, [=](const auto& all, int row, int column, int /*of*/) {
                    real sum = x(all, row, column);
                    for (int of = 0; of < b_rows * b_columns; ++of) {
                        sum += y(all, of / b_columns, column) * y(all, of / b_columns, of % b_columns);
                    }
                    return sum;
                });
            }
            return;
        default: {
            const step& third = steps[std::size_t(c)];
            if (columns == b_rows && b_columns == third.rows) {
                const tensor C = third.made;
                Z(i, l) = 0.3 * A(i, j) * B(j, k) * C(k, l);
                return sums("three", rows, third.columns, columns * b_columns,
                            [=](const auto& all, int row, int column, int of) {
                                return real(0.3) * x(all, row, of / b_columns) *
                                       y(all, of / b_columns, of % b_columns) *
                                       all[std::size_t(c)](of % b_columns, column);
                            });
            }
        }
    }
}

/// visit(graph, loss, near) for so many graphs without a kink nearby.
template <class Visit>
void for_each_graph(int graphs, const Visit& visit) {
    for (unsigned seed = 0; graphs > 0; ++seed) {
        const random_graph graph(seed);
        kinks near;
        const real there = graph.value(graph.given, near);
        if (near.nearest < 1e-3L || !(std::abs(there) < 1e6L)) {
            continue;
        }
        CAPTURE(seed);
        CAPTURE(graph.written());
        std::string sentence;
        try {
            visit(graph, double(there));
        } catch (const ep::error& thrown) {
            sentence = thrown.what();
        }
        // A graph may leave an input out.
        const bool is_partial = sentence.find("does not depend on") != std::string::npos;
        CHECK_MESSAGE((sentence.empty() || is_partial), sentence);
        graphs -= is_partial ? 0 : 1;
    }
}

/// How many graphs a test has.
int graphs_of(int usual, const ep::context& world) {
    const char* const asked = std::getenv("EINPARALLEL_GRADIENT_GRAPHS");
    return asked != nullptr ? std::atoi(asked) : world.size() > 2 ? usual / 4 : usual;
}

/// visit(inputs…) of a graph.
template <class Visit>
auto with_inputs(const random_graph& graph, const Visit& visit) {
    return graph.given.size() == 2 ? visit(graph.steps[0].made, graph.steps[1].made)
                                   : visit(graph.steps[0].made, graph.steps[1].made, graph.steps[2].made);
}

/// Compares with what an element of an input changes: by(input, element).
template <class By>
void compare(const random_graph& graph, const std::vector<ep::array<double, 2>>& found, const By& by) {
    for (std::size_t input = 0; input < found.size(); ++input) {
        double largest = 1;
        double worst = 0;
        for (std::size_t at = 0; at < graph.given[input].elements.size(); ++at) {
            const auto wanted = double(by(input, at));
            largest = std::max(largest, std::abs(wanted));
            worst = std::max(worst, std::abs(wanted - found[input].data()[at]));
        }
        CHECK(worst <= 1e-6 * largest);
    }
}

}  // namespace

TEST_CASE("gradients of random graphs are those of central differences of loops") {
    ep::context world{MPI_COMM_WORLD};
    for_each_graph(graphs_of(120, world), [&](const random_graph& graph, double there) {
        std::vector<ep::array<double, 2>> found;
        const double loss = with_inputs(graph, [&](auto... input) {
            return std::apply(
                [&](const auto&... gradient) {
                    ep::results made =
                        ep::decompose(world, {.effort = ep::testing::short_search}, graph.loss, gradient...).run(world);
                    (found.push_back(made.get(gradient).allgather()), ...);
                    return made.get(graph.loss).allgather().value();
                },
                ep::gradient(graph.loss, input...));
        });
        CHECK(std::abs(loss - there) <= 1e-10 * std::max(1.0, std::abs(there)));
        compare(graph, found, [&](std::size_t input, std::size_t at) {
            constexpr real width = 1e-5L;
            const auto moved = [&](real by) {
                std::vector<matrix> all = graph.given;
                all[input].elements[at] += by;
                kinks ignored;
                return graph.value(all, ignored);
            };
            return (moved(width) - moved(-width)) / (2 * width);
        });
    });
}

TEST_CASE("second derivatives of random graphs are those of differences of differences") {
    ep::context world{MPI_COMM_WORLD};
    for_each_graph(graphs_of(40, world), [&](const random_graph& graph, double /*there*/) {
        std::vector<ep::array<double, 2>> found;
        // Of the sum of all first derivatives.
        with_inputs(graph, [&](auto... input) {
            ep::tensor<double, 0> sum;
            std::apply(
                [&](const auto& first, const auto&... more) {
                    sum() = first(i, j);
                    ((sum() = sum() + ep::sum(more(i, j))), ...);
                },
                ep::gradient(graph.loss, input...));
            std::apply(
                [&](const auto&... gradient) {
                    ep::results made =
                        ep::decompose(world, {.effort = ep::testing::short_search}, sum, gradient...).run(world);
                    (found.push_back(made.get(gradient).allgather()), ...);
                },
                ep::gradient(sum, input...));
        });
        compare(graph, found, [&](std::size_t input, std::size_t at) {
            constexpr real width = 1e-4L;
            const auto moved = [&](real all_by, real one_by) {
                std::vector<matrix> all = graph.given;
                for (matrix& each : all) {
                    for (real& element : each.elements) {
                        element += all_by;
                    }
                }
                all[input].elements[at] += one_by;
                kinks ignored;
                return graph.value(all, ignored);
            };
            return (moved(width, width) - moved(-width, width) - moved(width, -width) + moved(-width, -width)) /
                   (4 * width * width);
        });
    });
}

}  // namespace gradient_graphs_test
