"""The first eigenvalues of a graph beside those of the operator that it stands for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.spectrum.numeric import Eigenvalues
from cheblienet_graphs.typing import Floats

FIRST = 6
"""So many of the smallest eigenvalues are compared, 0 among them."""
AGREEING = 0.1
"""Relative difference up to which they agree."""
HIGHER_TERMS = 2.0
"""What terms that the estimate of `too_coarse` leaves out may make of it where waves are short."""


@dataclass(frozen=True)
class Comparison:
    """How far the first eigenvalues are off.

    Args:
        exact: (M - 1,) those of the operator without the 0.
        errors: (M - 1,) found / exact - 1; empty where nothing is compared.
        unknown: why nothing is compared; None where something is.
    """

    exact: Floats
    errors: Floats
    unknown: str | None = None

    @property
    def error(self) -> float | None:
        """The largest |found / exact - 1|; None where nothing is compared."""
        return float(abs(self.errors).max()) if self.unknown is None else None

    @property
    def agree(self) -> bool:
        """Whether nothing is known to be off by more than the tolerance."""
        return bool((abs(self.errors) <= AGREEING).all())

    def too_coarse(self, squared_reach: float) -> bool:
        """Whether the length of the edges explains every eigenvalue that is off by more.

        A graph with the right second moments takes a wave of eigenvalue lambda for one of
        lambda (1 - lambda l^2 / 12 + ...), as its Taylor series says, l^2 the squared reach; the
        remaining terms are small while the wave is long beside l.

        Args:
            squared_reach: of the edges, as in `EffectiveMetric`.
        """
        off = abs(self.errors) > AGREEING
        explained = HIGHER_TERMS * self.exact * squared_reach / 12
        return bool(((self.errors < 0) & (-self.errors <= explained))[off].all())


def compared(found: Eigenvalues, scale: float | None, exact: Sequence[float] | None) -> Comparison:
    """Compare the first eigenvalues of Delta, as many as there are.

    Args:
        found: the smallest of Delta.
        scale: times this they estimate those of the operator; None where no vertex has a neighbour.
        exact: those of the operator, (M,) or more; None where none are known.
    """
    count = min(FIRST, len(found.values))
    if exact is None:
        return _unknown("none is known exactly with an open boundary")
    if count < 2:
        return _unknown("no eigenvalues were computed")
    if not found.converged or scale is None:
        return _unknown("the eigenvalues did not converge")
    true = np.array(exact[1:count])
    errors = found.values[1:count] * scale / true - 1
    missed_copies = found.method == "lanczos" and (errors > AGREEING).any()
    if missed_copies and (errors >= -AGREEING).all():
        return _unknown("copies of eigenvalues may be missing")
    return Comparison(true, errors)


def _unknown(why: str) -> Comparison:
    return Comparison(np.empty(0), np.empty(0), why)
