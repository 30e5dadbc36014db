"""Training as users do it: compiled, in reduced precision, on a GPU, in several processes."""

import copy
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from marks import OFF_THEIR_METRIC
from stores import pyramid_of
from torch import nn
from torch.utils.data import DataLoader
from workers import Filtered, private_bytes_of_maps, train_in_parallel

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import (
    ChebConv,
    Diffusion,
    GlobalPool,
    Lift,
    OrientedLift,
    Pyramid,
    SpatialPool,
    UNet,
    WideResNet,
    open_store,
)


def network_on(pyramid: Pyramid, **options: object) -> WideResNet:
    network = WideResNet(pyramid, 2, 4, kernel_size=3, depth=1, widen=1, **options)
    for _ in range(3):  # so that running statistics are not at their start
        network(torch.randn(4, 2, 16, 16))
    return network.eval()


@pytest.fixture(scope="module")
def server() -> Any:
    """Of processes that start as new ones do, but with torch and its compiler imported once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["cheblienet_models", "torch._dynamo"])
    return context


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # from torch's own inductor
def test_compiled_to_code(pyramid: Pyramid) -> None:
    """A few layers, as each loop is compiled by itself, and takes seconds."""
    fine = pyramid.levels[0]
    layers = Lift(fine), ChebConv(2, 4, 3, fine), SpatialPool(pyramid, 0), GlobalPool()
    network = nn.Sequential(*layers).eval()
    # Of instructions that there may be, trials take seconds, and so does a process that compiles.
    options = {"cpp.vec_isa_ok": False, "compile_threads": 1}
    compiled = torch.compile(network, fullgraph=True, options=options)
    images = torch.randn(4, 2, 256)
    with torch.no_grad():
        assert torch.allclose(compiled(images), network(images), atol=1e-5)


@OFF_THEIR_METRIC
@pytest.mark.slow
def test_compiled_training_steps(pyramid: Pyramid, masked_graphs: Path) -> None:
    """Also of a network in eval mode, and of one with a mask."""
    images = torch.randn(4, 2, 16, 16)
    ring = open_store(masked_graphs)["ring"]
    wide = network_on(pyramid, lift=OrientedLift(pyramid.levels[0], scales=2))
    unet = UNet(ring, 2, 3, kernel_size=3, channels=(3, 4, 5))
    fine = pyramid.levels[0]
    for network in (wide, unet, nn.Sequential(Lift(fine), Diffusion(2, fine))):
        twin = copy.deepcopy(network)
        compiled = torch.compile(twin, fullgraph=True, backend="aot_eager")
        y, other = network(images), compiled(images)
        assert torch.allclose(y, other, atol=1e-4, equal_nan=True)
        for one in (y, other):
            (one.nan_to_num() ** 2).sum().backward()
        for mine, other in zip(network.parameters(), twin.parameters(), strict=True):
            largest = mine.grad.abs().max()
            assert torch.allclose(mine.grad, other.grad, rtol=1e-3, atol=1e-3 * largest)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["forkserver", "fork"])
def test_data_loader_workers_map_the_graph(pyramid: Pyramid, server: Any, method: str) -> None:
    """Sent to those of a server as to spawned ones."""
    context = server if method == "forkserver" else method
    loader = DataLoader(
        Filtered(pyramid), batch_size=2, num_workers=2, multiprocessing_context=context
    )
    filtered = torch.cat(list(loader))[:, :, 0]
    assert torch.allclose(filtered, pyramid.levels[1].laplacian.to_dense()[:4])


@pytest.mark.slow
def test_workers_do_not_go_on_with_another_graph(tmp_path: Path, server: Any) -> None:
    """A store that was built anew under the same name, before workers start."""
    spec = {"size": 8, "orientations": 4, "levels": 2}
    pyramid = pyramid_of(tmp_path, GraphSpec("se2", **spec))
    shutil.rmtree(tmp_path / "g.zarr")
    build(GraphSpec("se2", **spec, eps=0.5), tmp_path / "g.zarr", name=pyramid.name)
    loader = DataLoader(Filtered(pyramid), num_workers=1, multiprocessing_context=server)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)


@pytest.mark.slow
def test_two_processes_train_together(store: Path, server: Any, tmp_path: Path) -> None:
    arguments = [(rank, str(store), str(tmp_path)) for rank in range(2)]
    workers = [server.Process(target=train_in_parallel, args=args) for args in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    first, second = (torch.load(tmp_path / str(rank), weights_only=True) for rank in range(2))
    assert torch.allclose(first["weights"], second["weights"], atol=1e-6)
    assert first["private"] == second["private"] == 0
    # The measure sees what it should.
    graph = open_store(store)["torus"].levels[0]
    before = private_bytes_of_maps(str(store))
    graph.values[0] += 0
    assert private_bytes_of_maps(str(store)) >= before + os.sysconf("SC_PAGE_SIZE")
