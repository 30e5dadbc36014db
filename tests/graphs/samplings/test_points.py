"""What all points promise: order of vertices, coordinates, areas, levels, symmetries."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest
from sphere_truth import rotations

from cheblienet_graphs.manifolds.base import Angles
from cheblienet_graphs.samplings.grids import Equiangular, Gaussian, Healpix, ReducedGaussian
from cheblienet_graphs.samplings.icosphere import Icosphere, RefinedIcosphere
from cheblienet_graphs.samplings.points import Points, Random

ANGLES = Angles(("alpha",))

SPHERES = [
    Icosphere(6, ANGLES, 0),
    Icosphere(5, ANGLES, 2),
    Healpix(5, ANGLES, 4),
    Equiangular(6, ANGLES, 5),
    Gaussian(3, ANGLES, "O4"),
    ReducedGaussian(2, ANGLES, (6, 9, 9, 6)),
    RefinedIcosphere(3, ANGLES, (1, 3, 170.0, -40.0, -150.0, 10.0)),
    Random(4, ANGLES, 50, seed=7),
]


ORDERS = {"half_turn": 2, "quarter_turn": 4, "reflection": 2, "rotation_120": 3, "rotation_72": 5}


@pytest.mark.parametrize("points", SPHERES, ids=repr)
def test_vertices_are_orientation_major(points: Points) -> None:
    n_o, count, base = points.orientations, points.num_points, points.base_points
    assert points.num_vertices == n_o * count
    coordinates, areas = points.coordinates(), points.areas()
    assert coordinates.shape == (points.num_vertices, 3)
    alpha, beta, gamma = coordinates.T.reshape(3, n_o, count)
    expected = -math.pi / 2 + np.arange(n_o) * math.pi / n_o
    assert np.allclose(alpha, expected[:, None], rtol=0, atol=1e-15)
    assert (beta == beta[0]).all()
    assert (gamma == gamma[0]).all()
    assert ((beta >= 0) & (beta <= math.pi)).all()
    assert np.allclose(np.linalg.norm(base, axis=1), 1, rtol=0, atol=1e-15)
    over = rotations(coordinates).apply([0, 0, 1])
    assert np.abs(over - np.tile(base, (n_o, 1))).max() < 1e-15
    assert (areas > 0).all()
    assert math.isclose(areas.mean(), 1, rel_tol=1e-14)
    assert (areas.reshape(n_o, -1) == areas[:count]).all()


def isometry(points: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The orthogonal matrix M with M points = images, which exists where this is a symmetry."""
    solution = np.linalg.lstsq(points, images, rcond=None)[0].T
    assert np.abs(solution @ points.T - images.T).max() < 1e-12
    assert np.abs(solution @ solution.T - np.eye(3)).max() < 1e-12
    return solution


@pytest.mark.parametrize("orientations", [1, 5, 6])
@pytest.mark.parametrize(
    "points",
    [
        *(Icosphere(size=n) for n in (0, 1, 2)),
        *(Healpix(size=n) for n in (1, 4)),
        *(Equiangular(size=b) for b in (2, 3, 5)),
        *(Gaussian(size=size) for size in ("O6", "F2")),
        ReducedGaussian(size=(8, 12, 12, 8)),
    ],
    ids=repr,
)
def test_symmetries_are_isometries(points: Points, orientations: int) -> None:
    """Frames go to frames: M G_v = G_P[v], up to a half turn, where the name claims exactness.

    A reflection changes the handedness, so that sideways is turned round: M G_v diag(1, -1, 1) is
    the rotation that it maps G_v to.
    """
    fibered = replace(points, orientations=orientations, fiber=ANGLES)
    count = fibered.num_points
    frames = rotations(fibered.coordinates()).as_matrix()
    half_turn = np.diag([-1.0, -1.0, 1.0])
    beta = fibered.angles[0]
    steps = {"longitude_step": int((beta == beta[0]).sum())}  # points in a row
    names = []
    for name, permutation in fibered.symmetries():
        names.append(name)
        assert (np.sort(permutation) == np.arange(fibered.num_vertices)).all()
        image = permutation[:count] % count
        assert (permutation.reshape(orientations, count) % count == image).all()
        moved = isometry(fibered.base_points, fibered.base_points[image])
        mirror = np.diag([1.0, np.sign(np.linalg.det(moved)), 1.0])
        assert ("reflection" in name) == (mirror[1, 1] < 0)
        [order] = [n for kind, n in (ORDERS | steps).items() if name.startswith(kind)]
        powers = [np.linalg.matrix_power(moved, n) - np.eye(3) for n in range(1, order + 1)]
        assert [abs(power).max() < 1e-9 for power in powers] == [False] * (order - 1) + [True]
        expected, images = moved @ frames @ mirror, frames[permutation]
        both = (abs(end - expected).max(axis=(1, 2)) for end in (images, images @ half_turn))
        miss = np.minimum(*both)
        if name.endswith("(approximate)"):
            # The nearest orientation is half a step away at most.
            assert 1e-6 < miss.max() <= math.pi / orientations / 2 + 1e-12
        else:
            assert miss.max() < 1e-12
    assert len(names) == len(set(names))
    if not isinstance(points, Icosphere):  # all are about the axis
        assert len(names) == 4
        assert not any("approximate" in name for name in names)


def test_points_are_uniform() -> None:
    points = Random(size=20_000, seed=1).base_points
    rotated = rotations([0.4, 1.1, -0.3]).apply(points)
    for x, y, z in (points.T, rotated.T):
        assert kstest(z, "uniform", args=(-1, 2)).pvalue > 1e-3
        assert kstest(np.arctan2(y, x), "uniform", args=(-math.pi, 2 * math.pi)).pvalue > 1e-3
        assert abs(np.corrcoef(z, np.arctan2(y, x))[0, 1]) < 0.03
    assert np.allclose(points.T @ points / len(points), np.eye(3) / 3, rtol=0, atol=0.01)
    for side in Random(size=20_000, flat=True, seed=1).base_points.T:
        assert kstest(side, "uniform").pvalue > 1e-3
