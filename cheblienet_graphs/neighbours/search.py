"""An engine from a search for nearest vertices: edges join those that name each other."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_graphs.engines import Choice
from cheblienet_graphs.manifolds import Manifold, Metric
from cheblienet_graphs.neighbours import Floats, Indices, Scratch, stencil
from cheblienet_graphs.neighbours.cloud import Cloud, cloud
from cheblienet_graphs.samplings.levels import Sampling

TOLERANCE = 1e-6
"""Relative width of a shell where distances are not exactly repeated, as on the sphere."""

COMPARISONS_AT_ONCE = 2**23
"""Entries of lists compared together, K^2 for each vertex."""


class Search(Protocol):
    """Finds nearest vertices exactly; see `PrunedSearch.nearest`."""

    @property
    def points_at_once(self) -> int:
        """Base points to ask for together: a matter of seconds at most."""

    def nearest(
        self,
        start: int,
        stop: int,
        count: int,
        squared_radii: torch.Tensor | None,
        tolerance: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """r^2 and the neighbours within r of the vertices over base points start..stop."""


def _search(cloud: Cloud, choice: Choice) -> Search:
    if choice.engine == "keops":
        from cheblienet_graphs.neighbours.keops import KeopsSearch

        return KeopsSearch(cloud, choice.device)
    from cheblienet_graphs.neighbours.pruned import PrunedSearch

    return PrunedSearch(cloud, choice.device)


class SearchEngine:
    """Neighbours by searching, on any sampling.

    One sweep over the base points lists, for each vertex a, the vertices within r_a. As the
    distance is symmetric, d(a, b) <= min(r_a, r_b) where each lists the other.

    Args:
        sampling: where.
        manifold, metric: the distance.
        neighbors: K.
        choice: the search, "pruned" or "keops", and its device.
        squared_radii: (n_o,) r^2 by orientation where known beforehand, as on a lattice.
        scratch: makes the array of lists, (V, K).
        progress: called with vertices done and altogether.

    Attributes:
        cloud: the vertices, with all images that edges can reach.
    """

    def __init__(
        self,
        sampling: Sampling,
        manifold: Manifold,
        metric: Metric,
        neighbors: int,
        choice: Choice,
        *,
        squared_radii: Floats | None = None,
        scratch: Scratch = np.empty,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        self._vertices = sampling.num_vertices
        shape = (self._vertices, neighbors)
        self._lists = scratch(shape, "int32" if self._vertices < 2**31 else "int64")
        given = None if squared_radii is None else torch.from_numpy(squared_radii)
        tolerance = TOLERANCE if given is None else stencil.TOLERANCE
        rings = 1 if sampling.periodic else 0
        while True:
            self.cloud = found = cloud(sampling, manifold, metric, rings)
            search = _search(found, choice)
            farthest = 0.0
            for start in range(0, found.points, search.points_at_once):
                stop = min(start + search.points_at_once, found.points)
                radii, nearest = search.nearest(start, stop, neighbors, given, tolerance)
                farthest = max(farthest, float(radii.max()))
                self._keep(found, start, nearest.numpy())
                progress(stop * found.orientations, self._vertices)
            if farthest * (1 + tolerance) < found.complete_within**2:
                break
            rings += 1

    def _keep(self, found: Cloud, start: int, nearest: Indices) -> None:
        """Store the lists of consecutive base points: vertices ascending, V where there is none."""
        orientations, rows, _ = nearest.shape
        vertex = nearest // found.images * found.points + found.source[nearest % found.images]
        own = np.arange(orientations)[:, None] * found.points + np.arange(start, start + rows)
        vertex[(nearest < 0) | (vertex == own[:, :, None])] = self._vertices
        vertex.sort(axis=2)
        if found.complete_within < np.inf:  # two images of one vertex make one edge
            vertex[:, :, 1:][vertex[:, :, 1:] == vertex[:, :, :-1]] = self._vertices
            vertex.sort(axis=2)
        for orientation in range(orientations):
            first = orientation * found.points + start
            self._lists[first : first + rows] = vertex[orientation]

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""
        return sum(int(mutual.sum()) for _, mutual in self._mutual(0, self._vertices))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        points, total, start = self.cloud.points, 0, 0
        for lists, mutual in self._mutual(0, self._vertices):
            own = np.arange(start, start + len(lists))[:, None] // points
            total += int((mutual & (lists // points == own)).sum())
            start += len(lists)
        return total

    def degrees(self, start: int, stop: int) -> Indices:
        """(stop - start,) number of neighbours of each vertex."""
        pieces = [mutual.sum(axis=1) for _, mutual in self._mutual(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def columns(self, start: int, stop: int) -> Indices:
        """Neighbours of the vertices start..stop, vertex after vertex, ascending in each."""
        pieces = [lists[mutual].astype(np.int64) for lists, mutual in self._mutual(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def _mutual(
        self, start: int, stop: int
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]:
        """Lists of some rows after the other, and which of their entries list them in turn."""
        step = max(1, COMPARISONS_AT_ONCE // self._lists.shape[1] ** 2)
        for lo in range(start, stop, step):
            rows = np.arange(lo, min(lo + step, stop))
            lists = np.array(self._lists[rows[0] : rows[-1] + 1])
            real = lists < self._vertices
            theirs = self._lists[np.where(real, lists, 0)]
            yield lists, real & (theirs == rows[:, None, None]).any(axis=2)
