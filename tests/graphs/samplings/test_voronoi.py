"""Voronoi cells against points thrown at random, and where points coincide or lie on an edge."""

import contextlib
import math

import numpy as np
import pytest
from scipy.spatial import KDTree
from sphere_truth import unit

from cheblienet_graphs.errors import CheblienetError
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.samplings.voronoi import arcs_of, cell_areas, most_sides

THROWN, KNOWN = 100_000, 0.006
"""Points thrown at a domain; shares of cells are then known to this, four deviations of each."""


def nearest_shares(points: np.ndarray, thrown: np.ndarray, boxsize: float | None) -> np.ndarray:
    """The share of the thrown points that is nearest to each of the points."""
    nearest = KDTree(points, boxsize=boxsize).query(thrown)[1]
    return np.bincount(nearest, minlength=len(points)) / len(thrown)


PLANE = {str(count): np.random.default_rng(count).random((count, 2)) for count in (1, 2, 12)} | {
    "corners": np.array([[0, 0], [1, 1.0]]),
    "across": np.array([[0, 0.2], [0.4, 0.2], [1, 0.2]]),
    "lattice": np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=2).reshape(-1, 2) / 4,
    "crowded": np.random.default_rng(7).random((40, 2)) / 20,  # cells end at mirrors far away
    "almost": np.array([[1e-16, 0.2], [0.4, 1e-17], [1 - 1e-16, 1 - 1e-16], [0.3, 0.4]]),
}


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("name", PLANE)
def test_plane_cells_hold_the_points_nearest_to_theirs(name: str, periodic: bool) -> None:
    """Also of points on edges, which on a torus are one with those opposite."""
    points = PLANE[name][(PLANE[name] < 1 - 1e-12).all(axis=1)] if periodic else PLANE[name]
    thrown = np.random.default_rng(0).random((THROWN, 2))
    cells = cell_areas(points, (1.0, 1.0), periodic=periodic)
    expected = nearest_shares(points, thrown, 1.0 if periodic else None)
    assert np.abs(cells - expected).max() < KNOWN
    assert math.isclose(cells.sum(), 1, rel_tol=1e-12)
    assert np.allclose(cell_areas(points * 3, (3.0, 3.0), periodic=periodic), 9 * cells)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_sphere_cells_hold_the_points_nearest_to_theirs(count: int) -> None:
    """Of few points, most of which lie on one half of the sphere."""
    for seed in range(2):
        points = Random(size=count, seed=seed).base_points
        thrown = unit(np.random.default_rng(seed).normal(size=(THROWN, 3)))
        cells = cell_areas(points)
        expected = nearest_shares(points, thrown, None)
        assert np.abs(cells / (4 * math.pi) - expected).max() < KNOWN
        assert math.isclose(cells.sum(), 4 * math.pi, rel_tol=1e-12)


@pytest.mark.parametrize("count", [3, 4, 50])
def test_no_points_have_more_sides_than_the_bound(count: int) -> None:
    """Points of the sphere in general position have as many as Euler's formula says."""
    arcs = arcs_of(Random(size=count).base_points, "")
    assert 2 * len(arcs.lengths) <= most_sides(count, flat=False)
    if count > 3:
        assert 2 * len(arcs.lengths) == most_sides(count, flat=False) == 6 * count - 12
    assert most_sides(count, flat=True) == {3: 6, 4: 12}.get(count, 6 * count)


def test_points_on_a_great_circle_have_lunes() -> None:
    angle = np.array([0, 1, 3, 4.5])
    points = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    gaps = np.array([2 * math.pi - 4.5, 1, 2, 1.5])
    assert np.allclose(cell_areas(points), gaps + np.roll(gaps, -1))


@pytest.mark.parametrize("apart", [0, 1e-16, 1e-6])
def test_points_that_coincide_share_a_cell(apart: float) -> None:
    plane = np.random.default_rng(5).random((40, 2))
    alone = cell_areas(plane, (1.0, 1.0))[3]
    both = cell_areas(np.vstack([plane, plane[3] + apart]), (1.0, 1.0))[[3, -1]]
    assert math.isclose(both.sum(), alone, rel_tol=1e-3)
    sphere = Random(size=40).base_points
    beside = sphere[3] + apart * np.cross(sphere[3], [0, 0, 1])
    cells = cell_areas(np.vstack([sphere, beside / np.linalg.norm(beside)]))
    assert math.isclose(cells[[3, -1]].sum(), cell_areas(sphere)[3], rel_tol=1e-3)
    if apart < 1e-15:
        assert both[0] == both[1]
        assert cells[3] == cells[-1]


@pytest.mark.parametrize("seed", range(8))
def test_cells_that_rounding_spoils_are_refused(seed: int) -> None:
    """Points crowded about a pole: their cells cover the sphere, or there are none."""
    places = np.random.default_rng(seed).normal(size=(2, 20, 3))
    points = np.append(places[0], 1e-14 * places[1] + [0, 0, 1], axis=0)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    with contextlib.suppress(CheblienetError):
        assert math.isclose(cell_areas(points).sum(), 4 * math.pi, rel_tol=1e-6)
