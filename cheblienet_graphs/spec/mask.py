"""The part of a sampling that a graph covers."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import Found, Remedy, SpecError, Words
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.typing import Indices

HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Mask:
    """The points inside, on each level; equal where these are.

    Args:
        sha256: hex digest of the finest level's booleans, as bytes 0 and 1 in the sampling's order.
        inside: number of points inside, by level.
        places: (n_inside,) int32, or int64 beyond 2^31 points, where each is in the full sampling,
            ascending, by level. None where the mask is known by its digest alone, as a store tells
            it.
    """

    sha256: str
    inside: tuple[int, ...]
    places: tuple[Indices, ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, inside: npt.NDArray[np.bool_], samplings: Sequence[Sampling]) -> "Mask":
        """The mask of a pyramid: a coarser point is inside where any point pooled to it is.

        Args:
            inside: (points,) of the finest level.
            samplings: full ones, finest first.

        Raises:
            SpecError: no point is inside.
        """
        digest = hashlib.sha256(inside.astype(np.uint8).tobytes()).hexdigest()
        places = [_places(inside)]
        if not len(places[0]):
            raise SpecError("mask", "True, inside, somewhere", Found("no point inside"))
        for fine in samplings[:-1]:
            pooling = fine.pooling()
            inside = np.logical_or.reduceat(inside[pooling.indices], pooling.indptr[:-1])
            places.append(_places(inside))
        return cls(digest, tuple(map(len, places)), tuple(places))

    @classmethod
    def recorded(cls, value: Mapping[str, Any], points: Sequence[int]) -> "Mask":
        """The mask that `to_dict` tells of.

        Args:
            value: what it tells.
            points: number of all points, by level.

        Raises:
            SpecError: it is of another form.
        """
        digest, inside = value.get("sha256"), value.get("inside")
        if not (
            set(value) == {"sha256", "inside"}
            and isinstance(digest, str)
            and len(digest) == 64
            and set(digest) <= HEX
            and isinstance(inside, list)
            and len(inside) == len(points)
            and all(
                type(n) is int and 0 < n <= most for n, most in zip(inside, points, strict=True)
            )
        ):
            accepted = f"a digest, and the number of points inside on each of {len(points)} levels"
            raise SpecError("mask", accepted, value)
        return cls(digest, tuple(inside))

    def to_dict(self) -> dict[str, Any]:
        """JSON types: the digest, and the number of points inside on each level."""
        return {"inside": list(self.inside), "sha256": self.sha256}

    def on_level(self, level: int) -> Indices:
        """(n_inside,) places of the points inside, 0 the finest level.

        Raises:
            SpecError: they are not known.
        """
        if self.places is None:
            remedy = Words("Give the ", Remedy("mask"), " or the ", Remedy("region"), " again.")
            found = f"SHA-256 {self.sha256[:12]}..."
            raise SpecError("mask", "an array to build from, not a digest", found, remedy)
        return self.places[level]


def _places(inside: npt.NDArray[np.bool_]) -> Indices:
    """Where values are True, in as few bytes as that takes."""
    kind = np.int32 if len(inside) < 2**31 else np.int64
    places: Indices = np.flatnonzero(inside).astype(kind)
    return places
