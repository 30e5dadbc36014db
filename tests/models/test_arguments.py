"""Layers and networks made with, or given, something else than they take: one line says what."""

import pytest
import torch

from cheblienet_models import (
    BatchNorm,
    ChebConv,
    Diffusion,
    GlobalPool,
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

NO_PYRAMID = r'pyramid must be a Pyramid, as open_store\("graphs.zarr"\)\["NAME"\] is. Got '


SIZES = {ChebConv: (1, 2, 3), Diffusion: (1,), ResidualBlock: (1, 1, 2)}
ON_PYRAMIDS = {WideResNet: (1, 2), UNet: (1, 2), SpatialPool: (0,), SpatialUnpool: (0,)}


def test_what_is_no_pyramid_or_graph_is_refused(pyramid: Pyramid) -> None:
    """A pyramid is a module, too, and was taken for a graph until the first signal came."""
    for kind, sizes in ON_PYRAMIDS.items():
        with pytest.raises(TypeError, match=f"^{NO_PYRAMID}Graph\\.$"):
            kind(pyramid.levels[0], *sizes)
    for kind in (*SIZES, Lift, OrientedLift, Project):
        with pytest.raises(TypeError, match=r"graph must be a Graph, .* Got Pyramid\.$"):
            kind(*SIZES.get(kind, ()), pyramid)


def test_other_kinds_are_refused(pyramid: Pyramid) -> None:
    p, graph = pyramid, pyramid.levels[0]
    network = WideResNet(p, 1, 2, depth=1, widen=0.25)
    for call, message in (
        (lambda: ChebConv(1, 2, 2.5, graph), "kernel_size must be an integer. Got 2.5."),
        (lambda: ChebConv(True, 2, 2, graph), "in_channels must be an integer. Got True."),
        (lambda: WideResNet(p, 1, "10"), "num_classes must be an integer. Got '10'."),
        (lambda: WideResNet(p, 1, 2, depth=1.5), "depth must be an integer. Got 1.5."),
        (lambda: WideResNet(p, 1, 2, first_level=True), "first_level must be an integer. Got T"),
        (lambda: UNet(p, 1, 2, channels=16), "channels must be 3 integers. Got 16."),
        (lambda: UNet(p, 1, 2, channels=(4, 4.0, 4)), "channels must be an integer. Got 4.0."),
        (lambda: SpatialPool(p, "0"), "level must be an integer. Got '0'."),
        (lambda: p.unpooling(0.5), "level must be an integer. Got 0.5."),
        (lambda: Diffusion(2.5, graph), "channels must be an integer. Got 2.5."),
        (lambda: BatchNorm("x"), "num_features must be an integer. Got 'x'."),
        (lambda: load_weights(network, "sd.pt"), "state must be what state_dict() returns, as t"),
        (lambda: load_weights(network, {1: 2}), "state must have entries by names, which"),
        (lambda: open_store(b"x"), "path must be a path, text or a Path. Got b'x'."),
        (lambda: ChebConv(1, 2, 2, graph, save_basis="no"), "save_basis must be True or False."),
        (lambda: sample_edges("torus", 0.5), "graphs must be a Graph, a level of a pyramid as"),
        (lambda: graph.filter(torch.zeros(1, 1, 1024), 2.0), "function must be one of eigenvalues"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).startswith(message)


def test_signals_of_integers_are_refused(pyramid: Pyramid) -> None:
    """Images are often uint8: a mean of them would be 0, a product an error of torch's."""
    graph, image = pyramid.levels[0], torch.zeros(1, 1, 16, 16, dtype=torch.uint8)
    signal = torch.zeros(1, 1, graph.num_vertices, dtype=torch.uint8)
    wide = WideResNet(pyramid, 1, 2, depth=1, widen=0.25)
    for module in (wide, UNet(pyramid, 1, 2), OrientedLift(graph)):
        with pytest.raises(ValueError, match=r"^\w+ .*takes .*floating.point.* Got .*torch.uint8"):
            module(image)
        with pytest.raises(ValueError, match=r"convert with \.float\(\) / 255\.$"):
            module(image)
    pools = Project(graph, "mean"), SpatialPool(pyramid, 0, "mean"), GlobalPool("mean")
    for module in (ChebConv(1, 2, 2, graph), Diffusion(1, graph), BatchNorm(1), *pools):
        with pytest.raises(ValueError, match="takes a tensor of floating point"):
            module(signal)


def test_another_number_of_channels_names_the_argument(pyramid: Pyramid) -> None:
    for network in (WideResNet(pyramid, 1, 2, depth=1, widen=0.25), UNet(pyramid, 1, 2)):
        for channels in (3, 4):
            with pytest.raises(ValueError, match=r"in_channels is 1: construct") as refused:
                network(torch.zeros(2, channels, 16, 16))
            assert (
                f"construct it with in_channels={channels}, or give as many channels as it has."
                in str(refused.value)
            )
        with pytest.raises(ValueError, match=r"takes \(B, 1, 16, 16\) or"):
            network(torch.zeros(2, 1, 8, 8))
