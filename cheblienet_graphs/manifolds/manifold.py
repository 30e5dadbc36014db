"""The interface of manifolds, all that the rest of the package uses.

Only the standard library is imported, so that the command line can show its help at once; spectra
are computed in `spectra`, which imports numpy and scipy.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cheblienet_graphs.manifolds.base import NO_FIBER, PERIODS, Base, Fiber, Metric

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Floats

Elements: TypeAlias = Any
"""Numbers with methods, elementwise: a torch tensor, or numpy's through `moments.Array`."""

Point: TypeAlias = tuple[Elements, ...]
"""One array of numbers for each coordinate."""

Diffusion: TypeAlias = tuple[tuple[float, tuple[float, ...]], ...]
"""Rate and direction, along a flat base, of each term of the operator."""


def squared_norm(weights: Sequence[float], components: tuple[Any, ...]) -> Any:
    """c^T R c for the diagonal entries of R and the components of c, elementwise."""
    first, *others = (r * c * c for r, c in zip(weights, components, strict=True))
    return sum(others, start=first)


class Manifold(ABC):
    """A homogeneous space with a left-invariant metric, isotropic unless `weights` says more."""

    name: str
    title: str
    meaning: str = ""
    """The title in words; empty where it says enough."""
    base: Base
    fiber: Fiber = NO_FIBER
    columns: tuple[str, ...]
    """Names of the coordinates, in the order in which they are stored."""
    frame: tuple[str, ...]
    """Names of the components of the logarithm: sideways and across count for eps^-2 in R, a
    rotation or a tilt for xi^2, others for 1."""
    default_neighbors: int
    default_eps: float = 1.0
    selling_neighbors: int | None = None
    """Largest degree of Selling's stencils; None where there are none."""
    least_matched_neighbors: int = 1
    """Fewer neighbors than this can't be weighted to match a metric."""
    cancels: bool = False
    """True if distances lose more digits than coordinates do, so that float32 says little."""
    window_pays: int = 2
    """Searches compare a window of orientations where it has so many times fewer than the fiber:
    one distance costs so many times as much as one of `fiber_distances`."""
    anisotropic: str | None = None
    """Name of the manifold over the same base with anisotropic metrics; None on that one itself,
    and where there is none."""

    coordinates_in_words: str
    """Columns with units and ranges; {domain} and {longitudes} depend on the sampling, {angles} on
    the period."""
    operator_in_words: str
    """The Laplace-Beltrami operator and its unit."""

    @property
    def oriented(self) -> bool:
        """True if a fiber of orientations lies over each point of the base."""
        return bool(self.fiber.columns)

    @property
    def periods(self) -> tuple[str, ...]:
        """Names of the periods that its orientations may have, the default first."""
        return tuple(PERIODS) if self.fiber.cyclic else ()

    def weights(self, metric: Metric) -> tuple[float, ...]:
        """Diagonal entries of R, one for each component of the logarithm, by its name."""
        across = metric.eps**-2
        turning = metric.xi**2
        entries = {"sideways": across, "across": across, "rotation": turning, "tilt": turning}
        return tuple(entries.get(direction, 1.0) for direction in self.frame)

    def elements(self, coordinates: Point) -> Point:
        """The numbers that the distance is computed from: the coordinates unless overridden.

        They are evaluated once for each vertex.
        """
        return coordinates

    @abstractmethod
    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components (base directions[, rotations]) of each candidate for log g^-1 h."""

    def squared_distance(self, g: Point, h: Point, metric: Metric) -> Elements:
        """Least squared norm of log g^-1 h under R: symmetric, left-invariant.

        It is the squared length of the path exp(t log), an upper bound of the geodesic distance's
        square; the triangle inequality need not hold.
        """
        weights = self.weights(metric)
        least, *others = (squared_norm(weights, c) for c in self.logarithms(g, h))
        for other in others:
            least = least.minimum(other)
        return least

    def rotation_angle(self, g: Point, h: Point) -> Elements:
        """The angle from g's orientation to h's, radians, where these are angles."""
        raise NotImplementedError

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, up to a quarter of the period."""
        raise NotImplementedError

    def diffusion(self, sample: tuple[float, ...], metric: Metric) -> Diffusion:
        """1 / R_aa with the left-invariant direction f_a along the base, for each, if it is flat.

        The matrix sum_a f_a f_a^T / R_aa is what Selling's formula decomposes.

        Args:
            sample: of the fiber.
            metric: R.
        """
        raise NotImplementedError

    def fiber_distances(
        self, elements: Point, points: Elements, others: Elements, metric: Metric, own: range
    ) -> Iterator[Elements]:
        """Squared distances between whole fibers, for searches: in torch, to rounding.

        Args:
            elements: each (n_o, base points).
            points: (n,) base points.
            others: (n, M) base points to compare with.
            metric: R.
            own: orientations over `points`.

        Yields:
            For each of `own` (n_o, n, M), to all orientations over the others.
        """
        end = tuple(e[:, others] for e in elements)
        for k in own:
            start = tuple(e[k][points][:, None] for e in elements)
            yield self.squared_distance(start, end, metric)

    def spectrum(self, count: int, metric: Metric, extent: tuple[float, ...] | None) -> "Floats":
        """The smallest eigenvalues of the Laplace-Beltrami operator -sum_a A_a^2 / R_aa, exactly.

        Args:
            count: number of eigenvalues, repeated by multiplicity.
            metric: R.
            extent: sides of a periodic flat base, by default ones; None on the sphere.

        Returns:
            (count,) ascending, 0 first.
        """
        # scipy is no part of what the command line needs to show its help.
        from cheblienet_graphs.manifolds.spectra import SPECTRA

        return SPECTRA[self.name](count, metric, extent or (1.0,) * self.base.dimension, self.fiber)
