#pragma once
// An environment of a tensor network in two dimensions.

#include "inputs.hpp"
#include "names.hpp"

#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/label.hpp>

namespace experiments {

/// One absorption of a column into the corner and the edge of a corner-transfer-matrix environment of a projected
/// entangled-pair state (double layer: `bond` is D²), with its isometries, and the norm of a site in it. Extents:
/// bond chi of the environment a, b, c, d, e, f; bond D² of the lattice l, u, r, m.
struct corner_sizes {
    ep::index chi, bond;
};

template <class T>
struct corner {
    ep::tensor<T, 4> grown;       ///< [b, m, d, r] the corner with two edges and a site
    ep::tensor<T, 2> corner_new;  ///< [e, f] an output
    ep::tensor<T, 3> edge_new;    ///< [e, r, f] an output
    ep::tensor<T, 2> density;     ///< [b, d] corner times corner: an output
    ep::tensor<T, 0> norm;        ///< of a plaquette of four equal corners: an output
};

template <class Inputs>
corner<typename Inputs::value_type> build_corner(const corner_sizes& n, const Inputs& inputs) {
    EINPARALLEL_LABELS(a, b, c, d, e, f, g, h, l, m, r, u, x, y);
    corner<typename Inputs::value_type> made;
    auto& [grown, corner_new, edge_new, density, norm] = made;
    const auto C = inputs("C", {n.chi, n.chi});
    const auto top = inputs("top", {n.chi, n.bond, n.chi});
    const auto left = inputs("left", {n.chi, n.bond, n.chi});
    const auto site = inputs("site", {n.bond, n.bond, n.bond, n.bond});
    const auto iso = inputs("iso", {n.chi, n.bond, n.chi});

    grown(b, m, d, r) = C(a, c) * top(c, u, d) * left(a, l, b) * site(l, u, r, m);
    corner_new(e, f) = grown(b, m, d, r) * iso(b, m, e) * iso(d, r, f);
    edge_new(e, r, f) = iso(a, u, e) * left(a, l, b) * site(l, u, r, m) * iso(b, m, f);
    density(b, d) = grown(b, m, a, r) * grown(d, m, a, r);
    norm() = corner_new(a, b) * corner_new(b, c) * corner_new(c, d) * corner_new(d, a);

    grown.named("grown");
    corner_new.named("corner_new");
    edge_new.named("edge_new");
    density.named("density");
    norm.named("norm");
    name_terms(corner_new, edge_new, density, norm);
    return made;
}

}  // namespace experiments
