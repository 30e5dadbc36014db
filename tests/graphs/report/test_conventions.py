"""The conventions that reports and docs state, against signals, the group and plain sums."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.manifolds.arrays import array
from cheblienet_graphs.spec import words
from cheblienet_models import Lift, open_store

PAGE = " ".join((Path(__file__).parents[3] / "docs/explanation/geometry.md").read_text().split())


def directions(manifold: str, start: tuple[float, ...], end: tuple[float, ...]) -> np.ndarray:
    """(forward, sideways, rotation) of the way from one element to another."""
    geometry = MANIFOLDS[manifold]
    g, h = (geometry.elements(tuple(array([x]) for x in point)) for point in (start, end))
    return np.array([float(c[0]) for c in next(iter(geometry.logarithms(g, h)))])


def test_pixels_of_an_image_are_where_the_coordinates_say(tmp_path: Path) -> None:
    width, height, orientations = 6, 4, 3
    spec = GraphSpec("se2", (width, height), orientations=orientations, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    graph = open_store(tmp_path / "g.zarr")["g"].levels[0]
    image = torch.arange(height * width, dtype=torch.float32).reshape(1, 1, height, width)
    signal = Lift(graph)(image)[0, 0].numpy()
    x, y, theta = np.asarray(graph.coordinates).T
    column, row = np.rint(x * width).astype(int), np.rint(y * width).astype(int)
    assert np.allclose([x, y], [column / width, row / width])
    assert np.array_equal(signal, image[0, 0].numpy()[row, column])  # y is down, as rows are
    assert np.array_equal(np.lexsort((column, row, theta)), np.arange(len(x)))
    turns = [-math.pi / 2 + k * math.pi / orientations for k in range(orientations)]
    assert np.allclose(np.unique(theta), turns)
    assert theta.min() >= -math.pi / 2
    assert theta.max() < math.pi / 2
    said = words.sentences(spec)[1]
    assert "x (right) and y (down) in widths of the image" in said
    assert "theta from x toward y, in [-pi/2, pi/2)" in said


def test_forward_turns_from_x_toward_y() -> None:
    for theta in (-math.pi / 2, -0.3, 0.0, 1.2):
        start = (0.2, 0.3, theta)
        forward = (0.2 + 0.1 * math.cos(theta), 0.3 + 0.1 * math.sin(theta), theta)
        assert directions("se2", start, forward) == pytest.approx([0.1, 0, 0], abs=1e-12)
        sideways = (0.2 - 0.1 * math.sin(theta), 0.3 + 0.1 * math.cos(theta), theta)
        assert directions("se2", start, sideways) == pytest.approx([0, 0.1, 0], abs=1e-12)


def test_forward_turns_from_south_toward_east() -> None:
    """At colatitude pi/2, where south and east are changes of beta and gamma by the arc itself."""
    step = 1e-6
    for alpha in (-math.pi / 2, -0.3, 0.0, 1.2):
        end = (alpha, math.pi / 2 + step * math.cos(alpha), 0.4 + step * math.sin(alpha))
        found = directions("so3", (alpha, math.pi / 2, 0.4), end) / step
        assert found == pytest.approx([1, 0, 0], abs=1e-4)
    said = words.sentences(GraphSpec("so3", subdivisions=1))[1]
    assert "alpha from south toward east, in [-pi/2, pi/2)" in said


@pytest.mark.parametrize(
    "size", [{"subdivisions": 1}, {"nside": 2}, {"bandlimit": 4}, {"points": 99}]
)
def test_ranges_of_angles(tmp_path: Path, size: dict[str, int]) -> None:
    build(GraphSpec("so3", levels=1, **size), tmp_path / "g.zarr", name="g", device="cpu")
    graph = open_store(tmp_path / "g.zarr")["g"].levels[0]
    alpha, beta, gamma = np.asarray(graph.coordinates).T
    assert alpha.min() == -math.pi / 2
    assert alpha.max() < math.pi / 2
    assert beta.min() >= 0
    assert beta.max() <= math.pi
    least, most, gamma_range = -math.pi, math.pi, "[-pi, pi]"
    if "bandlimit" in size:
        least, most, gamma_range = 0, 2 * math.pi - 1e-3, "[0, 2 pi)"
    assert gamma.min() >= least
    assert gamma.max() <= most
    said = words.sentences(GraphSpec("s2", **size))[1]
    assert f"beta (colatitude) in [0, pi], gamma (longitude, east) in {gamma_range}" in said


def row(report: str, title: str) -> list[float]:
    """The numbers of a row of the report's table."""
    (line,) = (line for line in report.splitlines() if line.strip().startswith(title))
    return [float(x) for x in re.split(r"\s{2,}", line.strip())[1:]]


def test_lengths_are_told_in_pixels_too(tmp_path: Path) -> None:
    spec = GraphSpec("se2", (48, 24), orientations=4, alpha=2)
    build(spec, tmp_path / "g.zarr")
    found = inspect(tmp_path / "g.zarr", eigenvalues=0)
    report = found.full_text()
    assert spec.levels == 2
    pixels = [48, 24]
    assert row(report, "xi, widths per radian") == pytest.approx(
        [math.sqrt(2 * 4) / n for n in pixels], rel=1e-3
    )
    assert row(report, "xi, pixels per radian") == pytest.approx([math.sqrt(2 * 4)] * 2, rel=1e-2)
    spread = [math.sqrt(level.bandwidth) * n for level, n in zip(found.levels, pixels, strict=True)]
    assert row(report, "sqrt t, pixels") == pytest.approx(spread, rel=1e-2)
    assert f"xi = {math.sqrt(8) / 48:.4g} widths (2.83 pixels) per radian" in report


def test_lengths_are_told_in_degrees_on_the_sphere(tmp_path: Path) -> None:
    build(GraphSpec("so3", subdivisions=2, levels=2), tmp_path / "g.zarr", device="cpu")
    found = inspect(tmp_path / "g.zarr", eigenvalues=0)
    report = found.full_text()
    xi = [math.sqrt(6 * 4 * math.pi / points) for points in (162, 42)]
    assert row(report, "xi, radians of arc per radian") == pytest.approx(xi, rel=1e-3)
    assert row(report, "xi, degrees of arc per radian") == pytest.approx(np.rad2deg(xi), rel=1e-2)
    spread = [math.degrees(math.sqrt(level.bandwidth)) for level in found.levels]
    assert row(report, "sqrt t, degrees of arc") == pytest.approx(spread, rel=1e-2)
    assert f"xi = {xi[0]:.4g} ({math.degrees(xi[0]):.3g} degrees of arc) per radian" in report


def test_weights_beyond_a_hundred_are_written_out(tmp_path: Path) -> None:
    build(GraphSpec("se2", 96, weights="selling", levels=1), tmp_path / "g.zarr")
    found = inspect(tmp_path / "g.zarr", eigenvalues=0)
    weights = found.levels[0].weights
    assert 100 < weights["max"] < 1e6
    told = " / ".join(f"{weights[name]:,.0f}" for name in ("min", "median", "max"))
    assert told in found.full_text()


@pytest.mark.slow
def test_solved_xi_is_told_in_pixels(tmp_path: Path) -> None:
    spec = GraphSpec("se2", 16, xi="auto", levels=2)
    result = build(spec, tmp_path / "g.zarr")
    for level, line in enumerate(words.reached(spec, list(result.levels))):
        xi = result.levels[level]["xi"]
        assert line.endswith(f"xi = {xi:.4g} widths ({xi * (16, 8)[level]:.3g} pixels) per radian")


def test_random_points_of_the_plane_have_no_pixels(tmp_path: Path) -> None:
    build(GraphSpec("se2", points=400, orientations=4), tmp_path / "g.zarr", device="cpu")
    report = inspect(tmp_path / "g.zarr", eigenvalues=0).full_text()
    assert row(report, "xi, mean spacings per radian") == pytest.approx([2], rel=1e-2)


def test_a_report_says_how_to_read_it(tmp_path: Path) -> None:
    build(GraphSpec("se2", 16, levels=1), tmp_path / "g.zarr")
    report = " ".join(inspect(tmp_path / "g.zarr", eigenvalues=3).full_text().split())
    assert "least .. largest over the orientations; smaller is more anisotropic" in report
    assert "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2)" in report
    assert "d_rotation" not in inspect(tmp_path / "g.zarr", eigenvalues=0).full_text()


@pytest.mark.parametrize(
    "promise",
    [
        "pixel (ix, iy) at x = ix/W, y = iy/W",
        "y down as image rows",
        "theta in [-pi/2, pi/2), from x toward y",
        "alpha in [-pi/2, pi/2), from south toward east",
        "xi W pixels per radian",
        "smaller is more anisotropic",
        "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2)",
    ],
)
def test_the_documentation_states_them(promise: str) -> None:
    box = PAGE.partition("## Conventions")[2].partition("## Metric")[0]
    assert promise in box
