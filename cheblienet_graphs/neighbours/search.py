"""An engine that searches nearest vertices: edges join those that list each other."""

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_graphs.machine.threads import own_device, threads_each, torch_threads
from cheblienet_graphs.neighbours import offsets
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.neighbours.cloud import Cloud, check_images, cloud, rings_within
from cheblienet_graphs.neighbours.protocols import Scratch
from cheblienet_graphs.neighbours.pruned import PrunedSearch
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.typing import Floats, Indices

SHELL = 1e-6
"""Relative width of a shell where distances are not exactly repeated, as on the sphere."""

SLACK = 2 * SHELL
"""Relative slack of the reach that rings of images must cover: wider than any shell."""

COMPARISONS_AT_ONCE = 2**23
"""Entries of lists compared together, K^2 for each vertex."""


class Search(Protocol):
    """Finds nearest vertices exactly; see `PrunedSearch.nearest`."""

    @property
    def points_at_once(self) -> int:
        """Base points to search at once, which takes a few seconds at most."""

    def nearest(
        self,
        start: int,
        stop: int,
        count: int,
        squared_radii: torch.Tensor | None,
        tolerance: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """d^2 that lists depend on, and neighbours, for vertices over base points start..stop."""


def _search(cloud: Cloud, choice: Choice) -> Search:
    if choice.engine == "keops":
        # Not every machine can compile what KeOps needs.
        from cheblienet_graphs.neighbours.keops import KeopsSearch

        return KeopsSearch(cloud, own_device(choice.device))
    return PrunedSearch(cloud, own_device(choice.device))


class NeighbourLists:
    """For each vertex a, the vertices within r_a.

    As the distance is symmetric, d(a, b) <= min(r_a, r_b) where each lists the other. On a torus
    all images of a vertex count among the K nearest, though they make one edge, or none where they
    are the vertex's own.

    Args:
        sampled: the vertices and their distances.
        neighbors: K.
        choice: the search, "pruned" or "keops", and its device.
        squared_radii: (n_o,) r^2 by orientation where known beforehand, as on a lattice.
        rings: of images around a periodic domain.

    Attributes:
        cloud: the vertices, with their images.
    """

    def __init__(
        self,
        sampled: SampledManifold[Sampling],
        neighbors: int,
        choice: Choice,
        *,
        squared_radii: Floats | None = None,
        rings: int = 0,
    ) -> None:
        check_images(sampled, neighbors, rings)
        self.cloud = cloud(sampled, rings)
        self._sampling, self._rings = sampled.sampling, rings
        self._neighbors, self._choice = neighbors, choice
        self._threads = threads_each(choice.engine, processes=1)
        self._squared_radii = None if squared_radii is None else torch.from_numpy(squared_radii)
        self._tolerance = SHELL if squared_radii is None else offsets.SHELL

    @cached_property
    def _search(self) -> Search:
        """The search; it is set up on first use, which `complete` and `next_rings` do without."""
        return _search(self.cloud, self._choice)

    def of(self, start: int, stop: int) -> Iterator[tuple[int, Indices, float]]:
        """The lists of the vertices over base points start..stop, some points at a time.

        Yields:
            The first point, (n_o, points, K) lists, ascending, V where there is none, and the
            largest d^2 that the lists depend on.
        """
        step = self._search.points_at_once
        for lo in range(start, stop, step):
            with torch_threads(self._threads):
                reach, nearest = self._search.nearest(
                    lo, min(lo + step, stop), self._neighbors, self._squared_radii, self._tolerance
                )
            yield lo, self._vertices(lo, nearest.numpy()), float(reach.max())

    def complete(self, farthest: float) -> bool:
        """Whether there are enough images for lists that depend on d^2 up to this one."""
        if not self._sampling.periodic:
            return True
        return farthest * (1 + self._tolerance) < self.cloud.complete_within**2

    def next_rings(self, farthest: float) -> int:
        """Number of rings of images to try next: as many as are enough, but at most twice these.

        More images can only shorten the distances that lists depend on.
        """
        rings = self._rings
        if math.isinf(farthest):
            return 2 * rings
        return min(2 * rings, rings_within(self._sampling, math.sqrt(farthest * (1 + SLACK))))

    def _vertices(self, start: int, nearest: Indices) -> Indices:
        """Vertices of the images that a search found for consecutive base points."""
        cloud = self.cloud
        orientations, rows, _ = nearest.shape
        none = orientations * cloud.points
        vertex = nearest // cloud.images * cloud.points + cloud.source[nearest % cloud.images]
        own = np.arange(orientations)[:, None] * cloud.points + np.arange(start, start + rows)
        vertex[(nearest < 0) | (vertex == own[:, :, None])] = none
        vertex.sort(axis=2)
        if cloud.complete_within < np.inf:  # two images of one vertex make one edge
            vertex[:, :, 1:][vertex[:, :, 1:] == vertex[:, :, :-1]] = none
            vertex.sort(axis=2)
        return vertex


class MutualNeighbours:
    """An engine: vertices are neighbours where each lists the other.

    Args:
        lists: (V, K) of `NeighbourLists`, by vertex; may be mapped.
        points: vertices of one orientation.
    """

    def __init__(self, lists: npt.NDArray[Any], points: int) -> None:
        self._lists, self._points = lists, points

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""
        return sum(int(mutual.sum()) for _, mutual in self._mutual(0, len(self._lists)))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        total = start = 0
        for lists, mutual in self._mutual(0, len(self._lists)):
            own = np.arange(start, start + len(lists))[:, None] // self._points
            total += int((mutual & (lists // self._points == own)).sum())
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
        """Lists of some rows at a time, and which of their entries list the row in turn."""
        vertices, count = self._lists.shape
        step = max(1, COMPARISONS_AT_ONCE // count**2)
        for lo in range(start, stop, step):
            rows = np.arange(lo, min(lo + step, stop))
            lists = np.array(self._lists[rows[0] : rows[-1] + 1])
            real = lists < vertices
            theirs = self._lists[np.where(real, lists, 0)]
            yield lists, real & (theirs == rows[:, None, None]).any(axis=2)


class SearchEngine(MutualNeighbours):
    """Mutual neighbours, searched in this process.

    Args:
        sampled, neighbors, choice, squared_radii: as for `NeighbourLists`.
        scratch: makes the array of lists, (V, K).
        progress: called with the numbers of vertices done and altogether.

    Attributes:
        cloud: the vertices, with all images that edges can reach.
    """

    def __init__(
        self,
        sampled: SampledManifold[Sampling],
        neighbors: int,
        choice: Choice,
        *,
        squared_radii: Floats | None = None,
        scratch: Scratch = np.empty,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> None:
        sampling = sampled.sampling
        points, vertices = sampling.num_points, sampling.num_vertices
        lists = scratch((vertices, neighbors), list_type(vertices))
        by_orientation = lists.reshape(-1, points, neighbors)
        rings = 1 if sampling.periodic else 0
        while True:
            search = NeighbourLists(
                sampled, neighbors, choice, squared_radii=squared_radii, rings=rings
            )
            farthest = 0.0
            for start, lists_of_block, reach in search.of(0, points):
                stop = start + lists_of_block.shape[1]
                by_orientation[:, start:stop] = lists_of_block
                farthest = max(farthest, reach)
                progress(stop * sampling.orientations, vertices)
            if search.complete(farthest):
                break
            rings = search.next_rings(farthest)
        self.cloud = search.cloud
        super().__init__(lists, points)


def list_type(vertices: int) -> str:
    """Type of lists of vertices, in which V stands for none."""
    return "int32" if vertices < 2**31 else "int64"
