"""The bases that orientations lie over: flat spaces of any dimension, and the sphere.

Only the standard library is imported at first, so that the command line can show its help at once.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class Base(Protocol):
    """A homogeneous space whose points carry the fibre of a manifold."""

    @property
    def name(self) -> str:
        """Name in messages: "plane", "space" or "sphere"."""

    @property
    def dimension(self) -> int:
        """Number of directions at a point."""

    @property
    def samplings(self) -> tuple[str, ...]:
        """Names of the samplings it has, the default first."""

    @property
    def flat(self) -> bool:
        """Whether the domain is a box, whose opposite sides may be glued."""

    @property
    def measure(self) -> float:
        """Area of the base, in squared units of length; 1 where it is flat."""

    @property
    def unit(self) -> str:
        """Plural of the unit of length."""

    def distance(self, chord: Any) -> Any:
        """Distance on the base of points at a Cartesian distance; numpy arrays or floats."""


@dataclass(frozen=True)
class Flat:
    """R^d, sampled in a box of width 1 along x.

    Args:
        dimension: d, 2 or 3.
    """

    dimension: int
    flat: ClassVar[bool] = True
    measure: ClassVar[float] = 1.0
    unit: ClassVar[str] = "widths"

    @property
    def name(self) -> str:
        """Name in messages."""
        return {2: "plane", 3: "space"}[self.dimension]

    @property
    def samplings(self) -> tuple[str, ...]:
        """Names of the samplings it has, the default first."""
        return ("lattice", "random", "unstructured") if self.dimension == 2 else ("lattice",)

    def distance(self, chord: Any) -> Any:
        """The chord itself."""
        return chord


@dataclass(frozen=True)
class Sphere:
    """The unit sphere."""

    name: ClassVar[str] = "sphere"
    samplings: ClassVar[tuple[str, ...]] = (
        *("icosahedral", "healpix", "equiangular", "gaussian", "random", "unstructured"),
    )
    dimension: ClassVar[int] = 2
    flat: ClassVar[bool] = False
    measure: ClassVar[float] = 4 * math.pi
    unit: ClassVar[str] = "radians of arc"

    def distance(self, chord: Any) -> Any:
        """The arc 2 asin(chord / 2)."""
        import numpy as np  # help does without

        return 2 * np.arcsin(np.minimum(chord / 2, 1))
