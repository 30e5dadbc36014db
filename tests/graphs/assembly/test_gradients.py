"""What a build with gradients publishes and says; `tests/graphs/gradients` has their truth.

Blocks, processes and interrupted builds are in `test_build.py` and `test_resume.py`.
"""

from pathlib import Path

import numpy as np
import pytest
from derivatives import built, wide

from cheblienet_graphs import GraphSpec, build, inspect, verify
from cheblienet_graphs.gradients.source import units
from cheblienet_graphs.report.diagnostics import smooth

CLOSE = np.random.default_rng(0).uniform(size=(300, 2))
CLOSE[150:] = CLOSE[:150] + 1e-3
BUILDS = [
    GraphSpec("se2", 12, orientations=5, levels=1, gradients=True),
    GraphSpec("r3", "5x4x6", spacing=(1, 2, 3), levels=1, gradients=True),
    GraphSpec("s2", bandlimit=4, levels=1, gradients=True),
    GraphSpec("so3", subdivisions=1, orientations=4, levels=1, gradients=True),
]


@pytest.mark.parametrize("spec", BUILDS, ids=lambda spec: spec.default_name)
def test_recorded_norms_bound_the_matrices(tmp_path: Path, spec: GraphSpec) -> None:
    (arrays,) = built(spec, tmp_path)
    known, largest = arrays.of_level.gradients, []
    for bound, unit, matrix in zip(
        known.norms, units(spec, 0), arrays.gradients.values(), strict=True
    ):
        norm = np.linalg.norm(wide(matrix), 2)
        assert norm <= bound * (1 + 1e-6)
        assert bound <= 2.5 * norm
        largest.append(np.linalg.norm(wide(matrix), axis=1).max() * unit)
    assert known.largest == pytest.approx(max(largest), rel=1e-6)
    sums = arrays.gradient_sums.values()
    assert known.nnz == sum(matrix.nnz for matrix in arrays.gradients.values())
    assert known.symmetric_nnz == sum(matrix.nnz for matrix in sums)


@pytest.mark.parametrize(
    ("how", "remedy"),
    [
        ({"manifold": "s2", "bandlimit": 32}, "`sampling='healpix'` and `sampling='icosahedral'`"),
        ({"manifold": "s2", "nside": 16, "region": "0,10,40,50"}, "larger `region`"),
        ({"manifold": "r2", "coordinates": CLOSE}, "points that are close to others"),
    ],
)
def test_steep_gradients_are_named_with_a_remedy(
    tmp_path: Path, how: dict[str, object], remedy: str
) -> None:
    """Poles, neighbors on one side, and points almost at the same place."""
    spec = GraphSpec(**how, levels=1, gradients=True)
    version = build(spec, tmp_path / "g")
    [check], [level] = version.checks, inspect(tmp_path / "g", eigenvalues=0).levels
    assert remedy in str(check.steep)
    assert check.steep == level.derivatives.steep
    assert check.steep.numbers["times"] == pytest.approx(level.gradients.largest)
    assert check.steep.numbers["times"] > 6
    assert remedy in inspect(tmp_path / "g", eigenvalues=0).full_text().replace("\n    ", " ")


def test_a_narrow_torus_has_as_many_images_as_it_needs(tmp_path: Path) -> None:
    """Neighbors lie several widths away; derivatives of linear functions tell."""
    points = np.random.default_rng(0).uniform(0, [1, 6], (24, 2))
    how = {"coordinates": points, "domain": "0,0,1,6", "boundary": "periodic"}
    (arrays,) = built(GraphSpec("r2", neighbors=3, gradients=True, **how), tmp_path)
    y = points[:, 1] - 3
    inner = abs(y) < 1
    np.testing.assert_allclose((arrays.gradients["y"] @ y)[inner], 1, atol=1e-5)
    assert verify(tmp_path / "g.zarr") == []


@pytest.mark.parametrize("period", ["pi", "2pi"])
def test_what_inspect_differentiates_on_rotations_has_the_derivatives_it_says(
    tmp_path: Path, period: str
) -> None:
    """Stored gradients, which other tests compare with exponentials, come close to them."""
    how = {"subdivisions": 3, "orientations": 12, "period": period}
    built(GraphSpec("so3", levels=1, gradients=True, **how), tmp_path)
    (report,) = inspect(tmp_path / "g.zarr", eigenvalues=0).levels
    assert 0 < report.derivatives.error < 0.05
    assert 0 < report.derivatives.turning_error < 0.06


@pytest.mark.parametrize("manifold", ["r2", "r3", "se2", "s2", "so3"])
def test_inspect_measures_errors_and_their_order(tmp_path: Path, manifold: str) -> None:
    flat = {"size": 16} if manifold != "s2" and manifold != "so3" else {"subdivisions": 3}
    fiber = {"orientations": 6, "period": "2pi"} if manifold in {"se2", "so3"} else {}
    spec = GraphSpec(manifold, levels=2, gradients=True, **flat, **fiber)
    stored = built(spec, tmp_path)
    reports = inspect(tmp_path / "g.zarr", eigenvalues=0).levels
    squares = []
    for arrays, report in zip(stored, reports, strict=True):
        values, true = smooth(spec, arrays.coordinates)
        base = spec.geometry.base.dimension
        made = np.stack([matrix @ values for matrix in arrays.gradients.values()])
        missed = ((made - true)[:base] ** 2).sum() / (true[:base] ** 2).sum()
        assert report.derivatives.error == pytest.approx(np.sqrt(missed), rel=1e-6)
        squares.append(missed)
    first, last = (report.derivatives.order for report in reports)
    assert last is None
    if manifold == "so3":
        assert first is None
    else:
        assert first == pytest.approx(np.log2(squares[1] / squares[0]) / 2, rel=0.02)
        assert 1.7 < first < 2.6
