"""Exact and numeric spectra."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.spectrum.bound import largest_eigenvalue_bound
from cheblienet_graphs.spectrum.exact import periodic_plane, periodic_se2, rotations, sphere
from cheblienet_graphs.spectrum.numeric import smallest_eigenpairs
from cheblienet_graphs.store.reader import mapped_csr

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "spectra.json").read_text())
KNOWN = [case for case in GOLDEN if case["manifold"] in {"r2", "se2", "s2", "so3"}]


@pytest.mark.parametrize("case", KNOWN)
def test_exact_spectra_are_golden(case: dict) -> None:
    expected = np.concatenate([[e["value"]] * e["multiplicity"] for e in case["eigenvalues"]])
    if case["manifold"] == "r2":
        found = periodic_plane(len(expected))
    elif case["manifold"] == "s2":
        found = sphere(len(expected))
    else:
        metric = Metric(math.sqrt(case["eps_squared"]), math.sqrt(case["xi_squared"]))
        exact = {"se2": periodic_se2, "so3": rotations}[case["manifold"]]
        found = exact(len(expected), metric)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_exact_spectrum_of_a_rectangle() -> None:
    pairs = itertools.product(range(-9, 10), repeat=2)
    expected = sorted(4 * math.pi**2 * (k**2 + (m / 0.5) ** 2) for k, m in pairs)[:20]
    assert np.allclose(periodic_plane(20, aspect=0.5), expected)


@pytest.mark.parametrize("name", ["r2-24x16", "se2-16x16x6", "torus"])
@pytest.mark.parametrize("count", [1, 9])
def test_smallest_eigenpairs_equal_the_dense_ones(store: Path, name: str, count: int) -> None:
    version = store / name / "v001"
    laplacian = mapped_csr(version / "levels/0/laplacian")
    facts = inspect(store, name, level=0, eigenvalues=0).levels[0]
    pairs = smallest_eigenpairs(laplacian, facts.lambda_max, count)
    delta = (laplacian.toarray().astype(float) + np.eye(facts.vertices)) * facts.lambda_max / 2
    assert pairs.converged
    assert np.allclose(pairs.values, np.linalg.eigvalsh(delta)[:count], atol=1e-6)
    assert np.allclose(delta @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-6)
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-9)


def test_solver_that_gives_up_says_so(store: Path) -> None:
    laplacian = mapped_csr(store / "se2-16x16x6/v001/levels/0/laplacian")
    assert not smallest_eigenpairs(laplacian, 1.4, 5, max_products=1).converged


@pytest.mark.parametrize("size", [1, 2, 7, 200])
def test_bound_is_tight_from_above(size: int) -> None:
    rng = np.random.default_rng(size)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = rng.uniform(0, 1.9, size)
    symmetric = basis * values @ basis.T
    bound = largest_eigenvalue_bound(lambda x: symmetric @ x, size)
    assert values.max() <= bound.value <= values.max() + 3e-6


def test_bound_without_convergence_still_bounds() -> None:
    values = 1.5 - np.arange(5000) * 1e-7
    bound = largest_eigenvalue_bound(lambda x: values * x, len(values), max_steps=5)
    assert bound.value >= values.max()


def test_graph_spectrum_approaches_the_exact_one(tmp_path: Path) -> None:
    """The isotropic plane, scaled by second moments, converges at second order."""
    errors = []
    for n in (16, 32):
        build(GraphSpec("r2", n, boundary="periodic", levels=1), tmp_path / "g.zarr")
        level = inspect(tmp_path / "g.zarr", f"r2-{n}x{n}", eigenvalues=9).levels[0]
        ratio = np.array(level.eigenvalues[1:]) / np.array(level.exact_eigenvalues[1:])
        errors.append(ratio.max() / ratio.min() - 1)
    assert errors[0] < 0.05
    assert errors[0] / errors[1] > 3
