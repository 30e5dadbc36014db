"""Axis sets: how even they are, which rotations keep them, what they integrate exactly."""

import hashlib

import numpy as np
import pytest
import scipy.spatial

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
    tensors = axes.points[:, :, None] * axes.points[:, None] - np.eye(3) / 3
    assert abs(np.tensordot(axes.areas, tensors, 1)).max() <= 1e-12 * len(axes)


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


def test_points_to_the_last_bit() -> None:
    """Orders and digits are part of published graphs."""
    arrays = [array for n in AXIS_SETS for array in (axis_set(n).points, axis_set(n).areas)]
    digest = hashlib.sha256(b"".join(array.tobytes() for array in arrays))
    assert digest.hexdigest()[:16] == "a33b9a68889f5b02"
