#pragma once
// What the application asks of the unit that uses the library.

#include <mpi.h>

#include <vector>

/// The product of two n x n matrices, A(i,j) = i + j and B(j,k) = j - k, computed by all ranks; the result on rank 0.
std::vector<double> multiply(MPI_Comm ranks, int n);
