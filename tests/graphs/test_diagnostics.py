"""The report: verified numbers of the paper's graphs, and edge cases."""

import json
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, SpecError, UnknownGraphError, build, inspect

KEYS = [
    "vertices",
    "edges",
    "nnz",
    "sparsity",
    "degree",
    "isolated",
    "components",
    "in_plane_fraction",
    "xi",
    "xi_squared",
    "bandwidth",
    "lambda_max",
    "eigenvalues",
    "exact_eigenvalues",
    "effective_metric",
    "equivariance",
    "weights",
]


@pytest.mark.parametrize(
    ("neighbors", "straight", "oblique"),
    [(8, 0.028, 0.126), (16, 0.019, 0.058), (32, 0.066, 0.100), (64, 0.106, 0.088)],
)
def test_verified_effective_metric(
    tmp_path: Path, neighbors: int, straight: float, oblique: float
) -> None:
    spec = GraphSpec("se2", 32, orientations=6, neighbors=neighbors, levels=1)
    build(spec, tmp_path / "g.zarr")
    metrics = inspect(tmp_path / "g.zarr", eigenvalues=0).levels[0].effective_metric
    found = [metric.eps_squared for metric in metrics]
    expected = [straight, oblique, oblique, straight, oblique, oblique]
    if neighbors == 8:
        assert found[0] == pytest.approx(straight, abs=6e-4)
        assert found[1] == pytest.approx(oblique, abs=6e-4)
    else:
        assert found == pytest.approx(expected, abs=6e-4)


def test_isotropic_plane_is_true_to_its_metric(tmp_path: Path) -> None:
    build(GraphSpec("r2", 16, boundary="periodic", levels=1), tmp_path / "g.zarr")
    (metric,) = inspect(tmp_path / "g.zarr", eigenvalues=0).levels[0].effective_metric
    assert metric.eps_squared == pytest.approx(1)
    assert metric.xi_squared is None
    assert metric.leakage == pytest.approx(0, abs=1e-6)


def test_json_has_the_promised_keys(store: Path) -> None:
    report = json.loads(json.dumps(inspect(store, "torus").to_json(), allow_nan=False))
    assert {"name", "version", "spec", "spec_sha256", "generator", "created", "bytes"} <= set(
        report
    )
    for level in report["levels"]:
        assert set(KEYS) <= set(level)
        assert set(level["degree"]) == {"min", "mean", "max"}
        assert set(level["weights"]) == {"min", "median", "max"}
        assert len(level["exact_eigenvalues"]) == len(level["eigenvalues"]) == 6
        assert level["eigenvalues"] == sorted(level["eigenvalues"])
        assert level["edges"] * 2 + level["vertices"] == level["nnz"]
        assert max(level["equivariance"].values()) <= 1e-6
        assert {"rotation_90", "rotation_180", "flip", "translation"} == set(level["equivariance"])
    assert inspect(store, "r2-24x16").levels[0].exact_eigenvalues is None


def test_weights_are_recovered(store: Path) -> None:
    level = inspect(store, "torus", eigenvalues=0, level=0).levels[0]
    assert 0 < level.weights["min"] <= level.weights["median"] <= level.weights["max"] < 1
    assert np.isclose(level.degree["mean"] * level.vertices, 2 * level.edges)


def test_decoupled_orientations_are_reported(tmp_path: Path) -> None:
    build(GraphSpec("se2", 8, alpha=1000, levels=1, neighbors=8), tmp_path / "g.zarr")
    report = inspect(tmp_path / "g.zarr", eigenvalues=8)
    assert report.levels[0].components == 6
    assert np.allclose(report.levels[0].eigenvalues[:6], 0, atol=1e-6)
    assert report.levels[0].eigenvalues[6] > 1e-3
    assert "6 components" in str(report)


def test_terminal_report_is_aligned(store: Path) -> None:
    text = str(inspect(store, "se2-16x16x6"))
    assert "R = diag(1, eps^-2, xi^2) = diag(1, 10, " in text
    assert "98.5 %" in text
    table = text.split("\n\n")[1].splitlines()
    assert len({len(line) for line in table}) == 1
    assert max(map(len, text.splitlines())) < 125


@pytest.mark.parametrize("name", ["nothing", "torus@v009", "torus@paper", None, "../torus"])
def test_unknown_names(store: Path, name: str | None) -> None:
    with pytest.raises(UnknownGraphError):
        inspect(store, name)


def test_levels_and_eigenvalues_out_of_range(store: Path) -> None:
    with pytest.raises(SpecError, match=r"level must be an integer in \[0, 1\]"):
        inspect(store, "torus", level=2)
    with pytest.raises(SpecError, match="eigenvalues"):
        inspect(store, "torus", eigenvalues=-1)
