"""What a build with gradients publishes and says; `tests/graphs/gradients` has their truth.

Blocks, processes and interrupted builds are in `test_build.py` and `test_resume.py`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from derivatives import built, wide

from cheblienet_graphs import GraphSpec, build, inspect, verify
from cheblienet_graphs.report.sentences import sentence
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.store import layout

BUILDS = [
    GraphSpec("se2", 12, orientations=5, levels=1, gradients=True),
    GraphSpec("r3", "5x4x6", spacing=(1, 2, 3), levels=1, gradients=True),
    GraphSpec("s2", bandlimit=4, levels=1, gradients=True),
]


@pytest.mark.parametrize("spec", BUILDS, ids=lambda spec: spec.default_name)
def test_recorded_norms_bound_the_matrices(tmp_path: Path, spec: GraphSpec) -> None:
    (arrays,) = built(spec, tmp_path)
    known, largest = arrays.of_level.gradients, []
    for bound, unit, matrix in zip(
        known.norms, field_spacings(spec, 0), arrays.gradients.values(), strict=True
    ):
        norm = np.linalg.norm(wide(matrix), 2)
        assert norm <= bound * (1 + 1e-6)
        assert bound <= 2.5 * norm
        largest.append(np.linalg.norm(wide(matrix), axis=1).max() * unit)
    assert known.largest == pytest.approx(max(largest), rel=1e-6)
    assert known.nnz == sum(matrix.nnz for matrix in arrays.gradients.values())
    assert known.symmetric_nnz == arrays.stacked_gradients(layout.SYMMETRIC).nnz


@pytest.mark.parametrize(
    ("how", "remedy"),
    [
        ({"manifold": "s2", "bandlimit": 32}, "`sampling='healpix'` and `sampling='icosahedral'`"),
        ({"manifold": "s2", "nside": 16, "region": "0,10,40,50"}, "larger `region`"),
    ],
)
def test_steep_gradients_are_named_with_a_remedy(
    tmp_path: Path, how: dict[str, object], remedy: str
) -> None:
    """Poles, and neighbors on one side."""
    spec = GraphSpec(**how, levels=1, gradients=True)
    version = build(spec, tmp_path / "g")
    [check], [level] = version.checks, inspect(tmp_path / "g", eigenvalues=0).levels
    assert remedy in sentence(check.steep, spec)
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


@pytest.mark.parametrize(
    ("manifold", "how"),
    [
        ("r3", {"size": 16}),
        ("se2", {"size": 16, "orientations": 6, "period": "2pi"}),
        ("s2", {"subdivisions": 3}),
        ("so3", {"subdivisions": 2, "orientations": 12, "period": "2pi"}),
    ],
)
def test_inspect_measures_errors_and_their_order(
    tmp_path: Path, manifold: str, how: dict[str, Any]
) -> None:
    """Stored gradients, which other tests compare with exponentials, come close to what it says."""
    built(GraphSpec(manifold, levels=2, gradients=True, **how), tmp_path)
    fine, coarse = (
        level.derivatives for level in inspect(tmp_path / "g.zarr", eigenvalues=0).levels
    )
    assert 0 < fine.error < 0.05
    assert coarse.order is None
    if manifold == "so3":
        assert 0 < fine.turning_error < 0.06
        assert fine.order is None
    else:
        assert fine.order == pytest.approx(np.log2(coarse.error / fine.error), rel=0.02)
        assert 1.7 < fine.order < 2.6
