"""Orientation scores against a dense Fourier transform, drawn lines and turned images."""

import copy
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
import wavelet_truth as truth
from masks import awkward
from torch import Tensor

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Graph, OrientedLift, Project, Pyramid, open_store, portable
from cheblienet_models.testing import assert_equivariant

SPECS = {
    "open": GraphSpec("se2", 16, orientations=6, levels=1),
    "odd": GraphSpec("se2", 13, orientations=4, levels=1),
    "wide": GraphSpec("se2", "20x13", orientations=6, levels=1),
    "five": GraphSpec("se2", 12, orientations=5, levels=1),
    "two": GraphSpec("se2", 9, orientations=2, levels=1),
    "torus": GraphSpec("se2", 16, orientations=8, boundary="periodic", levels=1),
    "odd torus": GraphSpec("se2", 15, orientations=4, boundary="periodic", levels=1),
    "wide torus": GraphSpec("se2", "12x17", orientations=3, boundary="periodic", levels=1),
    "lines": GraphSpec("se2", 33, orientations=12, levels=1, weights="selling"),
    "masked": GraphSpec("se2", mask=awkward(16), orientations=6, levels=1),
}
REFUSED = {
    "r2": GraphSpec("r2", 8, levels=1),
    "r3": GraphSpec("r3", 4, levels=1),
    "arrows": GraphSpec("se2", 8, orientations=4, period="2pi", levels=1),
    "random": GraphSpec("se2", points=60, orientations=4),
    "so3": GraphSpec("so3", subdivisions=1, orientations=4, levels=1),
    "equiangular": GraphSpec("so3", bandlimit=4, orientations=4, levels=1),
}
WHOLE = [name for name in SPECS if name != "masked"]
SQUARE = [name for name in WHOLE if "wide" not in name]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lifts") / "graphs.zarr"
    for name, spec in (SPECS | REFUSED).items():
        build(spec, path, name=name.replace(" ", "-"))
    return path


def opened(graphs: Path, name: str) -> Pyramid:
    return open_store(graphs)[name.replace(" ", "-")]


def finest(graphs: Path, name: str) -> Graph:
    return opened(graphs, name).levels[0]


def by_orientation(scores: Tensor, graph: Graph) -> Tensor:
    """(B, C, V) -> (B, C, n_o, H, W)."""
    return scores.reshape(*scores.shape[:2], *graph.grid)


@pytest.mark.parametrize("kind", ["cake", "gabor"])
@pytest.mark.parametrize("scales", [1, 2, (3.0, 4.5, 11.0)])
@pytest.mark.parametrize("name", WHOLE)
def test_scores_are_those_of_a_dense_transform(
    graphs: Path, name: str, kind: str, scales: object
) -> None:
    graph = finest(graphs, name)
    n_o, height, width = graph.grid
    images = np.random.default_rng(0).standard_normal((2, 3, height, width))
    lift = OrientedLift(graph, kind, scales)
    assert lift.lengths == {1: (4,), 2: (4, 8)}.get(scales, scales)
    periodic = "torus" in name
    expected = truth.scores(images, n_o, kind, lift.lengths, periodic=periodic)
    # Channel c at scale s is at c S + s.
    expected = np.moveaxis(expected, (0, 1), (2, 3)).reshape(2, -1, math.prod(graph.grid))
    for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-12)):
        found = lift.to(dtype)(torch.from_numpy(images).to(dtype))
        assert found.dtype == dtype
        assert found.shape == (2, 3 * lift.num_scales, graph.num_vertices)
        assert abs(found.numpy() - expected).max() <= tolerance * abs(images).max()


@pytest.mark.parametrize("scales", [1, 3])
@pytest.mark.parametrize("name", WHOLE)
def test_the_sum_over_orientations_gives_the_image_back(
    graphs: Path, name: str, scales: int
) -> None:
    graph, periodic = finest(graphs, name), "torus" in name
    lift = OrientedLift(graph, "cake", scales)
    shape = (2, 3, *graph.grid[1:])
    images = torch.from_numpy(truth.covered(shape, periodic=periodic))
    assert images.std() > 0.4
    for dtype, tolerance in ((torch.float32, 2e-6), (torch.float64, 1e-12)):
        given = images.to(dtype)
        found = lift.to(dtype).inverse(lift(given))
        assert found.shape == images.shape
        assert (found - given).norm() <= tolerance * given.norm()
        if scales == 1:
            sums = Project(graph, "sum")(lift(given)).reshape(shape)
            assert torch.allclose(sums, found, atol=10 * tolerance)
    constant = torch.full(shape, 3.0, dtype=torch.float64)
    assert torch.allclose(lift(constant)[:, scales - 1], constant[0, 0, 0, 0] / graph.orientations)


def test_frequencies_beyond_the_band_are_damped_as_said(graphs: Path) -> None:
    lift = OrientedLift(finest(graphs, "torus")).double()
    y, x = np.mgrid[:16, :16]
    for a, b in ((6, 0), (6, 2), (7, 1), (5, 5), (8, 0), (7, 7), (3, 8)):
        wave = torch.from_numpy(np.cos(2 * np.pi * (a * x + b * y) / 16))[None, None]
        kept = float(truth.window(np.array(b * np.pi / 8), np.array(a * np.pi / 8)))
        assert torch.allclose(lift.inverse(lift(wave)), kept * wave, atol=1e-12)
    assert float(truth.window(np.array(0), np.array(0.79 * np.pi))) == 1


@pytest.mark.parametrize("kind", ["cake", "gabor"])
@pytest.mark.parametrize("name", WHOLE)
def test_turned_and_flipped_images_have_turned_and_flipped_scores(
    graphs: Path, name: str, kind: str
) -> None:
    graph = finest(graphs, name)
    n_o, height, width = graph.grid
    lift, images = OrientedLift(graph, kind, 2), torch.randn(2, 3, height, width)
    scores = by_orientation(lift(images), graph)
    negative = [(n_o - k) % n_o for k in range(n_o)]
    for axis in (3, 4):  # both flips turn theta to -theta, modulo pi
        found = by_orientation(lift(images.flip(axis - 1)), graph)
        assert (found - scores.flip(axis)[:, :, negative]).abs().max() <= 1e-5
    found = by_orientation(lift(images.flip(2, 3)), graph)
    assert (found - scores.flip(3, 4)).abs().max() <= 1e-5
    if height != width:
        return
    for turns in (1, 2, 3):
        found = by_orientation(lift(torch.rot90(images, -turns, (2, 3))), graph)
        turned = torch.rot90(scores, -turns, (3, 4)).roll(turns * n_o // 2, 2)
        differs = (found - turned).abs().max()
        assert differs <= 1e-5 if n_o % 2 == 0 or turns == 2 else differs > 0.1


@pytest.mark.parametrize("name", SQUARE)
def test_assert_equivariant_finds_the_lattices_symmetries(graphs: Path, name: str) -> None:
    pyramid = opened(graphs, name)
    graph = pyramid.levels[0]
    images = torch.randn(1, 2, *graph.grid[1:])
    found = assert_equivariant(OrientedLift(graph), pyramid, images, tolerance=1e-5)
    expected = {"rotation_180", "flip"} | (
        {"rotation_90"} if graph.orientations % 2 == 0 else set()
    )
    assert set(found) >= expected
    assert ("translation_x" in found) == ("torus" in name)


def test_an_odd_number_of_orientations_has_no_quarter_turns(graphs: Path) -> None:
    pyramid = opened(graphs, "five")
    lift, images = OrientedLift(pyramid.levels[0]), torch.randn(1, 1, 12, 12)
    with pytest.raises(ValueError, match=r"have no symmetry 'rotation_90'\. There: rotation_180"):
        assert_equivariant(lift, pyramid, images, symmetries=["rotation_90"])


@pytest.mark.parametrize(("kind", "scales"), [("cake", 1), ("cake", 2), ("gabor", (4.0,))])
def test_the_filter_along_a_line_answers_most(graphs: Path, kind: str, scales: object) -> None:
    graph = finest(graphs, "lines")
    lift, n_o = OrientedLift(graph, kind, scales), graph.orientations
    for k in range(n_o):
        theta = float(graph.coordinates[k * 33 * 33, 2])
        assert theta == pytest.approx(-math.pi / 2 + k * math.pi / n_o)
        image = torch.from_numpy(truth.line(33, theta)).float()[None, None]
        center = by_orientation(lift(image), graph)[0, 0, :, 16, 16]
        assert int(center.argmax()) == k
        assert center[k] > 1.5 * center[(k + 3) % n_o].abs()
        assert center[k] > 3 * center[(k + n_o // 2) % n_o].abs() or kind == "cake"


def test_lines_that_cross_have_a_maximum_each(graphs: Path) -> None:
    graph = finest(graphs, "lines")
    image = sum(truth.line(33, -math.pi / 2 + k * math.pi / 12) for k in (2, 7))
    center = by_orientation(OrientedLift(graph)(torch.from_numpy(image)[None, None]), graph)
    fiber = center[0, 0, :, 16, 16]
    peaks = [k for k in range(12) if fiber[k] > max(fiber[k - 1], fiber[(k + 1) % 12])]
    assert sorted(sorted(peaks, key=lambda k: -fiber[k])[:2]) == [2, 7]
    assert all(fiber[k] < 0.7 * min(fiber[2], fiber[7]) for k in peaks if k not in {2, 7})


def test_on_a_mask_scores_are_those_inside(graphs: Path) -> None:
    graph, whole = finest(graphs, "masked"), finest(graphs, "open")
    images = torch.randn(2, 3, 16, 16)
    full = by_orientation(OrientedLift(whole, scales=2)(images), whole)
    lift = OrientedLift(graph, scales=2)
    found = lift(images)
    assert found.shape == (2, 6, graph.num_vertices)
    assert torch.equal(graph.to_grid(found, 0), full.masked_fill(graph.to_grid(found).isnan(), 0))
    with pytest.raises(
        ValueError, match=r"^OrientedLift.inverse needs the scores of all pixels;.*"
    ):
        lift.inverse(found)
    with pytest.raises(ValueError, match=r"takes images \(B, C, 16, 16\) or \(B, C, 256\)"):
        lift(torch.zeros(1, 1, graph.num_points))


def test_gradients(graphs: Path) -> None:
    for name in ("two", "masked"):
        lift = OrientedLift(finest(graphs, name), scales=2).double()
        images = torch.randn(1, 2, *lift.grid[1:], dtype=torch.float64, requires_grad=True)
        (lift(images) * torch.randn(lift.num_vertices)).sum().backward()
        assert images.grad.isfinite().all()
    lift = OrientedLift(finest(graphs, "two"), scales=2).double()
    images = torch.randn(1, 2, 9, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lift, (images,), fast_mode=True)
    scores = lift(images).detach().requires_grad_()
    assert torch.autograd.gradcheck(lift.inverse, (scores,), fast_mode=True)


def test_precision(graphs: Path) -> None:
    """Half precision and autocast change the dtype of signals, not that of filters."""
    lift, images = OrientedLift(finest(graphs, "open")), torch.randn(2, 3, 16, 16)
    expected = lift(images)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(lift(images), expected)
        given = images.bfloat16()
        assert torch.equal(lift(given), lift(given.float()).bfloat16())
    half = copy.deepcopy(lift).half()
    assert half.wavelets.even.dtype == torch.float32
    assert torch.equal(half(images.half()), lift(images.half().float()).half())
    double = copy.deepcopy(lift).double()
    assert lift.wavelets.even.dtype == torch.float32
    assert (double(images.double()) - expected).abs().max() <= 1e-5
    assert not torch.equal(double.wavelets.even, lift.wavelets.even.double())
    assert torch.equal(double.float().wavelets.even, lift.wavelets.even)


def test_no_parameters_and_pickled_as_handles(graphs: Path) -> None:
    for name in ("masked", "torus"):
        lift = OrientedLift(finest(graphs, name), "gabor", (4.0, 7.0)).double()
        assert not list(lift.parameters())
        assert list(lift.state_dict()) == ["_extra_state"]
        sent = pickle.dumps(lift)
        assert len(sent) < 5_000
        again, images = pickle.loads(sent), torch.randn(1, 1, 16, 16, dtype=torch.float64)
        assert torch.equal(again(images), lift(images))
        assert repr(again) == repr(lift)
        assert "kind='gabor', scales=(4.0, 7.0)" in repr(lift)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")
def test_exported(graphs: Path) -> None:
    for name in ("masked", "torus"):
        lift, images = OrientedLift(finest(graphs, name), scales=2), torch.randn(2, 3, 16, 16)
        batch = torch.export.Dim("batch", min=1, max=64)
        program = torch.export.export(lift, (images,), dynamic_shapes=({0: batch},))
        other = torch.randn(5, 3, 16, 16)
        for exported in (program, portable(program)):
            assert torch.allclose(exported.module()(other), lift(other), atol=1e-6)


def test_results_are_vertex_major(graphs: Path) -> None:
    scores = OrientedLift(finest(graphs, "open"), scales=2)(torch.randn(2, 3, 16, 16))
    assert scores.permute(2, 0, 1).is_contiguous()


@pytest.mark.parametrize("name", REFUSED)
def test_graphs_without_orientations_of_pixels_are_refused(graphs: Path, name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"OrientedLift is for SE\(2\).*{name}@v001.*use Lift, wh"
    ):
        OrientedLift(finest(graphs, name))


@pytest.mark.parametrize(
    ("kind", "scales", "message"),
    [
        ("wavelet", 1, r"kind must be 'cake' or 'gabor'\. Got 'wavelet'"),
        ("cake", 0, r"scales must be a number of at least 1 or ascending .* pixels.*Got 0"),
        ("cake", True, "Got True"),
        ("cake", (), r"Got \(\)"),
        ("cake", (4.0, 4.0), r"Got \(4.0, 4.0\)"),
        ("cake", (0.5,), "at least 1 pixels for kind='cake'"),
        ("gabor", (2.0,), "at least 2.5 pixels for kind='gabor'"),
        ("cake", (math.nan,), "Got"),
        ("cake", (3.0, math.inf), "Got"),
        ("cake", "8", "Got '8'"),
    ],
)
def test_other_settings_are_refused(graphs: Path, kind: str, scales: object, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        OrientedLift(finest(graphs, "open"), kind, scales)
    assert "\n" not in str(caught.value)


def test_other_signals_are_refused(graphs: Path) -> None:
    graph = finest(graphs, "wide")
    lift = OrientedLift(graph, scales=2)
    shapes = r"takes images \(B, C, 13, 20\) or \(B, C, 260\) of floating-point numbers\."
    for wrong in (torch.zeros(2, 3, 20, 13), torch.zeros(2, 260), torch.zeros(2, 3, 6, 13, 20)):
        with pytest.raises(ValueError, match=shapes):
            lift(wrong)
    with pytest.raises(ValueError, match=r"Got \(2, 3, 13, 20\), torch.int64"):
        lift(torch.zeros(2, 3, 13, 20, dtype=torch.int64))
    for channels in (3, 0):
        wrong = torch.zeros(2, channels, graph.num_vertices - (channels == 0))
        with pytest.raises(ValueError, match=r"inverse takes \(B, C 2, 1560\)\. Got"):
            lift.inverse(wrong)
    with pytest.raises(ValueError, match=r"Gabor filters have no inverse: use .*kind='cake'"):
        OrientedLift(graph, "gabor").inverse(torch.zeros(2, 3, 1560))
