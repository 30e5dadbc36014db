import numpy as np
import pytest
from pictured import opened

from cheblienet_graphs.errors import NotDrawnError
from cheblienet_graphs.plot.equivariance import Curve, equivariance_of, steps_of


def at(curve: Curve, angle: float) -> float:
    return float(curve.errors[np.isclose(curve.angles, angle)][0])


@pytest.mark.parametrize("name", ["masked", pytest.param("region", marks=pytest.mark.slow)])
def test_every_kind_of_graph_has_a_curve(name: str) -> None:
    data = equivariance_of(opened(name))
    assert [curve.about for curve in data.curves] == ["the vertex"]
    assert data.curves[0].errors.max() < 1
    assert data.pictures is not None
    assert np.nanmin(data.pictures.activations) >= 0
    near = np.isfinite(data.pictures.inputs[0])
    assert near.tolist() == np.isfinite(data.pictures.activations[0, 0]).tolist()


@pytest.mark.parametrize(
    ("name", "exact", "other"),
    [
        ("torus", {"the vertex": (90, 180)}, {"the vertex": (22.5, 45, 120)}),
        ("grid", {"the polar axis": (22.5, 90)}, {"the vertex": (90,)}),
        pytest.param(
            "cube",
            {"the diagonal": (120,), "the z axis": (90,)},
            {"the diagonal": (90,), "the z axis": (120,)},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_layer_is_exact_at_the_angles_of_the_sampling_only(
    name: str, exact: dict[str, tuple[float]], other: dict[str, tuple[float]]
) -> None:
    data = equivariance_of(opened(name))
    curves = {curve.about: curve for curve in data.curves}
    assert curves.keys() == exact.keys() | other.keys()
    assert max(at(curves[axis], angle) for axis in exact for angle in exact[axis]) < 1e-3
    errors = [at(curves[axis], angle) for axis in other for angle in other[axis]]
    assert 0.005 < min(errors) <= max(errors) < 1
    assert max(data.symmetries.values()) < 1e-6


def test_a_tiny_graph_has_symmetries_alone_and_islands_nothing() -> None:
    data = equivariance_of(opened("tiny"))
    assert (data.curves, data.pictures) == ((), None)
    assert min(steps_of(equivariance_of(opened("columns")).places)) == 22.5  # modulo 2 pi
    with pytest.raises(NotDrawnError, match="can be turned"):
        equivariance_of(opened("islands"))
