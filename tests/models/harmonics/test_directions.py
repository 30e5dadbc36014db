"""Directions of voxels in the world: rotations, flips and permuted axes, and affines refused."""

import math

import numpy as np
import pytest
import torch

from cheblienet_models import harmonics_matrix
from cheblienet_models.harmonics.bases import rotation_of

SPACING = np.diag([1.0, 1.5, 2.0])


def turned(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array(
        [[1, 0, 0], [0, c, -s], [0, s, c]]
    )


def affine(rotation: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = rotation @ SPACING
    matrix[:3, 3] = -90, 126, 72
    return matrix


ROTATIONS = {
    "upright": np.eye(3),
    "oblique": turned(0.3),
    "flipped": np.diag([-1.0, 1.0, 1.0]),
    "permuted": np.eye(3)[[2, 0, 1]],
    "oblique, flipped and permuted": turned(0.7) @ np.diag([1.0, -1.0, 1.0])[[1, 0, 2]],
}


@pytest.mark.parametrize("rotation", ROTATIONS.values(), ids=ROTATIONS)
def test_rotation_of_an_affine(rotation: np.ndarray) -> None:
    for given in (affine(rotation), affine(rotation)[:3, :3], torch.tensor(affine(rotation))):
        torch.testing.assert_close(rotation_of(given), torch.from_numpy(rotation))


def test_rotation_is_orthogonal_where_a_header_is_rounded() -> None:
    rounded = np.asarray(affine(turned(0.3)).round(4), np.float32)
    rotation = rotation_of(rounded)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(3).double(), rtol=0, atol=1e-14)
    torch.testing.assert_close(rotation, torch.from_numpy(turned(0.3)), rtol=0, atol=1e-4)


@pytest.mark.parametrize("rotation", ROTATIONS.values(), ids=ROTATIONS)
def test_functions_in_the_world_are_turned_to_the_voxels(rotation: np.ndarray) -> None:
    """f(w) = (w . u)^2, along the direction u of the world, on axes n of voxels: f(R n)."""
    towards = torch.tensor([0.48, 0.6, 0.64]).double()
    vectors = torch.from_numpy(np.random.default_rng(1).standard_normal((30, 3)))
    axes = vectors / vectors.norm(dim=1, keepdim=True)
    values = harmonics_matrix(axes, 2, "descoteaux07")
    coefficients = torch.linalg.lstsq(values, (axes @ towards) ** 2).solution
    found = harmonics_matrix(axes, 2, "descoteaux07", affine(rotation)) @ coefficients
    expected = (axes @ torch.from_numpy(rotation).T @ towards) ** 2
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


SHEARED = affine(np.eye(3)) + 0.01 * np.eye(4)[:, [1, 0, 2, 3]] @ np.diag([0, 1, 0, 0])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), r"\(4, 4\) or \(3, 3\). Got \(2, 2\)"),
        (SHEARED, "right angles. Got a cosine of 0.0066"),
        (np.zeros((4, 4)), "right angles. Got a cosine of nan"),
        (np.full((3, 3), np.nan), "right angles"),
    ],
)
def test_affines_that_are_refused(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rotation_of(matrix)
