"""The edges of graphs and maps from sources to targets, and where sources lie as seen from these.

Logarithms are those of `cheblienet_graphs.manifolds`, so that each manifold has one formula. That
is loaded where edges are asked for; it needs numpy alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from cheblienet_models.graphs.edges import directed
from cheblienet_models.graphs.identity import is_spherical
from cheblienet_models.tensors import Csr

if TYPE_CHECKING:
    from cheblienet_models.graphs.graph import Graph


@dataclass(frozen=True)
class EdgeSet:
    """Edges, targets ascending.

    Args:
        edge_index: (2, E) int64, sources and targets.
        edge_weight: (E,).
        edge_attr: (E, dim), of the dtype of the weights: components of log g^-1 h, h the source, g
            the target.
    """

    edge_index: Tensor
    edge_weight: Tensor
    edge_attr: Tensor


def edge_set(spec: Mapping[str, Any], weights: Csr, sources: Tensor, targets: Tensor) -> EdgeSet:
    """The edges of a matrix.

    Args:
        spec: of the points.
        weights: (targets, sources).
        sources: (sources, d) float64 coordinates.
        targets: (targets, d) float64 coordinates.
    """
    source = weights.columns.long()
    target = torch.arange(len(targets), device=source.device)
    target = target.repeat_interleave(weights.row_pointers.long().diff())
    components = _components(spec, targets[target], sources[source])
    return EdgeSet(torch.stack([source, target]), weights.values, components.to(weights.values))


def own_edges(graph: "Graph") -> EdgeSet:
    """Both directions of the edges of a whole graph, also where a random sub-graph is drawn."""
    weights = directed(graph.laplacian_parts(), graph.mass, graph.lambda_max)
    return edge_set(graph.spec, weights, graph.coordinates, graph.coordinates)


def _components(spec: Mapping[str, Any], targets: Tensor, sources: Tensor) -> Tensor:
    """(E, dim) float64 on the CPU, of (E, d) coordinates."""
    from cheblienet_graphs.manifolds import with_period  # layers and networks do without
    from cheblienet_graphs.manifolds.moments import edge_components

    manifold = with_period(spec["manifold"], spec.get("period"))
    periods = extent(spec) if spec.get("boundary") == "periodic" else None
    ends = targets.cpu().numpy(), sources.cpu().numpy()
    return torch.from_numpy(edge_components(manifold, *ends, periods))


def extent(spec: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Sides of the domain of a flat base, in widths; None on the sphere."""
    if is_spherical(spec):
        return None
    if "size" in spec:
        spacing = spec.get("spacing", [1.0] * len(spec["size"]))
        sides = [n * side for n, side in zip(spec["size"], spacing, strict=True)]
        return tuple(side / sides[0] for side in sides)
    return tuple(spec["coordinates"]["extent"]) if "coordinates" in spec else (1.0, 1.0)


def centered(spec: Mapping[str, Any], grid: tuple[int, ...], coordinates: Tensor) -> Tensor:
    """(V, d) coordinates of a graph, those of pixels and voxels at their centers, as maps have.

    Args:
        spec: of the points.
        grid: orientations, and shape of the base, of the level.
        coordinates: (V, d) float64; of a lattice these begin at 0.
    """
    sides = extent(spec)
    if "size" not in spec or sides is None:
        return coordinates
    halves = [side / n / 2 for side, n in zip(sides, reversed(grid[1:]), strict=True)]
    shift = coordinates.new_zeros(coordinates.shape[1])
    shift[: len(halves)] = coordinates.new_tensor(halves)
    return coordinates + shift
