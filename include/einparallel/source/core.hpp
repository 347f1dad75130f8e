#pragma once
// The compiled library in one unit, but for runs over MPI: for a file of the user's that includes this and nothing
// else.

#if defined(EINPARALLEL_VERSION) && !defined(EINPARALLEL_COMPILED)
#error "einparallel/source/core.hpp: einparallel.hpp was included before it, header-only"
#endif
#if !defined(EINPARALLEL_COMPILED)
#define EINPARALLEL_COMPILED 1
#endif
// Whatever the flags say: a program that does not run links this without MPI.
#undef EINPARALLEL_HAS_MPI

#include <einparallel/source/commit.hpp>
#include <einparallel/source/kernel.hpp>
#include <einparallel/source/plan.hpp>
#include <einparallel/source/products_complex.hpp>
#include <einparallel/source/products_double.hpp>
#include <einparallel/source/products_float.hpp>
#include <einparallel/source/products_integers.hpp>
