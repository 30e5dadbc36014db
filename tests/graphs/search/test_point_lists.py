"""nearest_neighbors against scikit-learn, scipy and brute force: the same points, 0 differences."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from axes_truth import logarithm_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree
from sklearn.neighbors import BallTree
from sphere_truth import latitudes_longitudes, plane_rows, s2_rows, so3_rows

from cheblienet_graphs import GraphSpec, SpecError, nearest_neighbors
from cheblienet_graphs.search import point_lists

ENGINES = ("auto", "pruned")
SPHERES = {
    "one healpix": {"nside": 1},
    "equiangular": {"bandlimit": 8},
    "random": {"sampling": "random", "points": 700},
    "few random": {"sampling": "random", "points": 12, "seed": 3},
}


def differences(result: tuple[np.ndarray, np.ndarray], truth: np.ndarray) -> int:
    """Entries that are not among the nearest by a matrix of d^2, or have another length."""
    indices, squared = result
    truth = truth.copy()
    np.fill_diagonal(truth, np.inf)
    least = np.sort(truth, axis=1)[:, : indices.shape[1]]
    size = 1e-12 * (1 + least)
    wrong = (abs(np.take_along_axis(truth, indices, 1) - squared) > size) | (
        abs(squared - least) > size
    )
    assert indices.dtype == np.int64
    assert squared.dtype == np.float64
    assert (np.diff(squared, axis=1) >= 0).all()
    assert all(len(np.unique(row)) == len(row) for row in indices)
    return int(wrong.sum())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SPHERES)
def test_great_circles_as_a_ball_tree_and_as_all_pairs(name: str, engine: str) -> None:
    sampling = GraphSpec("s2", levels=1, **SPHERES[name]).full_sampling(0)
    points = latitudes_longitudes(sampling.base_points)
    count = min(9, len(points) - 1)
    indices, squared = nearest_neighbors(points, count, manifold="s2", engine=engine)
    truth = np.concatenate([*s2_rows(np.radians([[90, 0]] + points * [-1, 1]))])
    assert differences((indices, squared), truth) == 0
    radians = {"manifold": "s2", "units": "radians", "engine": engine}
    assert differences(nearest_neighbors(np.radians(points), count, **radians), truth) == 0
    arcs, others = BallTree(np.radians(points), metric="haversine").query(
        np.radians(points), count + 1
    )
    assert abs(np.sqrt(squared) - arcs[:, 1:]).max() < 1e-7  # a haversine's rounding at 180 degrees
    if "random" in name:  # no two are equally far
        assert (indices != others[:, 1:]).sum() == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("sides", "number", "count"),
    [
        ((1.0, 1.0), 500, 8),
        ((40.0, 1.0), 60, 59),
        ((2.0, 1.0), 2, 1),
        ((1.0, 2.0, 3.0), 300, 12),
        ((1.0, 1.0, 9.0), 12, 11),
    ],
)
def test_planes_spaces_and_tori_as_a_tree(
    sides: tuple[float, ...], number: int, count: int, engine: str
) -> None:
    points = np.random.default_rng(5).random((number, len(sides))) * sides
    how = {"manifold": f"r{len(sides)}", "engine": engine}
    plain = nearest_neighbors(points, count, **how)
    np.testing.assert_allclose(plain[1], KDTree(points).query(points, count + 1)[0][:, 1:] ** 2)
    moved = points + np.array(sides) * np.random.default_rng(5).integers(-3, 4, points.shape)
    indices, squared = nearest_neighbors(moved, count, periodic=sides, **how)
    lengths, others = KDTree(points, boxsize=sides).query(points, count + 1)
    assert (indices != others[:, 1:]).sum() == 0
    np.testing.assert_allclose(np.sqrt(squared), lengths[:, 1:], rtol=1e-9)


@given(st.data())
def test_few_points_of_a_torus_as_all_images(data: st.DataObject) -> None:
    """Points that coincide, and images as near as points, too."""
    places = st.tuples(*[st.integers(0, 7)] * 2)
    points = np.array(data.draw(st.lists(places, min_size=2, max_size=9))) / 8
    sides = data.draw(st.sampled_from([(1.0, 1.0), (1.0, 4.0), (8.0, 1.0)]))
    count = data.draw(st.integers(1, len(points) - 1))
    apart = points[:, None] - points
    apart -= np.round(apart / sides) * sides
    for engine in ENGINES:
        result = nearest_neighbors(points, count, manifold="r2", periodic=sides, engine=engine)
        assert differences(result, (apart**2).sum(axis=2)) == 0


@pytest.mark.parametrize("step", [0.0, 1e-9, 1e-3])
def test_close_points_are_as_exact_as_far_ones(step: float) -> None:
    """Degrees apart: chords of unit vectors would lose digits; equal places are listed, too."""
    points = np.random.default_rng(5).random((40, 2)) * [120, 300] - [60, 150]
    north, west = np.array([[step, 0], [0, -2 * step]])
    points = np.concatenate([points, points + north, points + west])
    indices, squared = nearest_neighbors(points, 5, manifold="s2")
    truth = np.concatenate([*s2_rows(np.radians([[90, 0]] + points * [-1, 1]))])
    assert differences((indices, squared), truth) == 0
    np.fill_diagonal(truth, np.inf)
    lengths = np.sqrt([squared, np.sort(truth, axis=1)[:, :5]])
    np.testing.assert_allclose(*lengths, rtol=1e-12, atol=2e-15)


def test_equal_lengths_are_listed_by_number() -> None:
    points = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=2).reshape(-1, 2)
    indices, squared = nearest_neighbors(points, 8, manifold="r2")
    keys = squared * 100 + indices
    assert (np.diff(keys, axis=1) > 0).all()
    middle = 40
    assert [*indices[middle]] == [31, 39, 41, 49, 30, 32, 48, 50]


@pytest.mark.parametrize("period", ["pi", "2pi"])
@pytest.mark.parametrize("periodic", [None, (1, 1)])
@pytest.mark.parametrize(("eps", "xi"), [(1.0, 2.0), (0.1, 0.02)])
def test_positions_with_angles_as_all_pairs(
    period: str, periodic: tuple[int, int] | None, eps: float, xi: float
) -> None:
    points = np.random.default_rng(5).random((120, 3)) * [1, 1, 360]
    points[:40, :2] = points[40:80, :2]  # several angles at one place
    metric = {"manifold": "se2", "eps": eps, "xi": xi, "period": period, "periodic": periodic}
    result = nearest_neighbors(points, 16, **metric)
    columns = points * [1, 1, math.pi / 180]
    rows = plane_rows(columns, eps, xi, 12 if periodic else 0, math.pi * (1 + (period == "2pi")))
    truth = np.array([row.min(axis=0) for row in rows])
    assert differences(result, truth) == 0
    assert np.sqrt(result[1].max()) < 12  # the rings of the truth are enough


@pytest.mark.parametrize("period", ["pi", "2pi"])
def test_places_with_orientations_as_all_pairs(period: str) -> None:
    points = np.random.default_rng(5).random((150, 3)) * [180, 360, 360] - [90, 180, 0]
    points[0, 0], points[1, 0] = 90, -90
    result = nearest_neighbors(points, 16, manifold="so3", eps=0.3, xi=0.2, period=period)
    columns = np.radians(points[:, [2, 0, 1]] * [1, -1, 1] + [0, 90, 0])
    truth = np.concatenate([*so3_rows(columns, 0.3, 0.2, math.pi * (1 + (period == "2pi")))])
    assert differences(result, truth) == 0


def test_positions_with_axes_as_matrix_logarithms() -> None:
    points = np.random.default_rng(5).standard_normal((14, 6))
    result = nearest_neighbors(points, 13, manifold="r3s2", eps=0.4, xi=0.7)
    truth = np.zeros((14, 14))
    units = points[:, 3:] / np.linalg.norm(points[:, 3:], axis=1)[:, None]
    for a, b in itertools.permutations(range(14), 2):
        lengths = []
        for end in (units[b], -units[b]):
            along, across, tilt = logarithm_of(units[a], end, points[b, :3] - points[a, :3])
            lengths.append(along**2 + (across / 0.4) ** 2 + (0.7 * tilt) ** 2)
        truth[a, b] = min(lengths)
    indices, squared = result
    assert differences((indices, np.round(squared, 9)), np.round(truth, 9)) == 0
    opposite = points * [1, 1, 1, -2, -2, -2]
    assert (nearest_neighbors(opposite, 13, manifold="r3s2", eps=0.4, xi=0.7)[0] == indices).all()


PLANE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
ANGLED = PLANE @ np.eye(2, 3) + [0, 0, 90]
FAR = np.array([[10.0, 20.0], [50.0, 90.0], [-80.0, 300.0]])


@pytest.mark.parametrize(
    ("points", "k", "fields", "message"),
    [
        (PLANE, 3, {"manifold": "r2"}, r"k must be an integer in \[1, 2\]. Got 3"),
        (PLANE, 1, {"manifold": "r3"}, r"points must be of shape \(N, 3\) on r3: x, y, z"),
        (np.ma.masked_equal(PLANE, 1), 1, {"manifold": "r2"}, "points must be .*without masked v"),
        (PLANE * 1e200, 1, {"manifold": "r2"}, "points must be finite, of magnitude at most 1e"),
        (PLANE, 1, {"manifold": "r2", "periodic": (1, 0)}, "periodic must be 2 positive periods"),
        (PLANE / 3, 1, {"manifold": "r2", "periodic": (1, 1e-9)}, "none more than 1000 times"),
        (PLANE, 1, {"manifold": "r2", "engine": "stencil"}, "engine must be auto, pruned or keops"),
        (ANGLED, 1, {"manifold": "se2"}, "xi must be given on se2: the length .* rotation"),
        (FAR / 60, 1, {"manifold": "s2"}, "may be radians. Got latitude up to 1.333.*`units="),
        (np.zeros((3, 6)), 1, {"manifold": "r3s2", "xi": 1}, "axes nx, ny, nz .* Got 0, 0, 0 at"),
    ],
)
def test_refusals(points: Any, k: int, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message) as error:
        nearest_neighbors(points, k, **fields)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("manifold", "place", "fields"),
    [
        ("r2", [1.0, 2.0], {}),
        ("r2", [0.4, 0.2], {"periodic": (1, 2)}),
        ("r3", [1.0, 2.0, 3.0], {}),
        ("s2", [50.0, 20.0], {}),
        ("se2", [1.0, 2.0, 90.0], {"xi": 1}),
        ("so3", [50.0, 20.0, 30.0], {"xi": 1}),
        ("r3s2", [1.0, 2.0, 3.0, 0.0, 0.0, 1.0], {"xi": 1}),
    ],
)
def test_many_points_that_coincide(manifold: str, place: list, fields: dict) -> None:
    """As many as would take hours where each is compared with each."""
    points = np.repeat([place], 10**5, axis=0)
    points[[5, 70_000], 0] += [0.01, -0.02]
    indices, squared = nearest_neighbors(points, 3, manifold=manifold, **fields)
    there = np.delete(np.arange(len(points)), [5, 70_000])
    assert (squared[there] < 1e-30).all()
    assert np.isin(indices[there], there).all()
    assert (indices != np.arange(len(points))[:, None]).all()
    assert all(len(set(row)) == 3 for row in indices[::997].tolist())
    assert indices[-1].tolist() == [0, 1, 2]
    assert indices[0].tolist() == [1, 2, 3]
    near = nearest_neighbors(points[:6], 3, manifold=manifold, **fields)
    assert squared[5] == pytest.approx(near[1][5], rel=1e-9)
    assert (squared[5] > 0).all()
    assert 70_000 not in indices[5]


def test_points_at_a_pole_coincide() -> None:
    points = np.stack([np.full(10**5, -90.0), np.linspace(-180, 180, 10**5)], axis=1)
    points[1, 0] = -80
    squared = nearest_neighbors(points, 2, manifold="s2")[1]
    assert (np.delete(squared, 1, axis=0) < 1e-30).all()
    assert squared[1] == pytest.approx(np.radians(10) ** 2)


def test_copies_are_nearest_as_by_all_pairs() -> None:
    """With more and with fewer copies than neighbors."""
    rng = np.random.default_rng(2)
    places = rng.random((12, 2))
    points = rng.permutation(np.repeat(places, [1, 1, 2, 3, 4, 5, 6, 7, 9, 20, 1, 4], axis=0))
    truth = ((points[:, None] - points) ** 2).sum(axis=2)
    for engine, count in itertools.product(ENGINES, (1, 4, 7)):
        result = nearest_neighbors(points, count, manifold="r2", engine=engine)
        assert differences(result, truth) == 0


def test_many_orientations_over_one_place_are_refused() -> None:
    points = np.ones((5000, 3))
    points[:, 2] = np.linspace(0, 179, len(points))
    message = "at most 4,096 over one place .* Got 5,000 that coincide but for their orient.*keops"
    with pytest.raises(SpecError, match=message):
        nearest_neighbors(points, 3, manifold="se2", xi=1, engine="pruned")


def test_a_tree_is_asked_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that Ctrl-C is heard between two of them."""
    points, given = np.random.default_rng(0).random((1000, 2)), []
    whole = nearest_neighbors(points, 4, manifold="r2")

    class Tree(KDTree):
        def query(self, places: np.ndarray, *how: Any, **more: Any) -> Any:
            given.append(len(places))
            return super().query(places, *how, **more)

    monkeypatch.setattr(point_lists, "KDTree", Tree)
    monkeypatch.setattr(point_lists, "QUERIES_AT_ONCE", 300)
    again = nearest_neighbors(points, 4, manifold="r2")
    assert given == [300, 300, 300, 100]
    assert all(map(np.array_equal, again, whole))
