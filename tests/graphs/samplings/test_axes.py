"""Axis sets: how even they are, which rotations keep them, what they integrate exactly."""

import hashlib
import math

import numpy as np
import pytest
import scipy.spatial
from scipy.special import factorial2

from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set, image_of


@pytest.mark.parametrize("name", AXIS_SETS)
def test_canonical_points_with_areas_of_their_cells(name: str) -> None:
    """Of which sum a (n n^T - I/3) is 0: HEALPix fails that."""
    axes = axis_set(name)
    assert len(axes) == int(name.removeprefix("ico"))
    assert len(axes.rotations) == (12 if "ico" in name else 24)
    assert abs((axes.points**2).sum(axis=1) - 1).max() <= 4e-16
    for point in axes.points:
        assert point[np.flatnonzero(point)[-1]] > 0
    assert (axes.angles + np.eye(len(axes))).min() > 0.2
    with pytest.raises(ValueError, match="read-only"):
        axes.points[0, 0] = 2
    diagram = scipy.spatial.SphericalVoronoi(np.concatenate([axes.points, -axes.points]))
    cells = diagram.calculate_areas().reshape(2, -1)
    np.testing.assert_allclose(cells * len(axes) / (2 * np.pi), [axes.areas] * 2, atol=1e-11)
    assert max(_errors(axes.points, axes.areas, 2)) <= 1e-12


@pytest.mark.parametrize("name", AXIS_SETS)
def test_rotations_are_permutations_that_compose(name: str) -> None:
    axes = axis_set(name)
    images = {matrix.tobytes(): image for matrix, image in axes.rotations}
    for one, first in axes.rotations:
        assert sorted(first) == list(range(len(axes)))
        moved = axes.points @ one.T
        signs = np.sign((moved * axes.points[first]).sum(axis=1))[:, None]
        assert abs(moved - signs * axes.points[first]).max() <= 1e-15
        np.testing.assert_array_equal(axes.areas[first], axes.areas)
        np.testing.assert_array_equal(image_of(axes.points, -one), first)
        for other, second in axes.rotations:
            np.testing.assert_array_equal(images[(one @ other).tobytes()], first[second])


LEBEDEV = (
    *(0.01154401154401154, 0.01194390908585628, 0.01111055571060340),
    *(0.01187650129453714, 0.01181230374690448),
)


@pytest.mark.parametrize(
    ("name", "degree", "weights"),
    [*(("12", 4, 1), ("22", 4, 1)), ("43", 14, 86 * np.repeat(LEBEDEV, [3, 4, 12, 12, 12]))],
)
def test_weights_are_a_quadrature(name: str, degree: int, weights: np.ndarray) -> None:
    """Equal ones, and Lebedev's of 1975. Odd degrees are exact on antipodal sets: 4 means 5."""
    points = axis_set(name).points
    assert max(_errors(points, weights, degree)) <= 1e-14
    assert max(_errors(points, weights, degree + 2)) > 1e-5


def test_points_to_the_last_bit() -> None:
    """Orders and digits are part of published graphs."""
    arrays = [array for n in AXIS_SETS for array in (axis_set(n).points, axis_set(n).areas)]
    digest = hashlib.sha256(b"".join(array.tobytes() for array in arrays))
    assert digest.hexdigest()[:16] == "a33b9a68889f5b02"


def _errors(points: np.ndarray, weights: np.ndarray | float, degree: int) -> list[float]:
    """Of the weighted mean of each monomial up to an even degree, against that on the sphere."""
    errors = []
    for a in range(degree + 1):
        for b in range(degree + 1 - a):
            for c in range(a % 2, degree + 1 - a - b):
                if (a + b + c) % 2:
                    continue
                mean = (weights * (points ** [a, b, c]).prod(axis=1)).mean()
                errors.append(abs(mean - _mean(a, b, c)))
    return errors


def _mean(*powers: int) -> float:
    """Of x^a y^b z^c on the sphere: (a-1)!! (b-1)!! (c-1)!! / (a+b+c+1)!! where all are even."""
    factors = [0 if power % 2 else max(factorial2(power - 1), 1) for power in powers]
    return math.prod(factors) / factorial2(sum(powers) + 1)
