"""Orientation scores against a dense Fourier transform, drawn lines and turned images."""

import math
import pickle

import numpy as np
import pytest
import torch
import wavelet_truth as truth
from masks import awkward
from refusing import refused
from stores import store_of
from torch import Tensor

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, OrientedLift, Project, Store
from cheblienet_models.testing import assert_equivariant

SPECS = {
    "open": GraphSpec("se2", 16, orientations=6, levels=1),
    "wide": GraphSpec("se2", "20x13", orientations=6, levels=1),
    "five": GraphSpec("se2", 12, orientations=5, levels=1),
    "two": GraphSpec("se2", 9, orientations=2, levels=1),
    "torus": GraphSpec("se2", 16, orientations=8, boundary="periodic", levels=1),
    "wide-torus": GraphSpec("se2", "12x17", orientations=3, boundary="periodic", levels=1),
}
OTHERS = {
    "lines": GraphSpec("se2", 33, orientations=12, levels=1, weights="selling"),
    "masked": GraphSpec("se2", mask=awkward(16), orientations=6, levels=1),
}
ARROWS = {
    "arrows": GraphSpec("se2", 12, orientations=8, period="2pi", levels=1),
    "six-arrows": GraphSpec("se2", "11x14", orientations=6, period="2pi", levels=1),
    "five-arrows": GraphSpec("se2", 8, orientations=5, period="2pi", levels=1),
    "torus-arrows": GraphSpec(
        "se2", 9, orientations=4, period="2pi", boundary="periodic", levels=1
    ),
}
REFUSED = {
    "r2": GraphSpec("r2", 8, levels=1),
    "random": GraphSpec("se2", points=60, orientations=4),
    "so3": GraphSpec("so3", bandlimit=4, orientations=4, levels=1),
}
PRECISIONS = (torch.float64, 1e-12), (torch.float32, 2e-6)
KIND = pytest.mark.parametrize("kind", ["cake", "gabor"])
NAME = pytest.mark.parametrize("name", SPECS)


graphs = store_of(SPECS | OTHERS | ARROWS | REFUSED, opened=True)


def by_orientation(scores: Tensor, graph: Graph) -> Tensor:
    """(B, C, V) -> (B, C, n_o, H, W)."""
    return scores.reshape(*scores.shape[:2], *graph.grid)


@KIND
@NAME
@pytest.mark.parametrize("scales", [np.int64(2), (3.0, 4.5, 11.0)])
def test_scores_are_those_of_a_dense_transform(
    graphs: Store, name: str, kind: str, scales: object
) -> None:
    graph = graphs[name].levels[0]
    n_o, height, width = graph.grid
    images = np.random.default_rng(0).standard_normal((2, 3, height, width))
    lift = OrientedLift(graph, kind, scales)
    assert lift.lengths == {2: (4, 8)}.get(scales, scales)
    assert f"kind={kind!r}, scales={lift.lengths}" in repr(lift)
    expected = truth.scores(images, n_o, kind, lift.lengths, periodic="torus" in name)
    # Channel c at scale s is at c S + s.
    expected = np.moveaxis(expected, (0, 1), (2, 3)).reshape(2, -1, math.prod(graph.grid))
    for dtype, tolerance in PRECISIONS:
        scores = lift.to(dtype)(torch.from_numpy(images).to(dtype))
        assert scores.dtype == dtype
        assert abs(scores.numpy() - expected).max() <= tolerance * abs(images).max()


@pytest.mark.parametrize(
    ("name", "scales"), [("arrows", 1), ("six-arrows", (3.0, 4.5)), ("torus-arrows", (3.0, 4.5))]
)
def test_pairs_of_even_and_odd_filters(graphs: Store, name: str, scales: object) -> None:
    """Even ones alone give the image back; odd ones change sign half a turn on, and in mirrors."""
    pyramid = graphs[name]
    graph = pyramid.levels[0]
    n_o, height, width = graph.grid
    images = truth.covered((2, 3, height, width), periodic="torus" in name)
    lift = pickle.loads(pickle.dumps(OrientedLift(graph, "cake", scales).double()))
    expected = truth.scores(images, n_o, "pair", lift.lengths, periodic="torus" in name)
    expected = np.moveaxis(expected, (0, 1), (2, 3)).reshape(2, -1, n_o, height * width)
    scores = lift(torch.from_numpy(images))
    assert abs(scores.view(2, -1, n_o, height * width).numpy() - expected).max() <= 1e-12
    given = torch.from_numpy(images)
    assert (lift.inverse(scores) - given).abs().max() <= 1e-12
    even, odd = scores.view(2, 3, 2, -1, n_o, height * width).unbind(2)
    assert torch.equal(even, even.roll(n_o // 2, 3))
    assert torch.equal(odd, -odd.roll(n_o // 2, 3))
    kept = assert_equivariant(lift, pyramid, given, tolerance=1e-12).keys()
    assert "rotation_180" in kept
    assert ("rotation_90" in kept) == (n_o % 4 == 0)
    assert "flip" not in kept
    with pytest.raises(AssertionError, match="not equivariant under flip"):
        assert_equivariant(lift, pyramid, given, symmetries=["flip"], tolerance=0.1)


@NAME
@pytest.mark.parametrize("scales", [1, 3])
def test_the_sum_over_orientations_gives_the_image_back(
    graphs: Store, name: str, scales: int
) -> None:
    graph = graphs[name].levels[0]
    lift, shape = OrientedLift(graph, "cake", scales), (2, 3, *graph.grid[1:])
    images = torch.from_numpy(truth.covered(shape, periodic="torus" in name))
    assert images.std() > 0.4
    for dtype, tolerance in PRECISIONS:
        given = images.to(dtype)
        again = lift.to(dtype).inverse(lift(given))
        assert (again - given).norm() <= tolerance * given.norm()
        if scales == 1:
            sums = Project(graph, "sum")(lift(given)).reshape(shape)
            assert torch.allclose(sums, again, atol=10 * tolerance)


@KIND
@NAME
def test_turned_and_flipped_images_have_turned_and_flipped_scores(
    graphs: Store, name: str, kind: str
) -> None:
    graph = (pyramid := graphs[name]).levels[0]
    n_o, height, width = graph.grid
    lift, images = OrientedLift(graph, kind, 2), torch.randn(2, 3, height, width)
    kept = assert_equivariant(lift, pyramid, images, tolerance=1e-5).keys()
    assert {"rotation_180", "flip"} <= kept
    quarters = n_o % 2 == 0 and height == width
    assert ("rotation_90" in kept, "translation_x" in kept) == (quarters, "torus" in name)


@pytest.mark.parametrize(("kind", "scales"), [("cake", 1), ("cake", 2), ("gabor", (4.0,))])
def test_the_filter_along_a_line_answers_most(graphs: Store, kind: str, scales: object) -> None:
    graph = graphs["lines"].levels[0]
    lift, n_o = OrientedLift(graph, kind, scales), graph.orientations
    for k in range(n_o):
        theta = float(graph.coordinates[k * 33 * 33, 2])
        assert theta == pytest.approx(-math.pi / 2 + k * math.pi / n_o)
        image = torch.from_numpy(truth.line(33, theta)).float()[None, None]
        center = by_orientation(lift(image), graph)[0, 0, :, 16, 16]
        assert int(center.argmax()) == k
        assert center[k] > 1.5 * center[(k + 3) % n_o].abs()


def test_on_a_mask_scores_are_those_inside(graphs: Store) -> None:
    graph, whole = (graphs[name].levels[0] for name in ("masked", "open"))
    lift, images = OrientedLift(graph, scales=2), torch.randn(2, 3, 16, 16)
    full = by_orientation(OrientedLift(whole, scales=2)(images), whole)
    scores = lift(images)
    outside = graph.to_grid(scores).isnan()
    assert torch.equal(graph.to_grid(scores, 0), full.masked_fill(outside, 0))
    refused("^OrientedLift.inverse needs the scores of all pixels;", lift.inverse, scores)
    refused(r"takes \(B, C, 16, 16\) or", lift, torch.zeros(1, 1, graph.num_points))


def test_refusals(graphs: Store) -> None:
    for name in REFUSED:
        refused(rf"for SE.*{name}@v001.*use Lift, w", OrientedLift, graphs[name].levels[0])
    for name, kind in (("five-arrows", "cake"), ("arrows", "gabor")):
        refused(f"kind='cake' and an even .*{name}@v0", OrientedLift, graphs[name].levels[0], kind)
    graph = graphs["wide"].levels[0]
    for kind, scales, message in (
        ("wavelet", 1, r"kind must be 'cake' or 'gabor'\. Got 'wavelet'"),
        ("cake", 0, r"scales must be a number of at least 1, at most 32, or ascending .*Got 0"),
        ("cake", 10**400, "at most 32, or ascending .* pixels.*Got an integer of 1329 bits"),
        ("cake", (0.5,), "at least 1 pixels for kind='cake'"),
        ("gabor", (2.0,), "at least 2.5 pixels for kind='gabor'"),
        *(("cake", scales, "Got") for scales in (True, (), (4.0, 4.0), (3.0, math.inf), "8")),
    ):
        refused(message, OrientedLift, graph, kind, scales)
    lift = OrientedLift(graph, scales=2)
    refused(r"takes \(B, C, 13, 20\) or \(B, C, 260\), that is", lift, torch.zeros(2, 3, 20, 13))
    for channels, vertices in ((3, 1560), (0, 1559)):
        refused(r"takes \(B, C 2, 1560\)\. Got", lift.inverse, torch.zeros(2, channels, vertices))
    tiny = torch.zeros(2, 6, 1560).to(torch.float8_e4m3fn)
    refused(r"inverse takes .*float8_e4m3fn: convert with \.float\(\)", lift.inverse, tiny)
    refused("no inverse: use", OrientedLift(graph, "gabor").inverse, torch.zeros(2, 3, 1560))
