"""Neighbors that are searched for: edges join vertices that list each other."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.machine.threads import own_device, threads_each, torch_threads
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
from cheblienet_graphs.search import offsets
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.nearest import Shells
from cheblienet_graphs.search.positions import Cloud, PlacedPoints
from cheblienet_graphs.search.pruned import PrunedSearch
from cheblienet_graphs.typing import Floats, Indices

if TYPE_CHECKING:
    from cheblienet_graphs.search.keops import KeopsSearch

Search: TypeAlias = "PrunedSearch | KeopsSearch"
"""Finds nearest vertices exactly."""

SHELL = 1e-6
"""Relative width of a shell where distances are not exactly repeated, as on the sphere."""

SLACK = 2 * SHELL
"""Relative slack of the reach that rings of images must cover: wider than any shell."""

COMPARISONS_AT_ONCE = 2**18
"""Entries of lists compared together, K^2 for each vertex."""


def search_of(choice: Choice, cloud: Cloud) -> Search:
    """The search of a choice, "pruned" or "keops", on this process' own device of its kind."""
    device = own_device(choice.device)
    if choice.engine == "keops":
        # Not every machine can compile what KeOps needs.
        from cheblienet_graphs.search.keops import KeopsSearch

        return KeopsSearch(cloud, device)
    return PrunedSearch(cloud, device)


def nearest_images(
    search: Search, engine: str, shells: Shells, start: int, stop: int
) -> Iterator[tuple[int, Indices, float]]:
    """The result of an engine's search for the base points start..stop, some of them at a time.

    Yields:
        The first point, (n_o, points, K) images, -1 where there is none, and the largest d^2 that
        they depend on.
    """
    step = search.points_at_once
    threads = threads_each(engine, processes=1)
    for lo in range(start, stop, step):
        with torch_threads(threads):
            reach, nearest = search.nearest(lo, min(lo + step, stop), shells)
        yield lo, nearest.numpy(), float(reach.max())


class NeighborLists:
    """For each vertex a, the vertices within r_a.

    As the distance is symmetric, d(a, b) <= min(r_a, r_b) where each lists the other. On a torus
    all images of a vertex count among the K nearest, though they make one edge, or no edge where
    they are the vertex's own.

    Args:
        sampled: the vertices and their distances.
        neighbors: K.
        choice: the search, "pruned" or "keops", and its device.
        squared_radii: (n_o,) r^2 by orientation where known beforehand, as on a lattice.
        rings: of images around a periodic domain.
    """

    def __init__(
        self,
        sampled: SampledManifold[Sampling],
        neighbors: int,
        choice: Choice,
        squared_radii: Floats | None = None,
        rings: int = 0,
    ) -> None:
        self._sampled, self.rings, self._choice = sampled, rings, choice
        radii = None if squared_radii is None else torch.from_numpy(squared_radii)
        self._tolerance = SHELL if radii is None else offsets.SHELL
        self._shells = Shells(neighbors, self._tolerance, radii)

    @cached_property
    def cloud(self) -> Cloud:
        """The vertices, with their images.

        Raises:
            SpecError: there would be more than MOST_IMAGES.
        """
        points = PlacedPoints.of(self._sampled)
        try:
            return points.cloud(self.rings * min(points.periods or (0.0,)))
        except SpecError as error:
            accepted = (
                f"larger here, where the {self._shells.count} nearest vertices lie up to "
                f"{self.rings} periods of the domain away"
            )
            remedy = "Or use more `points`, fewer `neighbors` or `boundary='open'`."
            raise SpecError("eps", accepted, points.metric.eps, remedy) from error

    @cached_property
    def _search(self) -> Search:
        return search_of(self._choice, self.cloud)

    def of(self, start: int, stop: int) -> Iterator[tuple[int, Indices, float]]:
        """The lists of the vertices over base points start..stop, some points at a time.

        Yields:
            The first point, (n_o, points, K) lists, ascending, V where there is none, and the
            largest d^2 that the lists depend on.
        """
        given = self._search, self._choice.engine, self._shells, start, stop
        for first, nearest, reach in nearest_images(*given):
            yield first, self._vertices(first, nearest), reach

    def enough_rings(self, farthest: float) -> int:
        """Number of rings of images for lists that depend on d^2 up to this one.

        Where these are too few: as many as are enough, but at most twice these. More images can
        only shorten the distances that lists depend on.
        """
        sampling = self._sampled.sampling
        rings = self.rings
        if not sampling.periodic:
            return rings
        side = min(sampling.extent or (1.0,))
        if farthest * (1 + self._tolerance) < (rings * side) ** 2:
            return rings
        return int(min(2 * rings, math.sqrt(farthest * (1 + SLACK)) / side + 1))

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


class MutualNeighbors:
    """Vertices are neighbors where each lists the other.

    Args:
        lists: (V, K) of `NeighborLists`, by vertex; may be mapped.
        points: vertices of one orientation.
    """

    def __init__(self, lists: npt.NDArray[Any], points: int) -> None:
        self._lists, self._points = lists, points

    @property
    def total_degree(self) -> int:
        """Twice the number of edges."""
        return sum(int(mutual.sum()) for _, (_, mutual) in self.mutual(0, len(self._lists)))

    @property
    def in_plane_degree(self) -> int:
        """The part of `total_degree` that stays within one orientation."""
        total = 0
        for rows, (lists, mutual) in self.mutual(0, len(self._lists)):
            own = np.arange(rows.start, rows.stop)[:, None] // self._points
            total += int((mutual & (lists // self._points == own)).sum())
        return total

    def neighbors(self, start: int, stop: int) -> tuple[Indices, Indices]:
        """The neighbors of the vertices start..stop.

        Returns:
            (stop - start,) their numbers, and all of them, (sum of these,), vertex after vertex,
            ascending in each.
        """
        none = np.empty(0, np.int64)
        pieces = ((own.sum(axis=1), lists[own]) for _, (lists, own) in self.mutual(start, stop))
        numbers, vertices = zip((none, none), *pieces, strict=True)
        return np.concatenate(numbers), np.concatenate(vertices)

    def mutual(
        self, start: int, stop: int
    ) -> Iterator[tuple[range, tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]]:
        """Some rows at a time, their lists, and which entries of these list the row in turn."""
        vertices, count = self._lists.shape
        step = max(1, COMPARISONS_AT_ONCE // count**2)
        for lo in range(start, stop, step):
            rows = np.arange(lo, min(lo + step, stop))
            lists = np.array(self._lists[rows[0] : rows[-1] + 1])
            real = lists < vertices
            theirs = self._lists[np.where(real, lists, 0)]
            mutual = real & (theirs == rows[:, None, None]).any(axis=2)
            yield range(lo, lo + len(rows)), (lists, mutual)
