"""The edges of a vertex, and the metric that they realise, against sums over all pairs."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from axes_truth import logarithm_moments
from figured import SPECS, dense_weights
from moments import plane_moments

from cheblienet_graphs import inspect
from cheblienet_graphs.plot.neighbourhood import Neighbourhood, neighbourhood_of
from cheblienet_graphs.plot.opened import OpenedGraph

Opened = Callable[[str], OpenedGraph]


@pytest.mark.parametrize("name", SPECS)
def test_edges_are_those_of_the_graph(opened: Opened, figured: Path, name: str) -> None:
    data = neighbourhood_of(opened(name))
    weights = dense_weights(figured, name)
    for view in data.views:
        row = weights[view.vertex]
        np.testing.assert_array_equal(view.neighbours, np.flatnonzero(row))
        np.testing.assert_allclose(view.weights, row[view.neighbours], rtol=1e-6)
    assert data.heaviest == max(view.weights.max() for view in data.views)


def test_moments_are_sums_over_the_edges(opened: Opened, figured: Path) -> None:
    data = neighbourhood_of(opened("gaussian"))
    weights = dense_weights(figured, "gaussian")
    for view in data.views:
        j, place = np.divmod(view.neighbours, 256)
        i, own = divmod(view.vertex, 256)
        dx, dy = place % 16 - own % 16, place // 16 - own // 16
        _, second = plane_moments(dx, dy, np.full_like(j, i), j, 6)
        truth = np.einsum("n,nab->ab", weights[view.vertex, view.neighbours], second)
        np.testing.assert_allclose(view.moment, truth, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(view.rotating, i != j)


@pytest.mark.parametrize("name", ["gaussian", "selling", "masked", "volume"])
def test_eps_is_that_of_the_report(opened: Opened, figured: Path, name: str) -> None:
    data = neighbourhood_of(opened(name), most=99)
    level = inspect(figured, name, eigenvalues=0).levels[0]
    for view, metric in zip(data.views, level.effective_metric, strict=True):
        assert view.eps_squared == pytest.approx(metric.eps_squared, rel=1e-6)


def test_exact_weights_realise_the_ellipse_asked_for(opened: Opened) -> None:
    for view in neighbourhood_of(opened("selling")).views:
        ball, filled = view.ball, view.filled
        np.testing.assert_allclose(filled[:2, :2], ball[:2, :2], atol=1e-6 * ball.max())
        lengths = np.sort(np.linalg.eigvalsh(view.on_picture(ball)))
        assert lengths[0] / lengths[1] == pytest.approx(0.1)
        toward = view.on_picture(ball) @ view.frame[0]
        np.testing.assert_allclose(toward, lengths[1] * view.frame[0], atol=1e-9)


def test_the_ellipse_evenly_filled_has_the_moments(opened: Opened) -> None:
    view = neighbourhood_of(opened("gaussian")).views[1]
    generator = np.random.default_rng(0)
    ball = generator.normal(size=(200_000, 3))
    ball *= generator.random((len(ball), 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1)[:, None]
    points = ball @ np.linalg.cholesky(view.filled).T
    moments = view.weights.sum() * points.T @ points / len(points)
    np.testing.assert_allclose(moments, view.moment, atol=0.01 * view.moment.max())


def test_a_turn_by_a_right_angle_goes_both_ways(opened: Opened) -> None:
    view = neighbourhood_of(opened("two")).views[0]
    turned = view.components[view.rotating[view.edges], 2]
    assert len(view.components) == len(view.neighbours) + view.rotating.sum()
    np.testing.assert_allclose(abs(turned), math.pi / 2)
    assert turned.sum() == pytest.approx(0)


@pytest.mark.parametrize("name", ["gaussian", "plane", "volume", "sphere"])
def test_places_are_the_logarithms_without_rotation(opened: Opened, name: str) -> None:
    data = neighbourhood_of(opened(name))
    for view in data.views:
        straight = ~view.rotating[view.edges]
        within = view.components[straight][:, : len(data.axes)] @ view.frame
        np.testing.assert_allclose(within, view.places[view.edges[straight]], atol=1e-9)


def test_of_an_axis_the_frame_goes_along_and_across(opened: Opened) -> None:
    for name in ("axes", "unequal"):
        [view] = neighbourhood_of(opened(name)).views
        np.testing.assert_allclose(view.frame @ view.frame.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(view.frame[0], view.sample)
        assert np.linalg.det(view.frame) == pytest.approx(1)
        assert view.frame[1, 2] == 0
        own = ~view.rotating[view.edges]
        straight = view.components[own][:, :3] @ view.frame
        np.testing.assert_allclose(straight, view.places[view.edges[own]], atol=1e-9)
        tilted = view.components[~own][:, 3:] @ view.frame[1:]
        sines = np.cross(view.frame[0], view.headings[view.edges[~own]])
        found, true = (np.linalg.norm(part, axis=1) for part in (tilted, sines))
        np.testing.assert_allclose(found, true, atol=1e-9)


def test_moments_at_an_axis_are_those_of_matrix_logarithms(opened: Opened) -> None:
    [view] = neighbourhood_of(opened("unequal")).views
    truth = sum(
        weight * logarithm_moments(np.array(view.sample), other, place)
        for weight, other, place in zip(view.weights, view.headings, view.places, strict=True)
    )
    along_and_across = view.frame @ truth @ view.frame.T
    np.testing.assert_allclose(view.moment[:3, :3], along_and_across, rtol=1e-6, atol=1e-9)


def test_eps_at_an_axis_is_that_of_the_report(opened: Opened, figured: Path) -> None:
    [view] = neighbourhood_of(opened("axes")).views
    level = inspect(figured, "axes", eigenvalues=0).levels[0]
    here = level.effective_metric[view.vertex // 125]
    assert view.eps_squared == pytest.approx(here.eps_squared, rel=1e-6)


def test_selling_and_tilts_realise_the_ellipsoid_asked_for(opened: Opened) -> None:
    [view] = neighbourhood_of(opened("axes")).views
    np.testing.assert_allclose(view.filled, view.ball, atol=1e-5 * view.ball.max())


def chosen(data: Neighbourhood) -> int:
    return data.views[data.middle].vertex


def test_of_many_orientations_some_are_shown(opened: Opened) -> None:
    data = neighbourhood_of(opened("columns"), vertex=64 * 5 + 3)
    assert len(data.views) == 6
    assert data.orientations == 16
    assert chosen(data) == 64 * 5 + 3
    assert {view.vertex % 64 for view in data.views} == {3}
    assert len({view.vertex for view in data.views}) == 6
    assert all(view.eps_squared is None for view in data.views)  # edges along the fibre alone
    assert all(view.ball is None for view in data.views)


def test_a_vertex_without_neighbours_has_no_ellipse(opened: Opened) -> None:
    graph = opened("dust")
    alone = int(np.diff(graph.level(0).laplacian.indptr).argmin())
    data = neighbourhood_of(graph, vertex=alone)
    [view] = data.views
    assert len(view.neighbours) == 0
    assert view.filled is view.ball is view.eps_squared is None
    assert data.heaviest == 0
    assert data.reach == 1


def test_points_around_are_shown_up_to_a_million(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = opened("plane")
    assert len(neighbourhood_of(graph).others) == 63
    monkeypatch.setattr("cheblienet_graphs.plot.neighbourhood.NEAR_AT_ONCE", 60)
    assert neighbourhood_of(graph).others.shape == (0, 2)
