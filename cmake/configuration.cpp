// What test/run and examples/run print first: what the library was built with.

#include <einparallel.hpp>

#include <iostream>

int main() {
    std::cout << einparallel::configuration() << '\n';
}
