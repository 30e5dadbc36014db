"""Exact and numeric spectra."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import (
    CheblienetError,
    GraphSpec,
    SpecError,
    UnknownGraphError,
    build,
    eigenpairs,
    eigenvalues,
    inspect,
)
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.spec.sampling import sampling
from cheblienet_graphs.spectrum import numeric
from cheblienet_graphs.spectrum.bloch import BlochBlocks, commutes_with_translations
from cheblienet_graphs.spectrum.bound import largest_eigenvalue_bound, largest_possible
from cheblienet_graphs.spectrum.exact import periodic_plane, periodic_se2, rotations, sphere
from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs, multiplicities
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
@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("count", [1, 9])
def test_eigenpairs_equal_the_dense_ones(store: Path, name: str, which: str, count: int) -> None:
    version = store / name / "v001"
    laplacian = mapped_csr(version / "levels/0/laplacian")
    level = inspect(store, name, level=0, eigenvalues=0)
    facts, points = level.levels[0], sampling(level.spec, 0)
    pairs = extreme_eigenpairs(laplacian, facts.lambda_max, count, which=which, sampling=points)
    delta = (laplacian.toarray().astype(float) + np.eye(facts.vertices)) * facts.lambda_max / 2
    dense = np.linalg.eigvalsh(delta)
    expected = dense[:count] if which == "smallest" else dense[::-1][:count]
    assert pairs.converged
    assert pairs.method == (
        "bloch" if name == "torus" else "chebyshev" if "se2" in name else "dense"
    )
    assert np.allclose(pairs.values, expected, atol=1e-6)
    assert np.allclose(delta @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-6)
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-9)


SMALL = {
    "even": GraphSpec("se2", "10x8", orientations=3, boundary="periodic", levels=1),
    "odd": GraphSpec("se2", "9x11", orientations=2, boundary="periodic", levels=1),
    "plane": GraphSpec("r2", "12x9", neighbors=4, boundary="periodic", levels=1),
    "selling": GraphSpec("se2", 12, weights="selling", boundary="periodic", levels=1),
}


@pytest.mark.parametrize("name", SMALL)
def test_bloch_blocks_have_the_dense_eigenpairs(tmp_path: Path, name: str) -> None:
    """Also where a multiplet is cut in two, and where a wave is its own mirror image."""
    build(SMALL[name], tmp_path / "g.zarr", name="g")
    laplacian = mapped_csr(tmp_path / "g.zarr/g/v001/levels/0/laplacian")
    points = sampling(SMALL[name], 0)
    assert commutes_with_translations(laplacian, points)
    dense = np.linalg.eigvalsh(laplacian.toarray().astype(float))
    blocks = BlochBlocks(laplacian, points)
    assert np.allclose(blocks.eigenvalues(), dense, atol=1e-12)
    for count in (1, 4, 30, len(dense)):
        values, vectors = blocks.smallest(count)
        assert np.allclose(values, dense[:count], atol=1e-12)
        assert np.allclose(laplacian @ vectors, vectors * values, atol=1e-6)
        assert np.allclose(vectors.T @ vectors, np.eye(count), atol=1e-10)


def test_open_lattices_have_no_bloch_blocks(store: Path) -> None:
    laplacian = mapped_csr(store / "r2-24x16/v001/levels/0/laplacian")
    periodic = GraphSpec("r2", "24x16", boundary="periodic")
    assert not commutes_with_translations(laplacian, sampling(periodic, 0))
    assert not commutes_with_translations(laplacian, sampling(GraphSpec("r2", "24x16"), 0))


def test_multiplet_at_the_end_of_the_block_does_not_stall(tmp_path: Path) -> None:
    """The 30th to 37th eigenvalues of this graph are equal; a block of 38 ends just behind them."""
    spec = GraphSpec("se2", 32, boundary="periodic", levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    laplacian = mapped_csr(tmp_path / "g.zarr/g/v001/levels/0/laplacian")
    pairs = extreme_eigenpairs(laplacian, 1.5, 30, max_products=3000)
    expected = BlochBlocks(laplacian, sampling(spec, 0)).eigenvalues()[:30]
    assert pairs.method == "chebyshev"
    assert pairs.converged
    assert np.allclose(pairs.values, (expected + 1) * 0.75, atol=1e-6)


def test_other_solver_steps_in(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laplacian = mapped_csr(store / "se2-16x16x6/v001/levels/0/laplacian")
    expected = extreme_eigenpairs(laplacian, 1.4, 5)
    found = extreme_eigenpairs(laplacian, 1.4, 5, max_products=20)
    assert found.converged
    assert found.method == "shift-invert"
    assert np.allclose(found.values, expected.values, atol=1e-9)

    def missing_one(*args: object, **kwargs: object) -> tuple[np.ndarray, np.ndarray]:
        values = (expected.values / 0.7 - 1)[[0, 1, 3, 4, 4]]
        return values, expected.vectors[:, [0, 1, 3, 4, 4]]

    monkeypatch.setattr(numeric, "eigsh", missing_one)
    assert not extreme_eigenpairs(laplacian, 1.4, 5, max_products=20).converged

    def failing(*args: object, **kwargs: object) -> None:
        raise RuntimeError("Factor is exactly singular")

    monkeypatch.setattr(numeric, "eigsh", failing)
    assert not extreme_eigenpairs(laplacian, 1.4, 5, max_products=1).converged


def test_multiplicities_are_recognised() -> None:
    values = np.array([0.0, 1e-9, 0.5, 0.5 + 1e-9, 0.5, 0.5001, 2.0])
    assert multiplicities(values, 2.0) == [2, 3, 1, 1]
    assert multiplicities(values[:0], 2.0) == []


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_bound_of_the_combinatorial_laplacian(scale: float) -> None:
    rng = np.random.default_rng(3)
    weights = np.triu(rng.uniform(0, scale, (60, 60)), 1)
    weights += weights.T
    area = rng.uniform(0.5, 2, 60)
    delta = (np.diag(weights.sum(1)) - weights) / np.sqrt(np.outer(area, area))
    largest = np.linalg.eigvalsh(delta)[-1]
    limit = largest_possible(weights.sum(1), area)
    bound = largest_eigenvalue_bound(lambda x: delta @ x, 60, limit=limit)
    assert largest <= bound.value <= largest + 3e-6 * limit
    assert bound.method == "lanczos"


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


@pytest.mark.parametrize("name", ["r2-24x16", "torus"])
def test_spectra_of_published_graphs(store: Path, name: str) -> None:
    values = eigenvalues(store, name)
    facts = inspect(store, name, level=0, eigenvalues=9).levels[0]
    assert values.shape == (facts.vertices,)
    assert np.allclose(values[:9], facts.eigenvalues, atol=1e-6)
    assert values[-1] <= facts.lambda_max
    largest = eigenpairs(store, name, count=4, which="largest")
    assert np.allclose(largest.values, values[::-1][:4], atol=1e-6)
    assert eigenpairs(store, name, level=1).vectors.shape == (facts.vertices // 4, 6)


def test_spectra_out_of_range(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match=r"level must be an integer in \[0, 1\]"):
        eigenvalues(store, "torus", level=2)
    with pytest.raises(SpecError, match=r"count must be an integer in \[1, 1024\]"):
        eigenpairs(store, "torus", count=0)
    with pytest.raises(SpecError, match="which must be"):
        eigenpairs(store, "torus", which="middle")
    with pytest.raises(UnknownGraphError):
        eigenvalues(store, "nothing")
    monkeypatch.setattr("cheblienet_graphs.report.spectra.LARGEST_DENSE", 100)
    with pytest.raises(CheblienetError, match="384 vertices take a dense matrix"):
        eigenvalues(store, "r2-24x16")
