"""The Chebyshev convolution, of the metric and of directions: dense float64 algebra, refusals."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from first_order import dense
from numpy.polynomial.chebyshev import chebder, chebval
from refusing import refused
from torch import Tensor, nn

from cheblienet_models import (
    ChebConv,
    Graph,
    Store,
    UNet,
    WideResNet,
    load_weights,
    low_pass_,
    sample_edges,
    sample_vertices,
)
from cheblienet_models.testing import assert_equivariant

OPERATORS = pytest.mark.parametrize("operators", ["laplacian", "directional"])
Settings = tuple[int, int, dict[str, Any]]
"""Channels, kernel size and kind."""
BASIS = pytest.mark.parametrize("save_basis", [False, True])


@pytest.fixture(scope="module")
def exact(directional: Store) -> Callable[[str, int], Tensor]:
    """(1 + J (K - 1), V, V) cos(k arccos L_j), by eigendecompositions in float64."""
    graph = directional["whole"].levels[1]

    @functools.cache
    def polynomials(operators: str, kernel_size: int) -> Tensor:
        directions = [parts[:3] for parts in graph.directional.values()]
        terms = [torch.eye(graph.num_vertices).double()]
        for parts in directions if operators == "directional" else [graph.laplacian_parts()]:
            pointers, columns, entries = parts
            dense = torch.zeros_like(terms[0])
            rows = torch.arange(len(dense)).repeat_interleave(pointers.diff())
            dense[rows, columns.long()] = entries.double()
            values, vectors = torch.linalg.eigh(dense)
            angles = torch.arccos(values.clamp(-1, 1))
            powers = range(1, kernel_size)
            terms += [vectors * torch.cos(k * angles) @ vectors.T for k in powers]
        return torch.stack(terms)

    return polynomials


@OPERATORS
@BASIS
@pytest.mark.parametrize("kernel_size", [1, 2, 5])
@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (8, 3)])
def test_the_spectral_definition_and_its_gradients(
    graph: Graph,
    exact: Callable[[str, int], Tensor],
    operators: str,
    channels: tuple[int, int],
    kernel_size: int,
    save_basis: bool,
) -> None:
    conv = ChebConv(*channels, kernel_size, graph, save_basis=save_basis, operators=operators)
    nn.init.normal_(conv.bias)
    x = torch.randn(2, channels[0], graph.num_vertices, requires_grad=True)
    before = x.detach().clone()
    y = conv(x)
    g = torch.randn_like(y)
    y.backward(g)
    assert torch.equal(x, before)
    signal, weight, bias = (
        part.detach().double().requires_grad_() for part in (x, conv.weight, conv.bias)
    )
    terms = exact(operators, kernel_size)
    expected = torch.einsum("kuv,biv,kio->bou", terms, signal, weight) + bias[:, None]
    expected.backward(g.double())
    pairs = [(y, expected), (x.grad, signal.grad)]
    pairs += [(conv.weight.grad, weight.grad), (conv.bias.grad, bias.grad)]
    for computed, by_definition in pairs:
        assert (computed - by_definition).norm() <= 1e-5 * by_definition.norm()


@BASIS
@pytest.mark.parametrize(("channels", "handed"), [((2, 3), False), ((2, 14), True), ((4, 2), True)])
def test_polynomials_of_derivatives(
    gradient_graphs: Store, channels: tuple[int, int], save_basis: bool, handed: bool
) -> None:
    """Against dense algebra in float64; the recursion runs on either side, or both gradients."""
    graph, options = gradient_graphs["arrows"].levels[1].double(), {"save_basis": save_basis}
    kind = {"operators": "first-order", "handed": handed}
    conv = ChebConv(*channels, 4, graph, **options, **kind).double()
    fields = dense(graph)[: 3 if handed else 1]
    assert conv.weight.shape == (4, (1 + len(fields)) * channels[0], channels[1])
    x = torch.randn(2, channels[0], graph.num_vertices).double().requires_grad_()
    laplacian = graph.laplacian.to_dense()
    terms = [torch.eye(len(laplacian)).double(), laplacian]
    terms += [2 * laplacian @ laplacian - terms[0]]
    terms += [2 * laplacian @ terms[2] - laplacian]
    along = torch.cat([x, *(x @ field.T for field in fields)], 1)
    expected = torch.einsum("kuv,biv,kio->bou", torch.stack(terms), along, conv.weight)
    expected, y = expected + conv.bias[:, None], conv(x)
    assert (y - expected).abs().max() <= 1e-12
    g, parts = torch.randn_like(y), (x, conv.weight, conv.bias)
    pairs = [torch.autograd.grad(one, parts, g, retain_graph=True) for one in (y, expected)]
    for computed, by_definition in zip(*pairs, strict=True):
        assert (computed - by_definition).norm() <= 1e-6 * by_definition.norm()


def test_initial_weights_are_kaiming(graph: Graph) -> None:
    conv = ChebConv(64, 64, 4, graph)
    assert conv.weight.shape == (4, 64, 64)
    assert conv.weight.std().item() == pytest.approx((2 / (4 * 64)) ** 0.5, rel=0.03)
    assert (conv.bias == 0).all()
    assert list(conv.state_dict()) == ["weight", "bias", "_extra_state"]
    assert ChebConv(2, 5, 4, graph, operators="directional").weight.shape == (1 + 3 * 3, 2, 5)


@OPERATORS
@pytest.mark.parametrize(("kernel_size", "order"), [(1, 2), (4, 1), (6, 3)])
def test_low_pass_filters(graph: Graph, operators: str, kernel_size: int, order: int) -> None:
    """By numpy's series: they vanish at the end of the spectrum; their variance is Kaiming's."""
    conv = ChebConv(50, 60, kernel_size, graph, operators=operators)
    low_pass_(nn.Sequential(conv), order)
    first, *rest = conv.weight.detach().double().flatten(1).numpy()
    along_all = np.reshape(rest, (-1, kernel_size - 1, len(first))).sum(0) if rest else []
    series = np.stack([first, *along_all])
    for derivative in range(min(order, kernel_size - 1)):
        assert abs(chebval(1.0, chebder(series, derivative))).max() <= 1e-5
    assert series.std() > 0
    assert conv.weight.square().sum(0).mean().item() == pytest.approx(2 / 50, rel=0.1)


@BASIS
@pytest.mark.parametrize("operators", ["laplacian", "directional", "first-order"])
def test_low_pass(
    directional: Store, gradient_graphs: Store, operators: str, save_basis: bool
) -> None:
    """It is the same layer of (I - L) x / 2, which is 0 at the end of the spectrum."""
    store = gradient_graphs["plane"] if operators == "first-order" else directional["whole"]
    graph, options = store.levels[1].double(), {"operators": operators, "save_basis": save_basis}
    conv = ChebConv(2, 3, 3, graph, low_pass=True, **options).double()
    same = ChebConv(2, 3, 3, graph, **options).double()
    for name in ("weight", "bias", "norms"):
        setattr(same, name, getattr(conv, name))
    x = torch.randn(2, 2, graph.num_vertices).double().requires_grad_()
    smooth = (x - x @ graph.laplacian.to_dense()) / 2
    y, expected = conv(x), same(smooth)
    torch.testing.assert_close(y, expected, rtol=1e-12, atol=1e-12)
    g = torch.randn_like(y)
    by_x, by_definition = (
        torch.autograd.grad(one, x, g, retain_graph=True) for one in (y, expected)
    )
    torch.testing.assert_close(by_x, by_definition, rtol=1e-10, atol=1e-10)
    assert torch.autograd.gradgradcheck(conv, x, fast_mode=True)
    assert "low_pass=True" in repr(conv)


def test_autocast_leaves_float64_alone(graph: Graph) -> None:
    """As it leaves torch's own layers."""
    conv, x = ChebConv(1, 2, 3, copy.deepcopy(graph)).double(), torch.randn(1, 1, 256).double()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(conv(x), conv.double()(x))
        refused("takes torch.float32.*Got torch.float64", ChebConv(1, 2, 3, graph), x)


@pytest.mark.parametrize("name", ["whole", "masked"])
def test_equivariant_layers_and_networks(directional: Store, name: str) -> None:
    """Under rotations by 90 degrees, too: left-invariant operators commute with them."""
    pyramid = directional[name]
    resnet = WideResNet(pyramid, 2, 3, depth=1, widen=1, operators="directional")
    unet = UNet(pyramid, 2, 3, channels=(3, 4, 5), operators="directional")
    conv = ChebConv(2, 3, 4, pyramid.levels[0], operators="directional")
    images = torch.randn(4, 2, 16, 16)
    for module, signal in ((conv, None), (resnet, images), (unet, images)):
        if signal is not None:
            module(images)  # so that running statistics are not at their start
        assert {"rotation_90", "flip"} <= assert_equivariant(module, pyramid, signal).keys()


@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
def test_random_subgraphs_are_refused_while_training(graph: Graph, sample: object) -> None:
    conv = ChebConv(1, 1, 2, graph, operators="directional")
    x = torch.randn(1, 1, graph.num_vertices)
    expected = conv(x)
    sample(graph, 0.5)
    refused(r"no random sub-graphs, .* sample_edges\(graph, 1\)", conv, x)
    assert torch.equal(conv.eval()(x), expected)
    sample(graph, 1)
    assert torch.equal(conv.train()(x), expected)


def test_names_of_operators_are_made_anew_in_empty_memory(graph: Graph) -> None:
    conv = ChebConv(1, 1, 2, graph, operators="directional")
    kept = conv.get_buffer("operator_names").clone()
    conv.get_buffer("operator_names").zero_()
    assert torch.equal(conv.to_empty(device="cpu").get_buffer("operator_names"), kept)


FIRST = {"operators": "first-order"}


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("whole", (1, 4, {}), (1, 2, {"operators": "directional"})),
        ("plane", (8, 4, {}), (4, 4, FIRST)),
        ("plane", (4, 4, FIRST), (4, 4, {**FIRST, "low_pass": True})),
    ],
)
def test_weights_of_other_operators_are_refused(
    directional: Store, gradient_graphs: Store, name: str, one: Settings, other: Settings
) -> None:
    """Of equal shapes, they mean something else; nothing is loaded."""
    pyramid = (directional if name == "whole" else gradient_graphs)[name]

    def made(settings: Settings) -> nn.Sequential:
        channels, kernel_size, kind = settings
        conv = ChebConv(channels, 3, kernel_size, pyramid.levels[0], **kind)
        return nn.Sequential(pyramid, conv)

    for settings, others in ((one, other), (other, one)):
        network, state = made(settings), made(others).state_dict()
        before = network[1].weight.clone()
        assert before.shape == state["1.weight"].shape
        mine, theirs = (of[2].get("operators", "laplacian") for of in (settings, others))
        message = f"of operators='{theirs}'.* has operators='{mine}'"
        refused(message, network.load_state_dict, state, strict=False)
        for allowed in (False, True):
            refused(f"s are {message}", load_weights, network, state, allow_other_graph=allowed)
        assert torch.equal(network[1].weight, before)
        assert load_weights(made(settings), network.state_dict()) == ()


def test_refusals(graph: Graph, directional: Store) -> None:
    layer, single = ChebConv(2, 3, 2, graph), directional["single"].levels[0]
    assert single.directional == {}
    for sizes in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        refused(r"must be at least 1\. Got 0", ChebConv, *sizes, graph)
    for dtype in (torch.float64, torch.bfloat16):
        refused(f"level 1 takes .*float.* Got {dtype}", layer, torch.zeros(1, 2, 256, dtype=dtype))
    refused(r"whole@v001, level 1 takes \(B, 2, 256\)", layer, torch.zeros(2, 3, 256))
    refused("on cpu, .* Got one on meta", layer, torch.zeros(1, 2, 256, device="meta"))
    refused("operators must be 'lap", ChebConv, 1, 1, 2, graph, operators="sideways")
    message = "single@v001, level 0 has no directional Laplacians; build it"
    refused(message, ChebConv, 1, 1, 2, single, operators="directional")
