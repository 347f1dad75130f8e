#pragma once
// Small instances of the experiments' graphs, of numbers that are computed. Compiled once for all MPI libraries.

#include <graphs/ccsd.hpp>
#include <graphs/classifier.hpp>
#include <graphs/llama.hpp>
#include <graphs/matrix_chain.hpp>

namespace experiments {

matrix_chain<double> small_matrix_chain(const matrix_chain_sizes& n);
classifier<double> small_classifier(const classifier_sizes& n);
llama<double> small_llama(const llama_sizes& n);
/// Of real orbitals: (pq|rs) = (qp|rs) = (rs|pq), f symmetric, t2(ijab) = t2(jiba).
ccsd<double> small_ccsd(const ccsd_sizes& n);

}  // namespace experiments
