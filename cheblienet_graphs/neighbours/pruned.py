"""Nearest neighbours on any sampling: a tree on the base, the whole fibre over what it finds.

The projection to the base is 1-Lipschitz, so a vertex at distance r lies over the base ball of
radius r: the vertices over the M nearest base points include all that are nearer than the M-th of
these. M grows for the few points where that does not suffice.
"""

import math

import numpy as np
import torch
from scipy.spatial import KDTree
from torch import Tensor

from cheblienet_graphs.neighbours import Floats, Indices
from cheblienet_graphs.neighbours.cloud import Cloud
from cheblienet_graphs.neighbours.shells import radii_and_counts

PAIRS_AT_ONCE = {"cpu": 2**17, "cuda": 2**25}
"""Distances evaluated together: what fits a core's cache, or fills a GPU."""

ROUNDING = 1e-9
"""Relative slack between distances on the base and on the manifold."""


class _Candidates:
    """The base points nearest to some: (n, M) Cartesian distances, ascending, and images."""

    def __init__(self, chords: Floats, images: Indices) -> None:
        self.chords, self.images = (x.reshape(len(x), -1) for x in (chords, images))


class PrunedSearch:
    """Exact nearest neighbours, distances evaluated in torch.

    Args:
        cloud: the vertices.
        device: "cpu" or "cuda".
    """

    points_at_once = 4096

    def __init__(self, cloud: Cloud, device: str) -> None:
        self._cloud, self._device = cloud, torch.device(device)
        self._tree = KDTree(cloud.base)
        self._elements = tuple(torch.from_numpy(e).to(self._device) for e in cloud.elements)
        self._pairs = PAIRS_AT_ONCE[self._device.type]

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
            (n_o, stop - start) r^2, and (n_o, stop - start, K) int64 neighbours within r,
            `orientation * images + image`, padded with -1. On the CPU.
        """
        points = np.arange(start, stop)
        orientations = self._cloud.orientations
        radii = torch.zeros(orientations, len(points), dtype=torch.float64)
        found = torch.full((orientations, len(points), count), -1)
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
                    r2, nearest, known = self._block(block, rows, near, count, given, tolerance)
                    radii[rows, where], found[rows, where] = r2.cpu(), nearest.cpu()
                    complete &= known.cpu().numpy()
                missed.append(block[~complete])
            points = np.concatenate(missed)
            candidates = min(2 * candidates, self._cloud.images)
        return radii, found

    def _guess(self, count: int) -> int:
        """Base points over which `count` neighbours are likely to lie.

        A ball of radius r is about an ellipsoid with semi-axes r, eps r, r / xi, the last cut off
        at half the fibre.
        """
        metric, orientations = self._cloud.metric, self._cloud.orientations
        volume = (count + 1) / orientations  # in base points times fibres
        flat = volume / metric.eps
        if orientations > 1:
            # r^3 4/3 eps / xi = volume, lengths in units of which a base point fills one square
            spacing = math.sqrt(self._mean_area())
            radius = (0.75 * volume * metric.xi / spacing / metric.eps) ** (1 / 3)
            flat = max(flat, math.pi * radius**2)
        # However large xi is, the plane itself has enough.
        return int(1.7 * min(flat, (count + 1) / metric.eps)) + 12

    def _mean_area(self) -> float:
        """Area of the base for each point."""
        if self._cloud.manifold.base == "sphere":
            return 4 * math.pi / self._cloud.points
        extent = np.ptp(self._cloud.base[: self._cloud.points], axis=0)
        return float(extent.prod()) / self._cloud.points

    def _block(
        self,
        points: Indices,
        own: slice,
        near: "_Candidates",
        count: int,
        squared_radii: Tensor | None,
        tolerance: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """r^2 (own, n), neighbours (own, n, K), and (n,) whether the candidates sufficed.

        For the vertices over the points whose orientation is one of `own`.
        """
        cloud, device = self._cloud, self._device
        fibre = torch.arange(cloud.orientations, device=device)[own]
        rows, candidates = near.images.shape
        here, others = (torch.from_numpy(x).to(device) for x in (points, near.images))
        squared = self._squared_distances(here, own, others)
        itself = (others == here[:, None]).nonzero(as_tuple=True)
        local = torch.arange(len(fibre), device=device)[:, None]
        squared[local, itself[0], fibre[:, None], itself[1]] = math.inf
        squared = squared.reshape(len(fibre) * rows, cloud.orientations * candidates)
        width = min(count + 1, squared.shape[1])
        ascending, which = squared.topk(width, largest=False)
        if width <= count:
            padding = (0, count + 1 - width)
            ascending = torch.nn.functional.pad(ascending, padding, value=math.inf)
            which = torch.nn.functional.pad(which, padding)
        given = None if squared_radii is None else squared_radii.repeat_interleave(rows).to(device)
        r2, inside = radii_and_counts(ascending, given, tolerance)
        reach = ascending[:, -1] if given is None else given * (1 + tolerance)
        bound = torch.from_numpy(self._bound(near.chords[:, -1], candidates)).to(device)
        complete = (reach.view(-1, rows) * (1 + ROUNDING) <= bound).all(dim=0)
        row = torch.arange(rows, device=device).repeat(len(fibre))[:, None]
        vertex = which // candidates * cloud.images + others[row, which % candidates]
        vertex.masked_fill_(torch.arange(count + 1, device=device) >= inside[:, None], -1)
        return r2.view(-1, rows), vertex[:, :count].view(-1, rows, count), complete

    def _squared_distances(self, points: Tensor, own: slice, others: Tensor) -> Tensor:
        """(own, n, n_o, candidates) d^2 from vertices over points to those over candidates."""
        start = tuple(e[own][:, points][:, :, None, None] for e in self._elements)
        end = tuple(e[:, others].transpose(0, 1) for e in self._elements)
        squared: Tensor = self._cloud.manifold.squared_distance(start, end, self._cloud.metric)
        return squared.expand(len(start[0]), len(points), *end[0].shape[1:]).contiguous()

    def _bound(self, chord: np.ndarray, candidates: int) -> np.ndarray:
        """Squared distance below which the candidates include everything."""
        if candidates == self._cloud.images:
            return np.full(len(chord), math.inf)
        return self._cloud.base_distance(chord) ** 2
