"""Weights of a kernel and listed ones, against loops over all pairs."""

import math
from pathlib import Path

import numpy as np
import pytest
from cell_spectra import cell_weights, first_eigenvalues
from scipy.spatial import SphericalVoronoi

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build
from cheblienet_graphs.samplings.given import Given, GivenPoints
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.weights.cells import voronoi_entries
from cheblienet_graphs.weights.voronoi import APART

SPHERE = np.repeat([2.0, 6.0, 12.0], [3, 5, 7])
STEPS = np.arange(12) * np.pi
SQUARE = np.sort((STEPS[:, None] ** 2 + STEPS**2).ravel())[1:16]
RANDOM = np.random.default_rng(5)
ON_EDGES = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 0.3], [0, 0.5], [0.4, 1], [1, 0.2]])
SCATTERED = RANDOM.random((40, 2))
CROWDED = np.concatenate([RANDOM.random((30, 2)), 0.5 + 0.01 * RANDOM.normal(size=(30, 2))])


def sampling_of(points: np.ndarray, **settings: object) -> Sampling:
    """Of points in the unit square, whatever their bounding box."""
    spec = GraphSpec("r2", coordinates=points, domain=(0, 0, 1, 1), **settings)
    return spec.full_sampling(0)


def clipped(polygon: list[tuple[np.ndarray, int]], normal: np.ndarray, limit: float, label: int):
    """The part where normal x <= limit of a polygon: corners, with labels of the sides after."""
    kept = []
    for (a, side), (b, _) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        low, high = normal @ a - limit, normal @ b - limit
        if low <= 0:
            kept.append((a, side))
        if (low <= 0) != (high <= 0):
            # Leaving the half plane the cut begins, else the old side goes on.
            kept.append((a + (b - a) * low / (low - high), label if low <= 0 else side))
    return kept


def fluxes_by_clipping(points: np.ndarray, *, periodic: bool) -> np.ndarray:
    """(N, N) sums of l / d, each cell cut out of its box by one bisector after the other."""
    steps = (-1, 0, 1) if periodic else (0,)
    shifts = np.array([(x, y) for x in steps for y in steps])
    fluxes = np.zeros((len(points), len(points)))
    for i, own in enumerate(points):
        box = own + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        corners = box if periodic else np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        polygon = [(corner.astype(float), -1) for corner in corners]
        others = (points[None] + shifts[:, None]).reshape(-1, 2)
        for label, other in enumerate(others):
            if not np.array_equal(other, own):
                normal = other - own
                polygon = clipped(polygon, normal, normal @ (other + own) / 2, label)
        for (a, label), (b, _) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
            if label >= 0 and label % len(points) != i:
                distance = np.linalg.norm(others[label] - own)
                fluxes[i, label % len(points)] += np.linalg.norm(b - a) / distance
    return fluxes


@pytest.mark.parametrize(
    "points",
    [SCATTERED, SCATTERED[:2], SCATTERED[:5], CROWDED, np.concatenate([SCATTERED, ON_EDGES])],
    ids=["scattered", "two", "five", "crowded", "on edges"],
)
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_sides_on_the_plane_are_those_of_clipped_cells(points: np.ndarray, boundary: str) -> None:
    periodic = boundary == "periodic"
    if periodic:
        points = points[(points < 1).all(axis=1) & (points > 0).all(axis=1)]
    expected = fluxes_by_clipping(points, periodic=periodic)
    fluxes = cell_weights(sampling_of(points, boundary=boundary)).toarray() / len(points)
    assert np.abs(fluxes - expected).max() < 1e-9 * expected.max()
    assert ((fluxes > 0) == (expected > 1e-9)).all()


@pytest.mark.parametrize("count", [5, 500])
def test_sides_on_the_sphere_agree_with_another_construction(count: int) -> None:
    """Also of few points, most of them on one half."""
    sampling = Random(size=count, seed=3)
    points = sampling.base_points
    diagram = SphericalVoronoi(points)
    diagram.sort_vertices_of_regions()
    sides: dict[tuple[int, int], list[int]] = {}
    for point, region in enumerate(diagram.regions):
        for a, b in zip(region, [*region[1:], region[0]], strict=True):
            sides.setdefault((min(a, b), max(a, b)), []).append(point)
    expected = np.zeros((count, count))
    for (a, b), (i, j) in sides.items():
        side = math.acos(np.clip(diagram.vertices[a] @ diagram.vertices[b], -1, 1))
        ratio = side / math.acos(np.clip(points[i] @ points[j], -1, 1))
        expected[i, j] = expected[j, i] = ratio
    fluxes = cell_weights(sampling).toarray() * 4 * math.pi / count
    assert np.abs(fluxes - expected).max() < 1e-6 * expected.max()


@pytest.mark.parametrize(
    "spec",
    [
        GraphSpec("s2", points=47_000),  # whose square is more than 2^31
        GraphSpec("r2", points=3_000, boundary="periodic"),
        GraphSpec("r2", coordinates=CROWDED),
    ],
    ids=["sphere", "torus", "open"],
)
def test_weights_are_symmetric_to_the_bit_and_positive(spec: GraphSpec) -> None:
    weights = cell_weights(spec.full_sampling(0))
    assert (weights != weights.T).nnz == 0
    assert weights.data.min() > 0
    assert np.diff(weights.indptr).min() >= 2
    rows, columns, _ = voronoi_entries(spec.full_sampling(0))
    assert (np.diff(rows * weights.shape[0] + columns) > 0).all()


GRID = np.stack(np.meshgrid(*[np.arange(9) / 8] * 2), -1).reshape(-1, 2)
DEGREES = {
    "square": (GraphSpec("r2", coordinates=GRID), {2: 4, 3: 28, 4: 49}),
    # Of the four around a pole each has two of them, two on the equator and one beyond it.
    "healpix": (GraphSpec("s2", nside=1), {4: 4, 5: 8}),
    "equiangular": (GraphSpec("s2", bandlimit=8), {3: 32, 4: 224}),
    "icosphere": (GraphSpec("s2", subdivisions=2), {5: 12, 6: 150}),
}


@pytest.mark.parametrize("kind", DEGREES)
def test_cells_that_meet_in_a_point_share_no_side(kind: str) -> None:
    """Where four points or more lie on a circle, rounding would join some across it."""
    spec, expected = DEGREES[kind]
    degrees = np.diff(cell_weights(spec.full_sampling(0)).indptr)
    assert dict(zip(*np.unique(degrees, return_counts=True), strict=True)) == expected


@pytest.mark.parametrize(("flat", "exact"), [(False, SPHERE), (True, SQUARE)])
def test_eigenvalues_converge_at_second_order(flat: bool, exact: np.ndarray) -> None:
    """Sixteen times as many points are four times closer: second order is a sixteenth.

    On the plane half of them are crowded together, and some are on edges of the domain.
    """
    errors = []
    for count in (256, 4_096):
        sampling = GraphSpec("s2", points=count, seed=7).full_sampling(0)
        if flat:
            random = np.random.default_rng(count)
            crowd = 0.3 + 0.02 * random.normal(size=(count // 2, 2))
            sampling = sampling_of(np.concatenate([random.random(crowd.shape), crowd, ON_EDGES]))
        values = first_eigenvalues(sampling, len(exact) + 1)
        errors.append(abs(values[1:] / exact - 1).max())
    assert errors[1] < min(0.012, errors[0] / 8)


@pytest.mark.parametrize("latitudes", [[30, 30, 30, 30], [0, 10, -5]], ids=["circle", "three"])
def test_points_on_one_circle_are_refused(tmp_path: Path, latitudes: list[float]) -> None:
    longitudes = np.arange(len(latitudes)) * 80.0
    table = np.column_stack([latitudes, longitudes])
    spec = GraphSpec("s2", coordinates=table, weights="voronoi")
    with pytest.raises(SpecError, match=r"weights must be kernel here, where the \d points of a"):
        build(spec, tmp_path / "g")


def test_points_that_can_not_be_told_apart_are_refused() -> None:
    """Nearer to one another than points that are read may be."""
    arrays = {0: PointArrays(np.vstack([SCATTERED, SCATTERED[3] + 1e-15]), None)}
    close = Given(size=GivenPoints((41,), "voronoi", "", (1.0, 1.0), arrays=arrays))
    with pytest.raises(CheblienetError, match="farther apart, or `weights='kernel'`"):
        voronoi_entries(close, APART)
