"""Training as users do it: compiled, exported, in reduced precision, in several processes."""

import copy
import multiprocessing
import os
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader
from workers import Filtered, private_bytes_of_maps, train_in_parallel

from cheblienet_models import (
    BatchNorm,
    ChebConv,
    Lift,
    Pyramid,
    SpatialPool,
    SpatialUnpool,
    WideResNet,
    open_store,
)


@pytest.fixture
def pyramid(store: Path) -> Pyramid:
    return open_store(store)["torus"]


def network_on(pyramid: Pyramid, pool: str = "max") -> WideResNet:
    torch.manual_seed(0)
    network = WideResNet(pyramid, 2, 4, kernel_size=3, depth=1, widen=1, pool=pool)
    for _ in range(3):  # so that running statistics are not at their start
        network(torch.randn(4, 2, 16, 16))
    return network.eval()


def turned(images: Tensor) -> Tensor:
    return torch.rot90(images, 1, (2, 3))


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_nothing_is_transposed_between_layers(pyramid: Pyramid, pool: str) -> None:
    """Copies of a signal: one where the image is lifted, else only the recursion's own buffers."""
    network = network_on(pyramid, pool).train()
    images = torch.randn(2, 2, 16, 16)
    network(images).sum().backward()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        network(images).sum().backward()
    copies = []
    for event in recorded.events():
        shape = event.input_shapes[0] if event.input_shapes else []
        if event.name not in {"aten::copy_", "aten::clone"} or torch.Size(shape).numel() < 2048:
            continue
        names, parent = [], event.cpu_parent
        while parent is not None:
            names.append(parent.name)
            parent = parent.cpu_parent
        text = " ".join(names)
        # The gradient of a maximum turns its mask of ties into numbers.
        if "cheblienet_models::" not in text and "AmaxBackward" not in text:
            copies.append((event.name, shape, names))
    assert [name for name, _, _ in copies] == ["aten::clone", "aten::copy_"], copies
    assert all(shape == [4, 256, 2, 2] for _, shape, _ in copies)


def test_layers_hand_on_vertex_major_memory(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    x = Lift(graph)(torch.randn(2, 3, 16, 16))
    layers = [
        ChebConv(3, 5, 3, graph),
        BatchNorm(5),
        nn.ReLU(),
        SpatialPool(pyramid, 0, "max"),
        SpatialUnpool(pyramid, 0),
        SpatialPool(pyramid, 0, "mean"),
        SpatialUnpool(pyramid, 0, "max"),
        SpatialPool(pyramid, 0, "random"),
    ]
    for layer in layers:
        assert x.permute(2, 0, 1).is_contiguous(), layer
        x = layer(x)
    assert x.permute(2, 0, 1).is_contiguous()


def test_batch_norm_is_torchs(pyramid: Pyramid) -> None:
    torch.manual_seed(0)
    ours, theirs = BatchNorm(5), nn.BatchNorm1d(5)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(3, 5, 40, requires_grad=True)
    major = x.detach().permute(2, 0, 1).contiguous().permute(1, 2, 0).requires_grad_()
    for training in (True, True, False):
        ours.train(training)
        theirs.train(training)
        assert torch.allclose(ours(major), theirs(x), atol=1e-6)
    (ours(major) ** 3).sum().backward()
    (theirs(x) ** 3).sum().backward()
    assert torch.allclose(major.grad, x.grad, atol=1e-5)
    for name, value in theirs.state_dict().items():
        assert torch.allclose(ours.state_dict()[name].float(), value.float(), atol=1e-6)
    with pytest.raises(ValueError, match=r"BatchNorm takes \(B, C, V\). Got \(3, 5\)"):
        ours(torch.zeros(3, 5))


@pytest.mark.parametrize("channels", [(2, 5), (3, 3), (5, 2)])
@pytest.mark.parametrize("kernel_size", [1, 2, 5])
def test_saving_the_basis_changes_nothing_else(
    pyramid: Pyramid, channels: tuple[int, int], kernel_size: int
) -> None:
    torch.manual_seed(0)
    graph = pyramid.levels[1]
    plain = ChebConv(*channels, kernel_size, graph)
    saving = ChebConv(*channels, kernel_size, graph, save_basis=True)
    saving.load_state_dict(plain.state_dict())
    found = []
    for layer in (plain, saving):
        x = torch.randn(2, channels[0], 256, generator=torch.Generator().manual_seed(1))
        x.requires_grad_()
        y = layer(x)
        y.backward(torch.cos(torch.arange(y.numel())).view_as(y))
        found.append((y.detach(), x.grad, layer.weight.grad, layer.bias.grad))
    for a, b in zip(*found, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4)
    exact = x.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(saving.double(), (exact,), fast_mode=True)


@pytest.mark.parametrize("channels", [(4, 6), (3, 8), (6, 6), (8, 3)])
def test_gradients_equal_those_of_dense_float64(
    pyramid: Pyramid, channels: tuple[int, int]
) -> None:
    torch.manual_seed(0)
    graph = pyramid.levels[1]
    conv = ChebConv(*channels, 5, graph)
    x = torch.randn(2, channels[0], 256, requires_grad=True)
    y = conv(x)
    g = torch.randn_like(y)
    y.backward(g)
    laplacian = graph.laplacian.to_dense().double()
    signal = x.detach().double().requires_grad_()
    weight = conv.weight.detach().double().requires_grad_()
    terms = [signal, signal @ laplacian]
    while len(terms) < 5:
        terms.append(2 * terms[-1] @ laplacian - terms[-2])
    exact = torch.einsum("kbiv,kio->bov", torch.stack(terms), weight)
    exact.backward(g.double())
    pairs = [(y, exact), (x.grad, signal.grad), (conv.weight.grad, weight.grad)]
    pairs.append((conv.bias.grad, g.double().sum((0, 2))))
    for found, expected in pairs:
        assert (found - expected).norm() <= 1e-5 * expected.norm()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device here")
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_networks_on_a_gpu(pyramid: Pyramid, pool: str) -> None:
    network = network_on(pyramid, pool)
    images = torch.randn(4, 2, 16, 16)
    expected = network(images)
    network.to("cuda")
    assert pyramid.levels[0].values.is_cuda
    found = network(images.cuda())
    found.sum().backward()
    assert torch.allclose(found.cpu(), expected, atol=1e-4)
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        assert (network(images.cuda()).float().cpu() - expected).abs().max() < 0.2
    with pytest.raises(ValueError, match="takes a tensor on cuda"):
        network.conv(torch.zeros(1, 2, pyramid.levels[0].num_vertices))
    assert torch.allclose(network.to("cpu")(images), expected, atol=1e-4)


@pytest.mark.parametrize("save_basis", [False, True])
@pytest.mark.parametrize("channels", [(2, 3), (2, 5), (4, 2)])
def test_gradients_of_any_order(
    pyramid: Pyramid, channels: tuple[int, int], *, save_basis: bool
) -> None:
    torch.manual_seed(0)
    conv = ChebConv(*channels, 3, pyramid.levels[1], bias=False, save_basis=save_basis).double()
    x = torch.randn(1, channels[0], 256, dtype=torch.float64, requires_grad=True)
    weight = conv.weight.detach().requires_grad_()

    def call(signal: Tensor, matrices: Tensor) -> Tensor:
        return torch.func.functional_call(conv, {"weight": matrices}, (signal,))

    assert torch.autograd.gradcheck(call, (x, weight), fast_mode=True)
    assert torch.autograd.gradgradcheck(call, (x, weight), fast_mode=True)


def test_only_the_input_is_kept_for_the_backward(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    x = Lift(graph)(torch.randn(2, 4, 16, 16)).requires_grad_()
    conv, kept = ChebConv(4, 8, 5, graph), []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        conv(x)
    known = {x, conv.weight, *graph.laplacian_parts()}
    assert set(kept) <= {tensor.untyped_storage().data_ptr() for tensor in known}


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # from torch's own inductor
def test_compiled_whole(pyramid: Pyramid) -> None:
    network = network_on(pyramid)
    images = torch.randn(4, 2, 16, 16)
    expected = network(images)
    compiled = torch.compile(network, fullgraph=True)
    with torch.no_grad():
        assert torch.allclose(compiled(images), expected, atol=1e-4)
        assert torch.allclose(compiled(turned(images)), expected, atol=1e-4)


@pytest.mark.parametrize("channels", [(2, 2), (2, 5), (4, 2)])
def test_an_empty_batch(pyramid: Pyramid, channels: tuple[int, int]) -> None:
    conv = ChebConv(*channels, 3, pyramid.levels[1])
    x = torch.zeros(0, channels[0], 256, requires_grad=True)
    y = conv(x)
    y.sum().backward()
    assert y.shape == (0, channels[1], 256)
    assert x.grad.shape == x.shape
    assert (conv.weight.grad == 0).all()


def test_compiled_training_step(pyramid: Pyramid) -> None:
    network = network_on(pyramid).train()
    twin = copy.deepcopy(network)
    compiled = torch.compile(twin, fullgraph=True, backend="aot_eager")
    images = torch.randn(4, 2, 16, 16)
    for module in (network, compiled):
        (module(images) ** 2).sum().backward()
    for mine, other in zip(network.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(mine.grad, other.grad, rtol=1e-3, atol=1e-3 * mine.grad.abs().max())


def test_exported(pyramid: Pyramid) -> None:
    network = network_on(pyramid)
    images = torch.randn(2, 2, 16, 16)
    program = torch.export.export(network, (images,))
    assert torch.allclose(program.module()(images), network(images), atol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.2), (torch.float16, 0.03)])
def test_autocast(pyramid: Pyramid, dtype: torch.dtype, tolerance: float) -> None:
    network = network_on(pyramid)
    images = torch.randn(4, 2, 16, 16)
    expected = network(images)
    with torch.no_grad(), torch.autocast("cpu", dtype=dtype):
        upright, rotated = network(images), network(turned(images))
    assert (upright.float() - expected).abs().max() < tolerance
    assert (upright.float() - rotated.float()).abs().max() < tolerance
    network.train()
    with torch.autocast("cpu", dtype=dtype):
        loss = nn.functional.nll_loss(network(images), torch.tensor([0, 1, 2, 3]))
    loss.backward()
    assert all(p.grad.dtype == torch.float32 for p in network.parameters())
    assert all(p.grad.isfinite().all() for p in network.parameters())


def test_double_and_back(pyramid: Pyramid) -> None:
    network = network_on(pyramid)
    images = torch.randn(2, 2, 16, 16)
    expected = network(images)
    exact = network.double()(images.double())
    assert (exact - expected).abs().max() < 1e-4
    again = network.float().to("cpu")(images)
    assert torch.allclose(again, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bfloat16])
def test_other_dtypes_are_refused(pyramid: Pyramid, dtype: torch.dtype) -> None:
    conv = ChebConv(2, 3, 2, pyramid.levels[1])
    with pytest.raises(ValueError, match=rf"level 1 takes torch.float32, .* Got {dtype}; move"):
        conv(torch.zeros(1, 2, 256, dtype=dtype))


def test_other_devices_are_refused(pyramid: Pyramid) -> None:
    conv = ChebConv(2, 3, 2, pyramid.levels[1])
    with pytest.raises(ValueError, match=r"takes a tensor on cpu, .* Got one on meta"):
        conv(torch.zeros(1, 2, 256, device="meta"))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_data_loader_workers_map_the_graph(pyramid: Pyramid, method: str) -> None:
    loader = DataLoader(
        Filtered(pyramid), batch_size=2, num_workers=2, multiprocessing_context=method
    )
    found = torch.cat(list(loader))[:, :, 0]
    assert torch.allclose(found, pyramid.levels[1].laplacian.to_dense()[:4])


def test_two_processes_train_together(store: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=train_in_parallel, args=(rank, str(store), str(tmp_path)))
        for rank in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    first, second = (torch.load(tmp_path / str(rank), weights_only=True) for rank in range(2))
    assert torch.allclose(first["weights"], second["weights"], atol=1e-6)
    assert first["private"] == second["private"] == 0


def test_smaps_would_show_a_write(store: Path) -> None:
    """The measure of the test above sees what it should."""
    graph = open_store(store)["torus"].levels[0]
    before = private_bytes_of_maps(str(store))
    graph.values[0] += 0
    assert private_bytes_of_maps(str(store)) >= before + os.sysconf("SC_PAGE_SIZE")
