"""Given areas beside the cells of their points, which the verdict looks at."""

from collections.abc import Callable
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import SphericalVoronoi
from sphere_truth import unit_vectors

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.measure.faults import unlike_areas


def stations(count: int = 2000) -> np.ndarray:
    """(count, 2) latitude and longitude in degrees, four times as dense in the north."""
    rng = np.random.default_rng(5)
    height = rng.random(count) * np.where(rng.random(count) < 0.8, 1, -1)
    return np.column_stack([np.degrees(np.arcsin(height)), rng.uniform(-180, 180, count)])


def cells(places: np.ndarray) -> np.ndarray:
    """(N,) areas of their Voronoi cells, as scipy has them."""
    latitude, longitude = np.radians(places).T
    points = unit_vectors(np.stack([np.pi / 2 - latitude, longitude], axis=1))
    return SphericalVoronoi(points).calculate_areas()


def on_stations(*areas: np.ndarray) -> GraphSpec:
    """A graph on the stations, with these areas if there are any."""
    places = np.column_stack([stations(), *areas])
    return GraphSpec("s2", coordinates=places, weights="voronoi")


def test_equal_areas_of_unequal_cells_are_a_reason(report_on: Callable) -> None:
    equal = on_stations(np.ones(2000))
    [level] = report_on(equal).levels
    assert level.consistency == "inconsistent"
    assert level.finding.causes[0].kind == "areas"
    ratios = 1 / cells(stations())
    low, high = np.quantile(ratios, (0.1, 0.9)) / np.median(ratios)
    numbers = level.finding.causes[0].numbers
    assert (numbers["low"], numbers["high"]) == pytest.approx((low, high), rel=1e-5)
    assert "; leave them out, and areas are those of the cells; " in level.verdict
    [unmeasured] = report_on(equal, eigenvalues=1).levels
    assert (unmeasured.spectral_error, unmeasured.consistency) == (None, "inconsistent")
    [followed] = report_on(on_stations()).levels
    assert followed.consistency == "consistent"
    assert followed.spectral_error < level.spectral_error / 3


@pytest.mark.parametrize("count", [1, 6])
def test_areas_of_cells_are_no_reason(report_on: Callable, count: int) -> None:
    """Scaled, as their unit is anybody's, with and without eigenvalues that confirm them."""
    [level] = report_on(on_stations(7 * cells(stations())), eigenvalues=count).levels
    assert level.consistency == ("consistent" if count == 6 else "not compared")


@given(st.floats(1e-3, 1e3), st.floats(1, 100), st.integers(0, 100))
def test_a_tenth_at_either_end_does_not_count(unit: float, factor: float, far: int) -> None:
    """Cells at the ends of a part are larger than what stations stand for, by any factor."""
    level = Mock(areas_by_cells=unit * np.where(np.arange(101) < far, 1 / factor, 1))
    beyond = factor > 2 * (1 + 1e-9)
    if abs(factor - 2) > 1e-6:
        assert bool(unlike_areas(level)) == (beyond and 10 < far <= 90)
