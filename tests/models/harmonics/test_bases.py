"""Harmonics against dipy's values, scipy's complex ones, and orthonormality; directions."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import sph_harm_y

from cheblienet_models import harmonics_matrix
from cheblienet_models.harmonics.bases import BASES, Basis, rotation_of

# Written by benchmarks/harmonics.py --golden, with dipy 1.12.1.
GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "harmonics.json").read_text())


def directions(count: int, seed: int = 0) -> torch.Tensor:
    vectors = torch.from_numpy(np.random.default_rng(seed).standard_normal((count, 3)))
    return vectors / vectors.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("basis", BASES)
def test_values_are_dipys(basis: Basis) -> None:
    axes = torch.tensor(GOLDEN["directions"], dtype=torch.float64)
    values = harmonics_matrix(axes, GOLDEN["degree"], basis)
    assert values.shape == (8, 28)
    expected = torch.tensor(GOLDEN["values"][basis], dtype=torch.float64)
    torch.testing.assert_close(values, expected, rtol=0, atol=1e-12)


def test_bases_differ_as_their_definitions_say() -> None:
    """In high degrees, where there is no golden value, the definitions hold for scipy's."""
    axes, degree = directions(20), 40
    theta, phi = axes[:, 2].arccos().numpy(), torch.atan2(axes[:, 1], axes[:, 0]).numpy()
    matrices = {basis: harmonics_matrix(axes, degree, basis).numpy() for basis in BASES}
    column = 0
    for order in range(0, degree + 1, 2):
        for m in range(-order, order + 1):
            wave, positive = sph_harm_y(order, m, theta, phi), sph_harm_y(order, abs(m), theta, phi)
            root = math.sqrt(2) if m else 1
            expected = {
                "descoteaux07": root * (wave.imag if m > 0 else wave.real),
                "descoteaux07_legacy": root * (wave.imag if m > 0 else positive.real),
                "tournier07": root * (positive.imag if m < 0 else positive.real),
                "tournier07_legacy": positive.imag if m < 0 else positive.real,
            }
            for basis in BASES:
                np.testing.assert_allclose(
                    matrices[basis][:, column], expected[basis], rtol=0, atol=1e-12
                )
            column += 1
    assert all(matrix.shape == (20, column) for matrix in matrices.values())


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


def test_rotation_is_orthogonal_where_a_header_is_rounded() -> None:
    rounded = np.asarray(affine(turned(0.3)).round(4), np.float32)
    rotation = rotation_of(rounded)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(3).double(), rtol=0, atol=1e-14)
    torch.testing.assert_close(rotation, torch.from_numpy(turned(0.3)), rtol=0, atol=1e-4)


@pytest.mark.parametrize("rotation", ROTATIONS.values(), ids=ROTATIONS)
def test_functions_in_the_world_are_turned_to_the_voxels(rotation: np.ndarray) -> None:
    """f(w) = (w . u)^2, along the direction u of the world, on axes n of voxels: f(R n)."""
    toward, axes = torch.tensor([0.48, 0.6, 0.64]).double(), directions(30, 1)
    values = harmonics_matrix(axes, 2, "descoteaux07")
    coefficients = torch.linalg.lstsq(values, (axes @ toward) ** 2).solution
    expected = (axes @ torch.from_numpy(rotation).T @ toward) ** 2
    for given in (affine(rotation), affine(rotation)[:3, :3], torch.tensor(affine(rotation))):
        turned_back = harmonics_matrix(axes, 2, "descoteaux07", given) @ coefficients
        torch.testing.assert_close(turned_back, expected, rtol=0, atol=1e-12)


SHEARED = affine(np.eye(3)) + 0.01 * np.eye(4)[:, [1, 0, 2, 3]] @ np.diag([0, 1, 0, 0])
AXES = directions(5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            ((AXES, degree, "tournier07"), r"degree must be an even integer in \[0, 64\]")
            for degree in (3, -2, 66, 2.0, True, None, "4")
        ),
        *(
            ((AXES, 4, basis), r"basis must be 'descoteaux07', .* or 'tournier07_legacy'\. Got ")
            for basis in ("tournier", "descoteaux07_new", None, 7, "")
        ),
        ((torch.zeros(5, 2), 4, "tournier07"), r"\(n_o, 3\). Got \(5, 2\)"),
        ((torch.zeros(0, 3), 4, "tournier07"), r"\(n_o, 3\). Got \(0, 3\)"),
        ((np.zeros((5, 3)), 4, "tournier07"), "Got ndarray"),
        ((2 * AXES, 4, "tournier07"), "unit vectors. Got lengths up to 1 off 1"),
        ((torch.full((2, 3), math.nan), 4, "tournier07"), "unit vectors"),
        ((AXES, 4, "tournier07", np.eye(2)), r"\(4, 4\) or \(3, 3\). Got \(2, 2\)"),
        ((AXES, 4, "tournier07", SHEARED), "right angles. Got a cosine of 0.0066"),
        ((AXES, 4, "tournier07", np.zeros((4, 4))), "right angles. Got a cosine of nan"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        harmonics_matrix(*arguments)
