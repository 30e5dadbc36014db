"""The edges of a vertex, and the metric that they realize, against sums over all pairs."""

import math

import numpy as np
import pytest
from axes_truth import logarithm_moments
from matplotlib.figure import Figure
from moments import plane_moments
from pictured import dense_weights, opened
from scipy.spatial.transform import Rotation

from cheblienet_graphs import inspect
from cheblienet_graphs.plot import Asked
from cheblienet_graphs.plot.neighborhood import Neighborhood, neighborhood_of
from cheblienet_graphs.plot.neighborhood_panels import (
    FIGURE,
    draw_neighborhood,
    draw_rotation,
)
from cheblienet_graphs.report.edges_of import axis_frame
from cheblienet_graphs.report.level import LevelReport

KINDS = [
    "plane",
    "torus",
    "six",
    "columns",
    "masked",
    "own",
    "rotations",
    "region",
    "volume",
    "scan",
]


def reported(name: str) -> LevelReport:
    graph = opened(name)
    return inspect(graph.version.parents[1], graph.version.parent.name, eigenvalues=0).levels[0]


@pytest.mark.parametrize("name", KINDS)
def test_edges_are_those_of_the_graph(name: str) -> None:
    data = neighborhood_of(opened(name))
    weights = dense_weights(opened(name))
    for view in data.views:
        row = weights[view.vertex]
        np.testing.assert_array_equal(view.neighbors, np.flatnonzero(row))
        np.testing.assert_allclose(view.weights, row[view.neighbors], rtol=1e-6)
    assert data.heaviest == max(view.weights.max() for view in data.views)


def test_moments_are_sums_over_the_edges() -> None:
    data = neighborhood_of(opened("six"))
    weights = dense_weights(opened("six"))
    for view in data.views:
        j, place = np.divmod(view.neighbors, 256)
        i, own = divmod(view.vertex, 256)
        dx, dy = place % 16 - own % 16, place // 16 - own // 16
        _, second = plane_moments(dx, dy, np.full_like(j, i), j, 6)
        truth = np.einsum("n,nab->ab", weights[view.vertex, view.neighbors], second)
        np.testing.assert_allclose(view.moment, truth, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(view.rotating, i != j)


@pytest.mark.parametrize("name", ["six", "torus", "masked", "volume"])
def test_eps_is_that_of_the_report(name: str) -> None:
    data = neighborhood_of(opened(name), most=99)
    for view, metric in zip(data.views, reported(name).effective_metric, strict=True):
        assert view.eps_squared == pytest.approx(metric.eps_squared, rel=1e-6)


def test_exact_weights_realize_the_ellipse_asked_for() -> None:
    for view in neighborhood_of(opened("torus")).views:
        ball, filled = view.ball, view.filled
        np.testing.assert_allclose(filled[:2, :2], ball[:2, :2], atol=1e-6 * ball.max())
        lengths = np.sort(np.linalg.eigvalsh(view.on_picture(ball)))
        assert lengths[0] / lengths[1] == pytest.approx(0.1)
        toward = view.on_picture(ball) @ view.frame[0]
        np.testing.assert_allclose(toward, lengths[1] * view.frame[0], atol=1e-9)


def test_the_ellipse_evenly_filled_has_the_moments() -> None:
    view = neighborhood_of(opened("six")).views[1]
    generator = np.random.default_rng(0)
    ball = generator.normal(size=(200_000, 3))
    ball *= generator.random((len(ball), 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1)[:, None]
    points = ball @ np.linalg.cholesky(view.filled).T
    moments = view.weights.sum() * points.T @ points / len(points)
    np.testing.assert_allclose(moments, view.moment, atol=0.01 * view.moment.max())


def test_a_turn_by_a_right_angle_goes_both_ways() -> None:
    view = neighborhood_of(opened("tiny")).views[0]
    turned = view.components[view.rotating[view.edges], 2]
    assert len(view.components) == len(view.neighbors) + view.rotating.sum()
    np.testing.assert_allclose(abs(turned), math.pi / 2)
    assert turned.sum() == pytest.approx(0)


@pytest.mark.parametrize("name", ["six", "plane", "volume", "sphere"])
def test_places_are_the_logarithms_without_rotation(name: str) -> None:
    data = neighborhood_of(opened(name))
    for view in data.views:
        straight = ~view.rotating[view.edges]
        within = view.components[straight][:, : len(data.axes)] @ view.frame
        np.testing.assert_allclose(within, view.places[view.edges[straight]], atol=1e-9)


def test_at_an_axis_directions_are_along_and_across() -> None:
    for name in ("twelve", "scan"):
        [view] = neighborhood_of(opened(name)).views
        own = ~view.rotating[view.edges]
        straight = view.components[own][:, :3]
        np.testing.assert_allclose(straight, view.places[view.edges[own]], atol=1e-9)
        sines = view.components[~own][:, 3:]
        headings = view.headings[view.edges[~own]]
        across = headings[:, 1:] * np.sign(headings[:, :1])  # the axis itself is (1, 0, 0)
        turned = np.linalg.norm(sines, axis=1), np.linalg.norm(across, axis=1)
        np.testing.assert_allclose(*turned, atol=1e-9)


def test_moments_at_an_axis_are_those_of_matrix_logarithms() -> None:
    [view] = neighborhood_of(opened("scan")).views
    frame = axis_frame(np.array(view.sample))
    edges = zip(view.weights, view.headings @ frame, view.places @ frame, strict=True)
    truth = sum(w * logarithm_moments(frame[0], other, place) for w, other, place in edges)
    np.testing.assert_allclose(view.moment[:3, :3], frame @ truth @ frame.T, rtol=1e-6, atol=1e-9)


def test_selling_and_tilts_realize_the_ellipsoid_asked_for() -> None:
    [view] = neighborhood_of(opened("twelve")).views
    np.testing.assert_allclose(view.filled, view.ball, atol=1e-5 * view.ball.max())
    here = reported("twelve").effective_metric[view.vertex // 125]
    assert view.eps_squared == pytest.approx(here.eps_squared, rel=1e-6)


def test_the_frame_of_a_rotation_is_its_own() -> None:
    graph, vertex = opened("rotations"), 162 * 3 + 20
    alpha, beta, gamma = graph.level(0).coordinates[vertex]
    frame = Rotation.from_euler("ZYZ", [gamma, beta, alpha]).as_matrix()
    east = np.array([-math.sin(gamma), math.cos(gamma), 0])
    south = np.cross(east, frame[:, 2])
    truth = [[frame[:, k] @ east, frame[:, k] @ south] for k in (0, 1)]
    data = neighborhood_of(graph, vertex=vertex)
    np.testing.assert_allclose(data.views[data.middle].frame, truth, atol=1e-12)


def test_a_plane_shows_pixels_down_and_orientations_clockwise() -> None:
    data = neighborhood_of(opened("six"), vertex=256 * 4 + 16 * 8 + 8)
    view = data.views[data.middle]  # at 30 degrees
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    np.testing.assert_allclose(view.frame, [[cos, sin], [-sin, cos]])
    number, place = np.divmod(view.neighbors, 256)
    np.testing.assert_allclose(view.places, np.stack([place % 16, place // 16], axis=1) - 8)
    angles = number * math.pi / 6 - math.pi / 2
    np.testing.assert_allclose(
        abs((view.headings * np.stack([np.cos(angles), np.sin(angles)], axis=1)).sum(axis=1)), 1
    )


def chosen(data: Neighborhood) -> int:
    return data.views[data.middle].vertex


def test_of_many_orientations_some_are_shown() -> None:
    data = neighborhood_of(opened("columns"), vertex=64 * 5 + 3)
    assert len(data.views) == 5
    assert data.orientations == 16
    assert chosen(data) == 64 * 5 + 3
    assert {view.vertex % 64 for view in data.views} == {3}
    assert len({view.vertex for view in data.views}) == 5
    assert all(view.eps_squared is None for view in data.views)  # edges along the fiber alone
    assert all(view.ball is None for view in data.views)


def test_a_vertex_without_neighbors_has_no_ellipse() -> None:
    graph = opened("dust")
    alone = int(np.diff(graph.level(0).laplacian.indptr).argmin())
    data = neighborhood_of(graph, vertex=alone)
    [view] = data.views
    assert len(view.neighbors) == 0
    assert view.filled is view.ball is view.eps_squared is None
    assert data.heaviest == 0
    assert data.reach == 1
    assert "it has no neighbors" in FIGURE.drawn(graph, Asked(vertex=alone))[1]


def test_points_around_are_shown_up_to_a_million(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(neighborhood_of(opened("plane")).others) == 320
    monkeypatch.setattr("cheblienet_graphs.plot.neighborhood.NEAR_AT_ONCE", 60)
    assert neighborhood_of(opened("plane")).others.shape == (0, 2)


@pytest.mark.parametrize(
    ("name", "titles", "x", "y"),
    [
        ("plane", [""], "x (pixels)", "y (pixels)"),
        ("sphere", [""], "east (degrees of arc)", "south (degrees of arc)"),
        ("volume", ["xy plane", "xz plane", "yz plane"], "x (voxels)", "y (voxels)"),
        (
            "axes",
            ["from one side", "from the other", "along the axis", "along and tilt", "tilts"],
            "along (voxels)",
            "across 1 (voxels)",
        ),
        (
            "tiny",
            ["orientation −90°", "orientation 0°", "0°, with rotation"],
            "x (pixels)",
            "y (pixels)",
        ),
    ],
)
def test_panels_are_to_scale_and_labeled(name: str, titles: list[str], x: str, y: str) -> None:
    axes = [ax for ax in FIGURE.drawn(opened(name), Asked())[0].axes if ax.axison]
    assert [ax.get_title() for ax in axes] == titles
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == (x, y)
    for ax in axes:
        assert ax.get_aspect() == 1
        assert sum(ax.get_xlim()) == pytest.approx(sum(ax.get_ylim())) == pytest.approx(0)
    assert (axes[0].get_ylim()[0] > axes[0].get_ylim()[1]) == (name != "axes")


def test_edges_end_at_the_neighbors_and_turns_are_in_degrees() -> None:
    data = neighborhood_of(opened("six"))
    ax, rotation = Figure().subplots(1, 2)
    view = data.views[2]
    draw_neighborhood(data, view, ax)
    for drawn, chosen in zip(ax.collections[:2], (~view.rotating, view.rotating), strict=True):
        ends = np.array([path.vertices[1] for path in drawn.get_paths()])
        np.testing.assert_allclose(ends, view.places[chosen])
        heavier = np.diff(view.weights[chosen][np.argsort(drawn.get_linewidths())])
        assert (heavier >= -1e-6).all()
    draw_rotation(data, data.views[data.middle], rotation)
    labels = [label.get_text() for label in rotation.get_yticklabels()]
    turns = dict(zip(labels, rotation.get_yticks(), strict=True))
    assert {"−30°", "0°", "30°"} <= set(turns)
    assert turns["30°"] == pytest.approx(np.pi / 6 * data.xi)


def test_captions_say_what_is_realized() -> None:
    def caption(name: str) -> str:
        return FIGURE.drawn(opened(name), Asked())[1]

    assert "realize eps^2 = 0.1, asked for 0.1" in caption("torus")
    assert "4 of 4 orientations" in caption("torus")
    assert "realize eps^2 = 0.019 .. 0.0583, asked for 0.1" in caption("six")
    assert "act alike in all directions, as asked for" in caption("volume")
    assert "no eps^2 is realized" in caption("columns")
    assert "at axis 6, n = (−0.35, 0.87, 0.35), of 12; directions" in caption("twelve")
    assert neighborhood_of(opened("scan")).unit == "mean voxel sides"
