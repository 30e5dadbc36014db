"""The interface of manifolds: all that the rest of the package uses.

Only the standard library is imported, so that the command line can show its help at once; a
manifold imports numpy and scipy where it computes its spectrum.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.manifolds.fibre import Fibre
from cheblienet_graphs.manifolds.metric import Diffusion, Metric

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Floats

Elements: TypeAlias = Any
"""Numbers with methods, elementwise: a torch tensor, or numpy's through `arrays.Array`."""

Point: TypeAlias = tuple[Elements, ...]
"""One array of numbers for each coordinate."""


class Manifold(Protocol):
    """A homogeneous space with a left-invariant metric."""

    name: str
    title: str
    meaning: str
    """The title in words for those who do not know it; empty where it is enough."""
    base: Base
    fibre: Fibre
    columns: tuple[str, ...]
    """Names of the coordinates, in the order in which they are stored."""
    frame: tuple[str, ...]
    """Names of the components of the logarithm."""
    oriented: bool
    """Whether a fibre of orientations lies over each point of the base."""
    default_neighbors: int
    default_eps: float
    selling_neighbors: int | None
    """Largest degree of Selling's stencils; None where there are none."""
    least_matched_neighbors: int
    """Fewer neighbours than this can't be weighted to match a metric."""
    anisotropic: str | None
    """Name of the manifold over the same base with anisotropic metrics; None on that one itself,
    and where there is none."""

    coordinates_in_words: str
    """Columns with units and ranges, where {domain} and {longitudes} are the sampling's."""
    operator_in_words: str
    """The Laplace-Beltrami operator and its unit."""

    def weights(self, metric: Metric) -> tuple[float, ...]:
        """Diagonal entries of R, one for each component of the logarithm."""

    def elements(self, coordinates: Point) -> Point:
        """The numbers that the distance is computed from, evaluated once for each vertex."""

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """Components (base directions[, rotations]) of each candidate for log g^-1 h."""

    def squared_distance(self, g: Point, h: Point, metric: Metric) -> Elements:
        """Squared norm of log g^-1 h under R: symmetric, left-invariant, no geodesic distance."""

    def spectrum(self, count: int, metric: Metric, extent: tuple[float, ...] | None) -> "Floats":
        """The smallest eigenvalues of the Laplace-Beltrami operator -sum_a A_a^2 / R_aa, exactly.

        Args:
            count: number of eigenvalues, repeated by multiplicity.
            metric: R.
            extent: sides of a periodic flat base; None on the sphere.

        Returns:
            (count,) ascending, 0 first.
        """


class FlatManifold(Manifold, Protocol):
    """A manifold over a flat base, whose directions are the same everywhere."""

    def diffusion(self, sample: tuple[float, ...], metric: Metric) -> Diffusion:
        """1 / R_aa with the left-invariant direction f_a along the base, for each.

        The matrix sum_a f_a f_a^T / R_aa is what Selling's formula decomposes.

        Args:
            sample: of the fibre.
            metric: R.
        """
