"""ChebConv on directional Laplacians: dense float64 algebra, gradients of any order, refusals."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    ChebConv,
    Graph,
    Pyramid,
    UNet,
    WideResNet,
    ignore_graphs_in_ddp,
    load_weights,
    open_store,
    portable,
    sample_edges,
    sample_vertices,
)
from cheblienet_models.layers.chebyshev import (
    chebyshev,
    chebyshev_basis,
    chebyshev_gradients,
    chebyshev_moments,
)
from cheblienet_models.testing import assert_equivariant

FIELDS = {"orientations": 4, "levels": 2}
CHANNELS = [(2, 5), (3, 3), (3, 4), (4, 2)]


@pytest.fixture(scope="module")
def directional_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("directional") / "graphs.zarr"
    build(GraphSpec("se2", 16, **FIELDS, directional=0.05), path, name="directional")
    build(GraphSpec("se2", 16, **FIELDS), path, name="single")
    y, x = np.mgrid[:16, :16] - 7.5
    disc = x**2 + y**2 < 64
    build(GraphSpec("se2", mask=disc, **FIELDS, directional=0.05), path, name="masked")
    return path


@pytest.fixture
def plane(directional_store: Path) -> Pyramid:
    return open_store(directional_store, verify=True)["directional"]


@pytest.fixture
def graph(plane: Pyramid) -> Graph:
    return plane.levels[1]


def dense(graph: Graph) -> list[np.ndarray]:
    """The directional Laplacians, forward, sideways and rotation, filled in entry by entry."""
    found = []
    for pointers, columns, values, _ in graph.directional.values():
        matrix = np.zeros((graph.num_vertices,) * 2)
        rows = np.repeat(np.arange(len(matrix)), np.diff(pointers.numpy()))
        matrix[rows, columns.numpy()] = values.double().numpy()
        found.append(matrix)
    return found


def spectral_sum(graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
    """X W_0 + sum_j sum_k cos(k arccos L_j) x W_jk by eigendecompositions, in float64."""
    signal, matrices = x.detach().double().numpy(), list(weight.detach().double().numpy())
    y = np.einsum("bcv,cd->bdv", signal, matrices.pop(0))
    degree = len(matrices) // 3
    for laplacian in dense(graph):
        values, vectors = np.linalg.eigh(laplacian)
        angles = np.arccos(np.clip(values, -1, 1))
        for k in range(1, degree + 1):
            polynomial = vectors * np.cos(k * angles) @ vectors.T
            y = y + np.einsum("uv,bcv,cd->bdu", polynomial, signal, matrices.pop(0))
    return torch.from_numpy(y)


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 6])
@pytest.mark.parametrize("channels", CHANNELS)
def test_the_spectral_definition(graph: Graph, channels: tuple[int, int], kernel_size: int) -> None:
    conv = ChebConv(*channels, kernel_size, graph, bias=False, operators="directional")
    assert conv.weight.shape == (1 + 3 * (kernel_size - 1), *channels)
    x = torch.randn(2, channels[0], graph.num_vertices)
    before = x.clone()
    expected = spectral_sum(graph, x, conv.weight)
    assert (conv(x) - expected).norm() <= 1e-5 * expected.norm()
    assert torch.equal(x, before)


def test_the_operators_are_not_one_another(graph: Graph) -> None:
    """Weights of one direction alone give that direction's operator."""
    conv = ChebConv(1, 1, 2, graph, bias=False, operators="directional")
    x = torch.randn(1, 1, graph.num_vertices)
    for n, matrix in enumerate(dense(graph), 1):
        with torch.no_grad():
            conv.weight.zero_()
            conv.weight[n] = 1
            found = conv(x)[0, 0].double().numpy()
        np.testing.assert_allclose(found, matrix @ x[0, 0].double().numpy(), atol=1e-6)


@pytest.mark.parametrize("kernel_size", [1, 2, 4])
@pytest.mark.parametrize("channels", CHANNELS)
def test_gradients_of_any_order(graph: Graph, channels: tuple[int, int], kernel_size: int) -> None:
    conv = ChebConv(*channels, kernel_size, graph, bias=False, operators="directional").double()
    x = torch.randn(1, channels[0], graph.num_vertices, dtype=torch.float64, requires_grad=True)
    weight = conv.weight.detach().requires_grad_()

    def call(signal: Tensor, matrices: Tensor) -> Tensor:
        return torch.func.functional_call(conv, {"weight": matrices}, (signal,))

    assert torch.autograd.gradcheck(call, (x, weight), fast_mode=True)
    assert torch.autograd.gradgradcheck(call, (x, weight), fast_mode=True)
    fixed = x.detach()
    assert torch.autograd.gradcheck(lambda w: call(fixed, w), (weight,), fast_mode=True)
    held = weight.detach()
    assert torch.autograd.gradcheck(lambda s: call(s, held), (x,), fast_mode=True)


@pytest.mark.parametrize("save_basis", [False, True])
@pytest.mark.parametrize("channels", [(4, 6), (3, 8), (6, 6), (8, 3)])
def test_gradients_in_float32_equal_those_of_dense_float64(
    graph: Graph, channels: tuple[int, int], *, save_basis: bool
) -> None:
    conv = ChebConv(*channels, 4, graph, operators="directional", save_basis=save_basis)
    x = torch.randn(2, channels[0], graph.num_vertices, requires_grad=True)
    y = conv(x)
    g = torch.randn_like(y)
    y.backward(g)
    signal = x.detach().double().requires_grad_()
    weight = conv.weight.detach().double().requires_grad_()
    terms = [signal]
    for matrix in map(torch.from_numpy, dense(graph)):
        powers = [signal, signal @ matrix]
        while len(powers) < 4:
            powers.append(2 * powers[-1] @ matrix - powers[-2])
        terms += powers[1:]
    exact = torch.einsum("kbiv,kio->bov", torch.stack(terms), weight)
    exact.backward(g.double())
    pairs = [(y, exact), (x.grad, signal.grad), (conv.weight.grad, weight.grad)]
    for found, expected in pairs:
        assert (found - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.slow
@pytest.mark.parametrize("kernel_size", [1, 2, 4])
@pytest.mark.parametrize("channels", [(2, 5), (3, 4), (4, 2)])
def test_operators_pass_opcheck(graph: Graph, channels: tuple[int, int], kernel_size: int) -> None:
    narrow, wide = channels
    parts = [part.clone() for part in graph.directional_parts()]
    x = torch.randn(graph.num_vertices, 2, narrow, requires_grad=True)
    g = torch.randn(graph.num_vertices, 2, wide, requires_grad=True)
    weight = torch.randn(1 + 3 * (kernel_size - 1), narrow, wide, requires_grad=True)
    torch.library.opcheck(chebyshev, (x, weight, *parts))
    torch.library.opcheck(chebyshev_basis, (x, weight, *parts))
    torch.library.opcheck(chebyshev_moments, (x, g, len(weight), *parts))
    torch.library.opcheck(chebyshev_gradients, (g, x, weight, None, *parts))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_reduced_precision(graph: Graph, dtype: torch.dtype) -> None:
    conv = ChebConv(3, 4, 4, graph, operators="directional")
    x = torch.randn(2, 3, graph.num_vertices)
    expected = conv(x)
    with torch.autocast("cpu", dtype=dtype):
        y = conv(x)
        (y.float() ** 2).sum().backward()
    assert y.dtype == dtype
    assert (y.float() - expected).norm() < 0.02 * expected.norm()
    assert conv.weight.grad.isfinite().all()
    low = copy.deepcopy(conv).to(dtype)
    assert low.graph.directional["forward"].values.dtype == torch.float32
    assert (low(x.to(dtype)).float() - expected).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("name", ["directional", "masked"])
def test_equivariant_layers_and_networks(directional_store: Path, name: str) -> None:
    """Under rotations by 90 degrees, too: left-invariant operators commute with them."""
    pyramid = open_store(directional_store)[name]
    conv = ChebConv(2, 3, 4, pyramid.levels[0], operators="directional")
    assert {"rotation_90", "flip"} <= assert_equivariant(conv, pyramid, tolerance=1e-5).keys()
    resnet = WideResNet(pyramid, 2, 3, depth=1, widen=1, operators="directional")
    unet = UNet(pyramid, 2, 3, channels=(3, 4, 5), operators="directional")
    for network in (resnet, unet):
        for _ in range(3):
            network(torch.randn(4, 2, 16, 16))
        found = assert_equivariant(network, pyramid, torch.randn(2, 2, 16, 16))
        assert {"rotation_90", "flip"} <= found.keys()


def test_a_turned_image_has_the_turned_signal(plane: Pyramid) -> None:
    """Without the package's own idea of a symmetry: orientation k becomes k + n_o / 2."""
    graph = plane.levels[0]
    conv = ChebConv(1, 1, 4, graph, operators="directional")
    x = torch.randn(1, 1, 4, 16, 16)

    def turned(signal: Tensor) -> Tensor:  # x to y, y to -x: a quarter turn of rows going down
        return torch.rot90(signal, -1, (3, 4)).roll(2, 2)

    with torch.no_grad():
        y = conv(x.flatten(2)).view(x.shape)
        found = conv(turned(x).flatten(2)).view(x.shape)
        assert (found - turned(y)).abs().max() <= 1e-5
        assert (found - turned(y).roll(1, 2)).abs().max() > 0.1


def test_graphs_without_directions_refuse(directional_store: Path) -> None:
    graph = open_store(directional_store)["single"].levels[0]
    assert graph.directional == {}
    with pytest.raises(
        ValueError, match="single@v001, level 0 has no directional Laplacians; build"
    ):
        ChebConv(1, 1, 2, graph, operators="directional")


def test_what_is_not_taken(graph: Graph) -> None:
    with pytest.raises(ValueError, match="operators must be 'laplacian' or 'directional'"):
        ChebConv(1, 1, 2, graph, operators="sideways")


@pytest.mark.parametrize("sample", [sample_edges, sample_vertices])
def test_random_subgraphs_are_refused_while_training(graph: Graph, sample: object) -> None:
    conv = ChebConv(1, 1, 2, graph, operators="directional")
    x = torch.randn(1, 1, graph.num_vertices)
    expected = conv(x)
    sample(graph, 0.5)
    with pytest.raises(ValueError, match=r"no random sub-graphs, .* sample_edges\(graph, 1\)"):
        conv(x)
    assert torch.equal(conv.eval()(x), expected)
    sample(graph, 1)
    assert torch.equal(conv.train()(x), expected)


def test_the_metrics_own_layers_are_as_ever(plane: Pyramid, directional_store: Path) -> None:
    """The same numbers and the same checkpoint, whether the graph has directions or not."""
    other = open_store(directional_store)["single"].levels[0]
    torch.manual_seed(0)
    one = ChebConv(3, 4, 4, plane.levels[0])
    torch.manual_seed(0)
    two = ChebConv(3, 4, 4, other, operators="laplacian")
    x = torch.randn(2, 3, other.num_vertices)
    assert torch.equal(one(x), two(x))
    assert list(one.state_dict()) == ["weight", "bias"]


def test_weights_of_other_operators_are_refused(plane: Pyramid) -> None:
    """Kernel sizes 2 and 4 have weights of equal shapes, which mean something else."""

    def make(kernel_size: int, operators: str) -> WideResNet:
        return WideResNet(plane, 1, 2, kernel_size, depth=1, widen=1, operators=operators)

    single, directional = make(4, "laplacian"), make(2, "directional")
    assert single.conv.weight.shape == directional.conv.weight.shape
    for network, other, now, then in (
        (single, directional, "laplacian", "directional"),
        (directional, single, "directional", "laplacian"),
    ):
        before = network.conv.weight.clone()
        told = f"of operators='{then}'.* operators='{now}'"
        for strict in (True, False):
            with pytest.raises(ValueError, match=told) as caught:
                network.load_state_dict(other.state_dict(), strict=strict)
            assert "\n" not in str(caught.value)
        for allow in (True, False):
            with pytest.raises(ValueError, match=told):
                load_weights(network, other.state_dict(), allow_other_graph=allow)
        assert torch.equal(network.conv.weight, before)
    again = make(2, "directional")
    assert load_weights(again, directional.state_dict()) == ()
    images = torch.randn(2, 1, 16, 16)
    assert torch.equal(again.eval()(images), directional.eval()(images))


def test_buffers_are_shared_mapped_and_not_saved(plane: Pyramid) -> None:
    graph = plane.levels[0]
    network = nn.Sequential(
        ChebConv(1, 2, 2, graph, operators="directional"),
        ChebConv(2, 1, 2, graph, operators="directional"),
    )
    ignore_graphs_in_ddp(network)
    names = ("row_pointers", "columns", "values")
    for direction in graph.directional:
        for part in names:
            assert f"0.graph.{direction}_{part}" in network._ddp_params_and_buffers_to_ignore
    assert {key.split(".")[1] for key in network.state_dict()} == {
        "weight", "bias", "operator_names",
    }  # fmt: skip
    twin = copy.deepcopy(network)
    again = pickle.loads(pickle.dumps(plane))
    assert len(pickle.dumps(plane)) < 5000
    for direction, parts in graph.directional.items():
        here = twin[1].graph.directional[direction]
        assert [part.data_ptr() for part in here[:3]] == [part.data_ptr() for part in parts[:3]]
        for a, b in zip(again.levels[0].directional[direction], parts, strict=True):
            assert a == b if isinstance(a, float) else torch.equal(a, b)
    network.double()
    assert graph.directional["rotation"].values.dtype == torch.float64
    assert graph.directional["rotation"].columns.dtype == torch.int32


# Of torch's own, in its decompositions.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_exported_and_portable(plane: Pyramid) -> None:
    network = WideResNet(plane, 2, 3, 3, depth=1, widen=1, operators="directional")
    images = torch.randn(2, 2, 16, 16)
    network(images)
    network.eval()
    with torch.no_grad():
        expected = network(images)
        program = torch.export.export(network, (images,))
        assert (program.module()(images) - expected).abs().max() <= 1e-5
        plain = portable(program)
        called = (node.target for node in plain.graph.nodes if node.op == "call_function")
        spaces = {t.namespace for t in called if isinstance(t, torch._ops.OpOverload)}
        assert spaces == {"aten"}
        assert (plain.module()(images) - expected).abs().max() <= 1e-5
