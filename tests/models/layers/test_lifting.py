"""Lifting to orientations and projecting from them."""

from pathlib import Path

import pytest
import torch

from cheblienet_models import (
    Lift,
    Project,
    Pyramid,
    open_store,
)


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
    assert torch.equal(Project(graph, "sum")(x), x.view(2, 3, 4, 256).sum(2))
    shapes = r"\(B, C, 16, 16\) or \(B, C, 256\) or \(B, C, 4, 16, 16\)"
    with pytest.raises(ValueError, match=rf"{shapes}. Got \(2, 3, 15, 16\)"):
        Lift(graph)(images[:, :, 1:])
    with pytest.raises(ValueError, match=r"Project takes \(B, C, 1024\)"):
        Project(graph)(images)
    with pytest.raises(ValueError, match=r"mode must be 'max', 'mean' or 'sum'. Got 'median'"):
        Project(graph, "median")


def test_signals_that_have_orientations(pyramid: Pyramid) -> None:
    graph = pyramid.levels[0]
    fibers = torch.randn(2, 3, 4, 16, 16)
    lifted = Lift(graph)(fibers)
    assert torch.equal(lifted, fibers.flatten(2))
    assert torch.equal(graph.to_grid(lifted), fibers)
    assert lifted.permute(2, 0, 1).is_contiguous()
    repeated = fibers[:, :, :1].expand(-1, -1, 4, -1, -1)
    assert torch.equal(Lift(graph)(repeated), Lift(graph)(repeated[:, :, 0]))
    for wrong in (fibers[:, :, :3], fibers.flatten(3), fibers[:, :, :1]):
        with pytest.raises(ValueError, match="Lift takes"):
            Lift(graph)(wrong)


def test_signals_that_have_orientations_elsewhere(
    symmetric_graphs: Path, masked_graphs: Path
) -> None:
    """On spheres, and with a mask, outside of which they may be NaN."""
    for folder, name in (
        (symmetric_graphs, "icosahedral"),
        (symmetric_graphs, "equiangular"),
        (masked_graphs, "ring"),
        (masked_graphs, "half"),
    ):
        graph = open_store(folder)[name].levels[0]
        signal = torch.randn(2, 3, graph.num_vertices)
        assert torch.equal(Lift(graph)(graph.to_grid(signal)), signal)
    nested, ring = torch.randn(1, 1, 4, 48), open_store(symmetric_graphs)["healpix"].levels[0]
    in_order = Lift(ring, "ring")(nested)
    assert torch.equal(in_order[0, 0, :48], Lift(ring, "ring")(nested[:, :, 0])[0, 0, :48])
    assert torch.equal(ring.to_grid(in_order, order="ring"), nested)


def test_graphs_without_orientations_take_none(symmetric_graphs: Path) -> None:
    graph = open_store(symmetric_graphs)["square"].levels[0]
    with pytest.raises(ValueError, match=r"takes \(B, C, 8, 8\) or \(B, C, 64\)\. Got"):
        Lift(graph)(torch.zeros(1, 1, 1, 8, 8))
