"""The bases of manifolds, plane, space and sphere, the fibers over their points, and metrics.

Only the standard library is imported at first, so that the command line can show its help at once.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(eq=False)
class Base:
    """A homogeneous space; its points carry the fiber of a manifold.

    Args:
        name: in messages.
        dimension: number of directions at a point.
        samplings: names of the samplings it has, the default first.
        flat: whether the domain is a box of width 1; its opposite sides may be glued.
        measure: area of the base, in squared units of length; 1 where it is flat.
        unit: plural of the unit of length.
    """

    name: str
    dimension: int
    samplings: tuple[str, ...]
    flat: bool = True
    measure: float = 1.0
    unit: str = "widths"

    def distance(self, chord: Any) -> Any:
        """Distance of points at a Cartesian distance: on the sphere the arc 2 asin(chord / 2)."""
        if self.flat:
            return chord
        import numpy as np  # help does without

        return 2 * np.arcsin(np.minimum(chord / 2, 1))


PLANE = Base("plane", 2, ("lattice", "random", "unstructured"))
SPACE = Base("space", 3, ("lattice",))
SPHERE = Base(
    "sphere",
    2,
    (
        *("icosahedral", "refined-icosahedral", "healpix", "equiangular", "gaussian"),
        *("reduced-gaussian", "random", "unstructured"),
    ),
    flat=False,
    measure=4 * math.pi,
    unit="radians of arc",
)


@dataclass(frozen=True)
class Metric:
    """R = diag(1, eps^-2, xi^2) in the left-invariant frame (forward, sideways, rotation).

    `Manifold.weights` gives the entries that R has on a manifold.

    Args:
        eps: anisotropy in (0, 1]; 1 is isotropic; sideways lengths are multiplied by 1 / eps.
        xi: length that one radian of rotation counts for; 0 where there is no rotation.
    """

    eps: float
    xi: float = 0.0

    def scaled(self, length: float) -> "Metric":
        """The metric with lengths measured in units of `length`."""
        return Metric(self.eps, self.xi / length)


@dataclass(frozen=True)
class Fiber:
    """The samples over each point of a base: a single one unless a class has more.

    Args:
        columns: names of the coordinates along the fiber.
    """

    columns: tuple[str, ...] = ()

    cyclic: ClassVar[bool] = False
    """True if samples are angles, so that near samples have near indices."""

    @property
    def turns(self) -> tuple[float, ...]:
        """Rotations by less than 2 pi that change no sample."""
        return (0.0,)

    def step(self, _count: int) -> float:
        """Angle between samples next to one another, radians; 0 where they are no angles."""
        return 0.0

    def shares(self, count: int) -> tuple[float, ...]:
        """The share of the fiber that each of `count` samples has, in units of the mean."""
        return (1.0,) * count

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """Coordinates of `count` samples, evenly spread."""
        return [()] * count

    def steps(self, _count: int, _xi: float) -> list[tuple[int, float]]:
        """Steps from a sample's index to its neighbors' indices, and the edges' weights.

        Empty where they are not the same for all samples, as for axes.

        Args:
            count: number of samples, n_o.
            xi: length of one radian.
        """
        return []

    def spectrum(self, _count: int) -> list[float]:
        """The smallest eigenvalues of the fiber's Laplacian, exactly, xi 1.

        Args:
            count: how many, repeated by multiplicity.

        Returns:
            Ascending, 0 first.
        """
        return [0.0]


NO_FIBER = Fiber()
AXES = Fiber(("nx", "ny", "nz"))
"""Axes in space, unit vectors; their set is still to be chosen."""


PERIODS = {"pi": math.pi, "2pi": 2 * math.pi}
"""Periods of orientations by name: of lines, which have no sense, and of arrows, which have one."""


@dataclass(frozen=True)
class Angles(Fiber):
    """Orientations: angles that differ by the period are the same one.

    Args:
        period: pi or 2 pi, radians.
    """

    period: float = math.pi
    cyclic = True

    @property
    def turns(self) -> tuple[float, ...]:
        """None but 0 modulo 2 pi; the half turn modulo pi."""
        return (0.0,) if self.period > math.pi else (0.0, math.pi)

    def step(self, count: int) -> float:
        """The period / n_o."""
        return self.period / count

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """Angles from minus half the period, radians: -pi/2 + k pi/n_o, or -pi + k 2 pi/n_o."""
        return [(-self.period / 2 + k * self.period / count,) for k in range(count)]

    def steps(self, count: int, xi: float) -> list[tuple[int, float]]:
        """Steps to both sides, with weights (m / (2 xi sin(pi / n_o)))^2, m = 2 pi / period.

        Instead of 1 / (xi step)^2: the lowest mode along the fiber, cos 2 theta modulo pi and
        cos theta modulo 2 pi, then has its exact eigenvalue.
        """
        if count == 1:
            return []
        weight = (xi * math.sin(math.pi / count) * (self.period / math.pi)) ** -2
        # With two orientations both steps lead to the same one.
        return [(-1, weight), (1, weight)] if count > 2 else [(1, weight * 2)]

    def spectrum(self, count: int) -> list[float]:
        """The eigenvalue (2 pi m / period)^2 of each frequency m, twice but for m = 0."""
        return [(2 * math.pi / self.period * ((k + 1) // 2)) ** 2 for k in range(count)]
