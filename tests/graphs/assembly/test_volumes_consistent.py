"""Stored graphs of positions and axes with consistent weights: spectra, symmetries, open sides."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from axes_truth import cube_permutations

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.store.reader import mapped_csr

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
            made = build(spec, store, name="g", device="cpu")
            (level,) = inspect(store, f"g@{made.version}", eigenvalues=count).levels
            rescaled = mapped_csr(store / "g" / made.version / "levels/0/laplacian")
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
    found = np.array(level.eigenvalues)
    assert level.eigenvalue_scale == 1
    assert abs(found[1:] / EXACT[1:60] - 1).max() <= worst


@pytest.mark.slow
def test_joint_refinement(built: Built) -> None:
    level, _ = built(16, axes=22, count=60, weights="selling", boundary="periodic")
    assert abs(np.array(level.eigenvalues)[1:] / EXACT[1:60] - 1).max() <= 0.055


@pytest.mark.parametrize("weights", ["kernel", *CONSISTENT])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_all_rotations_of_a_cube(weights: str, boundary: str, built: Built) -> None:
    """|P' L P - L| of the rescaled Laplacian, whose eigenvalues are in [-1, 1]."""
    # Consistent stencils on a torus need more room than the neighbor rule.
    size = 8 if boundary == "periodic" and weights != "kernel" else 6
    _, operator = built(size, weights=weights, boundary=boundary)
    largest = abs(operator).sum(axis=1).max()
    permutations = cube_permutations(size, axis_set("12").points)
    assert len({p.tobytes() for p in permutations}) == 24
    for permutation in permutations:
        moved = operator[permutation][:, permutation]
        assert abs(moved - operator).max() <= 1e-6 * largest / 2


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
