"""The fibres over the points of a base: none, angles modulo pi, or axes in space.

Only the standard library is imported, so that the command line can show its help at once.
"""

import math
from dataclasses import dataclass
from typing import Protocol


class Fibre(Protocol):
    """The samples over each point of a base."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the coordinates along the fibre."""

    @property
    def cyclic(self) -> bool:
        """Whether samples are angles, of which those near another one are next to it."""

    def areas(self, count: int) -> tuple[float, ...]:
        """The share of the fibre that each of `count` samples has, in units of the mean."""

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """Coordinates of `count` samples, evenly spread."""

    def steps(self, count: int, xi: float) -> list[tuple[int, float]]:
        """Steps from a sample's index to those of its neighbours, and the edges' weights.

        Args:
            count: number of samples, n_o.
            xi: length of one radian.
        """


@dataclass(frozen=True)
class NoFibre:
    """A single point."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of no coordinates."""
        return ()

    @property
    def cyclic(self) -> bool:
        """No."""
        return False

    def areas(self, count: int) -> tuple[float, ...]:
        """All equal."""
        return (1.0,) * count

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """The point itself, which has no coordinate."""
        return [()] * count

    def steps(self, _count: int, _xi: float) -> list[tuple[int, float]]:
        """No steps."""
        return []


@dataclass(frozen=True)
class AnglesModuloPi:
    """Orientations: angles that differ by pi are the same one.

    Args:
        name: of the coordinate.
    """

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one name."""
        return (self.name,)

    @property
    def cyclic(self) -> bool:
        """Yes."""
        return True

    def areas(self, count: int) -> tuple[float, ...]:
        """All equal."""
        return (1.0,) * count

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """Angles -pi/2 + k pi/n_o, radians in [-pi/2, pi/2)."""
        return [(-math.pi / 2 + k * math.pi / count,) for k in range(count)]

    def steps(self, count: int, xi: float) -> list[tuple[int, float]]:
        """Steps to both sides, with weights 1 / (xi sin delta)^2 with delta = pi / n_o.

        Instead of 1 / (xi delta)^2: the lowest mode along the fibre, cos 2 theta, then has its
        exact eigenvalue.
        """
        if count == 1:
            return []
        weight = (xi * math.sin(math.pi / count)) ** -2
        # With two orientations both steps lead to the same one.
        return [(-1, weight), (1, weight)] if count > 2 else [(1, weight * 2)]


@dataclass(frozen=True)
class ListedAxes:
    """Axes in space: unit vectors, of which opposite ones are the same.

    Args:
        points: one for each sample; none where the set is still to be chosen.
        shares: of the fibre, in units of their mean.
    """

    points: tuple[tuple[float, ...], ...] = ()
    shares: tuple[float, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the components."""
        return ("nx", "ny", "nz")

    @property
    def cyclic(self) -> bool:
        """No."""
        return False

    def areas(self, count: int) -> tuple[float, ...]:
        """Areas of the cells on the projective plane."""
        self._check(count)
        return self.shares

    def samples(self, count: int) -> list[tuple[float, ...]]:
        """The unit vectors."""
        self._check(count)
        return list(self.points)

    def steps(self, _count: int, _xi: float) -> list[tuple[int, float]]:
        """None that are the same for all axes."""
        return []

    def _check(self, count: int) -> None:
        if count != len(self.points):
            raise ValueError(f"there are {len(self.points)} axes, not {count}")


NO_FIBRE = NoFibre()
