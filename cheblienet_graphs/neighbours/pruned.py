"""Nearest neighbours on any sampling: a tree finds base points, whose fibres are compared.

The projection to the base is 1-Lipschitz, so a vertex at distance r lies over the base ball of
radius r: the vertices over the M nearest base points include all that are nearer than the M-th of
these. M grows for the few points where that does not suffice.
"""

import math

import numpy as np
import torch
from scipy.spatial import KDTree
from torch import Tensor

from cheblienet_graphs.neighbours.cloud import Cloud
from cheblienet_graphs.neighbours.fibre import Fibre
from cheblienet_graphs.neighbours.shells import neighbours_within
from cheblienet_graphs.typing import Floats, Indices

PAIRS_AT_ONCE = {"cpu": 2**17, "cuda": 2**25}
"""Distances evaluated together, by device: they fit a core's cache, or fill a GPU."""

MOMENT = 8
"""Between two reports of progress this many times PAIRS_AT_ONCE distances are evaluated."""
CANDIDATES = 32
"""Candidates of a point that this assumes, as with usual numbers of neighbours."""
MOST_POINTS = 4096
"""Most base points between two reports of progress."""

ROUNDING = 1e-9
"""Relative slack between distances on the base and on the manifold."""


class _Candidates:
    """The M base points nearest to n others: (n, M) Cartesian distances, ascending; images."""

    def __init__(self, chords: Floats, images: Indices) -> None:
        self.chords: Floats = chords.reshape(len(chords), -1)
        self.images: Indices = images.reshape(len(images), -1)


class PrunedSearch:
    """Exact nearest neighbours, distances evaluated in torch.

    Args:
        cloud: the vertices.
        device: "cpu" or "cuda".
    """

    def __init__(self, cloud: Cloud, device: str) -> None:
        self._cloud, self._device = cloud, torch.device(device)
        self._tree = KDTree(cloud.base)
        self._elements = tuple(torch.from_numpy(e).to(self._device) for e in cloud.elements)
        self._fibre = Fibre(cloud, self._elements)
        self._pairs = PAIRS_AT_ONCE[self._device.type]

    @property
    def points_at_once(self) -> int:
        """Base points that are searched between two reports of progress: about a second's work."""
        each = CANDIDATES * self._cloud.orientations**2
        return min(MOST_POINTS, max(1, MOMENT * self._pairs // each))

    def nearest(
        self, start: int, stop: int, count: int, squared_radii: Tensor | None, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        """The nearest vertices of those over the base points start..stop.

        Args:
            start: first base point.
            stop: last base point + 1.
            count: K.
            squared_radii: (n_o,) where the radii are known beforehand.
            tolerance: relative width of a shell.

        Returns:
            (n_o, stop - start) d^2 up to which vertices were needed: r^2 where known beforehand,
            else that of the (K + 1)-th nearest, inf where there is none; and (n_o, stop - start, K)
            int64 neighbours, `orientation * images + image`, padded with -1. On the CPU.
        """
        points = np.arange(start, stop)
        orientations = self._cloud.orientations
        seen = torch.zeros(orientations, len(points), dtype=torch.float64)
        neighbours = torch.full((orientations, len(points), count), -1)
        candidates = min(self._guess(count), self._cloud.images)
        while len(points):
            across = candidates * orientations
            own = min(orientations, max(1, self._pairs // across))
            step = max(1, self._pairs // (across * own))
            missed = []
            for lo in range(0, len(points), step):
                block = points[lo : lo + step]
                where = torch.from_numpy(block - start)
                near = _Candidates(*self._tree.query(self._cloud.base[block], candidates))
                complete = np.ones(len(block), dtype=bool)
                for first in range(0, orientations, own):
                    rows = slice(first, min(first + own, orientations))
                    given = None if squared_radii is None else squared_radii[rows]
                    reach, nearest, known = self._block(block, rows, near, count, given, tolerance)
                    seen[rows, where], neighbours[rows, where] = reach.cpu(), nearest.cpu()
                    complete &= known.cpu().numpy()
                missed.append(block[~complete])
            points = np.concatenate(missed)
            candidates = min(2 * candidates, self._cloud.images)
        return seen, neighbours

    def _guess(self, count: int) -> int:
        """Number of nearest base points over which `count` neighbours are likely to lie.

        A ball of radius r is nearly an ellipsoid with semi-axes r, eps r and r / xi, the last at
        most half the fibre.
        """
        metric, orientations = self._cloud.metric, self._cloud.orientations
        volume = (count + 1) / orientations  # in base points times fibres
        flat = volume / metric.eps
        if orientations > 1:
            # r^3 4/3 eps / xi = volume; in the unit of length a base point has area 1.
            spacing = math.sqrt(self._mean_area())
            radius = (0.75 * volume * metric.xi / spacing / metric.eps) ** (1 / 3)
            flat = max(flat, math.pi * radius**2)
        # Within one orientation alone this radius suffices, however large xi is.
        return int(1.7 * min(flat, (count + 1) / metric.eps)) + 12

    def _mean_area(self) -> float:
        """Area of the base for each point."""
        base, sides = self._cloud.manifold.base, np.ones(1)
        if base.flat:
            sides = np.ptp(self._cloud.base[: self._cloud.points], axis=0)
            sides = np.maximum(sides, sides.max() / self._cloud.points)  # points on one line
        return base.measure * float(sides.prod()) / self._cloud.points

    def _block(
        self,
        points: Indices,
        own: slice,
        near: "_Candidates",
        count: int,
        squared_radii: Tensor | None,
        tolerance: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(own, n) as `nearest`, neighbours (own, n, K), and (n,) whether the candidates sufficed.

        For the vertices over the points whose orientation is one of `own`.
        """
        cloud, device = self._cloud, self._device
        orientations = torch.arange(cloud.orientations, device=device)[own]
        rows, candidates = near.images.shape
        here, others = (torch.from_numpy(x).to(device) for x in (points, near.images))
        bound = self._bound(near.chords[:, -1], candidates)
        fibre = self._fibre.near(orientations, here, others, float(bound.max()))
        squared = self._squared_distances(here, own, others, fibre)
        row, place = (others == here[:, None]).nonzero(as_tuple=True)
        windowed = fibre.shape[2] < cloud.orientations
        over = fibre[:, row, :, place] if windowed else fibre[:, 0, :, 0]
        itself = over == orientations[:, None]
        squared[:, row, :, place] = squared[:, row, :, place].masked_fill(itself, math.inf)
        squared = squared.reshape(len(orientations) * rows, -1)
        width = min(count + 1, squared.shape[1])
        ascending, which = squared.topk(width, largest=False)
        if width <= count:
            padding = (0, count + 1 - width)
            ascending = torch.nn.functional.pad(ascending, padding, value=math.inf)
            which = torch.nn.functional.pad(which, padding)
        given = None if squared_radii is None else squared_radii.repeat_interleave(rows).to(device)
        inside = neighbours_within(ascending, given, tolerance)
        reach = ascending[:, -1] if given is None else given * (1 + tolerance)
        known = torch.from_numpy(bound).to(device)
        complete = (reach.view(-1, rows) * (1 + ROUNDING) <= known).all(dim=0)
        complete |= candidates == cloud.images
        row = torch.arange(rows, device=device).repeat(len(orientations))[:, None]
        image = others[row, which % candidates]
        over = which // candidates
        if windowed:
            over = fibre.reshape(len(orientations) * rows, -1).gather(1, which)
        vertex = over * cloud.images + image
        vertex.masked_fill_(torch.arange(count + 1, device=device) >= inside[:, None], -1)
        return reach.view(-1, rows), vertex[:, :count].view(-1, rows, count), complete

    def _squared_distances(
        self, points: Tensor, own: slice, others: Tensor, fibre: Tensor
    ) -> Tensor:
        """(own, n, width, M) d^2 from vertices over points to those over candidates."""
        start = tuple(e[own][:, points][:, :, None, None] for e in self._elements)
        if fibre.shape[2] < self._cloud.orientations:
            end = tuple(e[fibre, others[None, :, None]] for e in self._elements)
        else:
            end = tuple(e[:, others].transpose(0, 1) for e in self._elements)
        squared: Tensor = self._cloud.manifold.squared_distance(start, end, self._cloud.metric)
        width = end[0].shape[-2:]
        return squared.expand(len(start[0]), len(points), *width).contiguous()

    def _bound(self, chord: Floats, candidates: int) -> Floats:
        """Squared distance below which the candidates include everything.

        Where they are all images, that is the distance up to which no image is missing.
        """
        if candidates == self._cloud.images:
            return np.full(len(chord), self._cloud.complete_within**2)
        return self._cloud.base_distance(chord) ** 2
