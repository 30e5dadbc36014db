"""What all points promise: order of vertices, coordinates, areas, levels, symmetries."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sphere_truth import rotations, unit_vectors

from cheblienet_graphs.manifolds.base import AnglesModuloPi
from cheblienet_graphs.samplings.grids import Equiangular, Gaussian, Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Points
from cheblienet_graphs.samplings.random import Random

ANGLES = AnglesModuloPi(("alpha",))

SPHERES = [
    Icosphere(6, ANGLES, 0),
    Icosphere(5, ANGLES, 2),
    Healpix(5, ANGLES, 4),
    Equiangular(6, ANGLES, 5),
    Gaussian(3, ANGLES, "O4"),
    Random(4, ANGLES, 50, seed=7),
]


FLIPS = {"half_turn_x": 2, "half_turn_z": 2, "reflection": 2}


def kind(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize("points", SPHERES, ids=kind)
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
    assert np.abs(unit_vectors(coordinates[:count, 1:]) - base).max() < 1e-15
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
    names = []
    for name, permutation in fibered.symmetries():
        names.append(name)
        assert (np.sort(permutation) == np.arange(fibered.num_vertices)).all()
        image = permutation[:count] % count
        assert (permutation.reshape(orientations, count) % count == image).all()
        moved = isometry(fibered.base_points, fibered.base_points[image])
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


@pytest.mark.parametrize(
    ("points", "orders"),
    [
        (
            Icosphere(size=2),
            {f"half_turn_{axis}": 2 for axis in "xyz"}
            | {"reflection": 2, "rotation_120": 3, "rotation_72": 5},
        ),
        (Healpix(size=4), {"quarter_turn_z": 4, **FLIPS}),
        (Equiangular(size=5), {"longitude_step": 10, **FLIPS}),
    ],
    ids=kind,
)
def test_orders_of_symmetries(points: Points, orders: dict[str, int]) -> None:
    """The order is that of the first power which is the identity."""
    identity = np.arange(points.num_vertices)
    symmetries = dict(points.symmetries())
    assert symmetries.keys() == orders.keys()
    for name, permutation in symmetries.items():
        reached, order = permutation, 1
        while (reached != identity).any():
            reached, order = permutation[reached], order + 1
        assert order == orders[name]


@pytest.mark.parametrize(
    "points",
    [Healpix(5, ANGLES, 4), Equiangular(6, ANGLES, 5), Gaussian(4, ANGLES, "F8")],
    ids=kind,
)
def test_all_symmetries_about_the_axis_are_exact(points: Points) -> None:
    assert not any("approximate" in name for name, _ in points.symmetries())
    assert len(list(points.symmetries())) == 4
