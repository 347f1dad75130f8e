#include <einparallel/source/mpi.hpp>
