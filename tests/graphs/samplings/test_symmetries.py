"""The symmetries of samplings of the sphere are isometries, and of the order that they claim."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sphere_truth import rotations

from cheblienet_graphs.manifolds.base import AnglesModuloPi
from cheblienet_graphs.samplings.grids import Equiangular, Healpix
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.samplings.points import Points

ANGLES = AnglesModuloPi("alpha")


def kind(value: object) -> str:
    return type(value).__name__


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
        *(Icosphere(size=n) for n in (0, 1, 2)),
        *(Healpix(size=n) for n in (1, 4)),
        *(Equiangular(size=b) for b in (2, 3, 5)),
    ],
    ids=repr,
)
def test_symmetries_are_isometries(points: Points, orientations: int) -> None:
    """Frames go to frames: M G_v = G_P[v], up to a half turn, where the name claims exactness.

    A reflection changes the handedness, so that sideways is turned round: M G_v diag(1, -1, 1) is
    the rotation that it maps G_v to.
    """
    fibred = replace(points, orientations=orientations, fibre=ANGLES)
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
    flat = Icosphere(size=subdivisions)
    assert [name for name, _ in flat.symmetries()] == EXACT + OTHERS
    found = Icosphere(orientations, ANGLES, subdivisions)
    approximate = [f"{name} (approximate)" for name in OTHERS]
    assert [name for name, _ in found.symmetries()] == EXACT + approximate


@pytest.mark.parametrize(
    ("points", "name", "order"),
    [
        (Icosphere(size=2), "half_turn_x", 2),
        (Icosphere(size=2), "half_turn_y", 2),
        (Icosphere(size=2), "reflection", 2),
        (Icosphere(size=2), "rotation_120", 3),
        (Icosphere(size=2), "rotation_72", 5),
        (Healpix(size=4), "quarter_turn_z", 4),
        (Healpix(size=4), "half_turn_z", 2),
        (Equiangular(size=5), "longitude_step", 10),
        (Equiangular(size=5), "half_turn_x", 2),
    ],
)
def test_order_of_symmetries(points: Points, name: str, order: int) -> None:
    """Repeated so many times, and not earlier, a symmetry is the identity."""
    permutation = dict(points.symmetries())[name]
    identity = np.arange(points.num_vertices)
    reached, returned = permutation, []
    for _ in range(order):
        returned.append(bool((reached == identity).all()))
        reached = permutation[reached]
    assert returned == [False] * (order - 1) + [True]


@pytest.mark.parametrize("points", [Healpix(5, ANGLES, 4), Equiangular(6, ANGLES, 5)], ids=kind)
def test_all_symmetries_about_the_axis_are_exact(points: Points) -> None:
    assert not any("approximate" in name for name, _ in points.symmetries())
    assert len(list(points.symmetries())) == 4
