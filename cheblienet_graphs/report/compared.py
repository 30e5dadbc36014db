"""The first eigenvalues of a graph, compared with those of its metric's operator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cheblienet_graphs.spectrum.numeric import Eigenvalues
from cheblienet_graphs.typing import Floats

FIRST = 6
"""Number of the smallest eigenvalues that are compared, 0 among them."""
AGREEING = 0.1
"""Relative difference up to which they agree."""
HIGHER_TERMS = 2.0
"""Factor that the estimate of `too_coarse` may be exceeded by: it leaves out higher terms."""


@dataclass(frozen=True)
class Comparison:
    """The relative errors of the first eigenvalues.

    Args:
        exact: (M - 1,) eigenvalues of the operator, without the 0.
        errors: (M - 1,) graph's / exact - 1; empty where nothing is compared.
        unknown: why nothing is compared; None where something is.
    """

    exact: Floats
    errors: Floats
    unknown: str | None = None

    @property
    def error(self) -> float | None:
        """The largest absolute error; None where nothing is compared."""
        return float(abs(self.errors).max()) if self.unknown is None else None

    @property
    def agree(self) -> bool:
        """Whether no error exceeds the tolerance; also where nothing is compared."""
        return bool((abs(self.errors) <= AGREEING).all())

    def too_coarse(self, squared_reach: float) -> bool:
        """Whether the length of the edges explains every error above the tolerance.

        On a graph with the right second moments an eigenvalue lambda becomes
        lambda (1 - lambda l^2 / 12 + ...) by Taylor's series, l^2 the squared reach; the further
        terms are small where the wavelength is large against l.

        Args:
            squared_reach: of the edges, as in `EffectiveMetric`.
        """
        off = abs(self.errors) > AGREEING
        explained = HIGHER_TERMS * self.exact * squared_reach / 12
        return bool(((self.errors < 0) & (-self.errors <= explained))[off].all())


def compared(
    spectrum: Eigenvalues,
    scale: float | None,
    exact: Sequence[float] | None,
    *,
    masked: bool = False,
) -> Comparison:
    """Compare the first eigenvalues of Delta, as many as there are.

    Args:
        spectrum: the smallest eigenvalues of Delta.
        scale: factor by which they estimate the operator's; None where no vertex has a neighbour.
        exact: (M,) or more eigenvalues of the operator; None where none are known.
        masked: whether the graph covers a part of its domain.
    """
    count = min(FIRST, len(spectrum.values))
    if exact is None:
        where = "on a part of the domain" if masked else "with an open boundary"
        return _unknown(f"none is known exactly {where}")
    if count < 2:
        return _unknown("no eigenvalues were computed")
    if not spectrum.converged or scale is None:
        return _unknown("the eigenvalues did not converge")
    true = np.array(exact[1:count])
    errors = spectrum.values[1:count] * scale / true - 1
    missed_copies = spectrum.method == "lanczos" and (errors > AGREEING).any()
    if missed_copies and (errors >= -AGREEING).all():
        return _unknown("copies of eigenvalues may be missing")
    return Comparison(true, errors)


def _unknown(why: str) -> Comparison:
    return Comparison(np.empty(0), np.empty(0), why)
