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

from cheblienet_graphs.neighbours import Indices
from cheblienet_graphs.neighbours.cloud import Cloud
from cheblienet_graphs.neighbours.shells import radii_and_counts

PAIRS_AT_ONCE = {"cpu": 2**17, "cuda": 2**25}
"""Distances evaluated together: what fits a core's cache, or fills a GPU."""

ROUNDING = 1e-9
"""Relative slack between distances on the base and on the manifold."""


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
            step = max(1, self._pairs // (candidates * orientations**2))
            missed = []
            for lo in range(0, len(points), step):
                block = points[lo : lo + step]
                r2, nearest, complete = self._block(
                    block, candidates, count, squared_radii, tolerance
                )
                where = torch.from_numpy(block - start)
                radii[:, where], found[:, where] = r2.cpu(), nearest.cpu()
                missed.append(block[~complete.cpu().numpy()])
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
        return int(1.7 * flat) + 12

    def _mean_area(self) -> float:
        """Area of the base for each point."""
        if self._cloud.manifold.base == "sphere":
            return 4 * math.pi / self._cloud.points
        extent = np.ptp(self._cloud.base[: self._cloud.points], axis=0)
        return float(extent.prod()) / self._cloud.points

    def _block(
        self,
        points: Indices,
        candidates: int,
        count: int,
        squared_radii: Tensor | None,
        tolerance: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """r^2 (n_o, n), neighbours (n_o, n, K), and (n,) whether the candidates sufficed."""
        cloud, device = self._cloud, self._device
        orientations, rows = cloud.orientations, len(points)
        chords, images = self._tree.query(cloud.base[points], k=[*range(1, candidates + 1)])
        others = torch.from_numpy(images).to(device)
        squared = self._squared_distances(torch.from_numpy(points).to(device), others)
        here = (others == torch.from_numpy(points).to(device)[:, None]).nonzero(as_tuple=True)
        fibre = torch.arange(orientations, device=device)
        squared[fibre[:, None], here[0], fibre[:, None], here[1]] = math.inf
        squared = squared.reshape(orientations * rows, orientations * candidates)
        width = min(count + 1, squared.shape[1])
        ascending, which = squared.topk(width, largest=False)
        if width <= count:
            padding = (0, count + 1 - width)
            ascending = torch.nn.functional.pad(ascending, padding, value=math.inf)
            which = torch.nn.functional.pad(which, padding)
        given = None if squared_radii is None else squared_radii.repeat_interleave(rows)
        r2, inside = radii_and_counts(ascending, given, tolerance)
        reach = ascending[:, -1] if given is None else given * (1 + tolerance)
        bound = torch.from_numpy(self._bound(chords[:, -1], candidates)).to(device)
        complete = (reach.view(orientations, rows) * (1 + ROUNDING) <= bound).all(dim=0)
        row = torch.arange(rows, device=device).repeat(orientations)[:, None]
        vertex = which // candidates * cloud.images + others[row, which % candidates]
        vertex.masked_fill_(torch.arange(count + 1, device=device) >= inside[:, None], -1)
        nearest = vertex[:, :count].view(orientations, rows, count)
        return r2.view(orientations, rows), nearest, complete

    def _squared_distances(self, points: Tensor, others: Tensor) -> Tensor:
        """(n_o, n, n_o, candidates) d^2 from the vertices over points to those over candidates."""
        start = tuple(e[:, points][:, :, None, None] for e in self._elements)
        end = tuple(e[:, others].transpose(0, 1) for e in self._elements)
        squared: Tensor = self._cloud.manifold.squared_distance(start, end, self._cloud.metric)
        shape = (self._cloud.orientations, len(points), *end[0].shape[1:])
        return squared.expand(shape).contiguous()

    def _bound(self, chord: np.ndarray, candidates: int) -> np.ndarray:
        """Squared distance below which the candidates include everything."""
        if candidates == self._cloud.images:
            return np.full(len(chord), math.inf)
        return self._cloud.base_distance(chord) ** 2
