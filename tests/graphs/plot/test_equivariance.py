import numpy as np
import pytest
from drawings import pictures
from matplotlib.axes import Axes
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot import Asked
from cheblienet_graphs.plot.equivariance import FIGURE, Curve, equivariance_of


def at(curve: Curve, angle: float) -> float:
    return float(curve.errors[np.isclose(curve.angles, angle)][0])


def test_a_torus_is_exact_at_its_own_angles_only() -> None:
    data = equivariance_of(opened("torus"))
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
    errors = [equivariance_of(opened("plane"), seed=seed).curves[0].errors for seed in (0, 1, 1)]
    assert abs(errors[0] - errors[1]).max() > 1e-4
    assert errors[1].tolist() == errors[2].tolist()


def test_a_sphere_is_turned_about_two_axes() -> None:
    data = equivariance_of(opened("grid"))
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
    data = equivariance_of(opened(name))
    assert [curve.about for curve in data.curves] == ["the vertex"]
    assert data.curves[0].errors.max() < 1
    assert data.pictures is not None
    assert np.nanmin(data.pictures.activations) >= 0
    near = np.isfinite(data.pictures.inputs[0])
    assert near.tolist() == np.isfinite(data.pictures.activations[0, 0]).tolist()


@pytest.mark.slow
def test_a_volume_is_turned_about_two_axes() -> None:
    data = equivariance_of(opened("cube"))
    assert [curve.about for curve in data.curves] == ["the diagonal", "the z axis"]
    diagonal, z = data.curves
    assert at(diagonal, 120) < 1e-3
    assert at(z, 90) < 1e-3
    assert min(at(diagonal, 90), at(z, 120)) > 0.005
    found = {(symmetry.name, symmetry.axis) for symmetry in data.symmetries}
    assert found >= {("rotation_120", 0), ("rotation_90_z", 1), ("rotation_90_x", None)}


def test_a_tiny_graph_has_symmetries_alone_and_islands_nothing() -> None:
    data = equivariance_of(opened("tiny"))
    assert not data.curves
    assert data.pictures is None
    canvas, caption = FIGURE.drawn(opened("tiny"), Asked())
    assert "too small to turn" in caption
    [axes] = canvas.axes
    assert "rotation 90°" in [label.get_text() for label in axes.get_yticklabels()]
    with pytest.raises(NotDrawnError, match="can be turned"):
        equivariance_of(opened("islands"))


@pytest.mark.parametrize("name", ["plane", "grid", pytest.param("cube", marks=pytest.mark.slow)])
def test_inputs_and_activations_are_drawn_with_their_errors(name: str) -> None:
    canvas, caption = FIGURE.drawn(opened(name), Asked(seed=3))
    assert "Chebyshev layer with random weights (seed 3)" in caption
    data = equivariance_of(opened(name), seed=3)
    drawn = [float(np.nanmax(image.get_array())) for image in pictures(canvas)]
    assert drawn == pytest.approx([1.0] * 4, abs=0.2)
    lines = {line.get_label(): line for axes in canvas.findobj(Axes) for line in axes.lines}
    for curve in data.curves:
        errors = lines[f"about {curve.about}"].get_ydata() / 100
        assert np.isclose(errors[:, None], curve.errors).any(axis=1).all()
