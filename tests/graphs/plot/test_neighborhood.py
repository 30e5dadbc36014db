"""The edges of a vertex, and the metric that they realize, against sums over all pairs."""

import math

import numpy as np
import pytest
from axes_truth import logarithm_moments
from pictured import opened

from cheblienet_graphs.plot import Asked
from cheblienet_graphs.plot.neighborhood import axis_frame, neighborhood_of
from cheblienet_graphs.plot.neighborhood_panels import FIGURE
from cheblienet_graphs.report.inspect import examined


@pytest.mark.parametrize("name", ["six", "torus", "masked"])
def test_eps_and_xi_are_those_of_the_report(name: str) -> None:
    data = neighborhood_of(opened(name), most=99)
    (level,) = examined(opened(name), 0, 0, None).levels
    for view, metric in zip(data.views, level.effective_metric, strict=True):
        assert view.eps_squared == pytest.approx(metric.eps_squared, rel=1e-6)
        turning = view.moment[0, 0] / view.moment[2, 2] / data.xi**2
        assert turning == pytest.approx(metric.xi_squared / level.xi_squared, rel=1e-6)


def test_exact_weights_realize_the_ellipse_asked_for() -> None:
    [over_axes] = neighborhood_of(opened("twelve")).views
    np.testing.assert_allclose(over_axes.filled, over_axes.ball, atol=1e-5 * over_axes.ball.max())
    for view in neighborhood_of(opened("torus")).views:
        ball, filled = view.ball, view.filled
        np.testing.assert_allclose(filled[:2, :2], ball[:2, :2], atol=1e-6 * ball.max())
        shadow = view.ellipsoids()[1]
        lengths = np.sort(np.linalg.eigvalsh(shadow))
        assert lengths[0] / lengths[1] == pytest.approx(0.1)
        np.testing.assert_allclose(shadow @ view.frame[0], lengths[1] * view.frame[0], atol=1e-9)


@pytest.mark.parametrize("name", ["six", "plane", "volume", "sphere"])
def test_places_are_the_logarithms_without_rotation(name: str) -> None:
    data = neighborhood_of(opened(name))
    for view in data.views:
        straight = ~view.rotating[view.edges]
        within = view.components[straight][:, : len(data.axes)] @ view.frame
        np.testing.assert_allclose(within, view.places[view.edges[straight]], atol=1e-9)


def test_moments_at_an_axis_are_those_of_matrix_logarithms() -> None:
    [view] = neighborhood_of(opened("scan")).views
    frame = axis_frame(np.array(view.sample))
    edges = zip(view.weights, view.headings @ frame, view.places @ frame, strict=True)
    truth = sum(w * logarithm_moments(frame[0], other, place) for w, other, place in edges)
    np.testing.assert_allclose(view.moment[:3, :3], frame @ truth @ frame.T, rtol=1e-6, atol=1e-9)


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


def test_of_many_orientations_some_are_shown() -> None:
    data = neighborhood_of(opened("columns"), vertex=64 * 5 + 3)
    assert (len(data.views), data.orientations) == (5, 16)
    assert data.views[data.middle].vertex == 64 * 5 + 3
    assert {view.vertex % 64 for view in data.views} == {3}
    # Edges lead along the fiber alone.
    assert {view.eps_squared for view in data.views} == {view.ball for view in data.views} == {None}
    assert "no eps^2 is realized" in FIGURE.drawn(opened("columns"), Asked())[1]
    dust = opened("dust")
    alone = int(np.diff(dust.level(0).laplacian.indptr).argmin())
    assert "it has no neighbors" in FIGURE.drawn(dust, Asked(vertex=alone))[1]
