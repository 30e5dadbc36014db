"""Layers of fields of spin against dense complex algebra, under every symmetry, in every dtype."""

import copy
import itertools
import math

import numpy as np
import pytest
import spin_truth as truth
import torch
from refusing import refused
from torch import Tensor, nn

from cheblienet_models import (
    ChebConv,
    Gradient,
    Graph,
    Modulus,
    Pyramid,
    SpatialPool,
    SpatialUnpool,
    Store,
    low_pass_,
    sample_edges,
)
from cheblienet_models.testing import assert_equivariant

FLOAT32 = {"equiangular": 1e-7}
"""Samplings with weights that their half turns keep as float32 rounds."""


class Between(nn.Module):
    """Convolutions with gates between, down a level and up again where pools keep symmetries."""

    def __init__(self, pyramid: Pyramid, spin: int, *, handed: bool) -> None:
        super().__init__()
        fine, coarse = pyramid.levels
        pools = [layer(pyramid, 0, "mean", spin=spin) for layer in (SpatialPool, SpatialUnpool)]
        if "gaussian" in pyramid.spec:
            pools, coarse = [nn.Identity()] * 2, fine
        self.layers = nn.Sequential(
            ChebConv(2, 3, 4, fine, spin=spin, handed=handed),
            Modulus(3),
            pools[0],
            ChebConv(3, 3, 3, coarse, spin=spin, handed=handed, low_pass=True),
            Modulus(3),
            pools[1],
            ChebConv(3, 2, 2, fine, spin=spin, handed=handed),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class One(nn.Module):
    """The field of higher or lower spin."""

    def __init__(self, graph: Graph, spin: int, which: int) -> None:
        super().__init__()
        self.gradient, self.which = Gradient(graph, spin=spin), which

    def forward(self, x: Tensor) -> Tensor:
        return self.gradient(x)[self.which]


def chebyshev(matrix: np.ndarray, weight: np.ndarray, x: np.ndarray) -> np.ndarray:
    """sum_k T_k(L) x W_k of x (B, in, V), W (K, in, out), complex."""
    terms = [x, x @ matrix.T]
    for _ in range(len(weight) - 2):
        terms.append(2 * terms[-1] @ matrix.T - terms[-2])
    return sum(
        np.einsum("biv,io->bov", term, w)
        for term, w in zip(terms[: len(weight)], weight, strict=True)
    )


@pytest.mark.parametrize("name", ["healpix", "coarse", "plane"])
@pytest.mark.parametrize("handed", [False, True])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_convolutions_are_complex_polynomials(
    spin_graphs: Store, name: str, size: int, handed: bool
) -> None:
    graph = copy.deepcopy(spin_graphs[name].levels[-1]).double()
    layer = ChebConv(2, 3, size, graph, spin=2, handed=handed).double()
    assert layer.bias is None
    weight = layer.weight.detach().numpy()
    if handed:
        weight = weight[..., :3] + 1j * weight[..., 3:]
    assert weight.shape == (size, 2, 3)
    scale = 2 / layer.connection.lambda_max
    matrix = truth.matrix(graph, 2) * scale - np.eye(graph.num_vertices)
    x = torch.randn(2, 4, graph.num_vertices, dtype=torch.float64)
    wanted = chebyshev(matrix, weight, truth.as_fields(x))
    np.testing.assert_allclose(truth.as_fields(layer(x)), wanted, atol=1e-11)
    layer.save_basis = True
    np.testing.assert_allclose(truth.as_fields(layer(x)), wanted, atol=1e-11)
    low = ChebConv(2, 3, size, graph, spin=2, handed=handed, low_pass=True).double()
    low.load_state_dict({**low.state_dict(), "weight": layer.weight})
    smoothed = (truth.as_fields(x) - truth.as_fields(x) @ matrix.T) / 2
    np.testing.assert_allclose(
        truth.as_fields(low(x)), chebyshev(matrix, weight, smoothed), atol=1e-11
    )


@pytest.mark.parametrize("name", [n for n in truth.SPECS if n not in {"random", "coarse"}])
@pytest.mark.parametrize("handed", [False, True])
def test_networks_are_equivariant_to_rounding(spin_graphs: Store, name: str, handed: bool) -> None:
    pyramid = copy.deepcopy(spin_graphs[name])
    for spin in (1, 2):
        network = Between(pyramid, spin, handed=handed).double()
        tolerance = FLOAT32.get(name, 1e-12)
        found = assert_equivariant(network, pyramid, spin=(spin, spin), tolerance=tolerance)
        mirrored = [other for other in found if other.startswith(("reflection", "flip"))]
        assert bool(mirrored) != handed
        single = Between(spin_graphs[name], spin, handed=handed)
        assert_equivariant(single, spin_graphs[name], spin=(spin, spin), tolerance=1e-5)


@pytest.mark.parametrize("name", ["healpix", "plane"])
def test_complex_weights_tell_mirror_images_apart(spin_graphs: Store, name: str) -> None:
    pyramid = spin_graphs[name]
    network = Between(pyramid, 1, handed=True)
    mirror = ["reflection" if name == "healpix" else "flip"]
    found = assert_equivariant(network, pyramid, spin=(1, 1), symmetries=mirror, tolerance=math.inf)
    assert max(found.values()) > 0.01


@pytest.mark.parametrize("name", ["healpix", "icosphere", "plane"])
def test_spins_are_raised_and_lowered_equivariantly(spin_graphs: Store, name: str) -> None:
    pyramid = copy.deepcopy(spin_graphs[name])
    for spin, which in itertools.product((1, 2, 3), (0, 1)):
        x = torch.randn(2, 4, pyramid.levels[0].num_vertices, dtype=torch.float64)
        between = One(pyramid.levels[0], spin, which).double()
        after = spin - 1 if which else spin + 1
        # Of the icosphere gradients are symmetric as float32 rounds, those of scalars likewise.
        tolerance = 1e-6 if name == "icosphere" else 1e-12
        assert_equivariant(between, pyramid, x, spin=(spin, after), tolerance=tolerance)


def potentials(graph: Graph) -> tuple[Tensor, Tensor]:
    """A field grad e + r x grad b, (1, 2, V), and its divergence and curl, (2, V).

    e and b are harmonics up to degree 6, which the Laplacian multiplies by -l (l + 1). Their
    gradients have spin 1: -sqrt(l (l + 1)) times the harmonics of spin 1.
    """
    at, rng = graph.coordinates.numpy(), np.random.default_rng(0)
    field, laplace = 0, 0
    for l in range(1, 7):  # noqa: E741
        m = np.arange(1, l + 1)
        positive = rng.normal(size=(2, l)) + 1j * rng.normal(size=(2, l))
        negative = (positive * (-1.0) ** m)[:, ::-1].conj()  # so that e and b are real
        draws = np.concatenate([negative, rng.normal(size=(2, 1)), positive], 1)
        real, raised = (draws @ truth.harmonics(s, l, at) for s in (0, 1))
        laplace = laplace - l * (l + 1) * real.real
        field = field - math.sqrt(l * (l + 1)) * (raised[0] + 1j * raised[1])
    return truth.as_signal(field[None, None]), torch.from_numpy(laplace)


@pytest.mark.parametrize("name", ["healpix", "icosphere"])
def test_divergence_and_curl(spin_graphs: Store, name: str) -> None:
    """As of gradients and curls of harmonics, of second order, near poles as everywhere."""
    errors = []
    for graph in spin_graphs[name].levels[::-1]:
        field, wanted = potentials(graph)
        found = Gradient(graph, spin=1)(field)[1][0] * graph.gradients.units[0]
        errors.append((found - wanted).norm() / wanted.norm())
        beta = graph.coordinates[:, 0]
        caps = (beta < 0.35) | (beta > math.pi - 0.35)
        assert (found - wanted)[:, caps].norm() < 1.5 * errors[-1] * wanted[:, caps].norm()
    assert errors[1] < 0.11
    assert 1.7 < math.log2(errors[0] / errors[1]) < 2.4


def test_gradients_of_scalars_are_fields_of_spin_1(spin_graphs: Store) -> None:
    """So their divergence is the Laplacian, and they have no curl, to second order."""
    graph = spin_graphs["healpix"].levels[0]
    beta, gamma = graph.coordinates.T
    x = (beta.sin() * (gamma.cos() + gamma.sin()) + beta.cos())[None, None]
    divergence, curl = Gradient(graph, spin=1)(Gradient(graph)(x))[1][0]
    wanted = -2 * x[0, 0] / graph.gradients.units[0] ** 2
    assert float((divergence - wanted).norm() / wanted.norm()) < 0.02
    assert float(curl.norm() / wanted.norm()) < 0.005


@pytest.mark.parametrize("name", ["healpix", "plane"])
def test_derivatives_of_any_order(spin_graphs: Store, name: str) -> None:
    graph = copy.deepcopy(spin_graphs[name].levels[-1])
    layers = [ChebConv(1, 1, 3, graph, spin=1), One(graph, 2, 0), One(graph, 1, 1)]
    for layer in layers:
        layer.double()
        x = torch.randn(1, 2, graph.num_vertices, dtype=torch.float64, requires_grad=True)
        torch.autograd.gradcheck(layer, x, fast_mode=True)
        torch.autograd.gradgradcheck(layer, x, fast_mode=True)
    torch.autograd.gradgradcheck(
        lambda w: torch.func.functional_call(layers[0], {"weight": w}, x),
        layers[0].weight,
        fast_mode=True,
    )


def test_results_are_vertex_major_and_of_their_dtype(spin_graphs: Store) -> None:
    pyramid = spin_graphs["healpix"]
    network, x = Between(pyramid, 1, handed=True), torch.randn(2, 4, 768)
    y = network(x)
    assert y.permute(2, 0, 1).is_contiguous()
    with torch.autocast("cpu", torch.bfloat16):
        half = network(x)
    assert half.dtype == torch.bfloat16
    assert float((half.float() - y).detach().norm() / y.detach().norm()) < 0.03
    raised, lowered = Gradient(pyramid.levels[0], spin=1)(x)
    assert raised.permute(2, 0, 1).is_contiguous()
    assert lowered.dtype == torch.float32


@pytest.mark.parametrize("spin", [1, 2])
def test_compiled_and_exported(spin_graphs: Store, spin: int) -> None:
    network, x = Between(spin_graphs["healpix"], spin, handed=True), torch.randn(2, 4, 768)
    y = network(x)
    compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), y)
    compiled(x).square().sum().backward()
    assert all(p.grad is not None for p in network.parameters())
    program = torch.export.export(network.eval(), (x,))
    torch.testing.assert_close(program.module()(x), y)


def test_gates_depend_on_moduli_alone() -> None:
    gate, x = Modulus(3), torch.randn(2, 6, 50)
    first, second = x.unflatten(1, (2, 3)).unbind(1)
    modulus = (first**2 + second**2 + 1e-6).sqrt()
    gates = torch.sigmoid(
        torch.einsum("dc,bcv->bdv", gate.gate.weight, modulus) + gate.gate.bias[:, None]
    )
    torch.testing.assert_close(gate(x), torch.cat([gates * first, gates * second], 1))
    phases = truth.as_fields(x) * np.exp(2j * np.pi * np.random.default_rng(0).random(50))
    turned = truth.as_signal(phases).float()
    np.testing.assert_allclose(
        np.abs(truth.as_fields(gate(turned))), np.abs(truth.as_fields(gate(x))), atol=1e-6
    )
    assert Modulus(1).half()(x[:, :2].half() * 1e4).isfinite().all()
    refused("Modulus takes .B, 6, V.", gate, x[:, :5])


@pytest.mark.parametrize("spin", [1, 2])
def test_pooling_carries_what_scalars_lose_at_poles(spin_graphs: Store, spin: int) -> None:
    """Of the smoothest harmonics, within 25 degrees of a pole."""
    pyramid = spin_graphs["healpix"]
    at = [graph.coordinates.numpy() for graph in pyramid.levels]
    fine, coarse = (truth.drawn(spin, np.ones(spin + 1), places, 0) for places in at)
    for x, y, places, layer in (
        (fine, coarse, at[1], SpatialPool),
        (coarse, fine, at[0], SpatialUnpool),
    ):
        caps = torch.from_numpy(np.abs(np.cos(places[:, 0])) > 0.9)
        errors = [(layer(pyramid, 0, "mean", spin=s)(x) - y)[..., caps].norm() for s in (spin, 0)]
        assert errors[0] < errors[1] / 2


def test_pooling_on_the_plane_is_that_of_scalars(spin_graphs: Store) -> None:
    pyramid, x = spin_graphs["plane"], torch.randn(1, 4, 144)
    for layer, signal in ((SpatialPool, x), (SpatialUnpool, x[..., :36])):
        pooled = layer(pyramid, 0, "mean", spin=1)(signal)
        torch.testing.assert_close(pooled, layer(pyramid, 0, "mean")(signal))


def test_weights_know_their_spin(spin_graphs: Store) -> None:
    graph = spin_graphs["coarse"].levels[0]
    one, two, none = (ChebConv(2, 2, 3, graph, spin=s, bias=False, handed=False) for s in (1, 2, 0))
    refused(
        "weight is of operators='laplacian', spin=1; this", two.load_state_dict, one.state_dict()
    )
    refused("spin=2, of which", two.load_state_dict, none.state_dict())
    refused(
        "spin=1; this layer has operators='laplacian', of", none.load_state_dict, one.state_dict()
    )
    assert "handed=False" in repr(one)
    assert "spin=1" in repr(one)
    again = ChebConv(2, 2, 3, graph, spin=1, handed=False)
    again.load_state_dict(one.state_dict())
    assert torch.equal(again.weight, one.weight)


def test_variance_of_weights_is_that_of_scalars(spin_graphs: Store) -> None:
    graph = spin_graphs["coarse"].levels[0]
    layers = [ChebConv(64, 64, 4, graph, spin=1), ChebConv(64, 64, 4, graph, spin=1, handed=False)]
    for layer in layers:
        low_pass_(layer)
    again = [ChebConv(64, 64, 4, graph, spin=1), ChebConv(64, 64, 4, graph, spin=1, handed=False)]
    for layer in [*layers, *again]:
        share = float(layer.weight.detach().square().sum()) / (4 * 64 * 64)
        assert share == pytest.approx(2 / (4 * 64), rel=0.1)


def test_refusals(spin_graphs: Store, gradient_graphs: Store) -> None:
    pyramid = spin_graphs["healpix"]
    graph, without = pyramid.levels[0], spin_graphs["coarse"].levels[0]
    for operators in ("directional", "first-order"):
        refused(
            "spin=1 takes operators='laplacian'",
            ChebConv,
            1,
            1,
            2,
            graph,
            spin=1,
            operators=operators,
        )
    refused("takes .B, 4, 768.", ChebConv(2, 1, 2, graph, spin=1), torch.randn(1, 2, 768))
    refused("no gradients; build it", Gradient, without, spin=1)
    refused("spin=2 needs pairs of components", Gradient(graph, spin=2), torch.randn(1, 3, 768))
    for mode in ("max", "random"):
        for layer in (SpatialPool, SpatialUnpool):
            refused(f"'{mode}' of components depends", layer, pyramid, 0, mode, spin=1)
    refused("needs pairs", SpatialPool(pyramid, 0, "mean", spin=1), torch.randn(1, 3, 768))
    refused("not on so3", Gradient, gradient_graphs["turned"].levels[0], spin=1)
    refused("not on se2", SpatialPool, gradient_graphs["arrows"], 0, "mean", spin=1)


def test_random_subgraphs_are_refused_while_training(spin_graphs: Store) -> None:
    graph = copy.deepcopy(spin_graphs["coarse"].levels[0])
    layer, x = ChebConv(1, 1, 2, graph, spin=1), torch.randn(1, 2, graph.num_vertices)
    y = layer(x)
    sample_edges(graph, 0.5)
    refused("with spin=1 has no random sub-graphs", layer, x)
    assert torch.equal(layer.eval()(x), y)
