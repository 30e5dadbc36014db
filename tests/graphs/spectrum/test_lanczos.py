"""Lanczos recursions with three vectors, bounds, and the symmetries that tell copies apart."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from csr_truth import mapped
from hypothesis import given, settings
from hypothesis import strategies as st
from moments import stored

from cheblienet_graphs import CheblienetError, GraphSpec, eigenpairs, inspect
from cheblienet_graphs.sparse import Product, mapped_product
from cheblienet_graphs.spectrum import lanczos, numeric
from cheblienet_graphs.spectrum.lanczos import (
    SUMMED_TOGETHER,
    dot,
    lanczos_eigenvalues,
    largest_eigenvalue_bound,
    recursion,
    ritz_pairs,
    start_vector,
)
from cheblienet_graphs.spectrum.numeric import multiplicities
from cheblienet_graphs.spectrum.symmetric import eigenvalues_by_sector, involutions
from cheblienet_graphs.store.folder import Folder

SEPARATED = np.concatenate([-1 + 0.01 * np.arange(20), np.linspace(0.2, 1, 980)])


@pytest.mark.slow
def test_copies_are_not_taken_for_eigenvalues() -> None:
    """T has many of the first eigenvalue, of which the recursion lost sight by rounding."""
    steps = islice(recursion(lambda x: SEPARATED * x, start_vector(1000)), 1500)
    diagonal, coupling = zip(*steps, strict=True)
    ritz = scipy.linalg.eigvalsh_tridiagonal(diagonal, coupling[:-1])
    assert (abs(ritz - SEPARATED[0]) < 1e-9).sum() > 5
    assert (np.diff(np.sort(ritz)[:200]) > 1e-9).sum() < 190
    first = lanczos_eigenvalues(lambda x: SEPARATED * x, 1000, 60, max_products=5000)
    assert first.converged
    assert np.allclose(first.values, SEPARATED[:60], atol=1e-9, rtol=0)


def whole_recursion(product: Product, current: np.ndarray) -> Iterator[tuple[float, float]]:
    """The recursion on whole vectors, one operation after the other."""
    current = current / np.sqrt(dot(current, current))
    previous, coupling = np.zeros_like(current), 0.0
    while True:
        following = product(current) - previous * coupling
        diagonal = dot(following, current)
        following = following - current * diagonal
        coupling = np.sqrt(dot(following, following))
        yield diagonal, coupling
        previous, current = current, following / coupling


@pytest.mark.parametrize("size", [1000, SUMMED_TOGETHER, 3 * SUMMED_TOGETHER + 7])
def test_pieces_that_stay_in_cache_change_no_bit(size: int) -> None:
    spectrum, start = np.linspace(-1, 1, size) ** 3, start_vector(size)
    own = recursion(lambda x: spectrum * x, start.copy())
    whole = whole_recursion(lambda x: spectrum * x, start)
    assert list(islice(own, 40)) == list(islice(whole, 40))


def test_both_ends_and_no_further_than_a_cutoff() -> None:
    (low, _), (high, _) = ritz_pairs(lambda x: SEPARATED * x, 1000, [0, -1], 1e-6)
    assert (low, high) == pytest.approx((-1, 1), abs=1e-9)
    first = lanczos_eigenvalues(lambda x: SEPARATED * x, 1000, 12, cutoff=-0.955)
    assert np.allclose(first.values, SEPARATED[:5], atol=1e-9, rtol=0)
    below = lanczos_eigenvalues(lambda x: SEPARATED * x, 1000, 12, cutoff=-2)
    assert below.converged
    assert len(below.values) == 0


def test_giving_up_is_admitted() -> None:
    seen: list[int] = []
    product = Mock(side_effect=lambda x: SEPARATED * x)
    first = lanczos_eigenvalues(
        product, 1000, 12, max_products=35, progress=lambda n, _: seen.append(n)
    )
    assert not first.converged
    assert product.call_count == 35
    assert seen == sorted(seen)
    assert seen


@settings(max_examples=30)
@given(st.integers(1, 40), st.lists(st.integers(-100, 100), min_size=1, max_size=12))
def test_distinct_eigenvalues_of_random_matrices(size: int, values: list[int]) -> None:
    chosen = np.resize(np.array(values) / 100, size)
    basis = np.linalg.qr(np.random.default_rng(size).standard_normal((size, size)))[0]
    matrix = basis * chosen @ basis.T
    expected = np.unique(chosen)[:5]
    first = lanczos_eigenvalues(lambda x: matrix @ x, size, 5, max_products=500)
    assert first.converged
    assert np.allclose(first.values, expected, atol=1e-8)


GRAPHS = {
    "se2 odd side": GraphSpec("se2", 11, orientations=6, neighbors=12, levels=1),
    "r2": GraphSpec("r2", 12, levels=1),
    "rectangle": GraphSpec("r2", "14x9", levels=1),
    "sphere": GraphSpec("s2", subdivisions=2, levels=1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_sectors_have_the_copies_that_symmetries_force(tmp_path: Path, name: str) -> None:
    """Those that no involution tells apart, as on the sphere, may be missed: none is invented."""
    laplacian = mapped(Folder(stored(GRAPHS[name], tmp_path)[0] / "levels/0/laplacian"))
    dense = np.linalg.eigvalsh(laplacian.toarray().astype(float))
    product = mapped_product(laplacian)
    symmetries = involutions(product, GRAPHS[name].full_sampling(0))
    assert len(symmetries) >= 2
    found = eigenvalues_by_sector(product, len(dense), 16, symmetries)
    values = found.values
    assert found.converged
    if name != "sphere":
        assert np.allclose(values, dense[:16], atol=1e-9, rtol=0)
    copies, known = ((abs(some - values[:, None]) < 1e-7).sum(axis=1) for some in (values, dense))
    assert (copies <= known).all()
    assert abs(dense[dense <= values[-1] + 1e-7, None] - values).min(axis=1).max() < 1e-6
    assert name == "rectangle" or max(multiplicities(values[:15] + 1, 2.0)) > 1


def test_symmetries_that_the_matrix_lacks_are_not_used() -> None:
    points = GRAPHS["r2"].full_sampling(0)
    scale = np.random.default_rng(0).random(points.num_vertices)
    assert involutions(lambda x: scale * x, points) == []
    assert len(involutions(lambda x: 0.5 * x, points)) == 2


def test_past_the_memory_of_a_block(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are refused."""
    monkeypatch.setattr(numeric, "BLOCK_BYTES", 0)
    seen: list[tuple[str, int, int]] = []
    report = inspect(store, "se2-16x16x6", level=0, progress=lambda *step: seen.append(step))
    (level,) = report.levels
    laplacian = mapped(Folder(store / "se2-16x16x6/v001/levels/0/laplacian"))
    dense = np.linalg.eigvalsh(laplacian.toarray().astype(float))[:6]
    assert np.allclose(level.eigenvalues, (dense + 1) * level.lambda_max / 2, atol=1e-8)
    assert level.eigenvalues_method == "lanczos"
    assert level.eigenvalues_converged
    assert level.multiplicities_may_be_larger
    assert any(step[0] == "level 0: eigenvalues" and 0 < step[1] < step[2] for step in seen)
    assert inspect(store, "torus", level=0).levels[0].eigenvalues_method == "bloch"
    with pytest.raises(CheblienetError, match="6 eigenpairs of 1,536 vertices take blocks"):
        eigenpairs(store, "se2-16x16x6", count=6)
    assert eigenpairs(store, "torus", count=6).method == "bloch"


@pytest.mark.parametrize("size", [1, 2, 200])
def test_bound_is_tight_from_above(size: int) -> None:
    rng = np.random.default_rng(size)
    basis = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = rng.uniform(0, 1.9, size)
    symmetric = basis * values @ basis.T
    bound = largest_eigenvalue_bound(lambda x: symmetric @ x, size)
    assert values.max() <= bound.value <= values.max() + 3e-6


def test_bound_without_convergence_still_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanczos, "MAX_STEPS", 5)
    values = 1.5 - np.arange(5000) * 1e-7
    bound = largest_eigenvalue_bound(lambda x: values * x, len(values))
    assert bound.value >= values.max()
