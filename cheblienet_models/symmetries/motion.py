"""Motions: permutations of the samples of a level."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Motion:
    """The permutation of a level's samples that a symmetry is: v goes to place [v].

    Args:
        base: (points,) int64, of the base: of the points inside where the graph has a mask.
        vertices: (V,) int64, of the vertices.
    """

    base: Tensor
    vertices: Tensor


def motion(base: Tensor, orientations: Tensor) -> Motion:
    """From (points,) images of the points and (n_o, points or 1) images of the orientations."""
    return Motion(base, (orientations * len(base) + base).flatten())


def within(places: Tensor, base_index: Tensor | None) -> Tensor | None:
    """A permutation of the full sampling's points, restricted to those inside a mask.

    Args:
        places: (full points,) int64: where each goes.
        base_index: (points,) ascending, of those inside; None for all.

    Returns:
        (points,) int64, where each goes among those inside; None where one of them leaves.
    """
    if base_index is None:
        return places
    inside = base_index.cpu().long()
    moved = places[inside]
    found = torch.searchsorted(inside, moved).clamp(max=len(inside) - 1)
    return found if torch.equal(inside[found], moved) else None
