"""Diffusion with learned times: where they start, that they learn, what they mean elsewhere."""

import copy
import math
from pathlib import Path

import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Diffusion, Graph, Pyramid, open_store, sample_vertices
from cheblienet_models.testing import assert_equivariant

pytestmark = OFF_THEIR_METRIC


def test_each_channel_diffuses_for_its_own_time(graph: Graph) -> None:
    x, older = torch.randn(2, 4, graph.num_vertices), copy.deepcopy(graph)
    for density in (True, False):
        layer = Diffusion(4, graph, density=density, tolerance=1e-6)
        expected = graph.diffuse(x, layer.times * graph.eigenvalue_scale, density=density)
        assert torch.equal(layer(x), expected)
    assert Diffusion(4, graph).density
    assert list(layer.state_dict()) == ["log_times", "_extra_state"]
    older.eigenvalue_scale = None  # times are of Delta
    layer = Diffusion(4, older)
    assert layer.times[0].item() == pytest.approx(1 / graph.lambda_max)
    assert torch.equal(layer(x), older.diffuse(x, layer.times, density=True, tolerance=1e-4))
    assert torch.allclose(layer(x), Diffusion(4, graph)(x), atol=1e-6)


def test_initial_times_are_spaced_by_equal_factors(graph: Graph) -> None:
    layer = Diffusion(5, graph, times=(1e-4, 1e-2))
    assert Diffusion(1, graph, times=(1e-4, 1e-2)).times.item() == pytest.approx(1e-3)
    for _ in range(2):
        assert torch.allclose(layer.times, 10 ** torch.linspace(-4, -2, 5))
        layer.log_times.data.zero_()
        layer.reset_parameters()


def test_default_times_go_from_half_a_pixel_to_an_eighth_of_the_domain(tmp_path: Path) -> None:
    """Measured by the standard deviation of a point of heat, in space."""
    size = 16
    spec = GraphSpec("r3", size, weights="selling", boundary="periodic", levels=1)
    graph = pyramid_of(tmp_path, spec).levels[0]
    start = torch.zeros(1, 2, *graph.grid[1:])
    start[(..., *(side // 2 for side in graph.grid[1:]))] = 1
    spread = Diffusion(2, graph)(start.flatten(2))[0].double()
    deviations = (spread * (graph.coordinates[:, 0] - 0.5) ** 2).sum(1).sqrt() * size
    assert ((deviations / torch.tensor([0.5, size / 8])) - 1).abs().max() < 0.25


def test_autocast_and_random_subgraphs(pyramid: Pyramid) -> None:
    """On these constants stay."""
    graph = pyramid.levels[1]
    layer, y = Diffusion(3, graph).eval(), torch.randn(2, 3, graph.num_vertices)
    before = layer(y)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(layer(y), before)
        assert layer(y.bfloat16()).dtype == torch.bfloat16
    sample_vertices(graph, 0.5, torch.Generator().manual_seed(1))
    assert (graph.subgraph[graph.edges.diagonal] == -1).any()  # a vertex has lost its neighbors
    assert torch.equal(layer(y), before)
    assert not torch.allclose(layer.train()(y), before, atol=1e-3)
    ones = torch.ones_like(y)
    assert torch.allclose(layer(ones), ones, atol=1e-5)


@pytest.mark.parametrize("name", ["torus", "icosahedral"])
def test_equivariance(symmetric_graphs: Path, name: str) -> None:
    pyramid = open_store(symmetric_graphs)[name]
    graph = pyramid.levels[0]
    layer = Diffusion(2, graph)
    assert assert_equivariant(layer, pyramid, torch.randn(1, 2, graph.num_vertices))


def test_refusals(graph: Graph) -> None:
    refused(r"channels must be at least 1\. Got 0", Diffusion, 0, graph)
    for times in ((0.0, 1.0), (2.0, 1.0), (1.0, math.inf)):
        refused(r"times must be \(shortest, longest\), ", Diffusion, 2, graph, times=times)
    refused("tolerance must be in", Diffusion, 2, graph, tolerance=0)
