"""Graphs true to their metric: moments, optimality, symmetries and refusals of their weights.

Moments are computed here from inverse Jacobians (checked against scipy's logm) on the plane, and
from scipy's quaternions and tangent vectors on the sphere.
"""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.linalg import logm
from scipy.optimize import linprog, nnls
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation
from sphere_truth import HALF_TURN, arcs, rotations, unit_vectors
from truth import matrix, se2_squared_distance

from cheblienet_graphs import GraphSpec, SpecError, build, plan
from cheblienet_graphs.samplings.lattice import PlaneLattice
from cheblienet_graphs.store.reader import edge_weights, mapped_array, mapped_csr
from cheblienet_graphs.weights import matching
from cheblienet_graphs.weights.lattice import LatticeWeights, lattice_weights
from cheblienet_graphs.weights.matching import nearest_matching
from cheblienet_graphs.weights.selling import selling

EPS = [0.1, 0.3162, 0.5, 1.0]
Sparse = scipy.sparse.csr_array


# The plane's truth.


def plane_logarithm(dx: np.ndarray, dy: np.ndarray, start: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(3, N): log of Rot(-start) (dx, dy) turned by a, by the inverse Jacobian of exp."""
    x = np.cos(start) * dx + np.sin(start) * dy
    y = -np.sin(start) * dx + np.cos(start) * dy
    half_cot = np.where(abs(a) < 1e-12, 1.0, (a / 2) / np.tan(np.where(a == 0, 1, a) / 2))
    return np.stack([half_cot * x + a / 2 * y, -a / 2 * x + half_cot * y, a])


def plane_moments(
    dx: np.ndarray, dy: np.ndarray, i: np.ndarray, j: np.ndarray, n_o: int
) -> tuple[np.ndarray, np.ndarray]:
    """c3, (N,), and c c^T, (N, 3, 3), of edges of weight 1; means of both where turns tie."""
    steps = (j - i) % n_o
    tied = 2 * steps == n_o
    a = np.where(2 * steps > n_o, steps - n_o, steps) * math.pi / n_o
    start = -math.pi / 2 + i * math.pi / n_o
    c = plane_logarithm(dx, dy, start, a)
    other = plane_logarithm(dx, dy, start, np.where(tied, -a, a))
    second = [np.einsum("an,bn->nab", log, log) for log in (c, other)]
    return (c[2] + other[2]) / 2, (second[0] + second[1]) / 2


@pytest.mark.parametrize("turn", [0.0, 0.3, -1.2, math.pi / 2])
def test_the_logarithm_used_here_is_the_matrix_logarithm(turn: float) -> None:
    dx, dy, start = 0.3, -1.7, 0.4
    element = np.linalg.inv(matrix(0, 0, start)) @ matrix(dx, dy, start + turn)
    log = np.real(logm(element))
    expected = [log[0, 2], log[1, 2], log[1, 0]]
    assert np.allclose(plane_logarithm(*map(np.array, (dx, dy, start, turn))), expected)


def inverse_metric(spec: GraphSpec, level: int = 0) -> np.ndarray:
    """R^-1, lengths in widths of the domain; xi^2 = alpha n_o h^2."""
    width = spec.size[0] >> level
    if isinstance(spec.xi, float):
        squared = spec.xi**2 * 4**level
    else:
        squared = spec.alpha * spec.orientations / width**2
    return np.diag([1, spec.eps**2, 1 / squared])


def deviation(moments: np.ndarray, inverse: np.ndarray, factor: np.ndarray) -> float:
    """Largest deviation of M_i / factor_i from R^-1, in units in which R is 1."""
    root = 1 / np.sqrt(np.diag(inverse))
    scaled = moments / np.asarray(factor)[..., None, None] * root[:, None] * root
    return float(abs(scaled - np.eye(len(root))).max())


# Stencils, before anything is stored.


def of_lattice(spec: GraphSpec) -> LatticeWeights:
    width, height = spec.size
    lattice = PlaneLattice(width, height, spec.orientations, oriented=spec.manifold == "se2")
    return lattice_weights(spec, lattice, spec.metric(0))


def offsets(found: LatticeWeights) -> dict[tuple[int, int, int, int], float]:
    """(i, dy, dx, j) -> weight."""
    listed = {}
    for i, (stencil, values) in enumerate(zip(found.stencils, found.values, strict=True)):
        parts = (stencil.dy, stencil.dx, stencil.orientation, values)
        for dy, dx, j, weight in zip(*(part.tolist() for part in parts), strict=True):
            listed[i, dy, dx, j] = weight
        assert len(stencil) == len(values)
    return listed


def check_symmetric(listed: dict[tuple[int, int, int, int], float]) -> None:
    assert all((i, dy, dx) != (j, 0, 0) for i, dy, dx, j in listed)
    for (i, dy, dx, j), weight in listed.items():
        assert weight > 0
        assert listed[i, -dy, -dx, j] == weight
        assert listed[j, dy, dx, i] == weight
        assert listed[j, -dy, -dx, i] == weight


def stencil_moments(
    listed: dict[tuple[int, int, int, int], float], spec: GraphSpec
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
@pytest.mark.parametrize("orientations", [4, 5, 6, 8, 12])
def test_matched_stencils_realise_the_metric(orientations: int, eps: float) -> None:
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


@pytest.mark.parametrize("eps", [*EPS, 0.03, 0.01, 0.001])
@pytest.mark.parametrize("orientations", [1, 2, 3, 4, 6, 7, 12])
def test_selling_stencils(orientations: int, eps: float) -> None:
    """Selling's formula to rounding, on primitive offsets, of least degree."""
    theta, xi = -np.pi / 2 + np.arange(orientations) * np.pi / orientations, 2.3
    for i, (places, weights) in enumerate(selling(theta, eps, xi)):
        j, dy, dx = places
        assert len(weights) <= 8
        assert (weights > 0).all()
        assert len(np.unique(places, axis=1).T) == len(weights)
        inside = j == i
        v = np.stack([dx, dy])[:, inside]
        assert v.shape[1] <= 6
        assert all(math.gcd(*step) == 1 for step in v.T.tolist())
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        product = v * weights[inside] @ v.T
        # Below, |v|^2 reaches 2000, and terms cancel.
        assert abs(product - 2 * tensor).max() <= 5e-12
        scale = turn * [1, 1 / eps]
        assert abs(scale.T @ product @ scale / 2 - np.eye(2)).max() <= 1e-9
        around = {(i - 1) % orientations, (i + 1) % orientations} - {i}
        assert set(j[~inside].tolist()) == around
        assert not dy[~inside].any()
        assert not dx[~inside].any()
        if around:
            expected = 2 / (xi * math.sin(math.pi / orientations)) ** 2 / len(around)
            assert weights[~inside] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("eps", [0.1, 0.3162, 0.5])
def test_selling_weights_solve_the_linear_program(eps: float) -> None:
    """Of all decompositions of D over the lattice, Selling's has the largest sum of weights.

    It is the dual of Voronoi's first reduction of a quadratic form.
    """
    half = [(x, y) for x in range(-6, 7) for y in range(7) if (y, x) > (0, 0)]
    rows = np.array([(x * x, y * y, x * y) for x, y in half], float).T
    theta = -np.pi / 2 + np.arange(5) * np.pi / 5
    for i, (places, weights) in enumerate(selling(theta, eps, 1.0)):
        turn = np.array(matrix(0, 0, float(theta[i])))[:2, :2]
        tensor = turn @ np.diag([1, eps**2]) @ turn.T
        targets = [tensor[0, 0], tensor[1, 1], tensor[0, 1]]
        best = linprog(-np.ones(len(half)), A_eq=rows, b_eq=targets, method="highs")
        assert best.status == 0
        assert weights[places[0] == i].sum() / 2 == pytest.approx(-best.fun, abs=1e-9)


# The nearest matching, against scipy and the conditions of optimality.


def problem(seed: int, constraints: int, unknowns: int) -> tuple[Sparse, np.ndarray, ...]:
    """A random feasible problem whose solution has zeros: C, targets, prior, repeats."""
    random = np.random.default_rng(seed)
    dense = random.standard_normal((constraints, unknowns))
    dense *= random.random((constraints, unknowns)) < 0.5
    true = random.exponential(size=unknowns) * (random.random(unknowns) < 0.4)
    prior = random.uniform(0.1, 2, unknowns)
    repeats = random.integers(1, 4, unknowns) / 2
    return Sparse(dense), dense @ true, prior, repeats


def nearest_by_scipy(
    constraints: Sparse, targets: np.ndarray, prior: np.ndarray, repeats: np.ndarray
) -> np.ndarray:
    """Nonnegative least squares, the constraints as rows of great weight."""
    scale, root = 1e5, np.sqrt(repeats / prior)
    rows = np.vstack([np.diag(root), scale * constraints.toarray()])
    return nnls(rows, np.concatenate([root * prior, scale * targets]), maxiter=10_000)[0]


@pytest.mark.parametrize("dense", [1000, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("seed", range(7))
def test_nearest_matching_is_scipys(
    monkeypatch: pytest.MonkeyPatch, seed: int, redundant: bool, dense: int
) -> None:
    monkeypatch.setattr(matching, "DENSE", dense)
    constraints, targets, prior, repeats = problem(seed, 5 + seed % 4, 20 + seed)
    if redundant:
        mixing = np.random.default_rng(99).standard_normal((3, len(targets)))
        constraints = Sparse(scipy.sparse.vstack([constraints, mixing @ constraints.toarray()]))
        targets = np.concatenate([targets, mixing @ targets])
    found = nearest_matching(constraints, targets, prior, repeats)
    assert found.converged
    assert (found.values >= 0).all()
    assert (found.values == 0).any()  # bounds matter
    assert abs(constraints @ found.values - targets).max() <= 1e-10
    expected = nearest_by_scipy(constraints, targets, prior, repeats)
    assert np.allclose(found.values, expected, rtol=0, atol=1e-5)
    # Karush, Kuhn, Tucker: the gradient is C^T y where weights are positive, above it elsewhere.
    gradient = repeats * (found.values - prior) / prior
    positive, columns = found.values > 0, constraints.toarray().T
    dual = np.linalg.lstsq(columns[positive], gradient[positive], rcond=1e-10)[0]
    assert abs(columns[positive] @ dual - gradient[positive]).max() <= 1e-6


def test_a_prior_that_fulfils_the_constraints_is_left_alone() -> None:
    constraints, _, prior, repeats = problem(1, 6, 30)
    found = nearest_matching(constraints, constraints @ prior, prior, repeats)
    assert found.converged
    assert np.array_equal(found.values, prior)


@pytest.mark.parametrize("dense", [1000, 0], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", range(4))
def test_infeasible_problems_do_not_converge(
    monkeypatch: pytest.MonkeyPatch, seed: int, dense: int
) -> None:
    monkeypatch.setattr(matching, "DENSE", dense)
    constraints, targets, prior, repeats = problem(seed, 5, 30)
    negative = targets.copy()
    positive = constraints.copy()
    positive.data = abs(positive.data)
    negative[0] = -1.0  # a positive combination can't be negative
    contradiction = Sparse(scipy.sparse.vstack([constraints, constraints]))
    both = np.concatenate([targets, targets + 1.0])
    for matrix_, goal in ((positive, negative), (contradiction, both)):
        found = nearest_matching(matrix_, goal, prior, repeats)
        assert not found.converged
        assert found.residual > 1e-3


@pytest.mark.parametrize(
    ("n_o", "eps_squared", "bandwidth", "zeros"),
    [(4, 0.1, 0.2, 0), (4, 0.01, 0.2, 8), (5, 0.1, 0.05, None), (8, 0.1, 0.2, 0)],
)
def test_matched_weights_are_the_nearest_on_their_edges(
    n_o: int, eps_squared: float, bandwidth: float, zeros: int | None
) -> None:
    """The whole of a lattice's problem, formulated per directed offset, without merging them."""
    fields = {"orientations": n_o, "eps_squared": eps_squared}
    spec = GraphSpec("se2", 32, weights="matched", neighbors=16, bandwidth=bandwidth, **fields)
    listed = offsets(of_lattice(spec))
    united = set(offsets(of_lattice(GraphSpec("se2", 32, weights="selling", **fields))))
    xi, theta = math.sqrt(n_o), -np.pi / 2 + np.arange(n_o) * np.pi / n_o
    dy, dx = (index.ravel() for index in np.mgrid[-6:7, -6:7])
    length = {}
    for i, j in itertools.product(range(n_o), repeat=2):
        squared = se2_squared_distance(dx, dy, float(theta[i]), float(theta[j]), spec.eps, xi)
        for y, x, s in zip(dy.tolist(), dx.tolist(), squared.tolist(), strict=True):
            if (i, y, x) != (j, 0, 0):
                length[i, y, x, j] = s
    radii = []
    for i in range(n_o):
        near = sorted(squared for key, squared in length.items() if key[0] == i)
        whole = [n for n in range(1, 17) if near[n] > near[n - 1] * (1 + 1e-7)]
        radii.append(near[whole[-1] - 1])
    united |= {k for k, s in length.items() if s <= min(radii[k[0]], radii[k[3]]) * (1 + 1e-7)}
    keys = sorted(united)
    squared = np.array([length[key] for key in keys])
    prior = np.exp(-squared / (4 * bandwidth * squared.mean()))
    prior = np.maximum(prior, 1e-3 * prior.max())
    i, dy, dx, j = np.array(keys).T
    first, second = plane_moments(dx, dy, i, j, n_o)
    root = np.array([1, 1 / spec.eps, xi])
    second = second * root[:, None] * root
    parts = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    rows = np.zeros((n_o, 7, len(keys)))
    rows[i, 6, np.arange(len(keys))] = first
    for place, (a, b) in enumerate(parts):
        rows[i, place, np.arange(len(keys))] = second[:, a, b]
    diagonal = np.array([2.0, 2, 2, 0, 0, 0, 0])
    prior *= 6 * n_o / float((rows[:, :3].sum(axis=(0, 1)) * prior).sum())
    # Symmetric weights: each offset's reverse is the same edge.
    where = {key: n for n, key in enumerate(keys)}
    reverse = np.array([where[end, -y, -x, start] for start, y, x, end in keys])
    ties = np.eye(len(keys)) - np.eye(len(keys))[reverse]
    constraints = np.vstack([rows.reshape(7 * n_o, -1), ties])
    targets = np.concatenate([np.tile(diagonal, n_o), np.zeros(len(keys))])
    expected = nearest_by_scipy(Sparse(constraints), targets, prior, np.ones(len(keys)))
    values = np.array([listed.get(key, 0.0) for key in keys]) / 32**2
    assert set(listed) <= set(keys)
    assert zeros is None or len(keys) - len(listed) == zeros
    assert np.allclose(values, expected, rtol=0, atol=1e-5 * expected.max())


# Stored lattices.


def stored(spec: GraphSpec, path: Path, **options: object) -> tuple[Path, tuple[dict, ...]]:
    """A build's version, and what it records of its levels."""
    built = build(spec, path / "g.zarr", name="g", **options)
    return path / "g.zarr" / "g" / built.version, built.levels


def weights_of(version: Path, level: int = 0) -> Sparse:
    """W of a level, positive; symmetric since the stored Laplacian is to the last bit."""
    laplacian = mapped_csr(version / f"levels/{level}/laplacian")
    assert laplacian.dtype == np.float32
    assert abs(laplacian - laplacian.T).max() == 0
    w = edge_weights(version, level)
    assert w.data.min() > 0
    assert abs(w - w.T).max() <= 1e-15 * w.max()
    return w


def lattice_edges(w: Sparse, spec: GraphSpec, level: int) -> tuple[np.ndarray, ...]:
    """i, y, x, dy, dx, j and weight of each entry, the nearest image where there are some."""
    width, height = (side >> level for side in spec.size)
    entries = w.tocoo()
    row, column = entries.coords
    i, y, x = np.unravel_index(row, (spec.orientations, height, width))
    j, other_y, other_x = np.unravel_index(column, (spec.orientations, height, width))
    dy, dx = other_y - y, other_x - x
    if spec.boundary == "periodic":
        dy = (dy + height // 2) % height - height // 2
        dx = (dx + width // 2) % width - width // 2
    return i, y, x, dy, dx, j, entries.data


LATTICES = [
    {"size": "20x24", "boundary": "periodic"},
    {"size": "24x20"},
    {"size": 24, "orientations": 8, "neighbors": 16, "boundary": "periodic"},
    {"size": 24, "orientations": 5, "eps": 0.5, "alpha": 3.41},
    {"size": 24, "orientations": 4, "xi": 0.1, "levels": 2, "boundary": "periodic"},
]


@pytest.mark.parametrize("fields", LATTICES)
@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_stored_lattices_realise_the_metric(tmp_path: Path, weights: str, fields: dict) -> None:
    if weights == "selling":
        fields = {k: v for k, v in fields.items() if k != "neighbors"}
    spec = GraphSpec("se2", weights=weights, **({"levels": 1} | fields))
    version, facts = stored(spec, tmp_path)
    for level in range(spec.levels):
        w = weights_of(version, level)
        assert w.nnz == 2 * facts[level]["edges"]
        i, y, x, dy, dx, j, weight = lattice_edges(w, spec, level)
        width, height = (side >> level for side in spec.size)
        assert facts[level]["in_plane_fraction"] == pytest.approx((i == j).mean())
        first, second = plane_moments(dx / width, dy / width, i, j, spec.orientations)
        vertices = (i * height + y) * width + x
        total, drift = np.zeros((w.shape[0], 3, 3)), np.zeros(w.shape[0])
        np.add.at(total, vertices, weight[:, None, None] * second)
        np.add.at(drift, vertices, weight * first)
        inverse = inverse_metric(spec, level)
        if weights == "selling":
            delta = math.pi / spec.orientations
            inverse[2, 2] *= (delta / math.sin(delta)) ** 2
        inside = np.ones((height, width), bool)
        if spec.boundary == "open":
            rim_y, rim_x = abs(dy).max(), abs(dx).max()
            inside[:] = False
            inside[rim_y : height - rim_y, rim_x : width - rim_x] = True
        interior = np.tile(inside.ravel(), spec.orientations)
        assert interior.sum() >= spec.orientations
        factor = np.full(interior.sum(), 2.0)
        assert deviation(total[interior], inverse, factor) <= 3e-6
        assert abs(drift[interior]).max() <= 3e-6 * math.sqrt(inverse[2, 2])
        if spec.boundary == "open":
            assert deviation(total, inverse, np.full(len(total), 2.0)) > 0.1


def permutation_of(spec: GraphSpec, image_of: Callable[..., tuple[int, ...]]) -> np.ndarray:
    width, height = spec.size
    indices = itertools.product(range(spec.orientations), range(height), range(width))
    moved = (image_of(*index) for index in indices)
    return np.array([(i * height + y) * width + x for i, y, x in moved])


def difference(matrix_: Sparse, permutation: np.ndarray) -> float:
    return float(abs(matrix_[permutation][:, permutation] - matrix_).max())


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("orientations", [2, 4, 5, 6, 8])
@pytest.mark.parametrize("weights", ["selling", "matched"])
def test_symmetries_survive(tmp_path: Path, weights: str, orientations: int, boundary: str) -> None:
    n, n_o = 16, orientations
    spec = GraphSpec("se2", n, orientations=n_o, weights=weights, boundary=boundary, levels=1)
    version, _ = stored(spec, tmp_path)
    laplacian = mapped_csr(version / "levels/0/laplacian")
    flip = permutation_of(spec, lambda i, y, x: ((n_o - i) % n_o, n - 1 - y, x))
    turn = permutation_of(spec, lambda i, y, x: ((i + n_o // 2) % n_o, x, n - 1 - y))
    shift = permutation_of(spec, lambda i, y, x: (i, (y + 5) % n, (x + 3) % n))
    assert difference(laplacian, flip) <= 1e-6
    assert (difference(laplacian, turn) <= 1e-6) == (n_o % 2 == 0)
    assert (difference(laplacian, shift) == 0) == (boundary == "periodic")


OPERATORS = [
    {"manifold": "se2", "size": "12x14"},
    {"manifold": "se2", "size": 14, "orientations": 4, "boundary": "periodic"},
    {"manifold": "r2", "size": "12x10"},
    {"manifold": "s2", "subdivisions": 1, "neighbors": 24},
    {"manifold": "so3", "bandlimit": 3, "orientations": 5, "neighbors": 24, "levels": 1},
]


@pytest.mark.parametrize("laplacian", ["combinatorial", "normalized"])
@pytest.mark.parametrize("weights", ["kernel", "selling", "matched"])
@pytest.mark.parametrize("fields", OPERATORS)
def test_stored_operators(tmp_path: Path, fields: dict, weights: str, laplacian: str) -> None:
    """From W, degrees and areas; and the diagonal, that W is read without, tells."""
    sphere = fields["manifold"] in {"s2", "so3"}
    if sphere and weights == "selling":
        weights = "matched"
    spec = GraphSpec(**({"levels": 1} | fields), weights=weights, laplacian=laplacian)
    version, (facts,) = stored(spec, tmp_path)
    folder = version / "levels/0"
    w = edge_weights(version, 0).toarray()
    degree, area = (mapped_array(folder / part).astype(float) for part in ("degree", "area"))
    assert np.allclose(w.sum(axis=1), degree, rtol=1e-6)
    assert area.mean() == pytest.approx(1)
    assert (np.ptp(area) > 0.01) == sphere
    mass = area if laplacian == "combinatorial" else degree
    delta = (np.diag(degree) - w) / np.sqrt(mass[:, None] * mass)
    rescaled = mapped_csr(folder / "laplacian").toarray().astype(float)
    lambda_max = facts["lambda_max"]
    assert np.allclose(rescaled, 2 * delta / lambda_max - np.eye(len(w)), rtol=0, atol=5e-7)
    null = np.sqrt(mass / mass.sum())
    assert abs(rescaled @ null + null).max() <= 1e-6
    spectrum = np.linalg.eigvalsh(rescaled)
    assert spectrum[0] >= -1 - 1e-6
    # A bipartite graph attains the bound 2, to rounding in float32.
    assert spectrum[-1] <= (1 + 1e-7 if facts["lambda_max_method"] == "bound" else 1)
    assert spectrum[-1] >= 1 - 1e-4
    assert (spectrum < -1 + 1e-5).sum() == 1  # connected


# Stored spheres.

SPHERES = [
    {"manifold": "s2", "subdivisions": 1},
    {"manifold": "s2", "subdivisions": 2},
    {"manifold": "s2", "nside": 4},
    {"manifold": "s2", "bandlimit": 4},
    {"manifold": "s2", "points": 300},
    {"manifold": "so3", "subdivisions": 1},
    {"manifold": "so3", "subdivisions": 2},
    {"manifold": "so3", "subdivisions": 2, "orientations": 5, "eps": 0.5, "neighbors": 32},
    {"manifold": "so3", "nside": 4},
    {"manifold": "so3", "bandlimit": 4},
]


def sphere_moments(w: Sparse, coordinates: np.ndarray) -> np.ndarray:
    """(V, 3, 3): sums of w c c^T on SO(3), of w t t^T with tangent vectors t in space on S2."""
    entries = w.tocoo()
    row, column = entries.coords
    if coordinates.shape[1] == 2:
        points = unit_vectors(coordinates)
        u, v = points[row], points[column]
        across = v - (u * v).sum(axis=1, keepdims=True) * u
        across *= (arcs(u, v) / np.linalg.norm(across, axis=1))[:, None]
        second = across[:, :, None] * across[:, None, :]
    else:
        frames = rotations(coordinates)
        relative = frames[row].inv() * frames[column]
        vectors = [relative.as_rotvec(), (relative * HALF_TURN).as_rotvec()]
        c = np.stack([np.stack([r[:, 1], -r[:, 0], r[:, 2]], axis=1) for r in vectors])
        turn = abs(c[:, :, 2])
        share = (turn <= turn.min(axis=0) + 1e-9).astype(float)
        share /= share.sum(axis=0)
        second = np.einsum("kn,kna,knb->nab", share, c, c)
    total = np.zeros((w.shape[0], 3, 3))
    np.add.at(total, row, entries.data[:, None, None] * second)
    return total


def half_turns(coordinates: np.ndarray) -> list[np.ndarray]:
    """Permutations of the vertices by half turns about x, y and z, orientations modulo pi."""
    if coordinates.shape[1] == 2:
        before = unit_vectors(coordinates)[:, None]
        copies = before
    else:
        before = rotations(coordinates).as_matrix()
        copies = np.concatenate([before, before @ np.diag([-1.0, -1, 1])])
    found = []
    for axis in np.eye(3):
        turn = Rotation.from_rotvec(np.pi * axis).as_matrix()
        after = before @ turn.T if coordinates.shape[1] == 2 else turn @ before
        tree = KDTree(copies.reshape(len(copies), -1))
        gap, image = tree.query(after.reshape(len(after), -1))
        assert gap.max() < 1e-9
        found.append(image % len(before))
    return found


@pytest.mark.parametrize("fields", SPHERES)
def test_stored_spheres_realise_the_metric(tmp_path: Path, fields: dict) -> None:
    """At every vertex; on the nearest neighbours, with the half turns' symmetries."""
    spec = GraphSpec(**({"levels": 1, "neighbors": 24} | fields), weights="matched")
    version, (facts,) = stored(spec, tmp_path)
    w = weights_of(version)
    assert w.nnz == 2 * facts["edges"]
    coordinates = np.array(mapped_array(version / "levels/0/coordinates"))
    area = mapped_array(version / "levels/0/area").astype(float)
    total = sphere_moments(w, coordinates)
    if spec.manifold == "s2":
        points = unit_vectors(coordinates)
        tangent = np.eye(3) - points[:, :, None] * points[:, None, :]
        assert abs(total / (2 * area)[:, None, None] - tangent).max() <= 1e-5
    else:
        xi_squared = spec.orientations * 4 * math.pi / spec.base_points(0)
        inverse = np.diag([1, spec.eps**2, 1 / xi_squared])
        assert deviation(total, inverse, 2 * area) <= 1e-5
    if spec.sampling != "random":
        laplacian = mapped_csr(version / "levels/0/laplacian")
        for moved in half_turns(coordinates):
            assert difference(laplacian, moved) <= 1e-6
    kernel = GraphSpec(**({"levels": 1, "neighbors": 24} | fields))
    nearest = pattern(stored(kernel, tmp_path / "kernel")[0])
    missing = nearest - nearest.multiply(pattern(version))
    assert missing.sum() <= 2 * facts["dropped_edges"]
    # Few are dropped, not nearly all, where points are evenly spread.
    if spec.sampling in {"icosahedral", "healpix"}:
        assert missing.sum() <= 0.05 * nearest.sum()


def pattern(version: Path, level: int = 0) -> Sparse:
    """1 on edges."""
    w = edge_weights(version, level)
    w.data = np.ones_like(w.data)
    return w


def test_edges_on_the_sphere_are_neighbours_and_parallel_steps(tmp_path: Path) -> None:
    """The union, counted with what was dropped of it."""
    fields = {"manifold": "so3", "subdivisions": 1, "neighbors": 24, "levels": 1}
    version, (facts,) = stored(GraphSpec(**fields, weights="matched"), tmp_path)
    united = pattern(stored(GraphSpec(**fields), tmp_path / "kernel")[0]).toarray() > 0
    coordinates = np.array(mapped_array(version / "levels/0/coordinates"))
    frames, points = rotations(coordinates), unit_vectors(coordinates[:, 1:])
    base, n_o = 42, 6
    for a in range(len(points)):
        distance = np.linalg.norm(points[:base] - points[a], axis=1)
        ranked = np.sort(distance)[1:] ** 2
        whole = [n for n in range(1, 9) if ranked[n] > ranked[n - 1] * (1 + 1e-6)]
        radius = ranked[whole[-1] - 1] * (1 + 1e-6)
        for b in np.flatnonzero((distance**2 <= radius) & (distance > 1e-9)):
            fibre = b + base * np.arange(n_o)
            relative = frames[a].inv() * frames[fibre]
            vectors = [relative.as_rotvec(), (relative * HALF_TURN).as_rotvec()]
            turn = np.min([abs(v[:, 2]) for v in vectors], axis=0)
            chosen = fibre[turn <= turn.min() + 1e-6]
            united[a, chosen] = united[chosen, a] = True
    edges = pattern(version).toarray() > 0
    assert not (edges & ~united).any()
    assert facts["dropped_edges"] == (united & ~edges).sum() / 2 > 0


# Dropped edges, determinism, eigenpairs.


@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_dropped_edges_are_counted(tmp_path: Path, boundary: str) -> None:
    """At n_o = 4, eps^2 = .01, K = 16 eight of 68 offsets come out 0."""
    fields = {"size": "18x16", "orientations": 4, "eps": 0.1, "levels": 1, "boundary": boundary}
    versions = {}
    for weights in ("kernel", "selling", "matched"):
        spec = GraphSpec("se2", weights=weights, **fields)
        versions[weights], facts = stored(spec, tmp_path / weights)
    united = pattern(versions["kernel"]) + pattern(versions["selling"])
    united.data[:] = 1
    kept = pattern(versions["matched"])
    assert (kept - kept.multiply(united)).sum() == 0
    assert facts[0]["dropped_edges"] == (united.sum() - kept.sum()) / 2 > 0
    if boundary == "periodic":
        assert (united.sum() / (18 * 16), kept.sum() / (18 * 16)) == (68, 60)


DETERMINISTIC = [
    {"manifold": "se2", "size": "16x24", "weights": "selling", "eigenpairs": 5},
    {"manifold": "se2", "size": "16x24", "weights": "matched", "boundary": "periodic"},
    {"manifold": "so3", "subdivisions": 1, "weights": "matched", "neighbors": 24, "levels": 1},
]


@pytest.mark.parametrize("fields", DETERMINISTIC)
def test_bytes_do_not_depend_on_blocks(tmp_path: Path, fields: dict) -> None:
    spec = GraphSpec(**fields)
    whole, _ = stored(spec, tmp_path / "whole")
    for block_rows in (500, 77):
        cut, _ = stored(spec, tmp_path / f"cut{block_rows}", block_rows=block_rows)
        names = [p.relative_to(whole) for p in whole.rglob("*") if p.is_file()]
        assert sorted(p.relative_to(cut) for p in cut.rglob("*") if p.is_file()) == sorted(names)
        for name in names:
            if name != Path("zarr.json"):  # it has the time of the build
                assert (whole / name).read_bytes() == (cut / name).read_bytes(), name


EIGENPAIRS = [
    {"manifold": "se2", "size": "16x12", "weights": "selling", "levels": 2},
    {"manifold": "se2", "size": 16, "boundary": "periodic", "levels": 2, "orientations": 4},
    {"manifold": "so3", "subdivisions": 1, "weights": "matched", "neighbors": 24, "levels": 1},
    {"manifold": "s2", "subdivisions": 3, "laplacian": "combinatorial", "levels": 3},
    {"manifold": "r2", "size": 16, "lambda_max": 2, "levels": 2},
]


@pytest.mark.parametrize("fields", EIGENPAIRS)
def test_eigenpairs_are_stored(tmp_path: Path, fields: dict) -> None:
    count = 20
    spec = GraphSpec(**fields, eigenpairs=count)
    version, facts = stored(spec, tmp_path)
    for level in range(spec.levels):
        folder = version / f"levels/{level}"
        values = np.array(mapped_array(folder / "eigenvalues"))
        vectors = np.array(mapped_array(folder / "eigenvectors"))
        assert (values.shape, values.dtype) == ((count,), np.float64)
        assert (vectors.shape, vectors.dtype) == ((facts[level]["vertices"], count), np.float32)
        scale = facts[level]["lambda_max"] / 2
        rescaled = mapped_csr(folder / "laplacian").toarray().astype(float)
        delta = scale * (rescaled + np.eye(len(rescaled)))
        assert abs(delta @ vectors - vectors * values).max() <= 1e-6 * scale
        assert np.allclose(vectors.T @ vectors, np.eye(count), rtol=0, atol=1e-5)
        exact = np.linalg.eigvalsh(delta)[:count]
        assert abs(values - exact).max() <= 1e-6 * scale
        assert values.min() >= 0


def test_eigenpairs_are_of_every_level_or_of_none(tmp_path: Path) -> None:
    version, _ = stored(GraphSpec("r2", 16), tmp_path)
    assert not list(version.rglob("eigen*"))
    assert (
        "eigenpairs"
        not in json.loads((version / "zarr.json").read_text())["attributes"]["clg"]["spec"]
    )


# Refusals of a build; those of a specification are in test_spec.


def refused(spec: GraphSpec, path: Path, **options: object) -> str:
    """The message, of one line; nothing is published."""
    with pytest.raises(SpecError) as caught:
        build(spec, path / "g.zarr", name="g", **options)
    assert not list(path.rglob("v0*"))
    assert not list(path.rglob("laplacian"))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"engine": "pruned"}, "engine"),
        ({"engine": "keops"}, "engine"),
        ({"device": "cuda"}, "device"),
    ],
)
def test_lattices_are_weighed_by_stencils_on_the_cpu(
    tmp_path: Path, weights: str, options: dict, field: str
) -> None:
    message = refused(GraphSpec("se2", 16, weights=weights), tmp_path, **options)
    assert message.startswith(f"{field} must be auto or ")
    assert f"{weights} weights on a lattice" in message
    assert repr(options[field]) in message


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_lattices_too_small_for_the_stencils(tmp_path: Path, boundary: str, weights: str) -> None:
    """The least side is the reach + 1 where open, twice the reach + 1 where periodic."""
    fields = {"weights": weights, "boundary": boundary, "levels": 1, "alpha": 1}
    large = GraphSpec("se2", 64, **fields)
    listed = offsets(of_lattice(large))
    reach = max(max(abs(dy), abs(dx)) for _, dy, dx, _ in listed)
    least = (2 * reach if boundary == "periodic" else reach) + 1
    build(GraphSpec("se2", least, **fields), tmp_path / "fits.zarr", name="fits")
    for size in ((least - 1, least), (least, least - 1)):
        message = refused(GraphSpec("se2", size, **fields), tmp_path / "small")
        assert message.startswith("levels must be such that every level has at least ")
        assert f"{least}x{least} pixels" in message
        assert f"Got '{size[0]}x{size[1]}'" in message


def test_coarser_levels_may_be_too_small(tmp_path: Path) -> None:
    spec = GraphSpec("se2", 32, weights="selling", levels=4, eps=0.01)
    message = refused(spec, tmp_path)
    assert message.startswith("levels must be such that every level has at least ")
    assert "Got '" in message


def test_spheres_that_cannot_be_matched_say_so(tmp_path: Path) -> None:
    spec = GraphSpec("so3", points=100, weights="matched", neighbors=24)
    message = refused(spec, tmp_path)
    assert message.startswith("weights must be kernel here")
    assert "K = 24" in message
    assert "Got 'matched'" in message


@pytest.mark.parametrize("manifold", ["s2", "so3"])
def test_plan_bounds_what_matched_weights_add(tmp_path: Path, manifold: str) -> None:
    spec = GraphSpec(manifold, subdivisions=2, weights="matched", neighbors=24, levels=1)
    planned = plan(spec)
    built = build(spec, tmp_path / "g.zarr").levels[0]
    assert not planned.exact
    assert built["edges"] <= planned.levels[0].edges
