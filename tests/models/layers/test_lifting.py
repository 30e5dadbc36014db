"""Lifting to orientations and projecting from them."""

from pathlib import Path

import torch
from refusing import refused

from cheblienet_models import Lift, Project, Pyramid, open_store


def test_images_and_signals_that_have_orientations(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    images, fibers = torch.randn(2, 3, 16, 16), torch.randn(2, 3, 4, 16, 16)
    lifted = Lift(graph)(images)
    assert torch.equal(lifted, images[:, :, None].expand(fibers.shape).flatten(2))
    assert torch.equal(Lift(graph)(images.flatten(2)), lifted)
    assert torch.equal(Lift(graph)(fibers), fibers.flatten(2))
    x = torch.randn(2, 3, 1024)
    for mode in ("max", "mean", "sum"):
        expected = getattr(x.view(2, 3, 4, 256), mode.replace("max", "amax"))(2)
        assert torch.allclose(Project(graph, mode)(x), expected, atol=1e-6)
    shapes = r"\(B, C, 16, 16\) or \(B, C, 256\) or \(B, C, 4, 16, 16\)"
    for wrong in (images[:, :, 1:], fibers[:, :, :3], fibers.flatten(3), fibers[:, :, :1]):
        refused(rf"Lift takes {shapes}. Got \(2, 3, ", Lift(graph), wrong)
    refused("mode must be 'max', 'mean' or 'sum'. Got 'median'", Project, graph, "median")


def test_signals_elsewhere(symmetric_graphs: Path, masked_graphs: Path) -> None:
    """On spheres, in space, and with a mask, outside of which they may be NaN."""
    spheres, masked = open_store(symmetric_graphs), open_store(masked_graphs)
    for opened, names in ((spheres, ("icosahedral", "equiangular")), (masked, ("ring", "half"))):
        for graph in (opened[name].levels[0] for name in names):
            signal = torch.randn(2, 3, graph.num_vertices)
            assert torch.equal(Lift(graph)(graph.to_grid(signal)), signal)
    nested, ring = torch.randn(1, 1, 4, 48), spheres["healpix"].levels[0]
    in_order = Lift(ring, "ring")(nested)
    assert torch.equal(in_order[0, 0, :48], Lift(ring, "ring")(nested[:, :, 0])[0, 0, :48])
    assert torch.equal(ring.to_grid(in_order, order="ring"), nested)
    square = Lift(spheres["square"].levels[0])
    refused(r"takes \(B, C, 8, 8\) or \(B, C, 64\)\. Got", square, torch.zeros(1, 1, 1, 8, 8))
