"""Weights of lattices: second moments are those of the metric, symmetries, directions."""

import itertools
import math

import numpy as np
import pytest
from axes_truth import logarithm_moments, tilt_residual
from moments import (
    EPS,
    check_symmetric,
    deviation,
    inverse_metric,
    of_lattice,
    offsets,
    stencil_moments,
)
from scipy.linalg import logm
from truth import matrix, plane_logarithm

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights.lattice import (
    LatticeWeights,
    directional_weights,
    lattice_weights,
)


@pytest.mark.parametrize("turn", [0.0, 0.3, -1.2, math.pi / 2])
def test_the_logarithm_used_here_is_the_matrix_logarithm(turn: float) -> None:
    dx, dy, start = 0.3, -1.7, 0.4
    element = np.linalg.inv(matrix(0, 0, start)) @ matrix(dx, dy, start + turn)
    log = np.real(logm(element))
    expected = [log[0, 2], log[1, 2], log[1, 0]]
    assert np.allclose(plane_logarithm(*map(np.array, (dx, dy, start, turn))), expected)


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("orientations", [4, 5, 6, 8, 12])
def test_matched_stencils_realize_the_metric(orientations: int, eps: float) -> None:
    for alpha, neighbors in itertools.product([1, 3.41], [16, 32]):
        fields = {"orientations": orientations, "eps": eps, "alpha": alpha}
        spec = GraphSpec("se2", 64, weights="matched", neighbors=neighbors, **fields)
        found = of_lattice(spec)
        listed = offsets(found)
        check_symmetric(listed)
        drift, total = stencil_moments(listed, spec)
        inverse = inverse_metric(spec)
        assert deviation(total, inverse, np.full(orientations, 2.0)) <= 1e-8
        assert abs(drift).max() <= 1e-8 * np.sqrt(inverse[2, 2])
        fewest = offsets(of_lattice(GraphSpec("se2", 64, weights="selling", **fields)))
        assert found.dropped_edges or fewest.keys() <= listed.keys()


@pytest.mark.parametrize("size", ["48x64", "64x48"])
def test_lengths_are_in_widths_whatever_the_height(size: str) -> None:
    for weights in ("matched", "selling"):
        spec = GraphSpec("se2", size, weights=weights, xi=0.05)
        _, total = stencil_moments(offsets(of_lattice(spec)), spec)
        inverse = inverse_metric(spec)
        if weights == "selling":
            inverse[2, 2] *= ((math.pi / 6) / math.sin(math.pi / 6)) ** 2
        assert deviation(total, inverse, np.full(6, 2.0)) <= 1e-8


@pytest.mark.parametrize("kernel", ["laplace", "cauchy", "rectangular"])
def test_any_kernel_can_be_matched(kernel: str) -> None:
    for bandwidth in (0.02, 0.2, 5):
        spec = GraphSpec("se2", 64, weights="matched", kernel=kernel, bandwidth=bandwidth)
        listed = offsets(of_lattice(spec))
        check_symmetric(listed)
        _, total = stencil_moments(listed, spec)
        assert deviation(total, inverse_metric(spec), np.full(6, 2.0)) <= 1e-8


def test_the_isotropic_plane() -> None:
    for weights, most in (("selling", 4), ("matched", 8)):
        spec = GraphSpec("r2", 32, weights=weights)
        listed = offsets(of_lattice(spec))
        check_symmetric(listed)
        assert len(listed) <= most
        _, total = stencil_moments(listed, spec)
        assert np.allclose(total[0, :2, :2], 2 * np.eye(2), rtol=0, atol=1e-10)
    spec = GraphSpec("r2", 32, weights="selling")
    assert offsets(of_lattice(spec)) == pytest.approx(
        {(0, *step, 0): 32**2 for step in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    )


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("spacings", [(), (2.0, 1.5, 1.0)])
def test_second_moments_in_space_are_those_of_the_metric(weights: str, spacings: tuple) -> None:
    """Sum of w d d^T over a vertex' edges is 2 I, lengths in widths of the domain."""
    options = {} if weights == "selling" else {"neighbors": 26}
    spec = GraphSpec("r3", 12, weights=weights, levels=1, **options)
    lattice = Lattice((12, 12, 12), spacings=spacings)
    found = lattice_weights(spec, SampledManifold(lattice, spec.geometry, Metric(1.0)))
    (stencil,), (values,) = found.stencils, found.values
    steps = stencil.offsets[:, ::-1] * lattice.relative[::-1] / lattice.width
    assert (values > 0).all()
    assert steps.T * values @ steps == pytest.approx(2 * np.eye(3), abs=1e-9)
    by_offset = dict(zip(map(tuple, stencil.offsets.tolist()), values.tolist(), strict=True))
    assert all(by_offset[tuple(-n for n in o)] == w for o, w in by_offset.items())


def on_axes(weights: str, axes: str, **fields: object) -> tuple[GraphSpec, LatticeWeights]:
    common = {"axes": axes, "weights": weights, "levels": 1, "boundary": "periodic"}
    spec = GraphSpec("r3s2", 16, **common, **fields)
    return spec, of_lattice(spec)


def listed(found: LatticeWeights) -> dict[tuple[int, ...], float]:
    """(i, dz, dy, dx, j) -> weight."""
    return {
        (i, *offset, j): weight
        for i, (stencil, values) in enumerate(zip(found.stencils, found.values, strict=True))
        for offset, j, weight in zip(
            stencil.offsets.tolist(), stencil.orientation.tolist(), values.tolist(), strict=True
        )
    }


CASES = [
    ("selling", "12", {}),
    ("selling", "13", {"spacing": "1,1,2"}),
    ("selling", "ico21", {"eps": 0.1}),
    ("matched", "4", {}),
    ("matched", "7", {"spacing": "1,1.5,0.7"}),
    ("matched", "12", {"xi": 0.316}),
    ("matched", "3", {"eps": 0.1}),
    ("matched", "ico6", {"eps_squared": 0.3, "neighbors": 48}),
]


@pytest.mark.parametrize(("weights", "name", "fields"), CASES)
def test_moments_on_axes_are_those_of_the_metric(weights: str, name: str, fields: dict) -> None:
    """Along space by matrix logarithms, between axes by the tensors n n^T."""
    spec, found = on_axes(weights, name, **fields)
    axes, metric = axis_set(name), spec.metric(0)
    moments, tilts = np.zeros((len(axes), 3, 3)), np.zeros((len(axes),) * 2)
    sides = found.lattice.relative[::-1] / found.lattice.width
    for (i, dz, dy, dx, j), weight in listed(found).items():
        assert weight > 0
        step = np.array([dx, dy, dz]) * sides
        if (dz, dy, dx) > (0, 0, 0):  # the opposite step has the same moments
            moments[i] += 2 * weight * logarithm_moments(axes.points[i], axes.points[j], step)
        tilts[i, j] += weight * (i != j)
    along = axes.points[:, :, None] * axes.points[:, None]
    wanted = metric.eps**2 * np.eye(3) + (1 - metric.eps**2) * along
    assert moments == pytest.approx(2 * axes.areas[:, None, None] * wanted, abs=1e-9)
    assert tilt_residual(axes.points, axes.areas, tilts * metric.xi**2) <= 1e-9


@pytest.mark.parametrize(("weights", "name", "fields"), CASES)
def test_edges_have_one_weight_in_all_directions(weights: str, name: str, fields: dict) -> None:
    """Both ends of an edge agree, and edges that the reflection through a point maps to another."""
    edges = listed(on_axes(weights, name, **fields)[1])
    for (i, dz, dy, dx, j), weight in edges.items():
        assert edges[j, -dz, -dy, -dx, i] == weight
        assert edges[j, dz, dy, dx, i] == weight


@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_stencils_turn_with_the_cube(weights: str) -> None:
    edges = listed(on_axes(weights, "12")[1])
    for turn, image in axis_set("12").rotations:
        for (i, dz, dy, dx, j), weight in edges.items():
            x, y, z = (turn @ (dx, dy, dz)).tolist()
            assert edges[image[i], z, y, x, image[j]] == pytest.approx(weight, rel=1e-9)


def test_degrees_of_sellings_stencils() -> None:
    """At most what the manifold says: 12 along space, and those between axes."""
    for name, most in (("12", 19), ("43", 22), ("ico81", 27)):
        spec, found = on_axes("selling", name)
        degrees = [len(stencil) for stencil in found.stencils]
        assert 12 < max(degrees) <= most <= spec.neighbors


DELTAS = [1e-6, 0.01, 0.05, 0.3, 1.0]
ROOM = 4096


def along(direction: str, delta: float, orientations: int, **fields: object) -> LatticeWeights:
    """On a lattice with room for everything."""
    spec = GraphSpec("se2", ROOM, orientations=orientations, levels=1, **fields)
    lattice = Lattice((ROOM, ROOM), orientations, spec.geometry.fiber)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    return directional_weights(sampled, direction, delta)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("orientations", [2, 3, 4, 6, 7, 12])
def test_directional_second_moments_in_the_moving_frame(orientations: int, delta: float) -> None:
    """2 diag(1, delta, 0), 2 diag(delta, 1, 0), and along the fiber 2 (s / sin s)^2; no drift."""
    spec = GraphSpec("se2", ROOM, orientations=orientations, levels=1)
    step = math.pi / orientations
    expected = {
        "forward": [1, delta, 0],
        "sideways": [delta, 1, 0],
        "rotation": [0, 0, (step / math.sin(step)) ** 2],
    }
    for direction, diagonal in expected.items():
        listed = offsets(along(direction, delta, orientations))
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
    spec = GraphSpec("se2", ROOM, orientations=6, eps_squared=squared, levels=1)
    b = (squared - delta) / (1 - delta**2)
    factors = {"forward": 1 - b * delta, "sideways": b, "rotation": spec.metric(0).xi ** -2}
    total = sum(
        factor * stencil_moments(offsets(along(name, delta, 6)), spec)[1]
        for name, factor in factors.items()
    )
    step = math.pi / 6
    turn = (step / math.sin(step)) ** 2 * spec.metric(0).xi ** -2
    np.testing.assert_allclose(total / 2, [np.diag([1, squared, turn])] * 6, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("orientations", [2, 4, 6])
def test_half_of_the_orientations_on_forward_is_sideways(orientations: int) -> None:
    forward, sideways = (offsets(along(d, 0.05, orientations)) for d in ("forward", "sideways"))
    for (i, dy, dx, _), weight in forward.items():
        k = (i + orientations // 2) % orientations
        assert sideways[k, dy, dx, k] == pytest.approx(weight, rel=1e-12)
        assert forward[k, dx, -dy, k] == pytest.approx(weight, rel=1e-12)


def test_weights_along_directions_do_not_depend_on_xi() -> None:
    for direction in ("forward", "sideways", "rotation"):
        one, other = (along(direction, 0.05, 4, xi=xi).values for xi in (0.01, 7))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_lattice_smaller_than_its_stencils_is_refused() -> None:
    spec = GraphSpec("se2", 4, orientations=12, levels=1)
    lattice = Lattice((4, 4), 12, spec.geometry.fiber)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    with pytest.raises(SpecError, match=r"levels must be such that .* a larger `directional`"):
        directional_weights(sampled, "forward", 1e-4)
