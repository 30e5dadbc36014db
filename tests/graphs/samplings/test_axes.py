"""Axis sets: how even they are, which rotations keep them, what they integrate exactly."""

import hashlib

import numpy as np
import pytest
import scipy.spatial

from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set, image_of

# Rotations of the cube and orbits of these, largest area over smallest, angles to the nearest axis.
TABLE = {
    "3": (24, 1, 1.0, 90.0, 90.0),
    "4": (24, 1, 1.0, 70.53, 70.53),
    "6": (24, 1, 1.0, 60.0, 60.0),
    "7": (24, 2, 1.094, 54.74, 54.74),
    "12": (24, 1, 1.0, 40.98, 40.98),
    "13": (24, 3, 1.301, 35.26, 45.0),
    "22": (24, 3, 1.045, 31.43, 32.36),
    "43": (24, 5, 1.051, 21.74, 23.22),
    "ico6": (12, 1, 1.0, 63.43, 63.43),
    "ico21": (12, 3, 1.130, 31.72, 31.72),
    "ico81": (12, 9, 1.187, 15.86, 16.41),
}


@pytest.mark.parametrize("name", AXIS_SETS)
def test_uniformity(name: str) -> None:
    axes = axis_set(name)
    rotations, orbits, ratio, least, most = TABLE[name]
    assert len(axes.rotations) == rotations
    images = np.stack([image for _, image in axes.rotations])
    assert len(np.unique(images.min(axis=0))) == orbits
    assert axes.areas.max() / axes.areas.min() == pytest.approx(ratio, abs=6e-4)
    assert axes.areas.mean() == pytest.approx(1, abs=1e-11)
    nearest = np.degrees((axes.angles + 9 * np.eye(len(axes))).min(axis=1))
    assert [nearest.min(), nearest.max()] == pytest.approx([least, most], abs=6e-3)


@pytest.mark.parametrize("name", AXIS_SETS)
def test_canonical_points(name: str) -> None:
    axes = axis_set(name)
    assert len(axes) == int(name.removeprefix("ico"))
    assert axes.points.shape == (len(axes), 3)
    assert axes.points.dtype == axes.areas.dtype == np.float64
    assert abs((axes.points**2).sum(axis=1) - 1).max() <= 4e-16
    for point in axes.points:
        assert point[np.flatnonzero(point)[-1]] > 0
    assert (axes.angles + np.eye(len(axes))).min() > 0.2
    with pytest.raises(ValueError, match="read-only"):
        axes.points[0, 0] = 2


@pytest.mark.parametrize("name", AXIS_SETS)
def test_areas_are_those_of_a_spherical_voronoi_diagram(name: str) -> None:
    axes = axis_set(name)
    diagram = scipy.spatial.SphericalVoronoi(np.concatenate([axes.points, -axes.points]))
    cells = diagram.calculate_areas().reshape(2, -1)
    np.testing.assert_allclose(cells * len(axes) / (2 * np.pi), [axes.areas] * 2, atol=1e-11)


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


@pytest.mark.parametrize(("name", "degree"), [("12", 4), ("22", 4), ("ico6", 4), ("6", 2)])
def test_equal_weights_are_a_quadrature(name: str, degree: int) -> None:
    """Odd degrees are exact on all antipodal sets, so 4 means 5."""
    points = axis_set(name).points
    assert all(error <= 2e-15 for error in _errors(points, np.ones(len(points)), degree))
    assert max(_errors(points, np.ones(len(points)), degree + 2)) > 1e-4


def test_lebedev_weights_on_43_axes() -> None:
    """Of Lebedev, 1975: with these weights degree 15 is exact, so the points are his."""
    published = (
        *(0.01154401154401154, 0.01194390908585628, 0.01111055571060340),
        *(0.01187650129453714, 0.01181230374690448),
    )
    weights = np.repeat(published, [3, 4, 12, 12, 12])
    points = axis_set("43").points
    assert max(_errors(points, 43 * 2 * weights, 14)) <= 1e-14
    assert max(_errors(points, 43 * 2 * weights, 16)) > 1e-5


@pytest.mark.parametrize("name", AXIS_SETS)
def test_areas_are_isotropic(name: str) -> None:
    """Which HEALPix fails, and sets of several orbits pass by their cubic symmetry."""
    assert max(_errors(axis_set(name).points, axis_set(name).areas, 2)) <= 1e-12


def test_points_to_the_last_bit() -> None:
    """Orders and digits are part of published graphs."""
    arrays = [array for n in AXIS_SETS for array in (axis_set(n).points, axis_set(n).areas)]
    digest = hashlib.sha256(b"".join(array.tobytes() for array in arrays))
    assert digest.hexdigest()[:16] == "a33b9a68889f5b02"


def _errors(points: np.ndarray, weights: np.ndarray, degree: int) -> list[float]:
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


def _mean(a: int, b: int, c: int) -> float:
    """Of x^a y^b z^c on the sphere: (a-1)!! (b-1)!! (c-1)!! / (a+b+c+1)!! where all are even."""
    if a % 2 or b % 2 or c % 2:
        return 0.0

    def odd(n: int) -> float:
        return float(np.prod(np.arange(1, n + 1, 2)))

    return odd(a - 1) * odd(b - 1) * odd(c - 1) / odd(a + b + c + 1)
