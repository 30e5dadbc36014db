"""Stored graphs of volumes, with axes, too: spectra, symmetries, pooling, areas, open sides."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from axes_truth import cube_permutations
from csr_truth import mapped
from masks import points_mask
from moments import stored
from space_truth import cube_symmetries, voxels

from cheblienet_graphs import GraphSpec, build, csr, inspect, verify
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.search import stencil
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts

CONSISTENT = ["selling", "matched"]
METRIC = {"eps_squared": 0.1, "xi": 0.1**0.5}
DATA = json.loads((Path(__file__).parents[2] / "data" / "spectra.json").read_text())
(GOLDEN,) = (case["eigenvalues"] for case in DATA if case["manifold"] == "r3s2")
EXACT = np.concatenate([[case["value"]] * case["multiplicity"] for case in GOLDEN])

# Of -(A1^2 + eps^2 (A2^2 + A3^2) + xi^-2 (A4^2 + A5^2)) on a unit cube no heat flows out of, by
# benchmarks/neumann.py, polynomials of degree 9 and harmonics of degree 6.
OPEN = np.repeat([3.4395, 6.4767], 3)

Built = Callable[..., tuple[LevelReport, scipy.sparse.csr_array]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What a graph's report says, and L + 1 scaled to its operator; each is built once."""
    store, known = tmp_path_factory.mktemp("volumes") / "g.zarr", {}

    def make(size: int, *, count: int = 0, **fields: object) -> tuple:
        key = (size, count, *sorted(fields.items()))
        if key not in known:
            spec = GraphSpec("r3s2", size, levels=1, **METRIC, **fields)
            made = build(spec, store, device="cpu")
            (level,) = inspect(store, made.name, eigenvalues=count).levels
            rescaled = mapped(Folder(store / made.name / made.version / "levels/0/laplacian"))
            scale = made.levels[0].lambda_max * level.eigenvalue_scale / 2
            one = scipy.sparse.eye_array(rescaled.shape[0])
            known[key] = level, (rescaled.astype(float) + one) * scale
        return known[key]

    return make


@pytest.mark.parametrize(("weights", "worst"), [("selling", 0.17), ("matched", 0.16)])
def test_first_60_eigenvalues(weights: str, worst: float, built: Built) -> None:
    level, _ = built(10, count=60, weights=weights, boundary="periodic")
    assert level.consistency == "consistent"
    for metric in level.effective_metric:
        assert [metric.eps_squared, metric.xi_squared] == pytest.approx([0.1, 0.1], rel=1e-6)
        assert metric.leakage <= 1e-6
    assert level.exact_eigenvalues == pytest.approx(EXACT[:60], abs=1e-9)
    values = np.array(level.eigenvalues)
    assert level.eigenvalue_scale == 1
    assert abs(values[1:] / EXACT[1:60] - 1).max() <= worst


@pytest.mark.parametrize("weights", CONSISTENT)
def test_open_sides_are_corrected(weights: str, built: Built) -> None:
    corrected, _ = built(8, weights=weights, count=7)
    cut_off, _ = built(8, weights=weights, count=7, boundary_correction=False)
    errors = [
        abs(np.array(level.eigenvalues[1:]) / OPEN - 1).max() for level in (corrected, cut_off)
    ]
    assert corrected.eigenvalue_scale == cut_off.eigenvalue_scale == 1
    assert errors[0] < 0.12
    assert errors[1] > 1.6 * errors[0]


def test_open_sides_keep_tilts(built: Built) -> None:
    """n_x n_y has the eigenvalue 6 / xi^2 = 60; edges over both were cut off at sides."""
    axes = axis_set("12").points
    signal = np.repeat(axes[:, 0] * axes[:, 1], 8**3)

    def quotient(weights: str, **fields: object) -> float:
        _, operator = built(8, weights=weights, count=7, **fields)
        return float(signal @ (operator @ signal) / (signal @ signal))

    assert quotient("selling") == pytest.approx(60, rel=1e-5)
    assert quotient("matched") == pytest.approx(60, rel=0.01)
    assert quotient("matched", boundary_correction=False) < 57


@pytest.mark.parametrize(
    ("weights", "boundary"), [("kernel", "open"), ("selling", "periodic"), ("matched", "open")]
)
@pytest.mark.parametrize("manifold", ["r3", "r3s2"])
def test_all_symmetries_of_a_cube(
    manifold: str, weights: str, boundary: str, tmp_path: Path
) -> None:
    """Rotations and, without axes, reflections."""
    # Consistent stencils on a torus need more room than the neighbor rule.
    size = 8 if manifold == "r3" or (boundary == "periodic" and weights != "kernel") else 6
    metric = {} if manifold == "r3" else METRIC
    spec = GraphSpec(manifold, size, weights=weights, boundary=boundary, levels=1, **metric)
    laplacian = mapped(Folder(stored(spec, tmp_path)[0] / "levels/0/laplacian"))
    assert abs(laplacian - laplacian.T).max() == 0
    axes = axis_set("12").points
    moved = cube_permutations(size, axes) if metric else cube_symmetries(size)
    assert len({permutation.tobytes() for permutation in moved}) == (24 if metric else 48)
    for permutation in moved:
        difference = abs(laplacian[permutation][:, permutation] - laplacian).max()
        assert difference <= (1e-6 if metric else 0)


@pytest.mark.parametrize("fields", [{"manifold": "r3"}, {"manifold": "r3s2", "axes": "ico6"}])
def test_coordinates_areas_and_pooled_blocks(fields: dict, tmp_path: Path) -> None:
    spec = GraphSpec(**fields, size="4x4x6", spacing=(1, 1, 2), levels=2)
    version, _ = stored(spec, tmp_path)
    assert (read_facts(Folder(version)).spec, spec.schema) == (spec.recorded(), "1.1")
    areas, axes = np.ones(1), np.empty((1, 0))
    if "axes" in fields:
        areas, axes = axis_set("ico6").areas, axis_set("ico6").points
    fine, coarse = voxels((6, 4, 4)), voxels((3, 2, 2))
    coordinates = mapped_array(Folder(version / "levels/0/coordinates")).reshape(len(axes), 96, -1)
    places = np.broadcast_to(fine * [1, 1, 2] / 4, (len(axes), 96, 3))
    assert coordinates[..., :3] == pytest.approx(places, abs=1e-15)
    assert (coordinates[..., 3:] == axes[:, None]).all()
    assert mapped_array(Folder(version / "levels/0/area")) == pytest.approx(areas.repeat(96))
    inside = np.kron(np.eye(len(axes)), (fine // 2 == coarse[:, None]).all(axis=2))
    assert (mapped(Folder(version / "pooling/0to1")).toarray() == inside / 8).all()
    assert (mapped(Folder(version / "unpooling/1to0")).toarray() == inside.T).all()


MASK = points_mask(6 * 4 * 6, 0.7).reshape(6, 4, 6)


@pytest.mark.parametrize("given", [{}, {"mask": MASK}], ids=["whole", "mask"])
def test_large_counts_have_long_columns(
    given: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where there are more than 2^31 entries, that limit made smaller."""
    size = {} if given else {"size": "6x4x6"}
    spec = GraphSpec("r3s2", axes=6, levels=1, **given, **size)
    short = mapped(Folder(stored(spec, tmp_path / "short")[0] / "levels/0/laplacian"))
    for module in (csr, stencil):
        monkeypatch.setattr(module, "INT32_LIMIT", short.shape[0] - 1)
    version, _ = stored(spec, tmp_path / "long")
    long = mapped(Folder(version / "levels/0/laplacian"))
    assert (short.indices.dtype, long.indices.dtype) == (np.int32, np.int64)
    assert (long.indptr.dtype, abs(long - short).max()) == (np.int64, 0)
    assert verify(tmp_path / "long/g.zarr") == []
