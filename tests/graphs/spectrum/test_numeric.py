"""Eigenpairs of graphs, also by blocks of translations, against dense solvers."""

from pathlib import Path
from unittest.mock import Mock, patch

import numpy as np
import pytest
from csr_truth import mapped
from moments import stored

from cheblienet_graphs import GraphSpec, inspect
from cheblienet_graphs.spectrum import numeric
from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs, smallest_eigenvalues
from cheblienet_graphs.spectrum.symmetric import BlochBlocks, translated
from cheblienet_graphs.store.folder import Folder


@pytest.mark.parametrize("name", ["r2-24x16", "se2-16x16x6", "torus"])
@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("count", [1, 9])
def test_eigenpairs_equal_the_dense_ones(store: Path, name: str, which: str, count: int) -> None:
    laplacian = mapped(Folder(store / name / "v001/levels/0/laplacian"))
    level = inspect(store, name, level=0, eigenvalues=0)
    facts, points = level.levels[0], level.spec.full_sampling(0)
    pairs = extreme_eigenpairs(laplacian, facts.lambda_max, count, which=which, sampling=points)
    delta = (laplacian.toarray().astype(float) + np.eye(facts.vertices)) * facts.lambda_max / 2
    dense = np.linalg.eigvalsh(delta)
    expected = dense[:count] if which == "smallest" else dense[::-1][:count]
    assert pairs.converged
    assert pairs.method == (
        "bloch" if name == "torus" else "chebyshev" if "se2" in name else "dense"
    )
    if which == "smallest":
        alone = smallest_eigenvalues(laplacian, facts.lambda_max, count, sampling=points)
        assert alone.method == pairs.method
        assert np.allclose(alone.values, expected, atol=1e-6)
    assert np.allclose(pairs.values, expected, atol=1e-6)
    assert np.allclose(delta @ pairs.vectors, pairs.vectors * pairs.values, atol=1e-6)
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-9)


@patch.object(numeric, "MAX_PRODUCTS", 3000)
def test_multiplet_at_the_end_of_the_block_does_not_stall(tmp_path: Path) -> None:
    """The 30th to 37th eigenvalues of this graph are equal; a block of 38 ends just behind them."""
    spec = GraphSpec("se2", 32, boundary="periodic", levels=1)
    laplacian = mapped(Folder(stored(spec, tmp_path)[0] / "levels/0/laplacian"))
    pairs = extreme_eigenpairs(laplacian, 1.5, 30)
    expected = BlochBlocks(laplacian, spec.full_sampling(0)).eigenvalues()[:30]
    assert pairs.method == "chebyshev"
    assert pairs.converged
    assert np.allclose(pairs.values, (expected + 1) * 0.75, atol=1e-6)


def test_other_solver_steps_in(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laplacian = mapped(Folder(store / "se2-16x16x6/v001/levels/0/laplacian"))
    expected = extreme_eigenpairs(laplacian, 1.4, 5)
    monkeypatch.setattr(numeric, "MAX_PRODUCTS", 20)
    pairs = extreme_eigenpairs(laplacian, 1.4, 5)
    assert pairs.converged
    assert pairs.method == "shift-invert"
    assert np.allclose(pairs.values, expected.values, atol=1e-9)

    chosen = [0, 1, 3, 4, 4]
    missing_one = (expected.values / 0.7 - 1)[chosen], expected.vectors[:, chosen]
    for outcome in ({"return_value": missing_one}, {"side_effect": RuntimeError("singular")}):
        monkeypatch.setattr(numeric, "eigsh", Mock(**outcome))
        assert not extreme_eigenpairs(laplacian, 1.4, 5).converged


def test_multiplicities_are_recognized() -> None:
    values = np.array([0.0, 1e-9, 0.5, 0.5 + 1e-9, 0.5, 0.5001, 2.0])
    assert numeric.multiplicities(values, 2.0) == [2, 3, 1, 1]
    assert numeric.multiplicities(values[:0], 2.0) == []


SMALL = {
    "even": GraphSpec("se2", "10x8", orientations=3, boundary="periodic", levels=1),
    "odd": GraphSpec("se2", "9x11", orientations=2, boundary="periodic", levels=1),
    "plane": GraphSpec("r2", "12x9", neighbors=4, boundary="periodic", levels=1),
}


@pytest.mark.parametrize("name", SMALL)
def test_bloch_blocks_have_the_dense_eigenpairs(tmp_path: Path, name: str) -> None:
    """Also where a multiplet is cut in two, and where a wave is its own mirror image."""
    laplacian = mapped(Folder(stored(SMALL[name], tmp_path)[0] / "levels/0/laplacian"))
    points = SMALL[name].full_sampling(0)
    assert translated(points, laplacian)
    dense = np.linalg.eigvalsh(laplacian.toarray().astype(float))
    blocks = BlochBlocks(laplacian, points)
    assert np.allclose(blocks.eigenvalues(), dense, atol=1e-12)
    for count in (1, 4, 30, len(dense)):
        values, vectors = blocks.smallest(count)
        assert np.allclose(values, dense[:count], atol=1e-12)
        assert np.allclose(laplacian @ vectors, vectors * values, atol=1e-6)
        assert np.allclose(vectors.T @ vectors, np.eye(count), atol=1e-10)


def test_open_lattices_have_no_bloch_blocks(store: Path) -> None:
    laplacian = mapped(Folder(store / "r2-24x16/v001/levels/0/laplacian"))
    periodic = GraphSpec("r2", "24x16", boundary="periodic")
    assert not translated(periodic.full_sampling(0), laplacian)
    assert not translated(GraphSpec("r2", "24x16").full_sampling(0), laplacian)
