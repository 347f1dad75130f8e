#pragma once
// What units see of a compiled library, before what only the library sees: a shared one exports the former alone.

#include <einparallel/notation/compiled.hpp>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
#pragma GCC visibility push(default)
#include <einparallel.hpp>
// What runs call of core besides.
#include <einparallel/array/aliasing.hpp>
#include <einparallel/io/text.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/layout/cycles.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>
// What runs on devices call of runs over MPI besides.
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/run/agreement.hpp>
#endif
#pragma GCC visibility pop
#endif
