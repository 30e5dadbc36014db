"""Which orientations over a base point can be near: all of them, or a window around the parallel.

Turning takes a length, so where it is dear and orientations are many, most of those over a near
base point are too far to be looked at.
"""

import math
from typing import Protocol, cast

import torch
from torch import Tensor

from cheblienet_graphs.manifolds import Elements, Metric, Point
from cheblienet_graphs.neighbours.cloud import Cloud

WORTHWHILE = 2
"""A window pays where it has so many times fewer orientations than the fibre."""


class Fibred(Protocol):
    """What is known of turning on a manifold with orientations."""

    def turn(self, g: Point, h: Point) -> Elements:
        """By how much h is turned against g, radians; with h it grows as h's own orientation."""

    def squared_length_of_turn(self, angle: float, metric: Metric) -> float:
        """What d^2 is at least for turns of this angle or more, in [0, pi/2]."""


class Fibre:
    """The orientations of a cloud.

    Args:
        cloud: the vertices.
        elements: what the distance is computed from, each (n_o, images).
    """

    def __init__(self, cloud: Cloud, elements: tuple[Tensor, ...]) -> None:
        self._cloud, self._elements = cloud, elements
        self._manifold = cast("Fibred", cloud.manifold)

    def near(self, own: Tensor, points: Tensor, others: Tensor, squared_reach: float) -> Tensor:
        """Orientations over other points that may be within reach.

        Args:
            own: (k,) orientations of the vertices.
            points: (n,) base points of the vertices.
            others: (n, M) base points to look at.
            squared_reach: squared distance.

        Returns:
            (k, n, width, M) orientations; all n_o of them, in order and not expanded, as
            (1, 1, n_o, 1) where a window is not worthwhile.
        """
        orientations = self._cloud.orientations
        margin = self._margin(squared_reach)
        if WORTHWHILE * (2 * margin + 1) > orientations:
            return torch.arange(orientations, device=own.device)[None, None, :, None]
        start = tuple(e[0][points][:, None] for e in self._elements)
        end = tuple(e[0][others] for e in self._elements)
        steps = self._manifold.turn(start, end) / (math.pi / orientations)
        window = torch.arange(-margin, margin + 1, device=own.device)
        parallel = own[:, None, None, None] - steps.round().long()[None, :, None, :]
        near: Tensor = (parallel + window[None, None, :, None]) % orientations
        return near

    def _margin(self, squared_reach: float) -> int:
        """How many steps either way from the most nearly parallel one can be within reach.

        The parallel lies up to half a step beside it.
        """
        orientations, metric = self._cloud.orientations, self._cloud.metric
        step, margin = math.pi / orientations, 0
        while WORTHWHILE * (2 * margin + 1) <= orientations:
            if self._manifold.squared_length_of_turn((margin + 0.5) * step, metric) > squared_reach:
                break
            margin += 1
        return margin
