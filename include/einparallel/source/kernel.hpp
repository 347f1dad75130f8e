#pragma once
// The local work, without the products of each element type.

#include <einparallel/source/interface.hpp>

#include <einparallel/array/aliasing.ipp>
#include <einparallel/array/immediate.ipp>
#include <einparallel/array/print.ipp>
#include <einparallel/array/resolve.ipp>
#include <einparallel/array/run_network.ipp>
#include <einparallel/kernel/array_memory.ipp>
#include <einparallel/kernel/contraction_decision.ipp>
#include <einparallel/kernel/copy.ipp>
#include <einparallel/kernel/joined.ipp>
#include <einparallel/kernel/loop_nest.ipp>
#include <einparallel/kernel/product/blas.ipp>
#include <einparallel/kernel/product/gemm.ipp>
#include <einparallel/kernel/product/panel_cost.ipp>
#include <einparallel/kernel/product/panel_plan.ipp>
#include <einparallel/kernel/product/product_loops.ipp>
#include <einparallel/kernel/rows.ipp>
#include <einparallel/kernel/simd/coded_row.ipp>
#include <einparallel/kernel/simd/packing.ipp>
#include <einparallel/kernel/threads.ipp>
#include <einparallel/kernel/work/join.ipp>
#include <einparallel/kernel/work/ranked.ipp>
#include <einparallel/kernel/work/running.ipp>
#include <einparallel/kernel/work/select.ipp>
#include <einparallel/notation/affine_map.ipp>
#include <einparallel/notation/box.ipp>
#include <einparallel/notation/operations/op_formula.ipp>
#include <einparallel/notation/operations/op_program.ipp>
#include <einparallel/order/contraction_order.ipp>
#include <einparallel/order/exact_order.ipp>
#include <einparallel/order/product_network.ipp>
#include <einparallel/order/sliced_order.ipp>

#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
const char EINPARALLEL_DETAIL_ABI = 0;
#endif
