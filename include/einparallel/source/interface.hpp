#pragma once
// The declarations that units see of a compiled library, included before those that only the library sees. A shared
// library exports only the former.

#include <einparallel/notation/compiled.hpp>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
#pragma GCC visibility push(default)
#include <einparallel.hpp>
// Further functions of core that runs call.
#include <einparallel/array/aliasing.hpp>
#include <einparallel/io/box_reader.hpp>
#include <einparallel/io/text.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/layout/cycles.hpp>
#include <einparallel/plan/machine_text.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/packing.hpp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>
// Further functions of runs over MPI that runs on devices call.
#if defined(EINPARALLEL_HAS_MPI) && EINPARALLEL_HAS_MPI
#include <einparallel/run/agreement.hpp>
#endif
#pragma GCC visibility pop
#endif
