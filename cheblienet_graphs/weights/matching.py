"""The nonnegative weights with the moments of a metric that are nearest to given ones.

Second moments are matched exactly; first ones may be made small. A random walk with the rates w_ij
drifts by b_i = sum_j w_ij c_ij at a vertex. Where b changes from vertex to vertex functions follow
it at grid scale (the corrector of homogenisation), which lowers eigenvalues by about <b, L^-1 b>:
as b grows like 1 / h and L like 1 / h^2, this need not vanish with the spacing h, though the
quotients of smooth functions are right.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg

from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.typing import Floats, Indices

DENSE = 1000
"""Most constraints for which Newton's equations are solved densely."""
RESIDUAL = 1e-11
"""Largest residual of a constraint; targets are of order 1."""
MAX_STEPS = 60
FARTHEST = 30.0
"""The search ends in failure where every solution is farther from the prior than this, relative to
the prior itself, or residuals are this many times the first ones. Where there are solutions, both
numbers reach about 1 and 3."""
VANISHED = 1e-12
"""Weights up to this share of the largest one count as 0."""
LEAST_PRIOR = 1e-3
"""An edge, however long, is first given at least this share of the largest weight."""
LOOSEST = 1e-2
"""Largest relative residual of Newton's equations for blocks; steps near the solution are solved as
well as the next one can make use of."""


@dataclass(frozen=True)
class Matching:
    """(N,) values, and whether the largest residual of a constraint is within RESIDUAL."""

    values: Floats
    converged: bool

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """(N,) which values count as more than 0."""
        positive: npt.NDArray[np.bool_] = self.values > VANISHED * self.values.max()
        return positive


def lifted(prior: Floats) -> Floats:
    """Prior weights with a lower bound, so that weights of long edges can grow."""
    least: float = LEAST_PRIOR * prior.max()
    return np.maximum(prior, least)


def realizing(prior: Floats, constraints: scipy.sparse.csr_array, targets: Floats) -> Floats:
    """The prior, scaled so that it fulfils constraints on average."""
    scaled: Floats = prior * (targets.sum() / (constraints @ prior)[targets > 0].sum())
    return scaled


def sums_by_vertex(
    parts: Floats, rows: Indices, unknowns: Indices, shape: tuple[int, int]
) -> scipy.sparse.csr_array:
    """Constraints that are the same sums over the edges of each vertex, vertex after vertex.

    Args:
        parts: (entries, m) what an entry adds to the sums of its vertex, by unit weight.
        rows: (entries,) the vertices.
        unknowns: (entries,) the edges.
        shape: numbers of vertices and of edges.
    """
    sums = parts.shape[1]
    places = (rows[:, None] * sums + np.arange(sums)).ravel(), np.repeat(unknowns, sums)
    matrix = scipy.sparse.coo_array((parts.ravel(), places), shape=(shape[0] * sums, shape[1]))
    return matrix.tocsr()


class System:
    """Linear constraints C on N unknowns; they may be linearly dependent.

    Args:
        matrix: C, (constraints, N) sparse.
        transposed: C^T, in a form in which products are quick.
        slack: (constraints,) not negative, or one for all: what missing them is divided by in the
            cost; where it is 0 they are exact.
    """

    def __init__(self, matrix: Any, transposed: Any = None, slack: float | Floats = 0.0) -> None:
        self.matrix, self.slack = matrix, slack
        self.transposed = matrix.T.tocsr() if transposed is None else transposed

    def newton_step(self, variance: Floats, gradient: Floats) -> Floats:
        """-(C diag(variance) C^T + diag(slack))^-1 gradient, to a tolerance; here without slack.

        Densely where constraints are few, else by conjugate gradients.
        """
        if len(gradient) <= DENSE:
            hessian = (self.matrix * variance @ self.transposed).toarray()
            floor = 1e-13 * np.trace(hessian) / len(hessian)
            values, vectors = scipy.linalg.eigh(hessian)
            kept = values > floor
            inverse = np.where(kept, 1 / np.where(kept, values, 1), 0.0)
            direction: Floats = -vectors @ (inverse * (vectors.T @ gradient))
            return direction
        diagonal = self.matrix.power(2) @ variance
        damping = 1e-12 * diagonal.mean()
        preconditioner = scipy.sparse.diags_array(1 / (diagonal + damping))
        return self._conjugate_gradients(variance, damping, gradient, preconditioner, 1e-8)

    def _conjugate_gradients(
        self, variance: Floats, added: Any, gradient: Floats, inverse: Any, tolerance: float
    ) -> Floats:
        """The same with `added` on the diagonal, by an approximate inverse."""
        hessian = LinearOperator(
            (len(gradient),) * 2,
            matvec=lambda y: self.matrix @ (variance * (self.transposed @ y)) + added * y,
            dtype=float,
        )
        solution: Floats
        solution, _ = cg(hessian, -gradient, rtol=tolerance, maxiter=500, M=inverse)
        return solution


class BlockSystem(System):
    """Constraints that are the same sums over the edges of each vertex, as in `sums_by_vertex`.

    Args:
        parts: (entries, m) what each end of an edge adds to the sums of its vertex, by unit weight.
        rows: (entries,) the vertices, ascending; each has some entries.
        unknowns: (entries,) the edges, numbered from 0, each twice.
        slack: (constraints,) as of `System`.
    """

    def __init__(self, parts: Floats, rows: Indices, unknowns: Indices, slack: Floats) -> None:
        self._parts, self._unknowns = parts, unknowns
        self._starts = np.flatnonzero(np.diff(rows, prepend=-1))
        shape = (len(self._starts) * parts.shape[1], len(unknowns) // 2)
        blocks = (parts[:, :, None], unknowns, np.append(self._starts, len(rows)))
        matrix = scipy.sparse.bsr_array(blocks, shape=shape)
        super().__init__(matrix, matrix.T, slack)

    def newton_step(self, variance: Floats, gradient: Floats) -> Floats:
        """By conjugate gradients, the vertices' own blocks as preconditioner."""
        blocks = self._blocks(variance)
        vertices, sums, _ = blocks.shape
        diagonal = np.arange(sums)
        damping = 1e-12 * float(np.trace(blocks, axis1=1, axis2=2).mean()) / sums
        added = np.asarray(self.slack) + damping
        blocks[:, diagonal, diagonal] += added.reshape(vertices, sums) + 1e4 * damping
        places = np.arange(vertices), np.arange(vertices + 1)
        inverse = scipy.sparse.bsr_array((np.linalg.inv(blocks), *places))
        residual = float(abs(gradient).max())
        relative = min(LOOSEST, max(residual, RESIDUAL / (10 * residual)))
        return self._conjugate_gradients(variance, added, gradient, inverse, relative)

    def _blocks(self, variance: Floats) -> Floats:
        """(vertices, m, m) blocks of C diag(variance) C^T on its diagonal."""
        sums = self._parts.shape[1]
        blocks = np.empty((len(self._starts), sums, sums))
        of_entries = variance[self._unknowns]
        for a in range(sums):
            weighted = of_entries * self._parts[:, a]
            for b in range(a, sums):
                products = np.add.reduceat(weighted * self._parts[:, b], self._starts)
                blocks[:, a, b] = blocks[:, b, a] = products
        return blocks


@one_blas_thread()
def nearest(
    system: System,
    targets: Floats,
    prior: Floats,
    repeats: Floats,
    *,
    farthest: float = FARTHEST,
) -> Matching:
    """Minimize sum_e repeats_e (w_e - prior_e)^2 / prior_e where C w = targets and w >= 0.

    Where there is slack constraints may be missed at a cost: sum_k r_k^2 / slack_k is added, with
    r = targets - C w, which is 0 where the slack is.

    The dual problem has one unknown per constraint: with v = prior / repeats the weights w = (prior
    + v C^T y)_+ minimize where y minimizes the convex function phi(y) = sum w^2 / (2 v) + sum slack
    y^2 / 2 - targets^T y, with gradient C w + slack y - targets. Newton's method with a line search
    ends after a few steps, since phi is quadratic while the set of positive weights does not
    change. -phi bounds the distance to any solution from below, so without a solution it grows
    beyond all bounds; then the search ends in failure.

    Args:
        system: C and the slack.
        targets: (constraints,).
        prior: (N,) positive.
        repeats: (N,) number of edges that an unknown stands for.
        farthest: where the search ends in failure; infinite where there are solutions for sure.

    Returns:
        The weights; not converged where the constraints, C w + slack y = targets, can't be
        fulfilled.
    """
    variance, slack = prior / repeats, system.slack

    def at(dual: Floats) -> tuple[Floats, float, Floats]:
        """Weights, phi and its gradient."""
        weights = np.maximum(prior + variance * (system.transposed @ dual), 0.0)
        own = float((weights**2 / variance).sum() / 2 - targets @ dual)
        value = own + float((slack * dual**2).sum() / 2)
        return weights, value, system.matrix @ weights - targets + slack * dual

    dual = np.zeros(len(targets))
    weights, value, gradient = at(dual)
    lowest, highest = -farthest * value, farthest * float(abs(gradient).max())
    for _ in range(MAX_STEPS):
        residual = float(abs(gradient).max())
        if residual <= RESIDUAL or value < lowest or residual > highest:
            break
        step = system.newton_step(np.where(weights > 0, variance, 0), gradient)
        slope, length = float(gradient @ step), 1.0
        for _ in range(40):
            trial = at(dual + length * step)
            # Near the solution phi is flat to rounding; there a smaller gradient is progress.
            better = trial[1] <= value + 1e-4 * length * slope
            if better or abs(trial[2]).max() <= residual / 2:
                break
            length /= 2
        else:
            break
        dual = dual + length * step
        weights, value, gradient = trial
    return Matching(weights, converged=bool(abs(gradient).max() <= RESIDUAL))


def matched(
    parts: Floats,
    rows: Indices,
    unknowns: Indices,
    targets: Floats,
    prior: Floats,
    repeats: Floats,
    *,
    farthest: float = FARTHEST,
) -> Matching:
    """The weights nearest to a prior, once this is scaled, with exact sums by vertex.

    Args:
        parts: (entries, m) as of `sums_by_vertex`.
        rows: (entries,) the vertices.
        unknowns: (entries,) the edges.
        targets: (vertices m,) the sums.
        prior: (edges,) positive; it is scaled so that it fulfils the sums on average.
        repeats: (edges,) as of `nearest`.
        farthest: as of `nearest`.
    """
    shape = len(targets) // parts.shape[1], len(prior)
    constraints = sums_by_vertex(parts, rows, unknowns, shape)
    start = realizing(prior, constraints, targets)
    return nearest(System(constraints), targets, start, repeats, farthest=farthest)


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

    Minimizes sum_e (w_e - w0_e)^2 / w0_e + sum_i |b_i|^2 / s, where b_i are a vertex's first
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
    vertices = int(rows[-1]) + 1
    pairs = second.shape[1]
    dimension = first.shape[1]
    # Second moments are about 2: the variance of first ones, in these units, as well.
    spread = float(((first**2).sum(axis=1) * prior[unknowns]).sum()) / (vertices * dimension)
    unit = np.sqrt((second**2).mean() / (first**2).mean())
    slack = np.zeros((vertices, pairs + dimension))
    slack[:, pairs:] = allowance * spread * unit**2
    wanted = np.zeros_like(slack)
    wanted[:, :pairs] = targets.reshape(vertices, pairs)
    sums = np.concatenate([second, unit * first], axis=1)
    system = BlockSystem(sums, rows, unknowns, slack.ravel())
    return nearest(system, wanted.ravel(), prior, np.ones(len(prior)))
