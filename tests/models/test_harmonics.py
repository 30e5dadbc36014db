"""Even spherical harmonics: bases against scipy and dipy, values on axes, layers."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from refusing import refused
from scipy.spatial.transform import Rotation
from scipy.special import sph_harm_y
from stores import pyramid_of
from torch import nn

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set
from cheblienet_models import (
    FromHarmonics,
    Lift,
    Pyramid,
    StoreError,
    ToHarmonics,
    harmonics_matrix,
    largest_degree,
)
from cheblienet_models.harmonics import BASES, Basis, rotation_of

# Written by benchmarks/harmonics.py --golden, with dipy 1.12.1.
GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "harmonics.json").read_text())


def directions(count: int, seed: int = 0) -> torch.Tensor:
    vectors = torch.from_numpy(np.random.default_rng(seed).standard_normal((count, 3)))
    return vectors / vectors.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("basis", BASES)
def test_values_are_dipys(basis: Basis) -> None:
    axes = torch.tensor(GOLDEN["directions"], dtype=torch.float64)
    values = harmonics_matrix(axes, np.int64(GOLDEN["degree"]), basis)
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
                assert abs(matrices[basis][:, column] - expected[basis]).max() <= 1e-12
            column += 1
    assert all(matrix.shape == (20, column) for matrix in matrices.values())


SPACING = np.diag([1.0, 1.5, 2.0])


def turned(angle: float) -> np.ndarray:
    """(3, 3) about x, then about z."""
    return Rotation.from_euler("ZX", [angle, angle]).as_matrix()


def affine(rotation: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = rotation @ SPACING
    matrix[:3, 3] = -90, 126, 72
    return matrix


def test_rotation_is_orthogonal_where_a_header_is_rounded() -> None:
    rounded = np.asarray(affine(turned(0.3)).round(4), np.float32)
    rotation = rotation_of(rounded)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(3).double(), rtol=0, atol=1e-14)
    torch.testing.assert_close(rotation, torch.from_numpy(turned(0.3)), rtol=0, atol=1e-4)


def test_functions_in_the_world_are_turned_to_the_voxels() -> None:
    """f(w) = (w . u)^2, along the direction u of the world, on axes n of voxels: f(R n)."""
    rotation = turned(0.7) @ np.diag([1.0, -1.0, 1.0])[[1, 0, 2]]  # flipped and permuted, too
    toward, axes = torch.tensor([0.48, 0.6, 0.64]).double(), directions(30, 1)
    values = harmonics_matrix(axes, 2, "descoteaux07")
    coefficients = torch.linalg.lstsq(values, (axes @ toward) ** 2).solution
    expected = (axes @ torch.from_numpy(rotation).T @ toward) ** 2
    for given in (affine(rotation), affine(rotation)[:3, :3], torch.tensor(affine(rotation))):
        turned_back = harmonics_matrix(axes, 2, "descoteaux07", given) @ coefficients
        torch.testing.assert_close(turned_back, expected, rtol=0, atol=1e-12)


SHEARED = affine(np.eye(3)) + 0.01 * np.eye(4)[:, [1, 0, 2, 3]] @ np.diag([0, 1, 0, 0])
AXES = directions(5)


def test_what_is_refused() -> None:
    for degree in (3, -2, 66, 2.0, True):
        refused("degree must be an even int", harmonics_matrix, AXES, degree, "tournier07")
    refused("basis must be 'descoteaux07', .* or 'tou", harmonics_matrix, AXES, 4, "tournier")
    for axes, message in (
        (torch.zeros(5, 2), r"\(n_o, 3\). Got \(5, 2\)"),
        (torch.zeros(0, 3), r"\(n_o, 3\). Got \(0, 3\)"),
        (np.zeros((5, 3)), "Got ndarray"),
        (2 * AXES, "unit vectors. Got lengths up to 1 off 1"),
        (torch.full((2, 3), math.nan), "unit vectors"),
    ):
        refused(message, harmonics_matrix, axes, 4, "tournier07")
    for affine, message in (
        (np.eye(2), r"\(4, 4\) or \(3, 3\). Got \(2, 2\)"),
        (SHEARED, "right angles. Got a cosine of 0.0066"),
        (np.zeros((4, 4)), "right angles. Got a cosine of nan"),
    ):
        refused(message, harmonics_matrix, AXES, 4, "tournier07", affine)


def spread(count: int) -> torch.Tensor:
    """(count, 3) axes on half a sphere: a spiral of equal steps in height."""
    z = (torch.arange(count).double() + 0.5) / count
    turn = torch.arange(count).double() * (np.pi * (3 - 5**0.5))
    radius = (1 - z**2).sqrt()
    return torch.stack([radius * turn.cos(), radius * turn.sin(), z], dim=1)


SETS = spread(43)
OBLIQUE = torch.linalg.qr(torch.tensor(np.random.default_rng(0).standard_normal((3, 3))))[0]


@pytest.mark.parametrize("affine", [None, 2 * OBLIQUE], ids=["voxels", "world"])
@pytest.mark.parametrize("basis", BASES)
def test_round_trip(basis: Basis, affine: torch.Tensor | None) -> None:
    x = torch.randn(2, 3, 28, 2, 3, 4, dtype=torch.float64)
    fields = FromHarmonics(SETS, 6, basis, affine)(x)
    back = ToHarmonics(SETS, 6, basis, affine)(fields)
    torch.testing.assert_close(back, x, rtol=0, atol=1e-10)
    expected = torch.einsum("nk,bckdhw->bcndhw", harmonics_matrix(SETS, 6, basis, affine), x)
    torch.testing.assert_close(fields, expected)


def test_other_axes_and_fields_are_refused(pyramid: Pyramid) -> None:
    angle = torch.arange(40).double() * (np.pi / 40)
    flat = torch.stack([angle.cos(), angle.sin(), 0 * angle], dim=1)
    assert largest_degree(flat) == 0
    evaluate, fit = FromHarmonics(SETS, 6, "tournier07"), ToHarmonics(SETS, 6, "tournier07")
    refused("45 coefficients, more than the 43 axes", ToHarmonics, SETS, 8, "tournier07")
    refused("6 coefficients, .* not told apart by", ToHarmonics, flat, 2, "descoteaux07")
    refused("the axes of r3s2; .*none", FromHarmonics, pyramid.levels[0], 2, "descoteaux07")
    for x in (torch.zeros(1, 28, 4), torch.zeros(28)):
        refused(r"FromHarmonics takes \(B, C, 28, ...\), 28 coeff", evaluate, x)
        refused(r"ToHarmonics takes \(B, C, 43, ...\), 43 axes", fit, x)
    integers = torch.zeros(1, 1, 28, 4, dtype=torch.int64)
    refused("FromHarmonics takes a tensor of floating point. Got torch.int64", evaluate, integers)
    assert FromHarmonics(SETS, 8, "tournier07")(torch.randn(1, 1, 45, 2)).shape == (1, 1, 43, 2)


def test_networks_keep_the_matrices_in_float64() -> None:
    x = torch.randn(1, 1, 28, 3, dtype=torch.float64)
    layers = (kind(SETS, 6, "tournier07") for kind in (FromHarmonics, ToHarmonics))
    network = nn.Sequential(*layers)
    for changed in (network.half(), network.float(), copy.deepcopy(network).bfloat16().double()):
        torch.testing.assert_close(changed(x), x, rtol=0, atol=1e-10)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(network(x.float()).double(), x, rtol=0, atol=1e-5)


def test_checkpoints_know_degree_and_basis_but_not_the_image() -> None:
    saved = FromHarmonics(SETS, 6, "tournier07").state_dict()
    FromHarmonics(spread(50), 6, "tournier07", OBLIQUE).load_state_dict(saved)
    other, message = FromHarmonics(SETS, 6, "descoteaux07"), "FromHarmonics.degree=6, basis='tourn"
    refused(f"trained with {message}", other.load_state_dict, saved, error=StoreError)


SERVED = {"3": 0, "4": 0, "6": 2, "7": 2, "12": 2, "13": 2, "22": 4, "43": 6}
SERVED |= {"ico6": 2, "ico21": 4, "ico81": 10}


def test_degrees_that_the_sets_of_graphs_serve() -> None:
    sets = {name: torch.tensor(axis_set(name).points) for name in AXIS_SETS}
    assert {name: largest_degree(axes) for name, axes in sets.items()} == SERVED


def test_coefficients_to_the_vertices_of_a_graph_and_back(tmp_path: Path) -> None:
    inside = np.arange(27).reshape(3, 3, 3) % 3 > 0
    spec = GraphSpec("r3s2", mask=inside, axes=43, neighbors=6, levels=1, lambda_max=2)
    graph = pyramid_of(tmp_path, spec).levels[0]
    assert largest_degree(graph) == 6
    x = torch.randn(2, 3, 28, 3, 3, 3, dtype=torch.float64)
    vertices = Lift(graph)(FromHarmonics(graph, 6, "tournier07")(x))
    # A vertex has the value at its own axis.
    v = 18 * 30 + 7
    values = harmonics_matrix(graph.coordinates[v : v + 1, 3:], 6, "tournier07")[0]
    torch.testing.assert_close(vertices[:, :, v], x.flatten(3)[..., graph.base_index[7]] @ values)
    back = ToHarmonics(graph, 6, "tournier07")(graph.to_grid(vertices, fill=0))
    where = torch.from_numpy(inside)
    torch.testing.assert_close(back, x * where, rtol=0, atol=1e-10)
