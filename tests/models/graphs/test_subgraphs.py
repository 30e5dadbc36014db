"""Random sub-graphs: what is kept, its spectrum, seen by layers, taken back in eval mode."""

from pathlib import Path

import numpy as np
import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused
from spectral import delta_of
from stores import level

from cheblienet_models import ChebConv, Graph, Pyramid, WideResNet, sample_edges, sample_vertices

pytestmark = OFF_THEIR_METRIC


@pytest.fixture
def graph(pyramid: Pyramid) -> Graph:
    return pyramid.levels[0]


@pytest.mark.parametrize("kappa", [0.2, 0.9])
@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
@pytest.mark.parametrize("name", ["kernel", "selling", "sphere"])
def test_its_spectrum_is_within_the_whole_graphs(
    spectral_graphs: Path, name: str, sample: object, kappa: float
) -> None:
    """0 <= Delta' <= Delta with the masses of the whole graph, whose root stays the null vector."""
    graph = level(spectral_graphs, name)
    sample(graph, kappa, torch.Generator().manual_seed(0))
    delta = delta_of(graph, graph.laplacian_parts(training=True)[2])
    mass = graph.mass.double().numpy()
    whole = -delta_of(graph, graph.values) * np.sqrt(np.outer(mass, mass))
    kept = (delta != 0) & ~np.eye(len(delta), dtype=bool)
    weights = np.where(kept, whole, 0)
    edges, degree = kept.sum() // 2, weights.sum(1)
    if sample is sample_edges:
        assert edges == round(kappa * graph.num_edges)
    else:
        assert edges / graph.num_edges == pytest.approx(kappa**2, abs=0.1)
        assert (degree == 0).sum() >= len(delta) - round(kappa * len(delta))
    root = mass**-0.5
    expected = root[:, None] * (np.diag(degree) - weights) * root
    small = 1e-5 * graph.lambda_max
    assert np.array_equal(delta, delta.T)
    assert np.allclose(delta, expected, atol=small)
    assert np.linalg.eigvalsh(delta)[0] >= -small
    assert np.linalg.eigvalsh(delta_of(graph, graph.values) - delta)[0] >= -small
    assert np.abs(delta @ mass**0.5).max() <= small * mass.max() ** 0.5


@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
def test_it_may_be_normalized_anew(spectral_graphs: Path, sample: object) -> None:
    """By the degrees of what is kept: eigenvalues up to 2, of which `operator` knows."""
    graph = level(spectral_graphs, "kernel").double()
    sample(graph, 0.3, torch.Generator().manual_seed(0), degrees="kept")
    delta = delta_of(graph, graph.laplacian_parts(training=True)[2])
    degree = graph.subgraph_degree.numpy()
    root = np.where(degree > 0, degree, np.inf) ** -0.5
    assert np.abs(delta @ np.sqrt(degree)).max() <= 1e-6
    assert np.allclose(delta.diagonal(), (root > 0) * (degree > 0))
    assert graph.lambda_max < np.linalg.eigvalsh(delta)[-1] <= 2 + 1e-9
    operator = graph.operator(training=True)
    assert (operator.lambda_max, operator.mass is graph.subgraph_degree) == (2.0, True)
    ones = torch.ones(1, 1, graph.num_vertices, dtype=torch.float64)
    assert (graph.diffuse(ones, 5.0, density=True, training=True) - 1).abs().max() <= 1e-5
    sample(graph, 0.3, degrees="whole")
    assert graph.subgraph_degree is None
    refused("degrees must be", sample, graph, 0.3, degrees="own")


def test_heavy_edges_are_kept_more_often(graph: Graph) -> None:
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(graph.num_edges)
    for _ in range(200):
        sample_edges(graph, 0.2, generator)
        counts += graph.subgraph[graph.edges.upper] != 0
    weights = graph.edges.weights
    classes = weights.round(decimals=4)
    means = [counts[classes == value].mean().item() for value in classes.unique()]
    assert means == sorted(means)
    ratio = means[-1] / means[0]
    expected = (classes.max() / classes.min()).item()
    # Without replacement heavy edges saturate a little.
    assert 0.5 * expected < ratio <= 1.1 * expected


def test_draws_follow_their_generator(graph: Graph) -> None:
    for sample in (sample_edges, sample_vertices):
        drawn = []
        for seed in (1, 1, 2):
            sample(graph, 0.5, torch.Generator().manual_seed(seed))
            drawn.append(graph.subgraph)
        assert torch.equal(drawn[0], drawn[1])
        assert not torch.equal(drawn[0], drawn[2])


def test_layers_see_it_while_training_only(pyramid: Pyramid) -> None:
    network = WideResNet(pyramid, 1, 3, depth=1, widen=1).eval()
    conv = ChebConv(1, 2, 3, pyramid.levels[0])
    images, signal = torch.randn(2, 1, 16, 16), torch.randn(1, 1, 1024)
    whole, filtered = network(images), conv(signal)
    sample_edges(pyramid, 0.5)
    assert pyramid.levels[1].subgraph is not None
    assert torch.equal(network(images), whole)
    network.train()
    assert not torch.allclose(conv.train()(signal), filtered)
    assert torch.equal(conv.eval()(signal), filtered)
    sample_edges(pyramid, 1)
    assert torch.equal(conv.train()(signal), filtered)


def test_another_networks_mode_does_not_matter(pyramid: Pyramid) -> None:
    """Two networks on one pyramid: what one is put to leaves the other alone."""
    mine, other = (ChebConv(1, 2, 3, pyramid.levels[0]) for _ in range(2))
    signal = torch.randn(1, 1, 1024)
    sample_edges(pyramid, 0.5)
    sampled = mine(signal)
    for change in (other.eval, pyramid.eval, other.float, pyramid.levels[0].eval):
        change()
        assert torch.equal(mine(signal), sampled), change


def test_a_subgraph_follows_a_network(graph: Graph) -> None:
    conv = ChebConv(1, 2, 3, graph).double()
    sample_vertices(graph, 0.7)
    drawn = graph.subgraph
    assert drawn.dtype == torch.float64
    conv.float().half()
    assert graph.subgraph.dtype == torch.float32  # as the whole graph's values
    assert torch.equal(graph.subgraph, drawn.float())


def test_rates_out_of_range(graph: Graph) -> None:
    for sample in (sample_edges, sample_vertices):
        for kappa in (0, 1.5, float("nan")):
            refused(r"kappa must be in \(0, 1\]", sample, graph, kappa)
