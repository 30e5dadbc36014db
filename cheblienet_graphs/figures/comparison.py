"""The graphs that one is compared with: that of its base, and that of its group, isotropic."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cheblienet_graphs.assembly.pipeline import build
from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.opened import OpenedGraph, open_graph
from cheblienet_graphs.figures.places import Places
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.spec import GraphSpec

LARGEST = 60_000
"""Vertices of a graph for which others of the same sampling are built to compare it with."""
PIXELS = 64
"""Sides of the lattice that stands for a larger one."""
WHOLE_MATCHED = 24
"""Fewest neighbours of matched weights on the sphere."""


@contextmanager
def built(spec: GraphSpec) -> Iterator[OpenedGraph]:
    """A graph that is built now, and gone after; what was mapped of it stays readable."""
    with TemporaryDirectory(prefix="cheblienet-") as folder:
        store = Path(folder) / "graphs.zarr"
        build(spec, store, name="compared", device="cpu")
        yield open_graph(store)


def base_of(graph: OpenedGraph, level: int, places: Places) -> tuple[GraphSpec, bool]:
    """The graph of the base alone, and whether it is smaller than the level.

    Raises:
        NotDrawnError: it can't be built.
    """
    spec = graph.spec
    base = spec.geometry.base
    name = next(m.name for m in MANIFOLDS.values() if m.base == base and not m.oriented)
    sampling, smaller = _sampling(graph, level, places)
    neighbors = None
    if spec.weights == "matched" and not base.flat:
        neighbors = WHOLE_MATCHED
    return GraphSpec(name, **sampling, **_edges(spec, neighbors)), smaller


def isotropic_of(graph: OpenedGraph, level: int, places: Places) -> tuple[GraphSpec, bool]:
    """The same graph with eps = 1 and the same xi, and whether it is smaller than the level.

    Raises:
        NotDrawnError: it can't be built.
    """
    spec, xi = graph.spec, graph.metric(level).xi
    sampling, smaller = _sampling(graph, level, places)
    neighbors = None if spec.weights == "selling" else spec.neighbors
    made = GraphSpec(
        spec.manifold,
        **sampling,
        **_edges(spec, neighbors),
        **({"axes": spec.axes} if spec.axes else {"orientations": spec.orientations}),
        eps=1,
        xi=xi,
    )
    scale = math.sqrt(made.squared_spacing(0) / spec.squared_spacing(level))
    if scale == 1:
        return made, smaller
    fields = {**made.to_dict(), "xi": xi * scale}
    return GraphSpec.from_dict(fields), smaller


def _edges(spec: GraphSpec, neighbors: int | None) -> dict[str, Any]:
    """How edges are chosen and weighted."""
    given = {
        "weights": spec.weights,
        "neighbors": neighbors,
        "kernel": spec.kernel,
        "bandwidth": spec.bandwidth,
        "laplacian": spec.laplacian,
        "levels": 1,
    }
    return {name: value for name, value in given.items() if value is not None}


def _sampling(graph: OpenedGraph, level: int, places: Places) -> tuple[dict[str, Any], bool]:
    """The sampling as arguments of a specification, and whether it is a smaller one."""
    spec, points = graph.spec, places.points
    if points.num_vertices > LARGEST:
        return _smaller(spec, level), True
    given = {"boundary": spec.boundary, "spacing": spec.spacing}
    boundary = {name: value for name, value in given.items() if value is not None}
    if not (spec.sampling_kind.seeded or spec.coordinates is not None):
        sizes = {spec.sampling_kind.field: spec.level_size(level), "sampling": spec.sampling}
        return sizes | boundary | _mask(points), False
    if spec.mask is not None:
        raise NotDrawnError("points outside its mask are not stored, or drawn from a seed.")
    areas = points.areas(0, points.num_points)
    if not places.flat:
        beta, gamma = points.coordinates(0, points.num_points)[:, -2:].T
        own = np.stack([90 - np.degrees(beta), np.degrees(gamma), areas], axis=1)
        return {"coordinates": own, "units": "degrees"}, False
    width, height = points.extent or (1.0, 1.0)
    own = np.column_stack([points.base_points, areas])
    return {"coordinates": own, "domain": (0.0, 0.0, width, height)} | boundary, False


def _mask(points: Any) -> dict[str, Any]:
    if not isinstance(points, MaskedSampling):
        return {}
    inside = points.inside >= 0
    shape = getattr(points.full, "shape", inside.shape)
    return {"mask": inside.reshape(shape)}


def _smaller(spec: GraphSpec, level: int) -> dict[str, Any]:
    """A sampling of the same kind that is small enough.

    Raises:
        NotDrawnError: there is none.
    """
    kind = spec.sampling_kind
    if spec.mask is not None or spec.coordinates is not None or kind.seeded:
        raise NotDrawnError(f"it has more than {LARGEST:,} vertices.")
    if kind.regular:
        most = PIXELS if spec.geometry.base.dimension == 2 else PIXELS // 2
        size: Any = tuple(min(side, most) for side in spec.level_size(level))
        return {"size": size, "boundary": spec.boundary, "spacing": spec.spacing}
    for size in kind.sizes(spec.level_size(level)):
        if spec.orientations * kind.points(size) <= LARGEST // 2:
            return {kind.field: size, "sampling": spec.sampling}
    raise NotDrawnError(f"it has more than {LARGEST:,} vertices.")
