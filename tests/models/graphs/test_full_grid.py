"""Full grids in and out of levels that are masked or cut, in both orders of HEALPix."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from masked import GRAPHS, PARTS
from refusing import refused

from cheblienet_graphs.samplings.healpix import centers, ring_indices
from cheblienet_models import UNSEEN, Graph, Lift, Project, open_store


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest, masked_graphs: Path) -> Graph:
    return open_store(masked_graphs)[request.param].levels[0]


def test_full_grids_come_back_with_the_fill_outside(graph: Graph) -> None:
    base, inside = graph.grid[1:], graph.base_index.long()
    x = torch.randn(2, 3, *base)
    lifted = Lift(graph)(x)
    expected = torch.full((2, 3, math.prod(base)), 7.0)
    expected[..., inside] = x.flatten(2)[..., inside]
    for signal in (x, x.flatten(2), x.flatten(2)[..., inside]):
        assert torch.equal(Lift(graph)(signal), lifted)
    full_grid = graph.to_grid(Project(graph)(lifted), fill=7)
    assert torch.equal(full_grid, expected.view_as(x))
    everywhere = graph.to_grid(lifted, fill=7)
    if graph.orientations > 1:
        assert everywhere.shape == (2, 3, *graph.grid)
        assert torch.equal(everywhere, full_grid[:, :, None].expand_as(everywhere))
    else:
        assert torch.equal(everywhere, full_grid)
    outside = graph.to_grid(lifted).isnan().sum()
    assert outside == 6 * graph.orientations * (math.prod(base) - graph.num_points)


def test_orientations_keep_their_places(masked_graphs: Path) -> None:
    graph, whole = (open_store(masked_graphs)[name].levels[0] for name in ("ring", "whole-ring"))
    x = torch.arange(1024)[None, None]
    grid = graph.to_grid(x[..., : graph.num_vertices], fill=-1)[0, 0]
    for k in range(4):
        expected = k * graph.num_points + torch.arange(graph.num_points)
        assert torch.equal(grid[k].flatten()[graph.base_index], expected)
    assert (grid == -1).sum() == 4 * (256 - graph.num_points)
    assert torch.equal(whole.to_grid(x), x.view(1, 1, 4, 16, 16))
    assert torch.equal(whole.to_grid(x[..., :256]), x[..., :256].view(1, 1, 16, 16))


@pytest.mark.parametrize("name", ["ring", "ball"])
def test_what_is_outside_counts_nothing(masked_graphs: Path, name: str) -> None:
    """Neither forward nor in the gradient, NaN or not."""
    graph = open_store(masked_graphs)[name].levels[0]
    points = math.prod(graph.grid[1:])
    x = torch.full((1, 1, points), math.nan, dtype=torch.float64)
    inside = graph.base_index.long()
    x[..., inside] = torch.rand(len(inside), dtype=torch.float64)
    x.requires_grad_()
    (graph.to_grid(Lift(graph)(x)).nan_to_num() ** 2).sum().backward()
    expected = torch.zeros(points, dtype=torch.float64)
    expected[inside] = 2 * graph.orientations * x.detach()[0, 0, inside]
    assert torch.allclose(x.grad[0, 0], expected)


def test_dtypes(masked_graphs: Path) -> None:
    graph = open_store(masked_graphs)["crescent"].levels[0]
    x = torch.randn(1, 1, graph.num_points)
    for dtype in (torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.bool, torch.cfloat):
        assert graph.to_grid(x.to(dtype), fill=1).dtype == dtype
    for dtype, fill in (
        *((torch.int64, fill) for fill in (math.nan, math.inf)),
        *((torch.int32, 0.5), (torch.uint8, 256), (torch.uint8, -1), (torch.bool, 2)),
    ):
        refused(f"a value of {dtype}, which has no", graph.to_grid, x.to(dtype), fill)
    refused("a value of torch.float16, up to 65504", graph.to_grid, x.half(), UNSEEN)


def test_other_shapes_and_orders_are_refused(masked_graphs: Path) -> None:
    graph, x = open_store(masked_graphs)["ring"].levels[0], torch.zeros(1, 1, 196)
    for given in (torch.zeros(1, 1, 256), torch.zeros(1, 196), torch.zeros(1, 1, 14, 14)):
        refused(r"takes \(B, C, 196\) or \(B, C, 784\). Got \(", graph.to_grid, given)
    refused(r"\(B, C, 16, 16\) or \(B, C, 256\) or", Lift(graph), torch.zeros(1, 1, 784))
    message = "order='ring' is for HEALPix maps. ring@v001, level 0"
    refused(message, Lift, graph, order="ring")
    refused(message, graph.to_grid, x, order="ring")
    refused("order must be 'nested' or 'ring'. Got 'nest'", Lift, graph, order="nest")


@pytest.mark.parametrize("nside", [1, 2, 4, 8, 64, 2**20])
def test_both_orders_of_healpix(nside: int) -> None:
    healpy = pytest.importorskip("astropy_healpix.healpy")
    count = 12 * nside**2
    nested = np.arange(count) if nside < 99 else np.random.default_rng(0).integers(count, size=1000)
    assert np.array_equal(ring_indices(nside, nested), healpy.nest2ring(nside, nested))
    if nside < 99:  # sines of other processors may differ in the last bit
        expected = np.stack(healpy.pix2vec(nside, nested, nest=True), axis=1)
        np.testing.assert_allclose(centers(nside), expected, rtol=0, atol=3e-16)


@pytest.mark.parametrize("name", ["whole-healpix", "healpix"])
def test_maps_in_ring_order(masked_graphs: Path, name: str) -> None:
    healpy = pytest.importorskip("astropy_healpix.healpy")
    graph = open_store(masked_graphs)[name].levels[0]
    nested = torch.randn(2, 3, 192)
    ring = nested[..., healpy.ring2nest(4, np.arange(192))]
    lifted = Lift(graph, order="ring")(ring)
    assert torch.equal(lifted, Lift(graph)(nested))
    back = graph.to_grid(lifted[..., : graph.num_points], fill=0, order="ring")
    outside = healpy.pix2ang(4, np.arange(192))[0] >= 1.7
    expected = ring.clone()
    if name == "healpix":
        expected[..., outside] = 0
        compact = nested[..., graph.base_index]
        assert torch.equal(Lift(graph, order="ring")(compact), lifted)
    else:
        elsewhere, signal = copy.deepcopy(graph).to("meta"), nested[:1, :1].to("meta")
        assert Lift(elsewhere, order="ring").grid_places.places.is_meta
        assert elsewhere.to_grid(signal, order="ring").is_meta
    assert torch.equal(back, expected)


def test_small_pixels_show_the_nearest_points(masked_graphs: Path) -> None:
    """All of the domain is filled, constants stay, points keep their values."""
    graph = copy.deepcopy(open_store(masked_graphs, verify=True)["disc"]).to("cpu").levels[0]
    assert graph.fraction.numpy() == pytest.approx(PARTS, abs=1e-4)
    x = torch.randn(2, 3, graph.num_vertices)
    full = graph.to_grid(x)
    shown = graph.fraction > 0
    assert torch.equal(full.isnan(), ~shown.expand_as(full))
    assert torch.equal(
        Lift(graph)(full[:, :, 0].nan_to_num())[..., : graph.num_points], x[..., : graph.num_points]
    )
    ones = graph.to_grid(torch.ones(1, 1, graph.num_points))[0, 0]
    assert torch.equal(ones[shown], torch.ones(int(shown.sum())))
    numbers = graph.to_grid(torch.arange(graph.num_points)[None, None], fill=-1)[0, 0]
    assert torch.equal(numbers >= 0, shown)
    small = shown & (graph.fraction < 0.19)
    assert bool(small.any())
    for y, row in torch.nonzero(small).tolist():
        near = full[..., max(y - 1, 0) : y + 2, max(row - 1, 0) : row + 2]
        low, high = near.nan_to_num(9).amin((-1, -2)), near.nan_to_num(-9).amax((-1, -2))
        assert bool(((full[..., y, row] >= low - 1e-6) & (full[..., y, row] <= high + 1e-6)).all())
