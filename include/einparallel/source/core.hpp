#pragma once
// The compiled library in one unit, without runs over MPI. A file of the user includes this header and nothing else.

#if defined(EINPARALLEL_VERSION) && !defined(EINPARALLEL_COMPILED)
#error "einparallel/source/core.hpp: einparallel.hpp was included before it, header-only"
#endif
#if !defined(EINPARALLEL_COMPILED)
#define EINPARALLEL_COMPILED 1
#endif
// Without MPI, whatever the flags are: a program without runs links this without MPI.
#undef EINPARALLEL_HAS_MPI

#include <einparallel/source/commit.hpp>
#include <einparallel/source/kernel.hpp>
#include <einparallel/source/plan.hpp>
#include <einparallel/source/products_complex.hpp>
#include <einparallel/source/products_double.hpp>
#include <einparallel/source/products_float.hpp>
#include <einparallel/source/products_integers.hpp>
