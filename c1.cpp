#include <einparallel/source/core.hpp>
