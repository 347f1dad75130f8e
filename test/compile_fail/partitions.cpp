// One mistake about tables of partition vectors at a time, chosen by a macro.

#include <einparallel/plan/partition.hpp>

namespace ep = einparallel;

#if defined(TABLE_TOO_LONG)
static_assert(!ep::partitions<9, 11>.empty());
#elif defined(TOO_MANY_FACTORS)
static_assert(!ep::partitions<1, 256>.empty());
#else
static_assert(ep::partitions<8, 10>.size() == 19448);
#endif

int main() {}
