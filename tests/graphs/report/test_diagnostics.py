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
    "consistency",
    "spectral_error",
    "verdict",
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


PERIODIC = {"eps_squared": 0.1, "boundary": "periodic", "levels": 1}


@pytest.mark.parametrize(
    ("weights", "bounds"),
    [("matched", (0.11, 0.03, 0.008)), ("selling", (0.06, 0.014, 0.004))],
)
def test_spectra_converge_without_a_free_scale(
    tmp_path: Path, weights: str, bounds: tuple[float, ...]
) -> None:
    """Joint refinement of base and fiber: second order on the stored operator."""
    errors = []
    for n, n_o in ((16, 6), (32, 12), (64, 24)):
        spec = GraphSpec("se2", n, orientations=n_o, xi=0.1**0.5, weights=weights, **PERIODIC)
        build(spec, tmp_path / "g.zarr", name="g")
        (level,) = inspect(tmp_path / "g.zarr", eigenvalues=31).levels
        assert level.eigenvalues_converged
        assert level.eigenvalue_scale == 1
        ratio = np.array(level.eigenvalues[1:]) / np.array(level.exact_eigenvalues[1:])
        errors.append(abs(ratio - 1).max())
    assert all(error <= bound for error, bound in zip(errors, bounds, strict=True))
    assert errors[0] / errors[1] >= 3
    assert errors[1] / errors[2] >= 3


def test_verdict_names_what_is_realized_and_a_remedy_that_works(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(GraphSpec("se2", 32, **PERIODIC), store, name="g")
    verdict = inspect(store, eigenvalues=0).levels[0].verdict
    assert verdict == (
        "not consistent with its metric: realizes eps^2 = 0.019 .. 0.0583, asked 0.1: use "
        "`weights='selling'` (K <= 8), `weights='matched'` or `neighbors=48`"
    )
    for remedy in ({"weights": "selling"}, {"weights": "matched"}, {"neighbors": 48}):
        build(GraphSpec("se2", 32, **PERIODIC, **remedy), store, name="g")
        (level,) = inspect(store).levels
        assert level.verdict.startswith("consistent with its metric: second moments ")
        assert level.consistency == "consistent"
        eps_squared = [metric.eps_squared for metric in level.effective_metric]
        assert eps_squared == pytest.approx([0.1] * 6, rel=0.15 if "neighbors" in remedy else 1e-5)


def test_verdict_on_the_sphere_looks_at_every_point(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(GraphSpec("s2", nside=8, levels=1), store, name="g")
    (level,) = inspect(store, eigenvalues=0).levels
    assert level.effective_metric[0].eps_squared == pytest.approx(1, abs=0.1)
    assert "single points are up to 18 % off: use `weights='voronoi'`" in level.verdict
    build(GraphSpec("s2", nside=8, levels=1, weights="voronoi"), store, name="g")
    (level,) = inspect(store).levels
    assert level.verdict == (
        "consistent with its metric: second moments within 0.21 % on average, first 6 eigenvalues "
        "within 0.85 %"
    )
    build(GraphSpec("s2", nside=8, levels=1, weights="matched", neighbors=24), store, name="g")
    (level,) = inspect(store).levels
    assert level.verdict == (
        "consistent with its metric: second moments exact, first 6 eigenvalues within 2.4 %"
    )
    assert level.effective_metric[0].deviation < 1e-5


def test_fiber_edges_of_selling_are_longer_than_their_moments_say(tmp_path: Path) -> None:
    build(GraphSpec("se2", 16, orientations=5, weights="selling", levels=1), tmp_path / "g.zarr")
    (level,) = inspect(tmp_path / "g.zarr", eigenvalues=0).levels
    step = np.pi / 5
    ratios = [metric.xi_squared / level.xi_squared for metric in level.effective_metric]
    assert ratios == pytest.approx([(np.sin(step) / step) ** 2] * 5, rel=1e-5)
    assert "exact (fiber edges made for its first mode)" in level.verdict


def test_quarter_turn_of_an_odd_number_of_orientations_is_approximate(tmp_path: Path) -> None:
    build(GraphSpec("se2", 12, orientations=5, levels=1), tmp_path / "g.zarr")
    errors = inspect(tmp_path / "g.zarr", eigenvalues=0).levels[0].equivariance
    assert set(errors) == {"rotation_90 (approximate)", "rotation_180", "flip"}
    assert errors["rotation_90 (approximate)"] > 0.01
    assert max(errors["rotation_180"], errors["flip"]) <= 1e-6


def test_report_shows_eigenvalues_beside_exact_ones(tmp_path: Path) -> None:
    build(GraphSpec("r2", 16, weights="selling", **PERIODIC | {"eps_squared": 1}), tmp_path / "g")
    text = " ".join(inspect(tmp_path / "g", eigenvalues=6).full_text().split())
    assert "level 0 eigenvalues of Delta of the operator exact error" in text
    assert "4 x 38.9737 38.9737 39.4784 -1.3 %" in text
    assert "1 or more x 77.9474 77.9474 78.9568 -1.3 %" in text


def test_stored_eigenvalues_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(GraphSpec("se2", 12, levels=1, eigenpairs=7), tmp_path / "g.zarr")
    computed = inspect(tmp_path / "g.zarr", eigenvalues=8).levels[0].eigenvalues
    monkeypatch.delattr("cheblienet_graphs.report.spectra.smallest_eigenvalues")
    stored = inspect(tmp_path / "g.zarr", eigenvalues=7).levels[0].eigenvalues
    assert stored == pytest.approx(computed[:7], abs=1e-9)


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
        assert set(level["equivariance"]) == {
            "rotation_90",
            "rotation_180",
            "flip",
            "translation_x",
            "translation_y",
        }
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
    text = inspect(store, "se2-16x16x6").full_text()
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
