"""Weights of lattices: second moments are those of the metric, symmetries, directions."""

import math

import numpy as np
import pytest
from axes_truth import logarithm_moments, tilt_residual
from moments import EPS, check_symmetric, deviation, inverse_metric, of_lattice, offsets
from truth import plane_moments

from cheblienet_graphs import GraphSpec, SpecError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.weights import matching
from cheblienet_graphs.weights.directional import Directional
from cheblienet_graphs.weights.lattice import LatticeWeights


def stencil_moments(
    listed: dict[tuple[int, ...], float], spec: GraphSpec
) -> tuple[np.ndarray, np.ndarray]:
    """Drift (n_o,) and M (n_o, 3, 3), lengths in widths of the domain."""
    i, dy, dx, j = np.array(list(listed)).T
    weights, h = np.array(list(listed.values())), 1 / spec.size[0]
    first, second = plane_moments(dx * h, dy * h, i, j, spec.orientations)
    drift, total = np.zeros(spec.orientations), np.zeros((spec.orientations, 3, 3))
    np.add.at(drift, i, weights * first)
    np.add.at(total, i, weights[:, None, None] * second)
    return drift, total


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("orientations", [4, 5, 12])
def test_stencils_realize_the_metric(orientations: int, eps: float) -> None:
    """Lengths are in widths, whatever the height."""
    step = math.pi / orientations
    for alpha, neighbors, kernel in ((1, 16, "gaussian"), (3.41, 32, "rectangular")):
        fields = {"orientations": orientations, "eps": eps, "alpha": alpha}
        shape = {"neighbors": neighbors, "kernel": kernel}
        matched = GraphSpec("se2", (64, 48), weights="matched", **shape, **fields)
        fewest = GraphSpec("se2", (64, 80), weights="selling", **fields)
        for spec, longer in ((matched, 1), (fewest, (step / math.sin(step)) ** 2)):
            listed, inverse = offsets(of_lattice(spec)), inverse_metric(spec) * [1, 1, longer]
            check_symmetric(listed)
            drift, total = stencil_moments(listed, spec)
            assert deviation(total, inverse, np.full(orientations, 2.0)) <= 1e-8
            assert abs(drift).max() <= 1e-8 * np.sqrt(inverse[2, 2])
        both = of_lattice(matched)
        dropped = both.with_left_out.total_degree > both.engine.total_degree
        assert dropped or offsets(of_lattice(fewest)).keys() <= offsets(both).keys()


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("orientations", [2, 5, 12])
def test_the_cosine_along_the_fiber_is_exact_modulo_2_pi(orientations: int, weights: str) -> None:
    fields = {"orientations": orientations, "weights": weights, "alpha": 0.3}
    spec = GraphSpec("se2", 64, period="2pi", **fields)
    theta = spec.full_sampling(0).fiber_coordinates[:, 0]
    values = np.zeros(orientations)
    for (i, _, _, j), weight in offsets(of_lattice(spec)).items():
        values[i] += weight * (np.cos(theta[i]) - np.cos(theta[j]))
    assert values == pytest.approx(np.cos(theta) / spec.metric(0).xi ** 2, rel=1e-8, abs=1e-6)


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize(
    ("name", "spacings"), [("r2", ()), ("r3", ()), ("r3", (2.0, 1.5, 1.0))], ids=str
)
def test_isotropic_second_moments(weights: str, name: str, spacings: tuple) -> None:
    """Sum of w d d^T over a vertex' edges is 2 I, lengths in widths of the domain."""
    options = {"neighbors": 26} if weights == "matched" and name == "r3" else {}
    spec = GraphSpec(name, 12, weights=weights, levels=1, **options)
    lattice = Lattice((12,) * spec.geometry.base.dimension, spacings=spacings)
    weighed = spec.weighting.on_lattice(spec, SampledManifold(lattice, spec.geometry, Metric(1.0)))
    check_symmetric(offsets(weighed))
    steps = weighed.stencils[0].offsets[:, ::-1] * lattice.relative[::-1] / lattice.width
    assert steps.T * weighed.values[0] @ steps == pytest.approx(2 * np.eye(len(steps[0])), abs=1e-9)


def on_axes(weights: str, axes: str, **fields: object) -> tuple[GraphSpec, LatticeWeights]:
    common = {"axes": axes, "weights": weights, "levels": 1, "boundary": "periodic"}
    spec = GraphSpec("r3s2", 16, **common, **fields)
    return spec, of_lattice(spec)


CASES = [
    ("selling", "13", {"spacing": "1,1,2"}),
    ("selling", "ico21", {"eps": 0.1}),
    ("matched", "3", {"eps": 0.1}),
    ("matched", "ico6", {"eps_squared": 0.3, "neighbors": 48}),
]


@pytest.mark.parametrize(("weights", "name", "fields"), CASES)
def test_moments_on_axes_are_those_of_the_metric(weights: str, name: str, fields: dict) -> None:
    """Along space by matrix logarithms, between axes by the tensors n n^T."""
    spec, weighed = on_axes(weights, name, **fields)
    axes, metric = axis_set(name), spec.metric(0)
    moments, tilts = np.zeros((len(axes), 3, 3)), np.zeros((len(axes),) * 2)
    sides = weighed.lattice.relative[::-1] / weighed.lattice.width
    edges = offsets(weighed)
    check_symmetric(edges)
    assert weights == "matched" or max(map(len, weighed.stencils)) <= spec.neighbors
    for (i, dz, dy, dx, j), weight in edges.items():
        step = np.array([dx, dy, dz]) * sides
        if (dz, dy, dx) > (0, 0, 0):  # the opposite step has the same moments
            moments[i] += 2 * weight * logarithm_moments(axes.points[i], axes.points[j], step)
        tilts[i, j] += weight * (i != j)
    along = axes.points[:, :, None] * axes.points[:, None]
    wanted = metric.eps**2 * np.eye(3) + (1 - metric.eps**2) * along
    assert moments == pytest.approx(2 * axes.areas[:, None, None] * wanted, abs=1e-9)
    assert tilt_residual(axes.points, axes.areas, tilts * metric.xi**2) <= 1e-9


def test_edges_on_which_nothing_realizes_the_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver ends without a solution where it has no steps."""
    monkeypatch.setattr(matching, "MAX_STEPS", 0)
    spec = GraphSpec("se2", 24, orientations=6, weights="matched", levels=1)
    with pytest.raises(SpecError, match=r"no matched weights exist on these edges.*`neighbors`"):
        of_lattice(spec)


ROOM = 4096


def along(direction: str, delta: float, orientations: int, **fields: object) -> LatticeWeights:
    """On a lattice with room for everything."""
    spec = GraphSpec("se2", ROOM, orientations=orientations, levels=1, **fields)
    lattice = Lattice((ROOM, ROOM), orientations, spec.geometry.fiber)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    return Directional(direction, delta).on_lattice(sampled)


@pytest.mark.parametrize("delta", [1e-6, 0.05, 1.0])
@pytest.mark.parametrize("orientations", [2, 3, 6])
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
        listed = offsets(along(direction, delta, orientations, xi=0.01))
        assert listed == offsets(along(direction, delta, orientations, xi=7))
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


def test_a_lattice_smaller_than_its_stencils_is_refused() -> None:
    spec = GraphSpec("se2", 4, orientations=12, levels=1)
    lattice = Lattice((4, 4), 12, spec.geometry.fiber)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(0))
    with pytest.raises(SpecError, match=r"levels must be such that .* a larger `directional`"):
        Directional("forward", 1e-4).on_lattice(sampled)
