"""Layers against dense float64 algebra, their gradients, shapes and refusals."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from cheblienet_graphs import GraphSpec, build, open_group
from cheblienet_models import (
    ChebConv,
    GlobalPool,
    Graph,
    LevelMap,
    Lift,
    Project,
    Pyramid,
    SpatialPool,
    SpatialUnpool,
    ignore_graphs_in_ddp,
    open_store,
)
from cheblienet_models.layers.chebyshev import (
    chebyshev,
    chebyshev_basis,
    chebyshev_gradients,
    chebyshev_moments,
)
from cheblienet_models.store.csr import CsrArrays


@pytest.fixture
def pyramid(store: Path) -> Pyramid:
    return open_store(store)["torus"]


@pytest.fixture
def graph(pyramid: Pyramid) -> Graph:
    return pyramid.levels[1]


def dense_chebyshev(graph: Graph, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """sum_k cos(k arccos L) x W_k by the eigendecomposition, in float64."""
    values, vectors = np.linalg.eigh(graph.laplacian.to_dense().double().numpy())
    angles = np.arccos(np.clip(values, -1, 1))
    y = 0
    for k, matrix in enumerate(weight.detach().double().numpy()):
        polynomial = vectors * np.cos(k * angles) @ vectors.T
        y = y + np.einsum("uv,bcv,cd->bdu", polynomial, x.double().numpy(), matrix)
    offset = 0 if bias is None else bias.detach().double().numpy()[:, None]
    return torch.from_numpy(y + offset)


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 6])
@pytest.mark.parametrize("bias", [True, False])
def test_chebconv_equals_the_spectral_definition(
    graph: Graph, kernel_size: int, *, bias: bool
) -> None:
    torch.manual_seed(0)
    conv = ChebConv(3, 5, kernel_size, graph, bias=bias)
    if conv.bias is not None:
        nn.init.normal_(conv.bias)
    x = torch.randn(2, 3, graph.num_vertices)
    y = conv(x)
    assert y.shape == (2, 5, graph.num_vertices)
    expected = dense_chebyshev(graph, x, conv.weight, conv.bias)
    assert (y - expected).norm() <= 1e-5 * expected.norm()


def test_chebconv_gradients(graph: Graph) -> None:
    torch.manual_seed(0)
    conv = ChebConv(2, 3, 4, graph).double()
    x = torch.randn(2, 2, graph.num_vertices, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(conv, (x,), fast_mode=True)
    assert torch.autograd.gradgradcheck(conv, (x,), fast_mode=True)
    inputs = (conv.weight.detach().requires_grad_(), conv.bias.detach().requires_grad_())
    layer = {"weight": inputs[0], "bias": inputs[1]}
    call = lambda *parameters: torch.func.functional_call(  # noqa: E731
        conv, dict(zip(layer, parameters, strict=True)), (x.detach(),)
    )
    assert torch.autograd.gradcheck(call, inputs, fast_mode=True)


@pytest.mark.parametrize("kernel_size", [1, 2, 4])
@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (3, 4), (4, 2)])
def test_operators_pass_opcheck(graph: Graph, channels: tuple[int, int], kernel_size: int) -> None:
    torch.manual_seed(0)
    narrow, wide = channels
    parts = tuple(part.clone() for part in graph.laplacian_parts())
    x = torch.randn(graph.num_vertices, 2, narrow, requires_grad=True)
    g = torch.randn(graph.num_vertices, 2, wide, requires_grad=True)
    weight = torch.randn(kernel_size, narrow, wide, requires_grad=True)
    torch.library.opcheck(chebyshev, (x, weight, *parts))
    torch.library.opcheck(chebyshev_basis, (x, weight, *parts))
    torch.library.opcheck(chebyshev_moments, (x, g, kernel_size, *parts))
    torch.library.opcheck(chebyshev_gradients, (g, x, weight, None, *parts))


def test_initial_weights_are_kaiming(graph: Graph) -> None:
    torch.manual_seed(0)
    conv = ChebConv(64, 64, 4, graph)
    assert conv.weight.shape == (4, 64, 64)
    assert conv.weight.std().item() == pytest.approx((2 / (4 * 64)) ** 0.5, rel=0.03)
    assert (conv.bias == 0).all()


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_chebconv_refuses_sizes_below_one(graph: Graph, sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"must be at least 1\. Got 0"):
        ChebConv(*sizes, graph)


@pytest.mark.parametrize("shape", [(2, 3, 256), (2, 256, 2), (2, 2, 255), (2, 256), (2, 2, 16, 16)])
def test_chebconv_states_the_shape_it_takes(graph: Graph, shape: tuple[int, ...]) -> None:
    conv = ChebConv(2, 3, 2, graph)
    with pytest.raises(ValueError, match=r"torus@v001, level 1 takes \(B, 2, 256\)") as caught:
        conv(torch.zeros(shape))
    assert str(shape) in str(caught.value)


def stored(store: Path, path: str) -> Tensor:
    group = open_group(store, "torus")[path]
    rows, columns = group.attrs["shape"]
    dense = torch.zeros(rows, columns)
    pointers = group["indptr"][:]
    row = np.repeat(np.arange(rows), np.diff(pointers))
    dense[row, group["indices"][:]] = torch.from_numpy(group["data"][:])
    return dense


@pytest.mark.parametrize(
    ("layer", "path"), [(SpatialPool, "pooling/0to1"), (SpatialUnpool, "unpooling/1to0")]
)
def test_spatial_maps(store: Path, pyramid: Pyramid, layer: type, path: str) -> None:
    matrix = stored(store, path)
    torch.manual_seed(0)
    x = torch.randn(2, 3, matrix.shape[1])
    assert torch.allclose(layer(pyramid, 0, "mean")(x), x @ matrix.T, atol=1e-6)
    masked = torch.where(matrix > 0, x[:, :, None], -torch.inf)
    assert torch.equal(layer(pyramid, 0, "max")(x), masked.amax(3))
    drawn = layer(pyramid, 0, "random")
    assert torch.allclose(drawn.eval()(x), x @ matrix.T, atol=1e-6)
    y = drawn.train()(x)
    sources = (x[:, :, None] == y[..., None]) & (matrix > 0)
    assert sources.all(1).all(0).any(-1).all()  # one source a vertex, the same in every channel


def test_random_pooling_draws_every_source(pyramid: Pyramid) -> None:
    torch.manual_seed(0)
    pool = SpatialPool(pyramid, 0, "random")
    x = torch.arange(pyramid.levels[0].num_vertices, dtype=torch.float32)[None, None]
    draws = torch.stack([pool(x)[0, 0] for _ in range(60)])
    assert all(len(column.unique()) == 4 for column in draws.T)


def test_ragged_maps_are_padded() -> None:
    """Rows of unequal length, as at the pentagons of an icosphere."""
    indptr, indices = np.array([0, 3, 3 + 1], np.int32), np.array([0, 2, 3, 1], np.int32)
    data = np.array([0.5, 0.25, 0.25, 1], np.float32)
    level_map = LevelMap((list, ()), CsrArrays((2, 4), indptr, indices, data))
    assert level_map.sources.tolist() == [[0, 2, 3], [1, 1, 1]]
    assert level_map.weights.tolist() == [[0.5, 0.25, 0.25], [1, 0, 0]]


def test_pooling_refusals(pyramid: Pyramid) -> None:
    with pytest.raises(ValueError, match="levels 0 to 1; there is no map between levels 1 and 2"):
        SpatialPool(pyramid, 1)
    with pytest.raises(ValueError, match="mode must be"):
        SpatialPool(pyramid, 0, "median")
    with pytest.raises(ValueError, match=r"SpatialPool takes \(B, C, 1024\). Got \(1, 2, 256\)"):
        SpatialPool(pyramid, 0)(torch.zeros(1, 2, 256))


def test_lift_and_project(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    images = torch.randn(2, 3, 16, 16)
    lifted = Lift(graph)(images)
    assert lifted.shape == (2, 3, 4 * 256)
    assert torch.equal(Lift(graph)(images.flatten(2)), lifted)
    for mode in ("max", "mean"):
        assert torch.allclose(Project(graph, mode)(lifted).view_as(images), images)
    x = torch.randn(2, 3, 1024)
    assert torch.equal(Project(graph)(x), x.view(2, 3, 4, 256).amax(2))
    with pytest.raises(
        ValueError, match=r"\(B, C, 16, 16\) or \(B, C, 256\). Got \(2, 3, 15, 16\)"
    ):
        Lift(graph)(images[:, :, 1:])
    with pytest.raises(ValueError, match=r"Project takes \(B, C, 1024\)"):
        Project(graph)(images)
    with pytest.raises(ValueError, match="mode"):
        Project(graph, "sum")


def test_global_pool() -> None:
    x = torch.randn(2, 3, 7)
    assert torch.equal(GlobalPool("max")(x), x.amax(2))
    assert torch.equal(GlobalPool("mean")(x), x.mean(2))
    with pytest.raises(ValueError, match="mode"):
        GlobalPool("sum")


def test_graph_is_in_memory_once(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    net = nn.Sequential(
        ChebConv(1, 2, 2, graph), ChebConv(2, 2, 2, graph), ChebConv(2, 1, 2, graph)
    )

    def storages() -> int:
        return len({conv.graph.values.data_ptr() for conv in net})

    assert storages() == 1
    assert net.double()[0].graph.values.dtype == torch.float64
    assert storages() == 1
    assert not any("graph" in key for key in net.state_dict())
    twin = copy.deepcopy(net)
    assert twin[0].graph is twin[1].graph is not net[0].graph
    assert twin[0].graph.values.data_ptr() == net[0].graph.values.data_ptr()
    twin.float()
    assert net[0].graph.values.dtype == torch.float64


CONSTANTS = {
    "row_pointers": (torch.int32, torch.int32),
    "columns": (torch.int32, torch.int32),
    "values": (torch.float32, torch.float64),
    "degree": (torch.float32, torch.float64),
    "area": (torch.float32, torch.float64),
    "coordinates": (torch.float64, torch.float64),
    "eigenvalues": (torch.float64, torch.float64),
    "eigenvectors": (torch.float32, torch.float64),
}


@pytest.fixture
def spectral(tmp_path: Path) -> Graph:
    """A graph with every constant there is."""
    build(GraphSpec("se2", 8, orientations=2, levels=1, eigenpairs=3), tmp_path / "g.zarr")
    return open_store(tmp_path / "g.zarr")["se2-8x8x2"].levels[0]


def test_constants_follow_a_layer(spectral: Graph) -> None:
    conv = ChebConv(1, 2, 2, spectral)
    stored = {name: getattr(spectral, name) for name in CONSTANTS}

    def dtypes() -> list[torch.dtype]:
        return [getattr(spectral, name).dtype for name in CONSTANTS]

    single, double = map(list, zip(*CONSTANTS.values(), strict=True))
    for change in (conv.float, conv.half, conv.bfloat16, conv.cpu):
        change()
        assert dtypes() == single
        for name, tensor in stored.items():
            assert getattr(spectral, name).data_ptr() == tensor.data_ptr(), name
    conv.double()
    assert dtypes() == double
    conv.half()  # back to what is stored, and no lower
    assert dtypes() == double
    conv.float()
    assert dtypes() == single
    for name, tensor in stored.items():
        assert torch.equal(getattr(spectral, name), tensor), name
    conv.to("meta")
    assert {getattr(spectral, name).device.type for name in CONSTANTS} == {"meta"}


def all_buffers(module: nn.Module) -> list[tuple[str, Tensor]]:
    return list(module.named_buffers(remove_duplicate=False))


def test_constants_stay_out_of_checkpoints_and_broadcasts(spectral: Graph) -> None:
    net = nn.Sequential(ChebConv(1, 2, 2, spectral), ChebConv(2, 2, 2, spectral))
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    ignore_graphs_in_ddp(net)
    assert set(net._ddp_params_and_buffers_to_ignore) == {key for key, _ in all_buffers(net)}
    twin = pickle.loads(pickle.dumps(copy.deepcopy(net).double()))
    for name, (_, dtype) in CONSTANTS.items():
        found = getattr(twin[0].graph, name)
        assert found.dtype == dtype
        assert torch.equal(found, getattr(spectral, name).to(dtype))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here")
def test_constants_follow_to_a_gpu(spectral: Graph) -> None:
    conv = ChebConv(1, 2, 2, spectral).cuda()
    assert all(getattr(spectral, name).is_cuda for name in CONSTANTS)
    assert conv.graph.edges.weights.is_cuda
    assert all(not getattr(conv.cpu().graph, name).is_cuda for name in CONSTANTS)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_reduced_precision(pyramid: Pyramid, dtype: torch.dtype) -> None:
    graph = pyramid.levels[0]
    torch.manual_seed(0)
    conv = ChebConv(3, 4, 4, graph)
    x = torch.randn(2, 3, graph.num_vertices)
    expected = conv(x)
    with torch.autocast("cpu", dtype=dtype):
        y = conv(x)
        (y.float() ** 2).sum().backward()
    assert y.dtype == dtype
    assert (y.float() - expected).norm() < 0.02 * expected.norm()
    assert conv.weight.grad.isfinite().all()
    low = copy.deepcopy(conv).to(dtype)
    assert low.graph.values.dtype == torch.float32  # or the graph would be another one
    assert (low(x.to(dtype)).float() - expected).norm() < 0.02 * expected.norm()


def test_pickled_networks_share_and_keep_their_precision(pyramid: Pyramid) -> None:
    net = nn.ModuleList(
        [pyramid, ChebConv(1, 2, 2, pyramid.levels[0]), ChebConv(2, 1, 2, pyramid.levels[0])]
    ).double()
    for twin in (pickle.loads(pickle.dumps(net)), pickle.loads(pickle.dumps(copy.deepcopy(net)))):
        assert twin[1].graph is twin[2].graph is twin[0].levels[0]
        assert twin[1].graph.values.dtype == torch.float64
        x = torch.randn(1, 1, 1024, dtype=torch.float64)
        assert torch.equal(twin[1](x), net[1](x))
    alone = pickle.loads(pickle.dumps(nn.ModuleList([net[1], net[2]])))
    assert alone[0].graph is alone[1].graph
