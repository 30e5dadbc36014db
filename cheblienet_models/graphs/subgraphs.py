"""Random sub-graphs for training, drawn anew as often as the caller likes.

With D' and W' of the edges that are kept and m the whole graph's `mass`, the Laplacian is Delta' =
m^-1/2 (D' - W') m^-1/2. Then 0 <= Delta' <= Delta, so polynomials that are bounded on the whole
graph's spectrum stay so, and m^1/2 stays the null vector at each draw. The pattern stays as it is;
what is left out gets the value 0. A normalized Laplacian may be normalized by D' instead: its
eigenvalues may then be up to 2, beyond lambda_max, but do not shrink with the share. All layers on
a graph that are in training mode see the same sub-graph; layers in eval mode see the whole graph.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

from cheblienet_models.arguments import choice, instance, number
from cheblienet_models.graphs.edges import EdgeList
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import Pyramid

Degrees = Literal["whole", "kept"]


@torch.inference_mode(mode=False)
def sample_edges(
    graphs: Graph | Pyramid,
    kappa: float,
    generator: torch.Generator | None = None,
    *,
    degrees: Degrees = "whole",
) -> None:
    """Keep a share of the edges, drawn without replacement with probability proportional to weight.

    Args:
        graphs: a graph, or a pyramid for all of its levels.
        kappa: share of edges to keep, in (0, 1]; 1 is the whole graph again.
        generator: of the random numbers, on the graph's device; torch's own where left out.
        degrees: by which a normalized Laplacian is normalized, of the whole graph or of the edges
            that are kept. With all of them the spectrum stays within the whole graph's.

    Raises:
        ValueError: kappa is out of range, or degrees are none of the two.
    """
    for graph, edges in _sampled(graphs, kappa, generator, degrees):
        # Of exponential variables with rates w the smallest n are a weighted draw of n.
        arrival = torch.empty_like(edges.weights).exponential_(generator=generator) / edges.weights
        kept = torch.zeros_like(edges.weights, dtype=torch.bool)
        kept[arrival.topk(max(1, round(kappa * len(kept))), largest=False).indices] = True
        _take(graph, edges, edges.weights * kept, degrees)


@torch.inference_mode(mode=False)
def sample_vertices(
    graphs: Graph | Pyramid,
    kappa: float,
    generator: torch.Generator | None = None,
    *,
    degrees: Degrees = "whole",
) -> None:
    """Keep a share of the vertices, drawn uniformly, and the edges among them.

    The others keep their signals and lose their neighbors.

    Args:
        graphs: a graph, or a pyramid for all of its levels.
        kappa: share of vertices to keep, in (0, 1]; 1 is the whole graph again.
        generator: of the random numbers, on the graph's device; torch's own where left out.
        degrees: as of `sample_edges`.

    Raises:
        ValueError: kappa is out of range, or degrees are none of the two.
    """
    for graph, edges in _sampled(graphs, kappa, generator, degrees):
        count = graph.num_vertices
        device = graph.values.device
        chosen = torch.randperm(count, generator=generator, device=device)
        kept = torch.zeros(count, dtype=torch.bool, device=device)
        kept[chosen[: max(1, round(kappa * count))]] = True
        both = kept[edges.first] & kept[edges.second]
        _take(graph, edges, edges.weights * both, degrees)


def _sampled(
    graphs: Graph | Pyramid, kappa: float, generator: torch.Generator | None, degrees: Degrees
) -> list[tuple[Graph, EdgeList]]:
    """The graphs to draw from, with their edges; where kappa is 1 none: they are whole again."""
    choice("degrees", degrees, get_args(Degrees))
    if not 0 < number("kappa", kappa) <= 1:
        raise ValueError(f"kappa must be in (0, 1]. Got {kappa!r}.")
    if generator is not None:
        instance("generator", generator, torch.Generator)
    pyramid = isinstance(graphs, Pyramid)
    levels = list(graphs.levels) if pyramid else [instance("graphs", graphs, Graph)]
    if kappa == 1:
        for graph in levels:
            graph.subgraph = graph.subgraph_degree = None
        return []
    return [(graph, graph.edges) for graph in levels]


def _take(graph: Graph, edges: EdgeList, weights: Tensor, degrees: Degrees) -> None:
    """Let a graph's sub-graph have other weights (edges,), none of them larger."""
    degree = torch.zeros(graph.num_vertices, dtype=weights.dtype, device=weights.device)
    degree.index_add_(0, edges.first, weights).index_add_(0, edges.second, weights)
    own = degrees == "kept" and graph.laplacian_kind == "normalized"
    mass = degree if own else graph.mass.to(degree)
    root = torch.where(mass > 0, mass.rsqrt(), 0.0)
    scale = 2 / graph.lambda_max
    entries = weights * root[edges.first] * root[edges.second] * -scale
    values = torch.empty_like(graph.values)
    values[edges.upper] = entries.to(values.dtype)
    values[edges.lower] = entries.to(values.dtype)
    values[edges.diagonal] = (scale * degree * root**2 - 1).to(values.dtype)
    graph.subgraph = values
    graph.subgraph_degree = degree if own else None
