"""Layers and networks made with, or given, something else than they take: one line says what."""

import pytest
import torch
from marks import OFF_THEIR_METRIC
from refusing import refused

from cheblienet_models import (
    BatchNorm,
    ChebConv,
    Diffusion,
    GlobalPool,
    LatLonToVertices,
    Lift,
    OrientedLift,
    Project,
    Pyramid,
    ResidualBlock,
    SpatialPool,
    SpatialUnpool,
    UNet,
    WideResNet,
    load_weights,
    open_store,
    sample_edges,
)
from cheblienet_models.arguments import real_array

NO_PYRAMID = r'pyramid must be a Pyramid, as open_store\("graphs.zarr"\)\["NAME"\] is. Got '


SIZES = {ChebConv: (1, 2, 3), Diffusion: (1,), ResidualBlock: (1, 1, 2)}
ON_PYRAMIDS = {WideResNet: (1, 2), UNet: (1, 2), SpatialPool: (0,), SpatialUnpool: (0,)}
ON_PYRAMIDS[LatLonToVertices] = ([45.0, -45.0], [0.0, 180.0])


def test_what_is_no_pyramid_or_graph_is_refused(pyramid: Pyramid) -> None:
    """A pyramid is a module, too, and was taken for a graph until the first signal came."""
    for kind, sizes in ON_PYRAMIDS.items():
        refused(f"^{NO_PYRAMID}Graph\\.$", kind, pyramid.levels[0], *sizes, error=TypeError)
    for kind in (*SIZES, Lift, OrientedLift, Project):
        message = r"graph must be a Graph, .* Got Pyramid\.$"
        refused(message, kind, *SIZES.get(kind, ()), pyramid, error=TypeError)


@pytest.mark.parametrize("odd", [2**63, 10**400, -(10**400)])
def test_integers_that_torch_does_not_take_are_refused(pyramid: Pyramid, odd: int) -> None:
    fine = pyramid.levels[0]
    for call, name in (
        (lambda: ChebConv(odd, 2, 2, fine), "in_channels"),
        (lambda: ChebConv(2, odd, 2, fine), "out_channels"),
        (lambda: WideResNet(pyramid, 1, odd), "num_classes"),
    ):
        refused(f"^{name} must be (an integer of 64 bits|at least 1). Got (an int|9)", call)


def test_other_kinds_are_refused(pyramid: Pyramid) -> None:
    """One of each kind; `test_public_calls.py` tries all arguments."""
    p, graph = pyramid, pyramid.levels[0]
    network = WideResNet(p, 1, 2, depth=1, widen=0.25)
    for call, message in (
        (lambda: ChebConv(1, 2, 2.5, graph), "kernel_size must be an integer. Got 2.5."),
        (lambda: ChebConv(True, 2, 2, graph), "in_channels must be an integer. Got True."),
        (lambda: UNet(p, 1, 2, channels=16), "channels must be 3 integers. Got 16."),
        (lambda: load_weights(network, "sd.pt"), "state must be what state_dict.. returns, as t"),
        (lambda: load_weights(network, {1: 2}), "state must have entries by names, which"),
        (lambda: open_store(b"x"), "path must be a path, text or a Path. Got b'x'."),
        (lambda: ChebConv(1, 2, 2, graph, save_basis="no"), "save_basis must be True or False."),
        (lambda: sample_edges("torus", 0.5), "graphs must be a Graph, a level of a pyramid as"),
        (lambda: graph.filter(torch.zeros(1, 1, 1024), 2.0), "function must be one of eigenvalues"),
    ):
        refused(f"^{message}", call, error=TypeError)


def test_tensors_stand_for_arrays() -> None:
    """As long as their values can be had, of whatever kind."""
    x = torch.tensor([1.0, -2.5])
    kinds = x, x.bfloat16(), x.double().requires_grad_(), torch.complex(x, -x).conj().imag
    for kind in kinds:
        assert real_array("x", kind).tolist() == x.tolist()
    for other, message in (
        (x.to("meta"), "x takes a tensor with values. Got one on meta"),
        (
            x.to_sparse(),
            r"x takes a dense tensor. Got one of torch.sparse_coo: .*\.to_dense\(\)\.$",
        ),
    ):
        refused(f"^{message}", real_array, "x", other)
    refused("^x must be numbers", real_array, "x", torch.complex(x, x).conj(), error=TypeError)


@OFF_THEIR_METRIC
def test_what_functions_return_is_dense(pyramid: Pyramid) -> None:
    graph, x = pyramid.levels[0], torch.zeros(1, 1, 1024)
    there = torch.empty((), device="meta")
    for call, message in (
        (lambda: graph.filter(x, torch.Tensor.to_sparse), "function must return a dense float64 t"),
        (lambda: graph.filter(x, lambda e: e.to("meta")), "function must .*Got one on meta, which"),
        (lambda: graph.diffuse(x, torch.ones(1).to_sparse()), "t takes a dense tensor. Got one of"),
        (lambda: graph.diffusion_polynomial(there), "t takes a tensor with values. Got one on"),
        (lambda: graph.neighbors(there.long()), "vertex of .* must be an integer in"),
    ):
        refused(f"^{message}", call)


@OFF_THEIR_METRIC
def test_signals_of_integers_are_refused(pyramid: Pyramid) -> None:
    """Images are often uint8: a mean of them would be 0, a product an error of torch's."""
    graph, image = pyramid.levels[0], torch.zeros(1, 1, 16, 16, dtype=torch.uint8)
    wide = WideResNet(pyramid, 1, 2, depth=1, widen=0.25)
    message = r"^\w+ .*takes .*floating.point.* Got .*uint8.*convert with \.float\(\) / 255\.$"
    for module in (wide, UNet(pyramid, 1, 2), OrientedLift(graph)):
        refused(message, module, image)
    layers = ChebConv(1, 2, 2, graph), Diffusion(1, graph), BatchNorm(1), Project(graph, "mean")
    for module in (*layers, SpatialPool(pyramid, 0, "mean"), GlobalPool("mean")):
        signal = torch.zeros(1, 1, graph.num_vertices, dtype=torch.uint8)
        refused("takes a tensor of floating point", module, signal)


def test_another_number_of_channels_names_the_argument(pyramid: Pyramid) -> None:
    for network in (WideResNet(pyramid, 1, 2, depth=1, widen=0.25), UNet(pyramid, 1, 2)):
        message = "in_channels is 1: construct it with in_channels=3, or give "
        refused(message, network, torch.zeros(2, 3, 16, 16))
