"""Connection Laplacians: transport, matrices and spectra against rotations and dense algebra."""

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import spin_truth as truth
import torch
from field_truth import weights
from refusing import refused
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import ChebConv, Connection, Graph, Store
from cheblienet_models.graphs.connection import transport_angles

RNG = np.random.default_rng(0)


def places(count: int) -> np.ndarray:
    """(n, 2) uniform on the sphere."""
    return np.stack([np.arccos(RNG.uniform(-1, 1, count)), RNG.uniform(-9, 9, count)], 1)


def dense(connection: Connection) -> np.ndarray:
    """(V, V) complex, from the real blocks, which have to be those of complex numbers."""
    whole = connection.laplacian.to_dense().double().numpy()
    (real, minus), (imaginary, again) = (
        [whole[row::2, column::2] for column in (0, 1)] for row in (0, 1)
    )
    np.testing.assert_array_equal(real, again)
    np.testing.assert_array_equal(imaginary, -minus)
    eye = np.eye(len(real))
    return (real + 1j * imaginary + eye) * connection.lambda_max / 2


def off_at(graph: Graph, spin: int, degrees: int = 5) -> float:
    """The largest relative error of eigenvalues of degrees up to so many."""
    found = np.linalg.eigvalsh(truth.matrix(graph, spin) * graph.eigenvalue_scale)
    wanted = [l * (l + 1) - spin**2 for l in range(spin, degrees + 1) for _ in range(2 * l + 1)]  # noqa: E741
    return float(np.abs(found[: len(wanted)] / wanted - 1).max())


def test_transport_is_that_of_rotations() -> None:
    targets, sources = places(2000), places(2000)
    p, q = (truth.frames(ends)[:, :, 2] for ends in (targets, sources))
    near = (p * q).sum(1) > -0.95  # antipodes have no geodesic
    targets, sources = targets[near], sources[near]
    found = transport_angles(torch.from_numpy(targets), torch.from_numpy(sources)).numpy()
    assert np.abs(np.exp(1j * (found - truth.transported(targets, sources))) - 1).max() < 1e-13


def test_around_a_triangle_it_is_its_area() -> None:
    """Counterclockwise from outside, with the sign; the areas by van Oosterom and Strackee."""
    corners = [torch.from_numpy(places(500)) for _ in range(3)]
    around = sum(transport_angles(corners[n - 2], corners[n]) for n in range(3)).numpy()
    p, q, r = (truth.frames(corner.numpy())[:, :, 2] for corner in corners)
    volume = (p * np.cross(q, r)).sum(1)
    area = 2 * np.arctan2(volume, 1 + (p * q).sum(1) + (q * r).sum(1) + (r * p).sum(1))
    assert np.abs(np.exp(1j * (around - area)) - 1).max() < 1e-12


@pytest.mark.parametrize("spin", [1, 2, 3])
@pytest.mark.parametrize("name", ["healpix", "equiangular", "random", "plane"])
def test_matrices_are_the_dense_ones(spin_graphs: Store, name: str, spin: int) -> None:
    graph = spin_graphs[name].levels[-1] if name != "random" else spin_graphs["coarse"].levels[0]
    connection, wanted = graph.connection(spin), truth.matrix(graph, spin)
    found = dense(connection)
    assert np.abs(found - wanted).max() < 2e-7 * connection.lambda_max
    largest = np.linalg.eigvalsh(wanted)[-1]
    assert largest <= connection.lambda_max < 2 * largest
    x = torch.randn(2, 6, graph.num_vertices, dtype=torch.float64)
    values, waves = np.linalg.eigh(wanted)
    heat = waves @ (np.exp(-0.05 * values)[:, None] * waves.conj().T)
    spread = connection.filter(x, lambda e: torch.exp(-0.05 * e), 1e-12)
    np.testing.assert_allclose(truth.as_fields(spread), truth.as_fields(x) @ heat.T, atol=2e-8)
    same = connection.filter(x, connection.polynomial(lambda e: torch.exp(-0.05 * e), 1e-12))
    assert torch.equal(same, spread)


@pytest.mark.parametrize("name", truth.SPHERES)
def test_eigenvalues_are_of_second_order(spin_graphs: Store, name: str) -> None:
    fine = spin_graphs[name].levels[0]
    coarse = spin_graphs["coarse" if name == "random" else name].levels[-1]
    ratio = math.log2(fine.num_vertices / coarse.num_vertices) / 2
    for spin in (1, 2):
        errors = [off_at(graph, spin, spin + 2) for graph in (coarse, fine)]
        assert errors[1] < 0.1
        assert 1.7 < math.log2(errors[0] / errors[1]) / ratio < 2.6


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"nside": 16}, {"subdivisions": 4}])
def test_eigenvalues_are_within_a_percent(tmp_path: Path, how: dict[str, int]) -> None:
    graph = pyramid_of(tmp_path, GraphSpec("s2", **how, weights="voronoi", levels=1)).levels[0]
    assert off_at(graph, 2) < 0.01


def test_heat_never_exceeds_that_of_moduli(spin_graphs: Store) -> None:
    """|exp(-t L_s) psi| <= exp(-t L_0) |psi|, as weights are not negative."""
    graph = spin_graphs["coarse"].levels[0]
    assert weights(graph).min() > -1e-9
    x = torch.randn(1, 2, graph.num_vertices, dtype=torch.float64)
    spread = graph.connection(2).filter(x, lambda e: torch.exp(-0.02 * e), 1e-12)
    moduli = graph.filter(x.norm(dim=1, keepdim=True), lambda e: torch.exp(-0.02 * e), 1e-12)
    assert bool((spread.norm(dim=1) <= moduli[:, 0] + 1e-9).all())


def test_frames_a_quarter_turn_on_and_of_the_other_sense(spin_graphs: Store) -> None:
    graph = spin_graphs["icosphere"].levels[0]
    for spin in (1, 2):
        connection, x = graph.connection(spin), torch.randn(1, 2, graph.num_vertices).double()
        low = [connection.filter(f, lambda e: 1 / (1 + e)) for f in (x, truth.quarter(x))]
        torch.testing.assert_close(truth.quarter(low[0]), low[1], rtol=0, atol=1e-12)
        mirrored = connection.filter(x * torch.tensor([1.0, -1.0])[:, None], lambda e: 1 / (1 + e))
        error = mirrored * torch.tensor([1.0, -1.0])[:, None] - low[0]
        assert float(error.norm() / low[0].norm()) > 0.03


def test_on_the_plane_components_are_scalars(spin_graphs: Store) -> None:
    graph = spin_graphs["plane"].levels[0]
    x = torch.randn(1, 4, graph.num_vertices, dtype=torch.float64)
    found = graph.connection(1).filter(x, lambda e: torch.exp(-e), 1e-10)
    torch.testing.assert_close(
        found, graph.filter(x, lambda e: torch.exp(-e), 1e-10), atol=1e-8, rtol=0
    )


def test_one_for_all_layers_wherever_these_go(spin_graphs: Store) -> None:
    graph = copy.deepcopy(spin_graphs["coarse"].levels[0])
    first, second = (ChebConv(1, 1, 3, graph, spin=1) for _ in range(2))
    assert first.connection is second.connection is graph.connection(1)
    assert graph.connection(2) is not first.connection
    assert not [key for key in first.state_dict() if "connection" in key]
    x = torch.randn(1, 2, graph.num_vertices)
    for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert other.connection.graph is other.graph
        assert torch.equal(other(x), first(x))
    single = first(x)
    first.double()
    assert first.connection.values.dtype == torch.float64
    assert graph.connection(1) is second.connection is first.connection
    assert (
        np.abs(dense(first.connection) - truth.matrix(graph, 1)).max()
        < 1e-12 * first.connection.lambda_max
    )
    torch.testing.assert_close(first(x.double()).float(), single)
    assert first.to("meta")(x.double().to("meta")).is_meta
    back = first.to_empty(device="cpu")
    assert back.connection.values.isfinite().all()
    half = copy.deepcopy(second).half()
    assert half.connection.values.dtype == torch.float64  # which follow to double, not to half


def test_products_in_inference_mode_train_later(spin_graphs: Store) -> None:
    graph = copy.deepcopy(spin_graphs["coarse"].levels[0])
    with torch.inference_mode():
        layer = ChebConv(1, 1, 2, graph, spin=3)
    layer = ChebConv(1, 1, 2, graph, spin=3)
    layer(torch.randn(1, 2, graph.num_vertices)).sum().backward()
    assert layer.weight.grad is not None


@pytest.mark.parametrize("name", ["turned", "arrows", "space"])
def test_other_manifolds_are_refused(gradient_graphs: Store, name: str) -> None:
    graph = gradient_graphs[name].levels[0]
    message = refused("takes spin fields on s2 and r2, not on", graph.connection, 2)
    assert ("Project(graph, spin=2)" in message) == (name != "space")


def test_refusals(spin_graphs: Store) -> None:
    graph = spin_graphs["plane"].levels[0]
    refused("spin must be at least 1. Got 0", graph.connection, 0)
    refused("spin must be an integer", graph.connection, 1.5, error=TypeError)
    connection = graph.connection(2)
    x = torch.randn(1, 2, graph.num_vertices)
    refused("polynomial for eigenvalues up to", connection.filter, x, graph.polynomial(torch.exp))
    refused(
        "filter of spin 2 on .*: spin=2 needs pairs of components, .* Got 3 channels",
        connection.filter, torch.randn(1, 3, graph.num_vertices), torch.exp,
    )  # fmt: skip
