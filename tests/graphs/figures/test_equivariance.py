import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.figures.equivariance import Curve, equivariance
from cheblienet_graphs.figures.layer import random_weights
from cheblienet_graphs.figures.places import places_of
from cheblienet_graphs.figures.turning import Turning, bars, rotation

Z = np.array([0.0, 0.0, 1.0])


def at(curve: Curve, angle: float) -> float:
    return float(curve.errors[np.isclose(curve.angles, angle)][0])


def test_a_torus_is_exact_at_its_own_angles_only() -> None:
    data = equivariance(opened("torus"))
    [curve] = data.curves
    assert curve.angles[-1] == 180
    assert 45.0 in curve.angles
    for angle in (90, 180):
        assert at(curve, angle) < 1e-3
    for angle in (22.5, 45, 120):
        assert 0.005 < at(curve, angle) < 0.5
    assert curve.interpolation.max() < 0.05
    assert {s.name for s in data.symmetries} >= {"rotation_90", "flip"}


def test_another_seed_is_another_layer() -> None:
    errors = [equivariance(opened("plane"), seed=seed).curves[0].errors for seed in (0, 1, 1)]
    assert abs(errors[0] - errors[1]).max() > 1e-4
    assert errors[1].tolist() == errors[2].tolist()


def test_outputs_turned_by_a_symmetry_are_those_of_the_turned_input() -> None:
    """After a quarter turn they are moved on by half of the orientations."""
    graph = opened("torus")
    places = places_of(graph, 0)
    point = 10 * 20 + 10
    turning = Turning(graph.level(0).laplacian, places, point, 6.0, random_weights(0))
    (still, before), (turned, after) = (turning.shown(rotation(Z, angle)) for angle in (0.0, 90.0))
    x, y = places.offsets(places.vectors[point], places.vectors).T.round().astype(int)
    image = (10 + x) % 20 * 20 + (10 - y) % 20  # (x, y) goes to (-y, x)
    near = np.isfinite(still)
    assert near.sum() > 90
    assert turned[image[near]] == pytest.approx(still[near], abs=1e-9)
    for k in range(4):
        moved = after[(k + 2) % 4, image[near]]
        assert moved == pytest.approx(before[k, near], abs=2e-6)
        assert abs(after[k, image[near]] - before[k, near]).max() > 1e-3


def test_bars_are_within_their_radius_and_have_no_symmetry() -> None:
    offsets = np.stack([u.ravel() for u in np.mgrid[-15:16, -15:16]], axis=1).astype(float)
    values = bars(offsets, 10.0)
    assert values[np.linalg.norm(offsets, axis=1) > 14].max() < 0.02 * values.max()
    for angle in range(15, 360, 15):
        turned = bars(offsets @ rotation(Z, angle)[:2, :2], 10.0)
        assert np.linalg.norm(turned - values) > 0.2 * np.linalg.norm(values)


def test_a_sphere_is_turned_about_two_axes() -> None:
    data = equivariance(opened("grid"))
    polar, own = data.curves
    assert polar.about == "the polar axis"
    assert at(polar, 22.5) < 1e-3
    assert at(polar, 90) < 1e-3
    assert at(own, 90) > 0.02
    assert data.pictures is not None
    assert data.pictures.activations.shape == (2, 1, 256)


@pytest.mark.parametrize(
    "name",
    ["masked", "plane", *(pytest.param(n, marks=pytest.mark.slow) for n in ("random", "region"))],
)
def test_every_kind_of_graph_has_a_curve(name: str) -> None:
    data = equivariance(opened(name))
    assert [curve.about for curve in data.curves] == ["the vertex"]
    assert data.curves[0].errors.max() < 1
    assert data.pictures is not None
    assert np.nanmin(data.pictures.activations) >= 0
    near = np.isfinite(data.pictures.inputs[0])
    assert near.tolist() == np.isfinite(data.pictures.activations[0, 0]).tolist()


@pytest.mark.slow
def test_a_volume_is_turned_about_two_axes() -> None:
    data = equivariance(opened("cube"))
    assert [curve.about for curve in data.curves] == ["the diagonal", "the z axis"]
    diagonal, z = data.curves
    assert at(diagonal, 120) < 1e-3
    assert at(z, 90) < 1e-3
    assert min(at(diagonal, 90), at(z, 120)) > 0.005
    found = {(symmetry.name, symmetry.axis) for symmetry in data.symmetries}
    assert found >= {("rotation_120", 0), ("rotation_90_z", 1), ("rotation_90_x", None)}


def test_a_tiny_graph_has_symmetries_alone_and_islands_nothing() -> None:
    data = equivariance(opened("tiny"))
    assert not data.curves
    assert data.pictures is None
    assert data.symmetries
    with pytest.raises(NotDrawnError, match="can be turned"):
        equivariance(opened("islands"))
