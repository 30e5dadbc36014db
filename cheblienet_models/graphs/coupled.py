"""A pyramid with maps from and to other points: sets of nodes, and sets of edges between them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from cheblienet_graphs.samplings.masked import centers
from cheblienet_graphs.spec import GraphSpec
from cheblienet_models.arguments import instance
from cheblienet_models.graphs.edges import (
    Coupled,
    EdgeSet,
    Kind,
    NodeSet,
    edges_of_graph,
    edges_of_map,
)
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.vertex_map import VertexMap
from cheblienet_models.tensors import CsrParts

Between = Sequence[tuple[CsrParts, CsrParts]]
"""The means of "mean" pooling between each two levels: (coarse, fine) and (fine, coarse)."""
DATA = "data"
"""The nodes that maps come from and go to."""
SAME = 1e-9
"""Largest difference of coordinates of the same points."""


def coupled(
    label: str, levels: Sequence[Graph], between: Between, **maps: VertexMap | None
) -> Coupled:
    """The levels of a pyramid, and maps to and from the finest and within it.

    Args:
        label: of the pyramid.
        levels: its graphs, finest first.
        between: what leads from one to the next.
        maps: "encoder", "processor" and "decoder"; None of one that there is not.

    Raises:
        TypeError: one of them is no map.
        ValueError: a map is from or to other points.
    """
    given = {name: instance(name, one, VertexMap) for name, one in maps.items() if one is not None}
    spec, count = levels[0].stored.spec, len(levels)
    hidden = tuple(f"hidden_{n + 1}" for n in range(count)) if count > 1 else ("hidden",)
    places = dict(zip(hidden, map(_nodes, levels), strict=True))
    nodes = _data(given) | places
    ends = {"encoder": (DATA, hidden[0]), "decoder": (hidden[0], DATA)}
    edges = dict(_within(levels, places, own="processor" not in given))
    edges |= _between(label, spec, places, between)
    for name, one in given.items():
        source, target = ends.get(name, (hidden[0], hidden[0]))
        _check(name, "source", one.source_coordinates, nodes[source])
        _check(name, "target", one.target_coordinates, nodes[target])
        parts = CsrParts(one.row_pointers, one.columns, one.finite("values"))
        at = nodes[source].pos, nodes[target].pos
        edges[source, "to", target] = str(one.identity), edges_of_map(spec, parts, *at)
    return Coupled(spec, hidden, nodes, edges)


def _data(given: Mapping[str, VertexMap]) -> dict[str, NodeSet]:
    """The nodes that an encoder comes from, or that a decoder goes to; empty without these."""
    if "encoder" in given:
        return {DATA: NodeSet(str(given["encoder"].identity), given["encoder"].source_coordinates)}
    if "decoder" in given:
        return {DATA: NodeSet(str(given["decoder"].identity), given["decoder"].target_coordinates)}
    return {}


def _nodes(graph: Graph) -> NodeSet:
    """The points of a level, pixels at their centers."""
    stored, pos = graph.stored, graph.coordinates
    if stored.spec.sampling_kind.regular:
        pos = torch.from_numpy(centers(stored.sampling)).to(pos.device)
    return NodeSet(graph.label, pos, graph.area)


def _within(
    levels: Sequence[Graph], places: Mapping[str, NodeSet], *, own: bool
) -> Iterator[tuple[Kind, tuple[str, EdgeSet]]]:
    """Edges of levels, the finest's if these are its `own`."""
    for n, (name, graph) in enumerate(zip(places, levels, strict=True)):
        if n or own:
            edges = edges_of_graph(graph.stored.spec, graph.operator(), graph.coordinates)
            yield (name, "to", name), (graph.label, edges)


def _between(
    label: str, spec: GraphSpec, places: Mapping[str, NodeSet], between: Between
) -> Iterator[tuple[Kind, tuple[str, EdgeSet]]]:
    """Edges from each level to the next and back."""
    for (fine, coarse), (down, up) in zip(itertools.pairwise(places), between, strict=True):
        here, there = places[fine].pos, places[coarse].pos
        yield (fine, "to", coarse), (label, edges_of_map(spec, down, here, there))
        yield (coarse, "to", fine), (label, edges_of_map(spec, up, there, here))


def _check(name: str, side: str, coordinates: Tensor, nodes: NodeSet) -> None:
    """See that a side of a map has the points of some nodes.

    Raises:
        ValueError: it has others.
    """
    same = coordinates.shape == nodes.pos.shape
    if not same or float((coordinates - nodes.pos).abs().max()) > SAME:
        raise ValueError(
            f"The {side} of the {name} must be the points of {nodes.label}, {len(nodes.pos)} in "
            f"their order. Got {'others, ' * same}{len(coordinates)}: build the map for them."
        )
