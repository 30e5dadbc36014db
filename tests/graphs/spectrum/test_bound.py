"""Bounds by symbols against dense solvers, closed forms and many waves."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from csr_truth import mapped
from marks import slow_but
from moments import stored

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly import assemble
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.sparse import mapped_product
from cheblienet_graphs.spectrum import bound as bounds
from cheblienet_graphs.spectrum.bound import CLOSE, MARGIN, bound_by_symbols
from cheblienet_graphs.store.folder import Folder


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbols bound eigenvalues of small graphs, too, where a recursion would be as quick."""
    monkeypatch.setattr(assemble, "MANY", 0)
    monkeypatch.setattr(bounds, "WORK", math.inf)


def largest_eigenvalue(matrix: scipy.sparse.csr_array) -> float:
    """By ARPACK, to 1e-9: where corners have nearly the same one, the last bits may never converge.

    The first vector is given, as ARPACK would draw another one in each run.
    """
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    values = scipy.sparse.linalg.eigsh(
        matrix, 1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False
    )
    return float(values[0])


def five_points(width: int, height: int, along_sides: float = 1.0) -> scipy.sparse.csr_array:
    """D - W of an open lattice with weights 1, but for edges along its sides."""
    path = [
        scipy.sparse.diags_array([-np.ones(n - 1)] * 2, offsets=[-1, 1], shape=(n, n))
        for n in (height, width)
    ]
    across, along = [p - scipy.sparse.diags_array(p.sum(axis=1)) for p in path]
    rows, columns = (np.ones(n) for n in (height, width))
    for weights in (rows, columns):
        weights[[0, -1]] = along_sides
    return scipy.sparse.csr_array(
        scipy.sparse.kron(across, np.diag(columns)) + scipy.sparse.kron(np.diag(rows), along)
    )


def test_narrow_lattices_with_heavy_sides_have_no_close_bound() -> None:
    matrix, lattice = five_points(30, 20), Lattice((20, 30))
    assert bound_by_symbols(matrix, lattice, mapped_product(matrix), proven=False) is None


oriented = partial(GraphSpec, "se2", levels=1)
GRAPHS = {
    "cut off": oriented(24, orientations=6, weights="matched", boundary_correction=False),
    "lines": oriented("12x14", orientations=5, weights="selling"),
    "three": oriented(12, orientations=4, weights="selling", directional=0.1),
    "space": GraphSpec("r3", 8, weights="selling", levels=1),
    "torus": oriented("15x13", orientations=3, weights="selling", boundary="periodic"),
    "matched torus": oriented(24, orientations=4, weights="matched", boundary="periodic"),
    "axes": GraphSpec("r3s2", 10, axes=12, weights="selling", levels=1),
}


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("name", slow_but(GRAPHS.keys() - {"axes"}, GRAPHS))
def test_bounds_hold_of_stored_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Also of open lattices with corrected sides, however far the sides push eigenvalues down."""
    spec = GRAPHS[name]
    if spec.boundary == "open":
        monkeypatch.setattr(bounds, "ACCEPTED", 1.0)
    version, (level,) = stored(spec, tmp_path)
    operators = {f"directional/{name}": facts for name, facts in (level.directional or {}).items()}
    for part, facts in {"laplacian": level, **operators}.items():
        assert facts.lambda_max_method == "bound"
        rescaled = mapped(Folder(version / "levels/0" / part)).astype(np.float64)
        largest = largest_eigenvalue(rescaled)
        assert largest <= 1 + 1e-12
        if spec.boundary == "periodic":
            assert (largest + 1) / 2 >= 1 - CLOSE


@pytest.mark.parametrize(("width", "height", "along_sides"), [(401, 500, 1.0), (260, 300, 3.0)])
def test_open_lattices_as_in_closed_form(width: int, height: int, along_sides: float) -> None:
    """Also where edges along sides are three times as heavy: a row is an impurity of a chain.

    At the shortest wave along a side edges along it add a: 3 a + 1 for vertices there, a + 2 for
    those behind, and -1 couples one to the next. An impurity t adds t + 1 / t.
    """
    matrix, lattice = five_points(width, height, along_sides), Lattice((height, width))
    heavy = along_sides > 1
    bound = bound_by_symbols(matrix, lattice, mapped_product(matrix), proven=not heavy)
    across, along = (4 * math.cos(math.pi / 2 / n) ** 2 for n in (width, height))
    impurity = 2 * along - 1
    exact = along + 2 + impurity + 1 / impurity if heavy else along + across
    assert bound is not None
    assert exact <= bound <= exact * (1 + CLOSE)


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize(
    ("settings", "corner"),
    [
        ({"orientations": 6, "weights": "matched"}, False),
        ({"orientations": 8, "eps_squared": 0.3, "weights": "matched", "neighbors": 24}, True),
        ({"orientations": 10, "eps_squared": 0.02, "neighbors": 8, "period": "2pi"}, True),
    ],
)
def test_sides_that_have_larger_eigenvalues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], corner: bool
) -> None:
    """By corrections of matched weights, or by smaller degrees where the Laplacian is normalized.

    Those at corners do not depend on the lattice's size; those at sides grow with it.
    """
    spec = oriented("54x52", **settings)
    monkeypatch.setattr(bounds, "ACCEPTED", 1e-3)
    monkeypatch.setattr(bounds, "CORNERS", (18, 26))
    version, (level,) = stored(spec, tmp_path)
    assert level.lambda_max_method == "lanczos"
    rescaled = mapped(Folder(version / "levels/0/laplacian")).astype(np.float64)
    largest = largest_eigenvalue(rescaled)
    share = (largest + 1) / 2 * (1 + MARGIN)
    assert 0.999 < share <= 1 + 1e-7
    assert (share > 1 - 5e-5) == corner


@pytest.mark.usefixtures("any_size")
def test_a_bound_that_is_cut_to_the_proven_limit_is_proven(tmp_path: Path) -> None:
    spec = oriented("150x220", orientations=4, eps=0.05, xi=0.2)
    _, (level,) = stored(spec, tmp_path)
    assert (level.lambda_max, level.lambda_max_method) == (2.0, "bound")


@pytest.mark.slow
def test_what_takes_as_long_as_a_recursion_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest eigenvalue of these strips hardly depends on the wave."""
    spec = oriented("256x257", orientations=2, eps=0.1, xi=0.1)
    solved, eigvalsh = [], np.linalg.eigvalsh

    def counted(blocks: Any) -> Any:
        solved.append(len(blocks) * blocks.shape[-1] ** 3)
        return eigvalsh(blocks)

    monkeypatch.setattr(np.linalg, "eigvalsh", counted)
    _, (level,) = stored(spec, tmp_path)
    assert level.lambda_max_method == "lanczos"
    assert level.lambda_max == pytest.approx(1.245859, abs=3e-6)
    assert sum(solved) <= 3 * bounds.WORK * level.nnz
