"""The points of every sampling, their areas, symmetries and pooling."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial import KDTree, SphericalVoronoi
from scipy.stats import kstest
from sphere_truth import arcs, rotations, unit_vectors

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.samplings.equiangular import Equiangular
from cheblienet_graphs.samplings.healpix import Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.maps import LevelMap
from cheblienet_graphs.samplings.random import RandomPlane, RandomSphere
from cheblienet_graphs.samplings.sphere import SphereSampling
from cheblienet_graphs.samplings.voronoi import plane_cells, sphere_cells
from cheblienet_graphs.spec.sampling import sampling

SPHERES = [
    Icosphere(6, True, 0),
    Icosphere(5, True, 2),
    Healpix(5, True, 4),
    Equiangular(6, True, 5),
    RandomSphere(4, True, 50, 7),
]


def kind(value: object) -> str:
    return type(value).__name__


def matrix(found: LevelMap) -> csr_matrix:
    return csr_matrix((found.data, found.indices, found.indptr), shape=found.shape)


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_vertices_are_orientation_major(points: SphereSampling) -> None:
    n_o, count = points.orientations, points.num_points
    assert points.num_vertices == n_o * count
    coordinates = points.coordinates()
    assert coordinates.shape == (points.num_vertices, 3)
    alpha, beta, gamma = coordinates.T.reshape(3, n_o, count)
    expected = -math.pi / 2 + np.arange(n_o) * math.pi / n_o
    assert np.allclose(alpha, expected[:, None], rtol=0, atol=1e-15)
    assert (beta == beta[0]).all()
    assert (gamma == gamma[0]).all()
    assert ((beta >= 0) & (beta <= math.pi)).all()


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_coordinates_are_those_of_the_base_points(points: SphereSampling) -> None:
    base = points.base_points
    assert np.allclose(np.linalg.norm(base, axis=1), 1, rtol=0, atol=1e-15)
    over = rotations(points.coordinates()).apply([0, 0, 1])
    assert np.abs(over - np.tile(base, (points.orientations, 1))).max() < 1e-15
    flat = unit_vectors(points.coordinates()[: len(base), 1:])
    assert np.abs(flat - base).max() < 1e-15


@pytest.mark.parametrize("points", SPHERES, ids=kind)
def test_areas_have_mean_one(points: SphereSampling) -> None:
    areas = points.areas()
    assert areas.shape == (points.num_vertices,)
    assert (areas > 0).all()
    assert math.isclose(areas.mean(), 1, rel_tol=1e-14)
    assert (areas.reshape(points.orientations, -1) == areas[: points.num_points]).all()


@pytest.mark.parametrize("name", ["subdivisions", "nside", "bandlimit"])
def test_levels_of_a_specification(name: str) -> None:
    spec = GraphSpec("s2", **{name: 4}, levels=3)
    finest, *coarser = [sampling(spec, level) for level in range(3)]
    assert finest.coordinates().shape == (finest.num_points, 2)
    for level in (finest, *coarser):
        assert level.num_points == level.num_vertices == len(level.base_points)
    for fine, coarse in itertools.pairwise([finest, *coarser]):
        assert fine.pooling().shape == (coarse.num_points, fine.num_points)
        assert fine.unpooling().shape == (fine.num_points, coarse.num_points)


@pytest.mark.parametrize("subdivisions", range(5))
def test_icosphere_counts_and_nests(subdivisions: int) -> None:
    points = Icosphere(subdivisions=subdivisions).base_points
    assert points.shape == (10 * 4**subdivisions + 2, 3)
    finer = Icosphere(subdivisions=subdivisions + 1).base_points
    assert (finer[: len(points)] == points).all()


def test_icosahedron() -> None:
    points = Icosphere().base_points
    apart = np.sort(arcs(points[:, None], points), axis=1)
    assert np.allclose(apart[:, 0], 0)
    assert np.allclose(apart[:, 1:6], math.atan(2))
    assert np.allclose(apart[:, 6:11], math.pi - math.atan(2))
    assert np.allclose(apart[:, 11], math.pi)


@pytest.mark.parametrize("subdivisions", range(5))
def test_icosphere_areas_are_voronoi_cells(subdivisions: int) -> None:
    found = Icosphere(subdivisions=subdivisions)
    areas = SphericalVoronoi(found.base_points).calculate_areas()
    assert np.abs(found.base_areas - areas / areas.mean()).max() < 1e-10


@pytest.mark.parametrize(
    ("subdivisions", "ratio"), [(0, 1.0), (1, 1.1296), (2, 1.1873), (3, 1.3099), (4, 1.3483)]
)
def test_icosphere_areas_are_nearly_equal(subdivisions: int, ratio: float) -> None:
    areas = Icosphere(subdivisions=subdivisions).base_areas
    assert math.isclose(areas.max() / areas.min(), ratio, abs_tol=1e-4)


@pytest.mark.parametrize("subdivisions", range(4))
def test_poles_of_the_icosphere(subdivisions: int) -> None:
    found = Icosphere(subdivisions=subdivisions)
    beta, gamma = found.angles
    for pole in (0, math.pi):
        there = abs(beta - pole) < 1e-9
        assert there.sum() == (1 if subdivisions else 0)
        assert (gamma[there] == 0).all()


@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_icosphere_pools_a_point_and_the_midpoints_around(subdivisions: int) -> None:
    fine = Icosphere(subdivisions=subdivisions)
    coarse = Icosphere(subdivisions=subdivisions - 1)
    pooled = matrix(fine.pooling())
    sizes = np.diff(pooled.indptr)
    assert (sizes[:12] == 6).all()
    assert (sizes[12:] == 7).all()
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    for v, size in enumerate(sizes):
        row = pooled.indices[pooled.indptr[v] : pooled.indptr[v + 1]]
        assert row[0] == v
        assert (np.diff(row) > 0).all()
        assert set(row) == set(np.argsort(apart[v])[:size])


@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_icosphere_unpools_from_two_parents(subdivisions: int) -> None:
    fine = Icosphere(subdivisions=subdivisions)
    coarse = Icosphere(subdivisions=subdivisions - 1).base_points
    spread = matrix(fine.unpooling()).toarray()
    assert (spread[: len(coarse)] == np.eye(len(coarse))).all()
    new = spread[len(coarse) :]
    assert (np.sort(new, axis=1)[:, -3:] == [0, 0.5, 0.5]).all()
    middle = new @ coarse
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    assert np.abs(middle - fine.base_points[len(coarse) :]).max() < 1e-15


FINE = [
    *(Icosphere(subdivisions=n) for n in (1, 2, 4)),
    *(Healpix(nside=n) for n in (2, 8)),
    *(Equiangular(bandlimit=b) for b in (2, 6, 8)),
]


@pytest.mark.parametrize("fine", FINE, ids=repr)
def test_pooling_takes_means_by_area(fine: SphereSampling) -> None:
    down, up = matrix(fine.pooling()), matrix(fine.unpooling())
    for weights in (down, up):
        assert np.allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-14)
        assert weights.data.min() > 0
        assert weights.has_canonical_format
    assert np.allclose(up @ (down @ np.full(fine.num_points, 3.7)), 3.7, rtol=1e-14)
    expected = (down > 0).multiply(fine.base_areas)
    expected = expected.multiply(1 / expected.sum(axis=1))
    assert abs(down - expected).max() < 1e-15
    assert (np.unique(down.indices) == np.arange(fine.num_points)).all()


@pytest.mark.parametrize("fine", FINE[3:], ids=repr)
def test_blocks_are_disjoint_and_unpooled_where_they_were_pooled(fine: SphereSampling) -> None:
    down, up = matrix(fine.pooling()), matrix(fine.unpooling())
    assert (np.diff(down.indptr) == 4).all()
    assert ((down > 0) != (up.T > 0)).nnz == 0
    assert abs(down @ up - np.eye(len(down.indptr) - 1)).max() < 1e-15


@pytest.mark.parametrize("nside", [1, 2, 4, 16])
def test_healpix_rings(nside: int) -> None:
    """Gorski et al. (2005), equations 2 to 8: heights of the rings, pixels in each."""
    points = Healpix(nside=nside).base_points
    caps = [1 - i**2 / (3 * nside**2) for i in range(1, nside)]
    belt = [4 / 3 - 2 * i / (3 * nside) for i in range(nside, 2 * nside)]
    north = [*np.repeat(caps, 4 * np.arange(1, nside)), *np.repeat(belt, 4 * nside)]
    heights = np.concatenate([north, np.zeros(4 * nside), np.negative(north)])
    assert len(points) == 12 * nside**2
    assert np.allclose(np.sort(points[:, 2]), np.sort(heights), rtol=0, atol=1e-14)


@pytest.mark.parametrize("nside", [2, 4, 16])
def test_healpix_children_are_nearest_to_their_parent(nside: int) -> None:
    fine, coarse = Healpix(nside=nside), Healpix(nside=nside // 2)
    apart = arcs(coarse.base_points[:, None], fine.base_points)
    parents = np.arange(len(fine.base_points)) // 4
    assert (apart.argmin(axis=0) == parents).all()
    four = np.sort(np.argsort(apart, axis=1)[:, :4], axis=1)
    assert (four == np.arange(len(parents)).reshape(-1, 4)).all()
    assert (matrix(fine.pooling()).indices.reshape(-1, 4) == four).all()


@pytest.mark.parametrize("bandlimit", [1, 3, 8])
def test_equiangular_angles(bandlimit: int) -> None:
    beta, gamma = (a.reshape(2 * bandlimit, -1) for a in Equiangular(bandlimit=bandlimit).angles)
    for j, k in itertools.product(range(2 * bandlimit), repeat=2):
        assert math.isclose(beta[j, k], (j + 0.5) * math.pi / (2 * bandlimit), rel_tol=1e-15)
        assert math.isclose(gamma[j, k], (k + 0.5) * math.pi / bandlimit, rel_tol=1e-15)


@pytest.mark.parametrize("bandlimit", [2, 6, 8])
def test_equiangular_blocks_centre_on_the_coarser_points(bandlimit: int) -> None:
    fine, coarse = Equiangular(bandlimit=bandlimit), Equiangular(bandlimit=bandlimit // 2)
    block = matrix(fine.pooling()) > 0
    for angle, centre in zip(fine.angles, coarse.angles, strict=True):
        assert np.allclose(block @ angle / 4, centre, rtol=1e-14)
    weights = matrix(fine.pooling()).toarray()
    sine = np.sin(fine.angles[0])
    for row in weights:
        inside = row > 0
        assert np.allclose(row[inside], sine[inside] / sine[inside].sum(), rtol=1e-14)


def test_mean_pooling_on_the_icosphere_does_not_keep_integrals() -> None:
    """Midpoints count for both of their parents: how much, the README says."""
    fine, coarse = Icosphere(subdivisions=4), Icosphere(subdivisions=3)
    fine_share, coarse_share = (x.base_areas / x.base_areas.sum() for x in (fine, coarse))
    means = matrix(fine.pooling())
    counted = means.T @ coarse_share / fine_share
    assert counted.min() == pytest.approx(0.57, abs=0.01)
    assert counted.max() == pytest.approx(1.21, abs=0.01)
    smooth = np.exp(fine.base_points[:, 0])
    change = coarse_share @ (means @ smooth) / (fine_share @ smooth) - 1
    assert 1e-9 < abs(change) < 1e-5


def test_random_sphere_is_uniform() -> None:
    points = RandomSphere(points=20_000, seed=1).base_points
    rotated = rotations([0.4, 1.1, -0.3]).apply(points)
    for x, y, z in (points.T, rotated.T):
        assert kstest(z, "uniform", args=(-1, 2)).pvalue > 1e-3
        assert kstest(np.arctan2(y, x), "uniform", args=(-math.pi, 2 * math.pi)).pvalue > 1e-3
        assert abs(np.corrcoef(z, np.arctan2(y, x))[0, 1]) < 0.03
    assert np.allclose(points.T @ points / len(points), np.eye(3) / 3, rtol=0, atol=0.01)


def test_random_plane_is_uniform() -> None:
    x, y = RandomPlane(points=20_000, seed=1).base_points.T
    for side in (x, y):
        assert ((side >= 0) & (side < 1)).all()
        assert kstest(side, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.03


@pytest.mark.parametrize("random", [RandomPlane, RandomSphere])
def test_random_points_are_reproducible(random: type) -> None:
    first, again, other = (random(points=30, seed=seed).base_points for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("random", [RandomPlane, RandomSphere])
def test_random_points_have_neither_levels_nor_symmetries(random: type) -> None:
    points = random(points=30)
    assert list(points.symmetries()) == []
    for refused in (points.pooling, points.unpooling):
        with pytest.raises(ValueError, match="no coarser level"):
            refused()


def test_random_plane_is_orientation_major() -> None:
    points = RandomPlane(points=5, seed=2, orientations=3, oriented=True)
    x, y, theta = points.coordinates().T.reshape(3, 3, 5)
    assert (np.stack([x, y], axis=2) == points.base_points).all()
    assert np.allclose(theta, np.array([[-math.pi / 2], [-math.pi / 6], [math.pi / 6]]))


THROWN = 400_000
"""Points thrown at a domain: shares of cells are then known to .003, four deviations of each."""


def nearest_shares(points: np.ndarray, thrown: np.ndarray, boxsize: float | None) -> np.ndarray:
    """The share of the thrown points that is nearest to each of the points."""
    nearest = KDTree(points, boxsize=boxsize).query(thrown)[1]
    return np.bincount(nearest, minlength=len(points)) / len(thrown)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 12])
def test_plane_cells_hold_the_points_nearest_to_theirs(count: int, periodic: bool) -> None:
    random = np.random.default_rng(count)
    points, thrown = random.random((count, 2)), random.random((THROWN, 2))
    cells = plane_cells(points, (1.0, 1.0), periodic=periodic)
    expected = nearest_shares(points, thrown, 1.0 if periodic else None)
    assert np.abs(cells - expected).max() < 0.003
    assert math.isclose(cells.sum(), 1, rel_tol=1e-12)
    wide = plane_cells(points * [3, 2], (3.0, 2.0), periodic=periodic)
    assert math.isclose(wide.sum(), 6, rel_tol=1e-12)
    assert np.allclose(plane_cells(points * 3, (3.0, 3.0), periodic=periodic), 9 * cells)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 12])
def test_sphere_cells_hold_the_points_nearest_to_theirs(count: int) -> None:
    """Of few points, most of which lie on one half of the sphere."""
    for seed in range(5):
        points = RandomSphere(points=count, seed=seed).base_points
        thrown = np.random.default_rng(seed).normal(size=(THROWN, 3))
        thrown /= np.linalg.norm(thrown, axis=1, keepdims=True)
        cells = sphere_cells(points)
        expected = nearest_shares(points, thrown, None)
        assert np.abs(cells / (4 * math.pi) - expected).max() < 0.003
        assert math.isclose(cells.sum(), 4 * math.pi, rel_tol=1e-12)
        turned = sphere_cells(rotations([0.4, 1.1, -0.3]).apply(points))
        assert np.allclose(turned, cells, rtol=1e-9)


def test_sphere_cells_agree_with_another_construction() -> None:
    points = RandomSphere(points=3_000, seed=4).base_points
    expected = SphericalVoronoi(points).calculate_areas()
    assert np.abs(sphere_cells(points) / expected - 1).max() < 1e-6


@pytest.mark.parametrize("count", [50, 3_000])
def test_cells_on_a_torus_do_not_depend_on_where_it_is_cut(count: int) -> None:
    points = np.random.default_rng(count).random((count, 2))
    cells = plane_cells(points, (1.0, 1.0), periodic=True)
    moved = plane_cells((points + np.array([0.37, 0.81])) % 1, (1.0, 1.0), periodic=True)
    assert np.allclose(moved, cells, rtol=1e-9)


def test_points_on_a_great_circle_have_lunes() -> None:
    angle = np.array([0, 1, 3, 4.5])
    points = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    gaps = np.array([2 * math.pi - 4.5, 1, 2, 1.5])
    assert np.allclose(sphere_cells(points), gaps + np.roll(gaps, -1))


@pytest.mark.parametrize("apart", [0, 1e-16, 1e-6])
def test_points_that_coincide_share_a_cell(apart: float) -> None:
    plane = np.random.default_rng(5).random((40, 2))
    alone = plane_cells(plane, (1.0, 1.0), periodic=False)[3]
    both = plane_cells(np.vstack([plane, plane[3] + apart]), (1.0, 1.0), periodic=False)[[3, -1]]
    assert math.isclose(both.sum(), alone, rel_tol=1e-3)
    sphere = RandomSphere(points=40).base_points
    beside = sphere[3] + apart * np.cross(sphere[3], [0, 0, 1])
    cells = sphere_cells(np.vstack([sphere, beside / np.linalg.norm(beside)]))
    assert math.isclose(cells[[3, -1]].sum(), sphere_cells(sphere)[3], rel_tol=1e-3)
    if apart < 1e-15:
        assert both[0] == both[1]
        assert cells[3] == cells[-1]


def test_points_on_an_edge_of_the_plane_share_no_cell_with_their_reflection() -> None:
    points = np.array([[0.0, 0.5], [0.5, 0.0], [0.75, 0.75]])
    thrown = np.random.default_rng(0).random((THROWN, 2))
    expected = nearest_shares(points, thrown, None)
    found = plane_cells(points, (1.0, 1.0), periodic=False)
    assert np.abs(found - expected).max() < 0.003


def test_points_that_can_not_be_told_apart_are_refused() -> None:
    """Closer than directions can be told in double precision, and not so close as to be one."""
    points = RandomSphere(points=2_000, seed=1).base_points
    beside = points[3] + 1e-12 * np.cross(points[3], [0, 0, 1])
    with pytest.raises(CheblienetError, match="Use another `seed`, or fewer `points`"):
        sphere_cells(np.vstack([points, beside / np.linalg.norm(beside)]))


@pytest.mark.parametrize("periodic", [False, True])
def test_areas_of_random_points_are_those_of_their_cells(periodic: bool) -> None:
    plane = RandomPlane(60, 2, orientations=3, oriented=True, periodic=periodic)
    assert (plane.areas().reshape(3, 60) == plane.base_areas).all()
    assert (plane.areas(50, 130) == plane.areas()[50:130]).all()
    assert math.isclose(plane.base_areas.mean(), 1, rel_tol=1e-14)
    cells = plane_cells(plane.base_points, (1.0, 1.0), periodic=periodic)
    assert np.allclose(plane.base_areas, 60 * cells)
    sphere = RandomSphere(points=60, seed=2)
    assert np.allclose(sphere.base_areas, 60 / (4 * math.pi) * sphere_cells(sphere.base_points))


def isometry(points: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The orthogonal matrix M with M points = images, which exists where this is a symmetry."""
    solution = np.linalg.lstsq(points, images, rcond=None)[0].T
    assert np.abs(solution @ points.T - images.T).max() < 1e-12
    assert np.abs(solution @ solution.T - np.eye(3)).max() < 1e-12
    return solution


@pytest.mark.parametrize("orientations", [1, 2, 5, 6, 10])
@pytest.mark.parametrize(
    "points",
    [
        *(Icosphere(subdivisions=n) for n in (0, 1, 2)),
        *(Healpix(nside=n) for n in (1, 4)),
        *(Equiangular(bandlimit=b) for b in (2, 3, 5)),
    ],
    ids=repr,
)
def test_symmetries_are_isometries(points: SphereSampling, orientations: int) -> None:
    """Frames go to frames: M G_v = G_P[v], up to a half turn, where the name claims exactness.

    A reflection changes the handedness, so that sideways is turned round: M G_v diag(1, -1, 1) is
    the rotation that it maps G_v to.
    """
    fibred = replace(points, orientations=orientations, oriented=True)
    count = fibred.num_points
    frames = rotations(fibred.coordinates()).as_matrix()
    half_turn = np.diag([-1.0, -1.0, 1.0])
    names = []
    for name, permutation in fibred.symmetries():
        names.append(name)
        assert (np.sort(permutation) == np.arange(fibred.num_vertices)).all()
        image = permutation[:count] % count
        assert (permutation.reshape(orientations, count) % count == image).all()
        moved = isometry(fibred.base_points, fibred.base_points[image])
        mirror = np.diag([1.0, np.sign(np.linalg.det(moved)), 1.0])
        assert ("reflection" in name) == (mirror[1, 1] < 0)
        expected, found = moved @ frames @ mirror, frames[permutation]
        miss = np.minimum(
            np.abs(found - expected).max(axis=(1, 2)),
            np.abs(found @ half_turn - expected).max(axis=(1, 2)),
        )
        if name.endswith("(approximate)"):
            # The nearest orientation is half a step away at most.
            assert 1e-6 < miss.max() <= math.pi / orientations / 2 + 1e-12
        else:
            assert miss.max() < 1e-12
    assert len(names) == len(set(names))


EXACT = ["half_turn_x", "half_turn_y", "half_turn_z", "reflection"]
OTHERS = ["rotation_120", "rotation_72"]


@pytest.mark.parametrize("orientations", [1, 2, 5, 6])
@pytest.mark.parametrize("subdivisions", [1, 2, 3])
def test_exact_symmetries_of_the_icosphere(subdivisions: int, orientations: int) -> None:
    flat = Icosphere(subdivisions=subdivisions)
    assert [name for name, _ in flat.symmetries()] == EXACT + OTHERS
    found = Icosphere(orientations, True, subdivisions)
    approximate = [f"{name} (approximate)" for name in OTHERS]
    assert [name for name, _ in found.symmetries()] == EXACT + approximate


@pytest.mark.parametrize(
    ("points", "name", "order"),
    [
        (Icosphere(subdivisions=2), "half_turn_x", 2),
        (Icosphere(subdivisions=2), "half_turn_y", 2),
        (Icosphere(subdivisions=2), "reflection", 2),
        (Icosphere(subdivisions=2), "rotation_120", 3),
        (Icosphere(subdivisions=2), "rotation_72", 5),
        (Healpix(nside=4), "quarter_turn_z", 4),
        (Healpix(nside=4), "half_turn_z", 2),
        (Equiangular(bandlimit=5), "longitude_step", 10),
        (Equiangular(bandlimit=5), "half_turn_x", 2),
    ],
)
def test_order_of_symmetries(points: SphereSampling, name: str, order: int) -> None:
    """Repeated so many times, and not earlier, a symmetry is the identity."""
    permutation = dict(points.symmetries())[name]
    identity = np.arange(points.num_vertices)
    reached, returned = permutation, []
    for _ in range(order):
        returned.append(bool((reached == identity).all()))
        reached = permutation[reached]
    assert returned == [False] * (order - 1) + [True]


@pytest.mark.parametrize("points", [Healpix(5, True, 4), Equiangular(6, True, 5)], ids=kind)
def test_all_symmetries_about_the_axis_are_exact(points: SphereSampling) -> None:
    assert not any("approximate" in name for name, _ in points.symmetries())
    assert len(list(points.symmetries())) == 4
