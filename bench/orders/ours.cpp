// ep::contraction_order on networks from the standard input, one after the other: a line of extents by label, a line of
// the output's labels, a line with the number of operands, a line of labels for each. Printed for each: seconds of the
// processor, then the two tensors of every step.

#include <einparallel/order/contraction_order.hpp>

#include <cstddef>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace ep = einparallel;

template <class T>
std::vector<T> numbers_of_line() {
    std::string line;
    std::getline(std::cin, line);
    std::istringstream stream(line);
    std::vector<T> numbers;
    for (long long number = 0; stream >> number;) {
        numbers.push_back(static_cast<T>(number));
    }
    return numbers;
}

}  // namespace

int main() {
    while (std::cin.peek() != std::istream::traits_type::eof()) {
        const auto extents = numbers_of_line<ep::index>();
        const auto output = numbers_of_line<ep::label_id>();
        std::vector<std::vector<ep::label_id>> operands(numbers_of_line<std::size_t>().at(0));
        for (std::vector<ep::label_id>& each : operands) {
            each = numbers_of_line<ep::label_id>();
        }
        const std::clock_t start = std::clock();
        const std::vector<ep::pairwise_contraction> order = ep::contraction_order(operands, output, extents);
        std::cout << static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        for (const ep::pairwise_contraction& step : order) {
            std::cout << ' ' << step.left << ' ' << step.right;
        }
        std::cout << std::endl;
    }
}
