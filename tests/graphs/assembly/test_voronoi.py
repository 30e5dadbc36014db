"""Builds with the weights of Voronoi cells: by whoever, in blocks, on masks, in pyramids."""

from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build, inspect, plan, verify
from cheblienet_graphs.store.layout import resolve
from cheblienet_graphs.store.reader import edge_weights
from cheblienet_graphs.weights.voronoi import voronoi_entries

RANDOM = np.random.default_rng(8)
STATIONS = np.column_stack([90 * RANDOM.random(200) ** 3, 360 * RANDOM.random(200) - 180])
INSIDE = RANDOM.random(600) < 0.7

BUILDS = {
    "sphere": GraphSpec("s2", points=600, levels=2, weights="voronoi"),
    "torus": GraphSpec("r2", points=500, weights="voronoi", boundary="periodic"),
    "stations": GraphSpec("s2", coordinates=[STATIONS, STATIONS[::4]], weights="voronoi"),
    "masked": GraphSpec("s2", points=600, weights="voronoi", mask=INSIDE),
    "normalized": GraphSpec("r2", points=300, weights="voronoi", laplacian="normalized"),
    "gaussian": GraphSpec("s2", gaussian="O8", levels=2, weights="voronoi"),
    "eigenpairs": GraphSpec("s2", bandlimit=8, weights="voronoi", eigenpairs=9),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store for each of the builds."""
    folder = tmp_path_factory.mktemp("voronoi")
    for name, spec in BUILDS.items():
        build(spec, folder / name, name="g")
    return {name: folder / name for name in BUILDS}


@pytest.mark.parametrize("name", BUILDS)
def test_what_is_stored_is_what_the_diagram_gives(whole: dict[str, Path], name: str) -> None:
    spec, version = BUILDS[name], resolve(whole[name], "g")
    verify(whole[name], "g")
    planned = plan(spec)
    for level in range(spec.levels):
        sampling = spec.full_sampling(level)
        rows, columns, values = voronoi_entries(sampling)
        if spec.mask is not None:
            numbers = np.full(sampling.num_points, -1)
            numbers[INSIDE] = np.arange(INSIDE.sum())
            kept = (numbers[rows] >= 0) & (numbers[columns] >= 0)
            rows, columns, values = numbers[rows[kept]], numbers[columns[kept]], values[kept]
        found = edge_weights(version, level).tocoo()
        assert (found.coords[0] == rows).all()
        assert (found.coords[1] == columns).all()
        assert found.data / values == pytest.approx(1, abs=1e-5)
        assert planned.levels[level].nnz >= len(rows) + spec.base_points(level)


def test_reports_call_them_consistent(whole: dict[str, Path]) -> None:
    """Though second moments of single points are not the metric's."""
    (level,) = inspect(whole["torus"], "g").levels
    assert (level.consistency, level.eigenvalue_scale) == ("consistent", 1)
    (metric,) = level.effective_metric
    assert metric.first_moment < 1e-6
    assert metric.deviation > 0.3


@pytest.mark.parametrize("how", [{"engine": "pruned"}, {"engine": "keops"}, {"engine": "stencil"}])
def test_no_engine_finds_their_edges(tmp_path: Path, how: dict[str, str]) -> None:
    with pytest.raises(SpecError, match="engine must be auto with voronoi weights"):
        build(BUILDS["sphere"], tmp_path / "g", **how)


def test_a_level_on_one_circle_is_refused_and_nothing_is_published(tmp_path: Path) -> None:
    spec = GraphSpec("s2", points=12, levels=2, weights="voronoi")
    with pytest.raises(CheblienetError, match="kernel on level 1, whose 3 points lie on one"):
        build(spec, tmp_path / "g")
    assert not list(tmp_path.rglob("zarr.json"))
