"""The nonnegative weights nearest to given ones that fulfil linear constraints."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg

from cheblienet_graphs.machine.threads import one_blas_thread
from cheblienet_graphs.typing import Floats

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


@dataclass(frozen=True)
class Matching:
    """(N,) values, the largest residual of a constraint, and whether it is within RESIDUAL."""

    values: Floats
    residual: float
    converged: bool


class System(Protocol):
    """Linear constraints C on N unknowns."""

    def of(self, weights: Floats) -> Floats:
        """(constraints,) C w."""

    def transposed_of(self, dual: Floats) -> Floats:
        """(N,) C^T y."""

    def newton_step(self, variance: Floats, slack: float | Floats, gradient: Floats) -> Floats:
        """-(C diag(variance) C^T + diag(slack))^-1 gradient, to a tolerance."""


def lifted(prior: Floats) -> Floats:
    """Prior weights with a lower bound, so that those of long edges can grow."""
    least: float = LEAST_PRIOR * prior.max()
    higher: Floats = np.maximum(prior, least)
    return higher


def nearest_matching(
    constraints: scipy.sparse.csr_array,
    targets: Floats,
    prior: Floats,
    repeats: Floats,
    *,
    farthest: float = FARTHEST,
) -> Matching:
    """Minimise sum_e repeats_e (w_e - prior_e)^2 / prior_e where C w = targets and w >= 0.

    The dual problem has one unknown per constraint: with v = prior / repeats the weights
    w = (prior + v C^T y)_+ minimise where y minimises the convex function
    phi(y) = sum w^2 / (2 v) - targets^T y, whose gradient is C w - targets. Newton's method with a
    line search ends after a few steps, since phi is quadratic while the set of positive weights
    does not change. -phi bounds the distance to any solution from below, so without a solution it
    grows beyond all bounds; then the search ends in failure.

    Args:
        constraints: C, (constraints, N).
        targets: (constraints,).
        prior: (N,) positive.
        repeats: (N,) number of edges that an unknown stands for.
        farthest: where the search ends in failure; infinite where there are solutions for sure.

    Returns:
        The weights; not converged where the constraints can't be fulfilled.
    """
    return nearest(_Sparse(constraints), targets, prior, repeats, farthest=farthest)


def nearest(
    system: System,
    targets: Floats,
    prior: Floats,
    repeats: Floats,
    slack: float | Floats = 0.0,
    *,
    farthest: float = FARTHEST,
) -> Matching:
    """`nearest_matching` where some constraints may be missed, at a cost.

    Minimises sum_e repeats_e (w_e - prior_e)^2 / prior_e + sum_k r_k^2 / slack_k, w >= 0, where
    r = targets - C w, and is 0 where the slack is: the dual function gains sum slack y^2 / 2.

    Args:
        system: C.
        targets: (constraints,).
        prior: (N,) positive.
        repeats: (N,) number of edges that an unknown stands for.
        slack: (constraints,) not negative, or one for all.
        farthest: where the search ends in failure.

    Returns:
        The weights, with the largest residual of C w + slack y = targets.
    """
    with one_blas_thread():
        return _nearest(system, targets, prior, repeats, slack, farthest)


def _nearest(
    system: System,
    targets: Floats,
    prior: Floats,
    repeats: Floats,
    slack: float | Floats,
    farthest: float,
) -> Matching:
    variance = prior / repeats
    dual = np.zeros(len(targets))
    weights = prior.copy()
    value = _dual_value(weights, variance, targets, dual, slack)
    gradient = system.of(weights) - targets
    lowest, highest = -farthest * value, farthest * float(abs(gradient).max())
    for _ in range(MAX_STEPS):
        residual = float(abs(gradient).max())
        if residual <= RESIDUAL or value < lowest or residual > highest:
            break
        step = system.newton_step(np.where(weights > 0, variance, 0), slack, gradient)
        slope, length = float(gradient @ step), 1.0
        for _ in range(40):
            trial = dual + length * step
            trial_weights = np.maximum(prior + variance * system.transposed_of(trial), 0.0)
            trial_value = _dual_value(trial_weights, variance, targets, trial, slack)
            trial_gradient = system.of(trial_weights) - targets + slack * trial
            # Near the solution phi is flat to rounding; there a smaller gradient is progress.
            better = trial_value <= value + 1e-4 * length * slope
            if better or abs(trial_gradient).max() <= residual / 2:
                break
            length /= 2
        else:
            break
        dual, weights, value, gradient = trial, trial_weights, trial_value, trial_gradient
    residual = float(abs(gradient).max())
    return Matching(weights, residual, converged=residual <= RESIDUAL)


def _dual_value(
    weights: Floats, variance: Floats, targets: Floats, dual: Floats, slack: float | Floats
) -> float:
    own = float((weights**2 / variance).sum() / 2 - targets @ dual)
    return own + float((slack * dual**2).sum() / 2)


class _Sparse:
    """Any matrix C; constraints may be linearly dependent."""

    def __init__(self, constraints: scipy.sparse.csr_array) -> None:
        self._constraints, self._transposed = constraints, constraints.T.tocsr()

    def of(self, weights: Floats) -> Floats:
        product: Floats = self._constraints @ weights
        return product

    def transposed_of(self, dual: Floats) -> Floats:
        product: Floats = self._transposed @ dual
        return product

    def newton_step(self, variance: Floats, slack: float | Floats, gradient: Floats) -> Floats:
        if np.any(slack):
            raise ValueError("constraints of a sparse matrix have no slack")
        return _newton_step(self._constraints, self._transposed, variance, gradient)


def _newton_step(
    constraints: scipy.sparse.csr_array,
    transposed: scipy.sparse.csr_array,
    variance: Floats,
    gradient: Floats,
) -> Floats:
    """-H^-1 gradient with H = C diag(variance) C^T; constraints may be linearly dependent."""
    if len(gradient) <= DENSE:
        hessian = (constraints * variance @ transposed).toarray()
        floor = 1e-13 * np.trace(hessian) / len(hessian)
        values, vectors = scipy.linalg.eigh(hessian)
        kept = values > floor
        inverse = np.where(kept, 1 / np.where(kept, values, 1), 0.0)
        direction: Floats = -vectors @ (inverse * (vectors.T @ gradient))
        return direction
    diagonal = constraints.power(2) @ variance
    damping = 1e-12 * diagonal.mean()
    hessian = LinearOperator(
        (len(gradient),) * 2,
        matvec=lambda x: constraints @ (variance * (transposed @ x)) + damping * x,
        dtype=float,
    )
    preconditioner = scipy.sparse.diags_array(1 / (diagonal + damping))
    solution, _ = cg(hessian, -gradient, rtol=1e-8, maxiter=500, M=preconditioner)
    result: Floats = solution
    return result
