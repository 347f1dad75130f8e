// Mistakes about tables of partition vectors.

#include <einparallel/plan/partitions.hpp>

namespace ep = einparallel;

#if MISTAKES == 1
// ERROR more than 20,000 partition vectors are too many for a table
static_assert(!ep::partitions<9, 11>.empty());
// ERROR the exponents are 8-bit numbers, at most 255 factors of two
static_assert(!ep::partitions<1, 256>.empty());
#else
static_assert(ep::partitions<8, 10>.size() == 19448);
#endif

int main() {}
