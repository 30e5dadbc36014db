"""What pooling to coarser levels keeps of a signal, and which points become one."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph
from cheblienet_graphs.figures.places import Places, chosen_vertex, places_of
from cheblienet_graphs.figures.views import pixel
from cheblienet_graphs.sparse.rows import rows
from cheblienet_graphs.store.reader import mapped_csr
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.values import integer

SHORTEST = 4.0
"""Wavelength of the rings where the nearest end is, in spacings."""
REACH = 4.5
"""Distance of fine points that are shown around one, in spacings of the fine level."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Which fine points the coarse points around one are pooled from.

    Args:
        fine: (N, d) offsets of fine points, in fine spacings.
        coarse: (M, d) offsets of the middles of the coarse points' cells.
        own: (M,) which of these is the one in the middle; exactly one.
        links: (L, 2) a fine and a coarse point, by their places above.
        weights: (L,) of the links; of each coarse point with all its fine ones shown they sum to 1.
    """

    fine: Floats
    coarse: Floats
    own: Indices
    links: Indices
    weights: Floats


@dataclass(frozen=True, eq=False)
class Pooling:
    """A signal on all levels from one on, and brought back.

    Args:
        level: where it starts.
        places: the points of that level and of all coarser ones.
        pooled: (points,) the signal on each of them; the first is the signal itself.
        back: (points of the first level,) each of them unpooled to the first level.
        lost: |back - signal| / |signal|, by area, for each.
        cells: around a coarse point.
    """

    level: int
    places: tuple[Places, ...]
    pooled: tuple[Floats, ...]
    back: tuple[Floats, ...]
    lost: tuple[float, ...]
    cells: Cells


def pooling_of(graph: OpenedGraph, *, level: int = 0, vertex: int | None = None) -> Pooling:
    """Pool rings that narrow outward to all coarser levels, and unpool them again.

    The maps are those of the base, which act on each orientation alone.

    Args:
        graph: published.
        level: where the signal is.
        vertex: of that level, in whose place the coarse point whose cells are shown is; default
            one in the middle.

    Raises:
        SpecError: the level or the vertex is out of range.
        NotDrawnError: there is no coarser level.
    """
    levels = graph.spec.levels
    level = integer("level", level, 0, levels - 1)
    if level == levels - 1:
        kind, finest = graph.spec.sampling_kind, graph.spec.level_size(0)
        more = "; build it with more `levels`" if len(kind.sizes(finest)) > levels else ""
        raise NotDrawnError(f"{graph.name} has no level coarser than {level} to pool to{more}.")
    places = tuple(places_of(graph, number) for number in range(level, levels))
    points = places[0].points
    point = chosen_vertex(graph, level, vertex) % points.num_points
    pooled = [rings(places[0], point)]
    for fine in range(level, levels - 1):
        pooled.append(base_map(graph, fine, fine + 1) @ pooled[-1])
    back = []
    for number, signal in enumerate(pooled):
        for coarse in range(level + number, level, -1):
            signal = base_map(graph, coarse, coarse - 1) @ signal
        back.append(signal)
    area = points.areas(0, points.num_points)
    size = float(area @ pooled[0] ** 2)
    lost = tuple(float(np.sqrt(area @ (x - pooled[0]) ** 2 / size)) for x in back)
    down = base_map(graph, level, level + 1)
    cells = _cells(places[0], down, point)
    return Pooling(level, places, tuple(pooled), tuple(back), lost, cells)


def base_map(graph: OpenedGraph, source: int, target: int) -> scipy.sparse.csr_array:
    """(points of the target, points of the source) the stored map between two levels' bases.

    Args:
        graph: published.
        source: the level of the columns.
        target: its neighbour, that of the rows: pooling where it is coarser.
    """
    kind = "pooling" if target > source else "unpooling"
    stored = mapped_csr(graph.version / f"{kind}/{source}to{target}")
    count, columns = (graph.points(n).num_points for n in (target, source))
    block = rows(stored, 0, count)
    parts = (block.data.astype(np.float64), block.indices, block.indptr)
    return scipy.sparse.csr_array(parts, shape=(count, columns))


def rings(places: Places, point: int) -> Floats:
    """(points,) cos(pi r^2 / (R s)) around a point: rings of wavelength R s / r.

    R is the distance to the nearest end, or half way to the antipode; s is SHORTEST spacings, or
    as many pixels of the pictures of all points, if these show not every point.

    Args:
        places: the points.
        point: in the middle.
    """
    offsets = places.offsets(places.vectors[point], places.vectors)
    squared = (offsets**2).sum(axis=1)
    reach = max(places.room(point), 1.0)
    shortest = SHORTEST * max(1.0, pixel(places))
    signal: Floats = np.cos(np.pi * squared / (reach * shortest))
    return signal


def _cells(fine: Places, down: scipy.sparse.csr_array, point: int) -> Cells:
    """The cells around the coarse point that a fine one belongs to most."""
    offsets = fine.offsets(fine.vectors[point], fine.vectors)
    near = np.flatnonzero((offsets**2).sum(axis=1) <= REACH**2)
    links = down[:, near].tocoo()
    row, column = links.coords
    heaviest = links.data * (near[column] == point)
    own = row[heaviest.argmax()]
    shown, number = np.unique(row, return_inverse=True)
    middles = down[shown] @ offsets
    pairs = np.stack([column, number], axis=1).astype(np.int64)
    return Cells(offsets[near], middles, shown == own, pairs, links.data)
