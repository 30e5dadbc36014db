"""A random Chebyshev layer on a stored graph: sum_k T_k(L) x W_k, on all of it or on a part."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from cheblienet_graphs.figures.chebyshev import chebyshev_sums
from cheblienet_graphs.sparse.products import mapped_product
from cheblienet_graphs.typing import Floats, Indices

TERMS = 5
"""Chebyshev polynomials of the layer, of degrees 0 .. 4."""
CHANNELS = 4


def random_weights(seed: int) -> Floats:
    """(TERMS, CHANNELS) normal weights of variance 1 / TERMS, from one channel to several."""
    weights = np.random.default_rng(seed).standard_normal((TERMS, CHANNELS))
    weights /= np.sqrt(TERMS)
    return weights


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a graph on which a layer's outputs at some vertices can be computed.

    Args:
        vertices: (N,) ascending: those and all within as many steps as the layer's degree.
        laplacian: (N, N) the rescaled one's entries between them.
    """

    vertices: Indices
    laplacian: scipy.sparse.csr_array

    def outputs(self, x: Floats, weights: Floats) -> Floats:
        """(N, m, C) sum_k T_k(L) x w_kc for x (N, m); right where they were asked for."""
        return chebyshev_sums(mapped_product(self.laplacian), x, weights)


def part_around(laplacian: scipy.sparse.csr_array, vertices: Indices, degree: int) -> Part:
    """The part that outputs at some vertices depend on.

    Args:
        laplacian: (V, V) the rescaled one, possibly over mapped files.
        vertices: where outputs are wanted.
        degree: of the layer.
    """
    inside = np.unique(vertices)
    newest = inside
    for _ in range(degree):
        reached = np.unique(laplacian[newest].indices.astype(np.int64))
        newest = np.setdiff1d(reached, inside, assume_unique=True)
        if not len(newest):
            break
        inside = np.union1d(inside, newest)
    return Part(inside, scipy.sparse.csr_array(laplacian[inside][:, inside]))
