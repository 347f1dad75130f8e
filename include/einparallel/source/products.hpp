#pragma once
// Products, softmax and exponentials of rows, for every element type that a unit uses.

#include <einparallel/kernel/join_packing.ipp>
#include <einparallel/source/interface.hpp>

#include <einparallel/kernel/contract.ipp>
#include <einparallel/kernel/exp_form.ipp>
#include <einparallel/kernel/softmax.ipp>
