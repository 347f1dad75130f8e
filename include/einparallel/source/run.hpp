#pragma once
// Runs over MPI.

#include <einparallel/source/interface.hpp>

#include <einparallel/data/block_cyclic.ipp>
#include <einparallel/data/collect.ipp>
#include <einparallel/data/evaluate.ipp>
#include <einparallel/data/execute.ipp>
#include <einparallel/data/files/einsum_files.ipp>
#include <einparallel/data/files/save.ipp>
#include <einparallel/data/local_tensor.ipp>
#include <einparallel/data/own_layout.ipp>
#include <einparallel/data/run_inputs.ipp>
#include <einparallel/data/run_outputs.ipp>
#include <einparallel/data/sources.ipp>
#include <einparallel/data/transfer.ipp>
#include <einparallel/kernel/space.ipp>
#include <einparallel/mpi/communicator.ipp>
#include <einparallel/mpi/datatype.ipp>
#include <einparallel/mpi/error.ipp>
#include <einparallel/mpi/interface.ipp>
#include <einparallel/run/agreement.ipp>
#include <einparallel/run/calibrate.ipp>
#include <einparallel/run/context.ipp>
#include <einparallel/run/decompose.ipp>
#include <einparallel/run/graph_agreement.ipp>
#include <einparallel/run/kept_memory.ipp>
#include <einparallel/run/node_threads.ipp>
#include <einparallel/run/nodes.ipp>
#include <einparallel/run/plan_cache.ipp>
#include <einparallel/run/program_buffers.ipp>
#include <einparallel/run/replay.ipp>
#include <einparallel/run/trace.ipp>
#include <einparallel/run/transport.ipp>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
const char EINPARALLEL_DETAIL_MPI_ABI = 0;
#endif
