"""Builds of scattered points, given ones and with the weights of Voronoi cells."""

from pathlib import Path

import numpy as np
import pytest
from builds import manifest
from csr_truth import edge_weights
from sphere_truth import latitudes_longitudes
from stores import store_of

from cheblienet_graphs import CheblienetError, GraphSpec, SpecError, build, plan, verify
from cheblienet_graphs.samplings.icosphere import Icosphere
from cheblienet_graphs.store.catalog import resolve
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.weights.cells import voronoi_entries

ICOSPHERE = latitudes_longitudes(Icosphere(size=2).base_points)
RANDOM = np.random.default_rng(4)
STATIONS = np.column_stack([90 * RANDOM.random(200) ** 3, 360 * RANDOM.random(200) - 180])
INSIDE = RANDOM.random(600) < 0.7
MATCHED = {"weights": "matched", "neighbors": 24}

VORONOI = {
    "voronoi-sphere": GraphSpec("s2", points=600, levels=2, weights="voronoi"),
    "voronoi-torus": GraphSpec("r2", points=500, weights="voronoi", boundary="periodic"),
    "stations": GraphSpec("s2", coordinates=[STATIONS, STATIONS[::4]], weights="voronoi"),
    "masked": GraphSpec("s2", points=600, weights="voronoi", mask=INSIDE),
    "voronoi-gaussian": GraphSpec("s2", gaussian="O8", levels=2, weights="voronoi"),
    "eigenpairs": GraphSpec("s2", bandlimit=8, weights="voronoi", eigenpairs=9),
}


whole = store_of(VORONOI)


@pytest.mark.parametrize("weights", [{"weights": "kernel"}, MATCHED], ids=["kernel", "matched"])
@pytest.mark.parametrize("manifold", ["s2", "so3"])
def test_the_graph_of_a_sampling_with_these_points(
    tmp_path: Path, manifold: str, weights: dict[str, object]
) -> None:
    """Voronoi areas are the icosphere's."""
    known = GraphSpec(manifold, subdivisions=2, levels=1, **weights)
    own = GraphSpec(manifold, coordinates=ICOSPHERE, **weights)
    areas, expected = own.full_sampling(0).areas(), known.full_sampling(0).areas()
    assert np.abs(areas - expected).max() < 1e-12
    built, other = (build(spec, tmp_path / "g.zarr") for spec in (own, known))
    facts, known_facts = built.levels[0], other.levels[0]
    for fact in ("edges", "isolated", "dropped_edges"):
        assert facts[fact] == known_facts[fact]
    versions = [resolve(tmp_path / "g.zarr", result.name) for result in (built, other)]
    first, second = (edge_weights(Folder(version), 0) for version in versions)
    assert (first.indptr == second.indptr).all()
    assert (first.indices == second.indices).all()
    close = 1e-4 if weights is MATCHED else 1e-5
    assert np.allclose(first.data, second.data, rtol=close, atol=1e-9)
    arrays, known_arrays = (
        LevelFolder.published(Folder(v), read_facts(Folder(v)), 0) for v in versions
    )
    assert np.abs(arrays.coordinates - known_arrays.coordinates).max() < 1e-14
    assert np.abs(arrays.area - known_arrays.area).max() < 1e-6


def test_points_on_one_line_across_a_torus(tmp_path: Path) -> None:
    """They have no box of their own, by which the search guesses how many are near."""
    line = np.stack([np.linspace(0.1, 0.9, 9), np.full(9, 0.5)], axis=1)
    fields = {"domain": (0, 0, 1, 1), "boundary": "periodic", "orientations": 4, "neighbors": 8}
    for engine in ("pruned", "keops"):
        spec = GraphSpec("se2", coordinates=line, **fields)
        build(spec, tmp_path / engine, name="g", engine=engine)
    assert manifest(tmp_path / "pruned") == manifest(tmp_path / "keops")


@pytest.mark.parametrize("name", VORONOI)
def test_what_is_stored_is_what_the_diagram_gives(whole: Path, name: str) -> None:
    spec, version = VORONOI[name], resolve(whole, name)
    assert verify(whole, name) == []
    planned = plan(spec)
    for level in range(spec.levels):
        sampling = spec.full_sampling(level)
        rows, columns, values = voronoi_entries(sampling)
        if spec.mask is not None:
            numbers = np.full(sampling.num_points, -1)
            numbers[INSIDE] = np.arange(INSIDE.sum())
            kept = (numbers[rows] >= 0) & (numbers[columns] >= 0)
            rows, columns, values = numbers[rows[kept]], numbers[columns[kept]], values[kept]
        weights = edge_weights(Folder(version), level).tocoo()
        assert (weights.coords[0] == rows).all()
        assert (weights.coords[1] == columns).all()
        assert weights.data / values == pytest.approx(1, abs=1e-5)
        assert planned.levels[level].nnz >= len(rows) + spec.base_points(level)


def test_what_cells_can_not_weigh_is_refused_and_nothing_is_published(tmp_path: Path) -> None:
    spec = GraphSpec("s2", points=12, levels=2, weights="voronoi")
    with pytest.raises(CheblienetError, match="kernel here, where the 3 points of a level lie on"):
        build(spec, tmp_path / "g")
    with pytest.raises(SpecError, match="engine must be auto with voronoi weights"):
        build(VORONOI["voronoi-sphere"], tmp_path / "g", engine="pruned")
    assert not list(tmp_path.rglob("zarr.json"))
