"""Weights of the sources of each target of a map: averages whose sums are exactly 1."""

import numpy as np

from cheblienet_graphs.typing import Floats, Indices

WEIGHTS = ("inverse", "gaussian", "uniform")
"""Shepard's inverse squares, which give a source's own value where a target coincides with it; a
Gaussian kernel, which smooths; and equal ones, of edges that a network weighs itself."""
UNIT = 2.0**-24
"""Weights are multiples of this. So are their sums, which float32 holds exactly up to 1."""


def averages(kind: str, squared: Floats, indptr: Indices, bandwidth: float | None) -> Floats:
    """Weights that sum to exactly 1 in each row, in float32 too and in any order.

    Args:
        kind: one of WEIGHTS.
        squared: (entries,) d^2 between targets and sources.
        indptr: (targets + 1,) row pointers; no row is empty.
        bandwidth: t over the mean of d^2, of Gaussian weights exp(-d^2 / (4 t)).
    """
    count = np.diff(indptr)
    row, first = np.repeat(np.arange(len(count)), count), indptr[:-1]
    raw = _relative(kind, squared, np.minimum.reduceat(squared, first)[row], bandwidth)
    return _exact(raw / np.add.reduceat(raw, first)[row], row, indptr)


def _relative(kind: str, squared: Floats, least: Floats, bandwidth: float | None) -> Floats:
    """Weights in units of that of the nearest source of a row, so that one at least is 1."""
    if kind == "inverse":
        ones = np.ones(squared.shape)
        return np.divide(least, squared, out=ones, where=squared > least)
    excess = squared - least
    scale = 4 * (bandwidth or np.inf) * float(squared.mean())
    return np.exp(-excess / scale) if kind == "gaussian" and scale > 0 else np.ones(squared.shape)


def _exact(weights: Floats, row: Indices, indptr: Indices) -> Floats:
    """Multiples of UNIT next to weights, of sum 1 in a row: the largest remainders go up."""
    whole = np.floor(weights / UNIT)
    missing = np.rint(1 / UNIT - np.add.reduceat(whole, indptr[:-1])).astype(np.int64)
    order = np.lexsort((whole - weights / UNIT, row))
    raised = np.arange(len(row)) - indptr[row] < missing[row]
    whole[order] += raised
    exact: Floats = whole * UNIT
    return exact
