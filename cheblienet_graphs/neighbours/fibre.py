"""The orientations over a base point that can be near: all, or a window around the parallel one.

A rotation by one radian has length xi. Where xi is large and there are many orientations, most of
those over a near base point are too far away, and are not compared.
"""

import math
from typing import Protocol, cast

import torch
from torch import Tensor

from cheblienet_graphs.manifolds import Elements, Metric, Point
from cheblienet_graphs.neighbours.cloud import Cloud

WORTHWHILE = 2
"""A window is used where it has this many times fewer orientations than the fibre, or better."""


class Fibred(Protocol):
    """A manifold with orientations: rotation angles, and their least lengths."""

    def rotation_angle(self, g: Point, h: Point) -> Elements:
        """The angle from g's orientation to h's, radians; it grows as the latter does."""

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, in [0, pi/2] radians."""


class Fibre:
    """The orientations of a cloud.

    Args:
        cloud: the vertices.
        elements: numbers that distances are computed from, each (n_o, images).
    """

    def __init__(self, cloud: Cloud, elements: tuple[Tensor, ...]) -> None:
        self._cloud, self._elements = cloud, elements
        self._manifold = cast("Fibred", cloud.manifold)

    def near(self, own: Tensor, points: Tensor, others: Tensor, squared_reach: float) -> Tensor:
        """Orientations over other points that may be within reach.

        Args:
            own: (k,) orientations of the vertices.
            points: (n,) base points of the vertices.
            others: (n, M) base points to compare with.
            squared_reach: squared distance.

        Returns:
            (k, n, width, M) orientations; all n_o in order, as (1, 1, n_o, 1) without
            copies, where a window is not worthwhile.
        """
        orientations = self._cloud.orientations
        cyclic = self._cloud.manifold.fibre.cyclic
        margin = self._margin(squared_reach) if cyclic else orientations
        if WORTHWHILE * (2 * margin + 1) > orientations:
            return torch.arange(orientations, device=own.device)[None, None, :, None]
        start = tuple(e[0][points][:, None] for e in self._elements)
        end = tuple(e[0][others] for e in self._elements)
        steps = self._manifold.rotation_angle(start, end) / (math.pi / orientations)
        window = torch.arange(-margin, margin + 1, device=own.device)
        parallel = own[:, None, None, None] - steps.round().long()[None, :, None, :]
        near: Tensor = (parallel + window[None, None, :, None]) % orientations
        return near

    def _margin(self, squared_reach: float) -> int:
        """Largest number of steps, from the most nearly parallel orientation, within reach.

        The exactly parallel direction lies up to half a step beside that orientation.
        """
        orientations, metric = self._cloud.orientations, self._cloud.metric
        step, margin = math.pi / orientations, 0
        while WORTHWHILE * (2 * margin + 1) <= orientations:
            if (
                self._manifold.squared_length_of_rotation((margin + 0.5) * step, metric)
                > squared_reach
            ):
                break
            margin += 1
        return margin
