"""Weights with the metric's second moments whose first moments are small, too.

A random walk with the rates w_ij drifts by b_i = sum_j w_ij c_ij at a vertex. Where b changes
from vertex to vertex functions follow it at grid scale (the corrector of homogenisation), which
lowers eigenvalues by about <b, L^-1 b>: as b grows like 1 / h and L like 1 / h^2, this need not
vanish with the spacing h, though the quotients of smooth functions are right.
"""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg

from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.matching import RESIDUAL, Matching, nearest

LOOSEST = 1e-2
"""Largest relative residual of Newton's equations; steps near the solution are solved as well as
the next one can make use of."""


class BlockSystem:
    """Constraints that are the same sums over the edges of each vertex.

    Args:
        parts: (entries, m) what each end of an edge adds to the sums of its vertex, by unit weight.
        rows: (entries,) the vertices, ascending; each has some entries.
        unknowns: (entries,) the edges, numbered from 0, each twice.
    """

    def __init__(self, parts: Floats, rows: Indices, unknowns: Indices) -> None:
        self._parts, self._unknowns = parts, unknowns
        self._starts = np.flatnonzero(np.diff(rows, prepend=-1))
        sums = parts.shape[1]
        shape = (len(self._starts) * sums, len(unknowns) // 2)
        blocks = (parts[:, :, None], unknowns, np.append(self._starts, len(rows)))
        self._matrix = scipy.sparse.bsr_array(blocks, shape=shape)
        self._transposed = self._matrix.T

    def of(self, weights: Floats) -> Floats:
        """(vertices m,) the sums, vertex after vertex."""
        product: Floats = self._matrix @ weights
        return product

    def transposed_of(self, dual: Floats) -> Floats:
        """(edges,) C^T y."""
        product: Floats = self._transposed @ dual
        return product

    def newton_step(self, variance: Floats, slack: float | Floats, gradient: Floats) -> Floats:
        """By conjugate gradients, the vertices' own blocks as preconditioner."""
        blocks = self._blocks(variance)
        vertices, sums, _ = blocks.shape
        diagonal = np.arange(sums)
        damping = 1e-12 * float(np.trace(blocks, axis1=1, axis2=2).mean()) / sums
        added = np.broadcast_to(slack, gradient.shape) + damping
        blocks[:, diagonal, diagonal] += added.reshape(vertices, sums) + 1e4 * damping
        places = np.arange(vertices), np.arange(vertices + 1)
        inverse = scipy.sparse.bsr_array((np.linalg.inv(blocks), *places))
        hessian = LinearOperator(
            (len(gradient),) * 2,
            matvec=lambda y: self.of(variance * self.transposed_of(y)) + added * y,
            dtype=float,
        )
        residual = float(abs(gradient).max())
        relative = min(LOOSEST, max(residual, RESIDUAL / (10 * residual)))
        solution, _ = cg(hessian, -gradient, rtol=relative, maxiter=500, M=inverse)
        result: Floats = solution
        return result

    def _blocks(self, variance: Floats) -> Floats:
        """(vertices, m, m) blocks of C diag(variance) C^T on its diagonal."""
        sums = self._parts.shape[1]
        blocks = np.empty((len(self._starts), sums, sums))
        of_entries = variance[self._unknowns]
        for a in range(sums):
            weighted = of_entries * self._parts[:, a]
            for b in range(a, sums):
                found = np.add.reduceat(weighted * self._parts[:, b], self._starts)
                blocks[:, a, b] = blocks[:, b, a] = found
        return blocks


def matching_with_little_drift(
    first: Floats,
    second: Floats,
    targets: Floats,
    prior: Floats,
    rows: Indices,
    unknowns: Indices,
    allowance: float,
) -> Matching:
    """The weights nearest to given ones, second moments exact and first ones small.

    Minimises sum_e (w_e - w0_e)^2 / w0_e + sum_i |b_i|^2 / s, where b_i are a vertex's first
    moments over its area and s is the allowance times the mean over vertices and components of
    sum_j w0_ij c^2 over the area's square. There are such weights wherever there are any with these
    second moments; weights without any drift need not exist.

    Args:
        first: (entries, dim) c of each end of an edge, over the area of its vertex.
        second: (entries, pairs) products of these components, over the area.
        targets: (vertices pairs,) second moments.
        prior: (edges,) w0, positive.
        rows: (entries,) the vertices, ascending; each has some entries.
        unknowns: (entries,) the edges, numbered from 0, each twice.
        allowance: with less of it the drift is smaller, the problem stiffer, and more weights
            vanish; 0 asks for none at all.

    Returns:
        The weights; not converged where there are none with these second moments.
    """
    vertices, pairs, dimension = int(rows[-1]) + 1, second.shape[1], first.shape[1]
    # Second moments are about 2: the variance of first ones, in these units, as well.
    spread = float(((first**2).sum(axis=1) * prior[unknowns]).sum()) / (vertices * dimension)
    unit = np.sqrt((second**2).mean() / (first**2).mean())
    slack = np.zeros((vertices, pairs + dimension))
    slack[:, pairs:] = allowance * spread * unit**2
    wanted = np.zeros_like(slack)
    wanted[:, :pairs] = targets.reshape(vertices, pairs)
    system = BlockSystem(np.concatenate([second, unit * first], axis=1), rows, unknowns)
    return nearest(system, wanted.ravel(), prior, np.ones(len(prior)), slack.ravel())
