"""Stored graphs on lattices are true to their metric: moments, symmetries, operators."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from csr_truth import edge_weights, mapped
from moments import difference, stored

from cheblienet_graphs import GraphSpec, inspect
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder


def permutation_of(spec: GraphSpec, image_of: Callable[..., tuple[int, ...]]) -> np.ndarray:
    width, height = spec.size
    indices = itertools.product(range(spec.orientations), range(height), range(width))
    moved = (image_of(*index) for index in indices)
    return np.array([(i * height + y) * width + x for i, y, x in moved])


@pytest.mark.parametrize("boundary", ["open", "periodic"])
@pytest.mark.parametrize("orientations", [5, 6])
@pytest.mark.parametrize("weights", ["kernel", "selling", "matched"])
def test_symmetries_survive(tmp_path: Path, weights: str, orientations: int, boundary: str) -> None:
    n, n_o = 12, orientations
    spec = GraphSpec("se2", n, orientations=n_o, weights=weights, boundary=boundary, levels=1)
    version, _ = stored(spec, tmp_path)
    laplacian = mapped(Folder(version / "levels/0/laplacian"))
    flip = permutation_of(spec, lambda i, y, x: ((n_o - i) % n_o, n - 1 - y, x))
    turn = permutation_of(spec, lambda i, y, x: ((i + n_o // 2) % n_o, x, n - 1 - y))
    shift = permutation_of(spec, lambda i, y, x: (i, (y + 5) % n, (x + 3) % n))
    assert difference(laplacian, flip) <= 1e-6
    assert (difference(laplacian, turn) <= 1e-6) == (n_o % 2 == 0)
    assert (difference(laplacian, shift) == 0) == (boundary == "periodic")


OPERATORS = [
    {"manifold": "se2", "size": "10x12", "orientations": 5},
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
    folder = Folder(version) / "levels/0"
    w = edge_weights(Folder(version), 0).toarray()
    degree, area = (mapped_array(folder / part).astype(float) for part in ("degree", "area"))
    assert np.allclose(w.sum(axis=1), degree, rtol=1e-6)
    assert area.mean() == pytest.approx(1)
    assert (np.ptp(area) > 0.01) == sphere
    mass = area if laplacian == "combinatorial" else degree
    delta = (np.diag(degree) - w) / np.sqrt(mass[:, None] * mass)
    rescaled = mapped(folder / "laplacian").toarray().astype(float)
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


SQUARE = [4.721371, 4.721371, 8.686968, 15.843847, 16.630591, 19.234069, 19.234069]
"""The first eigenvalues but 0 of SE(2) on a square, eps^2 = xi^2 = 0.1: benchmarks/neumann.py."""


def largest_error(spec: GraphSpec, exact: np.ndarray, folder: Path) -> float:
    """Of the first eigenvalues but 0."""
    version, _ = stored(spec, folder)
    (level,) = inspect(version.parents[1], version.parent.name, eigenvalues=len(exact) + 1).levels
    assert level.components == 1
    return float(abs(np.array(level.eigenvalues[1:]) * level.eigenvalue_scale / exact - 1).max())


@pytest.mark.parametrize(("manifold", "sizes"), [("r2", (12, 20, 36)), ("r3", (6, 10, 14))])
def test_cosines_converge_at_second_order(
    manifold: str, sizes: tuple[int, ...], tmp_path: Path
) -> None:
    """Where open sides are corrected, and not where they are cut off."""
    squares = sum(axis**2 for axis in np.indices((8,) * int(manifold[1])))
    exact = math.pi**2 * np.sort(squares.ravel())[1:8]
    for correction, least, most in ((True, 1.9, 9), (False, 0, 1.5)):
        fields = {"weights": "matched", "levels": 1, "boundary_correction": correction}
        worst = [largest_error(GraphSpec(manifold, n, **fields), exact, tmp_path) for n in sizes]
        assert least < math.log(worst[1] / worst[2]) / math.log(sizes[2] / sizes[1]) < most
        assert worst[2] < 0.02 or not correction


@pytest.mark.parametrize(
    ("weights", "before", "after"), [("selling", 0.035, 0.022), ("matched", 0.094, 0.054)]
)
def test_errors_in_a_square(weights: str, before: float, after: float, tmp_path: Path) -> None:
    metric = {"orientations": 6, "eps_squared": 0.1, "xi": math.sqrt(0.1)}
    for correction, least, most in ((False, before, 1), (True, 0, after)):
        fields = {"weights": weights, "levels": 1, "boundary_correction": correction}
        error = largest_error(GraphSpec("se2", 16, **metric, **fields), np.array(SQUARE), tmp_path)
        assert least < error < most
