"""Diffusion with learned times: where they start, that they learn, what they mean elsewhere."""

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    BatchNorm,
    ChebConv,
    Diffusion,
    Graph,
    Pyramid,
    ignore_graphs_in_ddp,
    open_store,
    sample_edges,
)
from cheblienet_models.testing import assert_equivariant


@pytest.fixture
def graph(pyramid: Pyramid) -> Graph:
    return pyramid.levels[0]


def test_each_channel_diffuses_for_its_own_time(graph: Graph) -> None:
    x = torch.randn(2, 4, 1024)
    for density in (True, False):
        layer = Diffusion(4, graph, density=density, tolerance=1e-6)
        times = layer.times * graph.eigenvalue_scale
        expected = graph.diffuse(x, times, density=density)
        assert torch.equal(layer(x), expected)
    assert Diffusion(4, graph).density
    assert list(layer.state_dict()) == ["log_times"]


def test_initial_times_are_spaced_by_equal_factors(graph: Graph) -> None:
    layer = Diffusion(5, graph, times=(1e-4, 1e-2))
    assert torch.allclose(layer.times, 10 ** torch.linspace(-4, -2, 5))
    assert Diffusion(1, graph, times=(1e-4, 1e-2)).times.item() == pytest.approx(1e-3)
    layer.log_times.data.zero_()
    layer.reset_parameters()
    assert torch.allclose(layer.times, 10 ** torch.linspace(-4, -2, 5))


def test_default_times_go_from_half_a_pixel_to_an_eighth_of_the_domain(tmp_path: Path) -> None:
    """Measured by the standard deviation of a point of heat, on the plane and in space."""
    for manifold, size in (("r2", 32), ("r3", 16)):
        spec = GraphSpec(manifold, size, weights="selling", boundary="periodic", levels=1)
        built = build(spec, tmp_path / "g.zarr")
        graph = open_store(tmp_path / "g.zarr")[built.name].levels[0]
        start = torch.zeros(1, 2, graph.num_vertices)
        middle = torch.tensor(graph.grid[1:]) // 2
        start.view(1, 2, *graph.grid[1:])[(..., *middle)] = 1
        spread = Diffusion(2, graph)(start)[0].double()
        offset = graph.coordinates[:, 0] - 0.5
        deviations = (spread * offset**2).sum(1).sqrt() * size
        shares = deviations / torch.tensor([0.5, size / 8])
        assert (shares - 1).abs().max() < 0.25, (manifold, shares)


def test_times_mean_the_same_on_other_graphs(tmp_path: Path) -> None:
    """Weights of a coarser graph, with another kind of Laplacian, diffuse as far on a finer one."""
    specs = {
        "coarse": GraphSpec("r2", 24, boundary="periodic", levels=1),
        "fine": GraphSpec("r2", 48, boundary="periodic", weights="selling", levels=1),
    }
    found = []
    for name, spec in specs.items():
        build(spec, tmp_path / "g.zarr", name=name)
        graph = open_store(tmp_path / "g.zarr")[name].levels[0]
        layer = Diffusion(3, graph)
        if found:
            layer.load_state_dict(found[0][0].state_dict())
        wave = torch.cos(2 * math.pi * 2 * graph.coordinates[:, 0]).float().expand(1, 3, -1)
        found.append((layer, layer(wave)[0, :, 0]))
    assert found[0][0].graph.eigenvalue_scale != found[1][0].graph.eigenvalue_scale
    assert torch.allclose(found[0][1], found[1][1], atol=0.01)
    assert found[0][1][-1] < 0.9 * found[0][1][0]


def test_graphs_without_a_scale_have_times_of_their_own(graph: Graph) -> None:
    older = copy.deepcopy(graph)
    older.eigenvalue_scale = None
    layer, x = Diffusion(2, older), torch.randn(1, 2, 1024)
    assert layer.times[0].item() == pytest.approx(1 / graph.lambda_max)
    assert torch.equal(layer(x), older.diffuse(x, layer.times, density=True, tolerance=1e-4))
    assert torch.allclose(layer(x), Diffusion(2, graph)(x), atol=1e-6)


def test_beside_chebconvs(pyramid: Pyramid) -> None:
    """Trained, under autocast, in half precision, on sub-graphs, copied, compiled."""
    graph = pyramid.levels[1]
    torch.manual_seed(0)
    net = nn.Sequential(ChebConv(1, 3, 3, graph), BatchNorm(3), Diffusion(3, graph))
    x = torch.randn(2, 1, graph.num_vertices)
    net(x).square().mean().backward()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in (net[0].weight, net[2].log_times))
    whole = net.eval()(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = net(x)
    assert low.dtype == torch.bfloat16
    assert (low.float() - whole).norm() <= 0.02 * whole.norm()
    half = copy.deepcopy(net).bfloat16()
    assert (half(x.bfloat16()).float() - whole).norm() <= 0.05 * whole.norm()
    assert half[2].graph.values.dtype == torch.float32
    twin = pickle.loads(pickle.dumps(net))
    assert torch.equal(twin(x), whole)
    ignore_graphs_in_ddp(net)
    ignored = net._ddp_params_and_buffers_to_ignore
    assert set(ignored) == {key for key, _ in net.named_buffers(remove_duplicate=False)} - {
        key for key, _ in net[1].named_buffers(prefix="1")
    }
    layer, y = net[2], torch.randn(2, 3, graph.num_vertices)
    before = layer(y)
    sample_edges(graph, 0.5, torch.Generator().manual_seed(0))
    assert torch.equal(layer(y), before)
    assert not torch.allclose(layer.train()(y), before, atol=1e-3)
    ones = torch.ones_like(y)
    assert torch.allclose(layer(ones), ones, atol=1e-5)  # by the sub-graph's own degrees
    sample_edges(graph, 1)
    assert torch.equal(layer(y), before)


@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_exported(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    net = nn.Sequential(Diffusion(2, graph), ChebConv(2, 2, 3, graph)).eval()
    batch = torch.export.Dim("batch", min=1, max=64)
    x = torch.randn(3, 2, graph.num_vertices)
    program = torch.export.export(net, (x[:2],), dynamic_shapes=({0: batch},))
    assert torch.equal(program.module()(x), net(x))


@pytest.mark.slow
def test_compiled(pyramid: Pyramid) -> None:
    graph = pyramid.levels[1]
    layer, x = Diffusion(3, graph), torch.randn(2, 3, graph.num_vertices)
    layer(x).square().sum().backward()
    expected = layer.log_times.grad.clone()
    layer.zero_grad()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    y = compiled(x)
    y.square().sum().backward()
    assert torch.equal(y, layer(x))
    assert torch.allclose(layer.log_times.grad, expected)


@pytest.mark.parametrize("name", ["square", "torus", "icosahedral", "matched"])
def test_equivariance(symmetric_graphs: Path, name: str) -> None:
    pyramid = open_store(symmetric_graphs)[name]
    graph = pyramid.levels[0]
    net = nn.Sequential(Diffusion(2, graph))
    assert assert_equivariant(net, pyramid, torch.randn(1, 2, graph.num_vertices))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda g: Diffusion(0, g), r"channels must be at least 1\. Got 0"),
        (lambda g: Diffusion(2, g, times=(0.0, 1.0)), r"times must be \(shortest, longest\)"),
        (lambda g: Diffusion(2, g, times=(2.0, 1.0)), r"Got \(2\.0, 1\.0\)"),
        (lambda g: Diffusion(2, g, times=(1.0, math.inf)), "positive and ascending"),
        (lambda g: Diffusion(2, g)(torch.zeros(1, 3, 1024)), r"takes \(B, 2, 1024\).*Got \(1, 3,"),
        (lambda g: Diffusion(2, g)(torch.zeros(1, 2, 1000)), r"takes \(B, 2, 1024\).*Got \(1, 2,"),
        (lambda g: Diffusion(2, g)(torch.zeros(2, 1024)), r"Got \(2, 1024\)"),
        (lambda g: Diffusion(2, g, tolerance=0)(torch.zeros(1, 2, 1024)), "tolerance must be in"),
    ],
)
def test_refusals(graph: Graph, given: Callable[[Graph], object], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        given(graph)
    assert "\n" not in str(caught.value)
