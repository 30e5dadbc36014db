"""Coefficients to axes and back, what is refused, and what networks do with the layers."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from stores import pyramid_of
from torch import nn

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.axes import AXIS_SETS, axis_set
from cheblienet_models import FromHarmonics, Lift, Pyramid, StoreError, ToHarmonics, largest_degree
from cheblienet_models.harmonics.bases import BASES, Basis, harmonics_matrix


def spread(count: int) -> torch.Tensor:
    """(count, 3) axes on half a sphere: a spiral of equal steps in height."""
    z = (torch.arange(count).double() + 0.5) / count
    turn = torch.arange(count).double() * (np.pi * (3 - 5**0.5))
    radius = (1 - z**2).sqrt()
    return torch.stack([radius * turn.cos(), radius * turn.sin(), z], dim=1)


AXES = spread(43)
OBLIQUE = torch.linalg.qr(torch.tensor(np.random.default_rng(0).standard_normal((3, 3))))[0]


@pytest.mark.parametrize("affine", [None, 2 * OBLIQUE], ids=["voxels", "world"])
@pytest.mark.parametrize("basis", BASES)
def test_round_trip(basis: Basis, affine: torch.Tensor | None) -> None:
    x = torch.randn(2, 3, 28, 2, 3, 4, dtype=torch.float64)
    fields = FromHarmonics(AXES, 6, basis, affine)(x)
    assert fields.shape == (2, 3, 43, 2, 3, 4)
    back = ToHarmonics(AXES, 6, basis, affine)(fields)
    torch.testing.assert_close(back, x, rtol=0, atol=1e-10)
    expected = torch.einsum("nk,bckdhw->bcndhw", harmonics_matrix(AXES, 6, basis, affine), x)
    torch.testing.assert_close(fields, expected)


@pytest.mark.parametrize(
    ("count", "degree"), [(1, 0), (5, 0), (6, 2), (14, 2), (15, 4), (28, 6), (43, 6), (45, 8)]
)
def test_largest_degree(count: int, degree: int) -> None:
    assert largest_degree(spread(count)) == degree


def test_what_is_refused(pyramid: Pyramid) -> None:
    angle = torch.arange(40).double() * (np.pi / 40)
    flat = torch.stack([angle.cos(), angle.sin(), 0 * angle], dim=1)
    assert largest_degree(flat) == 0
    evaluate, fit = FromHarmonics(AXES, 6, "tournier07"), ToHarmonics(AXES, 6, "tournier07")
    calls = [
        (lambda: ToHarmonics(AXES, 8, "tournier07"), "45 coefficients, more than the 43 axes"),
        (lambda: ToHarmonics(flat, 2, "descoteaux07"), "6 coefficients, .* not told apart by"),
        (lambda: FromHarmonics(pyramid.levels[0], 2, "descoteaux07"), "the axes of r3s2; .*none"),
    ]
    for x in (torch.zeros(1, 28, 4), torch.zeros(28), torch.zeros(1, 1, 28, 4, dtype=torch.int64)):
        calls.append((lambda x=x: evaluate(x), r"FromHarmonics takes \(B, C, 28, ...\), 28 coeff"))
        calls.append((lambda x=x: fit(x), r"ToHarmonics takes \(B, C, 43, ...\), 43 axes"))
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    assert FromHarmonics(AXES, 8, "tournier07")(torch.randn(1, 1, 45, 2)).shape == (1, 1, 43, 2)


def test_networks_keep_the_matrices_in_float64() -> None:
    x = torch.randn(1, 1, 28, 3, dtype=torch.float64)
    network = nn.Sequential(
        FromHarmonics(AXES, 6, "tournier07"), ToHarmonics(AXES, 6, "tournier07")
    )
    for changed in (network.half(), network.float(), copy.deepcopy(network).bfloat16().double()):
        torch.testing.assert_close(changed(x), x, rtol=0, atol=1e-10)
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 0.05)):
        assert network(x.to(dtype)).dtype == dtype
        torch.testing.assert_close(network(x.to(dtype)).double(), x, rtol=0, atol=tolerance)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(network(x.float()).double(), x, rtol=0, atol=1e-5)
    torch.testing.assert_close(pickle.loads(pickle.dumps(network))(x), x, rtol=0, atol=1e-10)


def test_gradients() -> None:
    for kind, size in ((FromHarmonics, 6), (ToHarmonics, 7)):
        x = torch.randn(1, 2, size, 2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(kind(spread(7), 2, "tournier07"), x)


def test_checkpoints_know_degree_and_basis_but_not_the_image() -> None:
    saved = FromHarmonics(AXES, 6, "tournier07").state_dict()
    FromHarmonics(spread(50), 6, "tournier07", OBLIQUE).load_state_dict(saved)
    with pytest.raises(StoreError, match=r"trained with FromHarmonics\(degree=6, basis='tourn"):
        FromHarmonics(AXES, 6, "descoteaux07").load_state_dict(saved)


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
    assert vertices.shape == (2, 3, 43 * 18)
    # A vertex has the value at its own axis.
    v = 18 * 30 + 7
    place = int(graph.base_index[7]) if graph.base_index is not None else 0
    values = harmonics_matrix(graph.coordinates[v : v + 1, 3:], 6, "tournier07")[0]
    torch.testing.assert_close(vertices[:, :, v], x.flatten(3)[..., place] @ values)
    back = ToHarmonics(graph, 6, "tournier07")(graph.to_grid(vertices, fill=0))
    where = torch.from_numpy(inside)
    torch.testing.assert_close(back, x * where, rtol=0, atol=1e-10)
