"""Directional weights: second moments of the operators, symmetric, turned into each other."""

import math

import numpy as np
import pytest
from moments import check_symmetric, offsets, stencil_moments

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights.lattice import LatticeWeights, directional_weights

DELTAS = [1e-6, 0.01, 0.05, 0.3, 1.0]
SIDE = 4096


def weights(direction: str, delta: float, orientations: int, **fields: object) -> LatticeWeights:
    """On a lattice with room for everything."""
    spec = GraphSpec("se2", SIDE, orientations=orientations, levels=1, **fields)
    lattice = Lattice((SIDE, SIDE), orientations, spec.geometry.fibre)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    return directional_weights(sampled, direction, delta)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("orientations", [2, 3, 4, 6, 7, 12])
def test_second_moments_in_the_moving_frame(orientations: int, delta: float) -> None:
    """2 diag(1, delta, 0), 2 diag(delta, 1, 0), and along the fibre 2 (s / sin s)^2; no drift."""
    spec = GraphSpec("se2", SIDE, orientations=orientations, levels=1)
    step = math.pi / orientations
    expected = {
        "forward": [1, delta, 0],
        "sideways": [delta, 1, 0],
        "rotation": [0, 0, (step / math.sin(step)) ** 2],
    }
    for direction, diagonal in expected.items():
        listed = offsets(weights(direction, delta, orientations))
        check_symmetric(listed)
        drift, moments = stencil_moments(listed, spec)
        assert abs(drift).max() <= 1e-12
        assert abs(moments - 2 * np.diag(diagonal)).max() <= 1e-10
        i, dy, dx, j = np.array(list(listed)).T
        if direction == "rotation":
            assert not dy.any()
            assert not dx.any()
            assert len(listed) == orientations * min(2, orientations - 1)
        else:
            assert (i == j).all()
            assert len(listed) <= 6 * orientations


def test_the_anisotropic_operator_is_a_combination() -> None:
    """e e^T + eps^2 e' e'^T = a forward + b sideways, rotation / xi^2 beside them."""
    delta, squared = 0.05, 0.1
    spec = GraphSpec("se2", SIDE, orientations=6, eps_squared=squared, levels=1)
    b = (squared - delta) / (1 - delta**2)
    factors = {"forward": 1 - b * delta, "sideways": b, "rotation": spec.metric(0).xi ** -2}
    total = sum(
        factor * stencil_moments(offsets(weights(name, delta, 6)), spec)[1]
        for name, factor in factors.items()
    )
    step = math.pi / 6
    turn = (step / math.sin(step)) ** 2 * spec.metric(0).xi ** -2
    np.testing.assert_allclose(total / 2, [np.diag([1, squared, turn])] * 6, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("orientations", [2, 4, 6])
def test_half_of_the_orientations_on_forward_is_sideways(orientations: int) -> None:
    forward, sideways = (offsets(weights(d, 0.05, orientations)) for d in ("forward", "sideways"))
    for (i, dy, dx, _), weight in forward.items():
        k = (i + orientations // 2) % orientations
        assert sideways[k, dy, dx, k] == pytest.approx(weight, rel=1e-12)
        assert forward[k, dx, -dy, k] == pytest.approx(weight, rel=1e-12)


def test_weights_do_not_depend_on_xi() -> None:
    for direction in ("forward", "sideways", "rotation"):
        one, other = (weights(direction, 0.05, 4, xi=xi).values for xi in (0.01, 7))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_lattice_smaller_than_its_stencils_is_refused() -> None:
    spec = GraphSpec("se2", 4, orientations=12, levels=1)
    lattice = Lattice((4, 4), 12, spec.geometry.fibre)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    with pytest.raises(SpecError, match=r"levels must be such that .* a larger `directional`"):
        directional_weights(sampled, "forward", 1e-4)
