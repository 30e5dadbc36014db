"""Nearest neighbors on any sampling: a tree finds base points, and their fibers are compared.

The projection to the base is 1-Lipschitz, so a vertex at distance r lies over the base ball of
radius r: the vertices over the M nearest base points include all that are nearer than the M-th of
these. M grows for the few points where that does not suffice.

A rotation by one radian has length xi. Where xi is large and there are many orientations, most of
the orientations over a near base point are too far away: a window around the parallel one is
compared.
"""

import math

import numpy as np
import torch
from scipy.spatial import KDTree
from torch import Tensor

from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.positions import Cloud
from cheblienet_graphs.typing import Floats, Indices

PAIRS_AT_ONCE = {"cpu": 2**18, "cuda": 2**25}
"""Distances evaluated together: one orientation's fit a core's cache, all fill a GPU."""

MOMENT = 4
"""Between two reports of progress this many times PAIRS_AT_ONCE distances are evaluated."""
CANDIDATES = 32
"""Candidates of a point that this assumes, as with usual numbers of neighbors."""
SPARE = 8
"""Candidates beyond K where the tree gives the nearest themselves: whole shells, mostly."""
MOST_POINTS = 4096
"""Most base points between two reports of progress."""

ROUNDING = 1e-9
"""Relative slack between distances on the base and on the manifold."""
SURPLUS = 8
"""Vertices measured in float64 beyond the listed ones: the nearest ones by float32."""
ROUGH = 32
"""Error of rough distances where coordinates and metric are 1, in roundings; over five times it."""


class PrunedSearch:
    """Exact nearest neighbors, distances evaluated in torch.

    Distances to all candidates are rough ones, in float32. Distances to the nearest of these are
    exact, in float64. More are, where the error of rough ones does not prove the rest to be
    farther.

    Args:
        cloud: the vertices.
        device: "cpu" or "cuda".
    """

    def __init__(self, cloud: Cloud, device: str) -> None:
        self._cloud, self._device = cloud, torch.device(device)
        self._tree = KDTree(cloud.base)
        self._elements = tuple(torch.from_numpy(e).to(self._device) for e in cloud.elements)
        kind = torch.float64 if cloud.manifold.cancels else torch.float32
        self._rough_elements = tuple(e.to(kind) for e in self._elements)
        largest = max(float(abs(e).max()) for e in cloud.elements)
        rounding = torch.finfo(kind).eps
        longest = math.sqrt(sum(cloud.manifold.weights(cloud.metric)))  # of (1, ..., 1)
        self._rough_error = ROUGH * rounding * max(1.0, largest) * longest
        self._pairs = PAIRS_AT_ONCE[self._device.type]

    @property
    def points_at_once(self) -> int:
        """Base points that are searched between two reports of progress: about a second's work."""
        each = CANDIDATES * self._cloud.orientations**2
        return min(MOST_POINTS, max(1, MOMENT * self._pairs // each))

    def nearest(self, start: int, stop: int, shells: Shells) -> tuple[Tensor, Tensor]:
        """The vertices nearest to each of the vertices over the base points start..stop.

        Args:
            start: first base point.
            stop: last base point + 1.
            shells: say which are neighbors.

        Returns:
            (n_o, stop - start) d^2 up to which vertices were needed, as `Shells.listed` has it, and
            (n_o, stop - start, K) int64 neighbors, `orientation * images + image`, padded with -1.
            On the CPU.
        """
        points = np.arange(start, stop)
        orientations = self._cloud.orientations
        seen = torch.zeros(orientations, len(points), dtype=torch.float64)
        neighbors = torch.full((orientations, len(points), shells.count), -1)
        candidates = min(self._guess(shells.count), self._cloud.images)
        measured = shells.count + 1 + SURPLUS
        while len(points):
            across = candidates * orientations
            own = min(orientations, max(1, self._pairs // across))
            step = max(1, self._pairs // (across * own))
            missed = []
            for lo in range(0, len(points), step):
                block = points[lo : lo + step]
                where = torch.from_numpy(block - start)
                near = self._tree.query(self._cloud.base[block], candidates)
                chords, images = (part.reshape(len(block), -1) for part in near)
                bound = self._cloud.bound(chords[:, -1], candidates)
                complete = np.ones(len(block), dtype=bool)
                for first in range(0, orientations, own):
                    rows = slice(first, min(first + own, orientations))
                    reach, nearest, known = self._block(
                        block, rows, images, bound, shells, measured
                    )
                    seen[rows, where], neighbors[rows, where] = reach.cpu(), nearest.cpu()
                    complete &= known.cpu().numpy()
                missed.append(block[~complete])
            points = np.concatenate(missed)
            candidates = min(2 * candidates, self._cloud.images)
            measured *= 2
        return seen, neighbors

    @property
    def _step(self) -> float:
        """Angle between orientations next to one another, radians."""
        return self._cloud.manifold.fiber.step(self._cloud.orientations)

    def _guess(self, count: int) -> int:
        """Number of nearest base points over which `count` neighbors are likely to lie.

        A ball of radius r is nearly an ellipsoid with semi-axes r, eps r and r / xi, the last at
        most half the fiber.
        """
        metric, orientations = self._cloud.metric, self._cloud.orientations
        if metric.eps == 1 and not self._cloud.manifold.oriented:
            return count + SPARE  # the tree's order is that of lengths
        volume = (count + 1) / orientations  # in base points times fibers
        flat = volume / metric.eps
        if orientations > 1:
            # r^3 4/3 pi eps / xi = volume * period; in the unit of length a base point has area 1.
            spacing = math.sqrt(self._mean_area())
            fiber = self._step * orientations / math.pi
            radius = (0.75 * volume * fiber * metric.xi / spacing / metric.eps) ** (1 / 3)
            flat = max(flat, math.pi * radius**2)
        # Within one orientation alone this radius suffices, however large xi is.
        return int(1.7 * min(flat, (count + 1) / metric.eps)) + 12

    def _mean_area(self) -> float:
        """Area of the base for each point."""
        base = self._cloud.manifold.base
        sides = np.ones(1)
        if base.flat:
            sides = np.ptp(self._cloud.base[: self._cloud.points], axis=0)
            sides = np.maximum(sides, sides.max() / self._cloud.points)  # points on one line
        return base.measure * float(sides.prod()) / self._cloud.points

    def _block(
        self,
        points: Indices,
        own: slice,
        images: Indices,
        bound: Floats,
        shells: Shells,
        measured: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(own, n) as `nearest`, neighbors (own, n, K), and (n,) whether the candidates sufficed.

        For the vertices over the points with one of the orientations `own`; candidates are the
        vertices over (n, M) images, among which are all nearer than (n,) the bound, squared. Of
        these the `measured` nearest by float32 are measured in float64.
        """
        cloud, device = self._cloud, self._device
        orientations = torch.arange(cloud.orientations, device=device)[own]
        rows, candidates = images.shape
        here, others = (torch.from_numpy(x).to(device) for x in (points, images))
        fiber = self._fiber(orientations, here, others, float(bound.max()))
        rough = self._rough_distances(here, own, others, fiber)
        least, which = rough.topk(min(measured, rough.shape[1]), largest=False, sorted=False)
        over = which // candidates
        if fiber.shape[2] < cloud.orientations:
            over = fiber.reshape(len(rough), -1).gather(1, which)
        row = torch.arange(rows, device=device).repeat(len(orientations))[:, None]
        image = others[row, which % candidates]
        start = tuple(e[own][:, here].reshape(-1, 1) for e in self._elements)
        end = tuple(e[over, image] for e in self._elements)
        squared: Tensor = cloud.manifold.squared_distance(start, end, cloud.metric)
        squared = squared.masked_fill(least.isinf(), math.inf)
        few = min(shells.count + 1, squared.shape[1])
        ascending, nearest = squared.topk(few, largest=False)
        vertex = (over * cloud.images + image).gather(1, nearest)
        reach, listed = shells.listed(ascending, vertex, own)
        known = torch.from_numpy(bound).to(device)
        near = reach.view(-1, rows) * (1 + ROUNDING)
        complete = (near <= known) | (candidates == cloud.images)
        if which.shape[1] < rough.shape[1]:
            beyond = least.amax(dim=1).double().sqrt() - self._rough_error
            complete &= near.sqrt() <= beyond.view(-1, rows)
        listed = listed.reshape(-1, rows, shells.count)
        return reach.view(-1, rows), listed, complete.all(dim=0)

    def _rough_distances(self, points: Tensor, own: slice, others: Tensor, fiber: Tensor) -> Tensor:
        """(own n, width M) rough d^2 from vertices over points, inf to themselves."""
        cloud = self._cloud
        orientations = range(self._cloud.orientations)[own]
        numbers = torch.arange(cloud.orientations, device=self._device)[own]
        if windowed := fiber.shape[2] < cloud.orientations:
            squared = self._windowed_distances(points, own, others, fiber)
        else:
            given = self._rough_elements, points, others, cloud.metric, orientations
            squared = torch.stack([*cloud.manifold.fiber_distances(*given)]).transpose(1, 2)
        row, place = (others == points[:, None]).nonzero(as_tuple=True)
        over = fiber[:, row, :, place] if windowed else fiber[:, 0, :, 0]
        itself = over == numbers[:, None]
        squared[:, row, :, place] = squared[:, row, :, place].masked_fill(itself, math.inf)
        return squared.reshape(len(numbers) * len(points), -1)

    def _fiber(self, own: Tensor, points: Tensor, others: Tensor, squared_reach: float) -> Tensor:
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
        cyclic = self._cloud.manifold.fiber.cyclic
        margin = self._margin(squared_reach) if cyclic else orientations
        if self._cloud.manifold.window_pays * (2 * margin + 1) > orientations:
            return torch.arange(orientations, device=own.device)[None, None, :, None]
        start = tuple(e[0][points][:, None] for e in self._elements)
        end = tuple(e[0][others] for e in self._elements)
        steps = self._cloud.manifold.rotation_angle(start, end) / self._step
        window = torch.arange(-margin, margin + 1, device=own.device)
        parallel = own[:, None, None, None] - steps.round().long()[None, :, None, :]
        near: Tensor = (parallel + window[None, None, :, None]) % orientations
        return near

    def _margin(self, squared_reach: float) -> int:
        """Largest number of steps, from the most nearly parallel orientation, within reach.

        The exactly parallel direction lies up to half a step beside that orientation.
        """
        manifold, metric = self._cloud.manifold, self._cloud.metric
        most = (self._cloud.orientations // manifold.window_pays + 1) // 2
        angles = ((steps + 0.5) * self._step for steps in range(most))
        return sum(manifold.squared_length_of_rotation(a, metric) <= squared_reach for a in angles)

    def _windowed_distances(
        self, points: Tensor, own: slice, others: Tensor, fiber: Tensor
    ) -> Tensor:
        """(own, n, width, M) rough d^2 from vertices over points to vertices over candidates."""
        start = tuple(e[own][:, points][:, :, None, None] for e in self._rough_elements)
        end = tuple(e[fiber, others[None, :, None]] for e in self._rough_elements)
        squared: Tensor = self._cloud.manifold.squared_distance(start, end, self._cloud.metric)
        return squared
