"""Comparison of the first eigenvalues of a graph with the ones of its metric's operator.

Compared are the first 6, and further ones through the first multiplet that is not exact by
construction, as that of the fiber's first functions is with Selling's weights. Where the first 25
take seconds at most they are looked at, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    from cheblienet_graphs.spectrum.lanczos import Eigenvalues  # slow to import, builds do without

FIRST = 6
"""Number of the smallest eigenvalues that are compared at least, 0 among them."""
FURTHER = 25
"""Number that are looked at, unless the graph is large."""
LONGEST = 64
"""Number among which the end of the first multiplet is looked for."""
LARGE = 2**15
"""Vertices of graphs, other than periodic lattices, of which no more are computed than compared."""
AGREEING = 0.1
"""Relative difference up to which they agree."""
EQUAL = 1e-9
"""The same between exact ones of one multiplet."""
HIGHER_TERMS = 2.0
"""Factor that the estimate of `too_coarse` may be exceeded by: it leaves out higher terms."""


@dataclass(frozen=True)
class Comparison:
    """The relative errors of the first eigenvalues.

    Args:
        unknown: kind of the finding that says why nothing is compared; None where something is.
        exact: (M - 1,) eigenvalues of the operator, without the 0.
        errors: (M - 1,) graph's / exact - 1; empty where nothing is compared.
        count: how many, 0 among them, decide; further ones are looked at.
        constructed: numbers, from 1, of the first and the last that is exact by construction
            besides 0; empty without any.
    """

    unknown: str | None
    exact: Floats = field(default_factory=lambda: np.empty(0))
    errors: Floats = field(default_factory=lambda: np.empty(0))
    count: int = FIRST
    constructed: tuple[int, ...] = ()

    @property
    def error(self) -> float | None:
        """The largest absolute error that decides; None where nothing is compared."""
        return None if self.unknown else float(abs(self.errors[: self.count - 1]).max())

    @property
    def largest(self) -> float:
        """The largest absolute error of all."""
        return float(abs(self.errors).max(initial=0.0))

    @property
    def further_error(self) -> float | None:
        """The same where as many as `FURTHER` were looked at, else None."""
        return self.largest if len(self.errors) + 1 >= FURTHER else None

    @property
    def agree(self) -> bool:
        """True if no error that decides exceeds the tolerance; also where nothing is compared."""
        return self.unknown is not None or (self.error or 0.0) <= AGREEING

    @property
    def all_agree(self) -> bool:
        """True if as many as `FURTHER` were looked at, and no error exceeds the tolerance."""
        return self.further_error is not None and self.further_error <= AGREEING

    def too_coarse(self, squared_reach: float) -> bool:
        """True if the length of the edges explains every error above the tolerance.

        On a graph with the right second moments an eigenvalue lambda becomes
        lambda (1 - lambda l^2 / 12 + ...) by Taylor's series, l^2 the squared reach; the further
        terms are small where the wavelength is large against l.

        Args:
            squared_reach: of the edges, as in `EffectiveMetric`.
        """
        off = abs(self.errors) > AGREEING
        explained = HIGHER_TERMS * self.exact * squared_reach / 12
        return bool(((self.errors < 0) & (-self.errors <= explained))[off].all())


def unknown_spectrum(spec: GraphSpec) -> str | None:
    """The kind of the finding that no spectrum is known exactly; None where one is.

    Spectra are known on whole domains without a boundary, and on open boxes without a fiber.
    """
    if spec.mask is not None:
        return "unknown on parts"
    oriented = spec.geometry.oriented
    return "unknown with open sides" if oriented and spec.boundary == "open" else None


def deciding(spec: GraphSpec, metric: Metric, exact: Sequence[float]) -> int:
    """The number of smallest eigenvalues that are compared, 0 among them.

    Args:
        spec: of the build.
        metric: asked for on the level.
        exact: (M,) of the operator, M at least `LONGEST`.
    """
    first = spec.weighting.multiplet(spec, metric)
    known = [*exact[1:LONGEST]]
    telling = [value for value in known if first is None or not _equal(value, first)]
    multiplet = sum(_equal(value, telling[0]) for value in known)
    return max(FIRST, 1 + known.index(telling[0]) + multiplet) if telling else FIRST


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= EQUAL * other


def compared(
    arrays: MeasuredLevel, spectrum: "Eigenvalues", exact: Sequence[float] | None
) -> Comparison:
    """Compare the first eigenvalues of Delta, as many as there are.

    Args:
        arrays: of the level.
        spectrum: the smallest eigenvalues of Delta.
        exact: (M,) of the operator, M at least `LONGEST`; None where none are known.
    """
    spec, metric, scale = arrays.spec, arrays.sampled.metric, arrays.scale
    if exact is None:
        return Comparison(unknown_spectrum(spec))
    count = deciding(spec, metric, exact)
    number = min(max(count, FURTHER), len(spectrum.values))
    if number < 2:
        return Comparison("no eigenvalues")
    if not spectrum.converged or scale is None:
        return Comparison("not converged")
    true = np.array(exact[1:number])
    errors = spectrum.values[1:number] * scale / true - 1
    missed_copies = spectrum.method == "lanczos" and (errors > AGREEING).any()
    if missed_copies and (errors >= -AGREEING).all():
        return Comparison("copies missing")
    count, first = min(count, number), spec.weighting.multiplet(spec, metric)
    made = [n for n in range(2, count + 1) if first is not None and _equal(exact[n - 1], first)]
    return Comparison(None, true, errors, count, (made[0], made[-1]) if made else ())
