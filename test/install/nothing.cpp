// Includes the library and uses nothing of it.

#include <einparallel.hpp>

int main() {}
