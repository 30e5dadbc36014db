"""Maps from and to regular grids with a row of points on each pole, as ERA5 has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from csr_truth import built_map
from refusing import refused
from sphere_truth import arcs, unit_vectors

from cheblienet_graphs import GraphSpec, MapSpec, SpecError, build, build_map

LAT, LON = np.linspace(90, -90, 19), np.arange(0.0, 360, 10)
TABLE = np.stack(np.meshgrid(LAT, LON, indexing="ij"), -1).reshape(-1, 2)
NORTH, SOUTH = np.arange(36), np.arange(36) + 18 * 36
GRID = GraphSpec("s2", coordinates=TABLE)
MESH = GraphSpec("s2", subdivisions=2, levels=1)
VECTORS = unit_vectors(np.radians([90, 0] - TABLE * [1, -1]))
UNIT = 2.0**-24


def truth(lengths: np.ndarray, rule: dict[str, Any], weights: str) -> np.ndarray:
    """Weights where each pole counts once, and shares its weight among its points."""
    once = np.r_[0, np.arange(36, 18 * 36), 18 * 36]
    of_places = lengths[:, once]
    if "radius" in rule:
        listed = of_places <= rule["radius"] ** 2
    else:
        last = np.sort(of_places, axis=1)[:, rule["neighbors"] - 1]
        listed = of_places <= last[:, None] * (1 + 1e-6)
    if weights == "gaussian":
        raw = np.exp(-of_places / (4 * 0.2 * of_places[listed].mean()))
    else:
        same = of_places < 1e-20
        raw = 1 / np.where(same, 1e-20, of_places) if weights == "inverse" else listed * 1.0
    raw = raw * listed
    raw /= raw.sum(axis=1, keepdims=True)
    spread = np.zeros(lengths.shape)
    spread[:, once] = raw
    for pole in (NORTH, SOUTH):
        spread[:, pole] = spread[:, pole[:1]] / len(pole)
    return spread


def pattern(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """Where entries are stored; those of sources beside one that coincides are 0."""
    ones = np.ones(matrix.nnz)
    return scipy.sparse.csr_array((ones, matrix.indices, matrix.indptr), matrix.shape).toarray()


@pytest.mark.parametrize("weights", ["inverse", "gaussian", "uniform"])
@pytest.mark.parametrize("rule", [{"neighbors": 3}, {"neighbors": 7}, {"radius": 0.3}])
def test_a_pole_is_one_source(rule: dict[str, Any], weights: str, tmp_path: Path) -> None:
    matrix = built_map(MapSpec(GRID, MESH, weights=weights, **rule), tmp_path)
    mesh = MESH.full_sampling(0).base_points
    expected = truth(arcs(mesh[:, None], VECTORS) ** 2, rule, weights)
    assert np.abs(matrix.toarray() - expected).max() <= 1.01 * UNIT
    assert ((pattern(matrix) > 0) == (expected > 0)).all()
    assert (matrix.astype(np.float64).sum(axis=1) == 1).all()


def test_each_point_on_a_pole_gets_the_same(tmp_path: Path) -> None:
    matrix = built_map(MapSpec(MESH, GRID, neighbors=4), tmp_path)
    for pole in (NORTH, SOUTH):
        assert (matrix.toarray()[pole] == matrix.toarray()[pole[0]]).all()
    lengths = arcs(VECTORS[:, None], MESH.full_sampling(0).base_points) ** 2
    last = np.sort(lengths, axis=1)[:, 3]
    assert (pattern(matrix) == (lengths <= last[:, None] * (1 + 1e-6))).all()


def test_a_grid_to_itself_keeps_fields(tmp_path: Path) -> None:
    matrix = built_map(MapSpec(GRID, GRID, neighbors=2), tmp_path)
    field = np.random.default_rng(0).random(len(TABLE))
    for pole in (NORTH, SOUTH):
        field[pole] = field[pole[0]]
    assert np.abs(matrix @ field - field).max() < 1e-6


def test_orders_parts_and_orientations(tmp_path: Path) -> None:
    order = np.random.default_rng(1).permutation(len(TABLE))
    plain = built_map(MapSpec(GRID, MESH, neighbors=3), tmp_path / "plain")
    mixed = GraphSpec("s2", coordinates=TABLE[order])
    matrix = built_map(MapSpec(mixed, MESH, neighbors=3), tmp_path / "mixed")
    assert np.abs(matrix.toarray() - plain.toarray()[:, order]).max() <= UNIT
    northern = GraphSpec("s2", coordinates=TABLE[TABLE[:, 0] > 35])
    mask = GraphSpec("s2", coordinates=TABLE, mask=TABLE[:, 0] > 35)
    target = GraphSpec("s2", subdivisions=3, levels=1, region=(-180, 60, 180, 90))
    parts = [
        built_map(MapSpec(side, target, neighbors=5), tmp_path / f"{n}").toarray()
        for n, side in enumerate((northern, mask))
    ]
    assert np.array_equal(*parts)
    turned = [
        GraphSpec("so3", coordinates=TABLE, orientations=2, xi=1),
        GraphSpec("so3", subdivisions=1, orientations=2, xi=1, levels=1),
    ]
    matrix = built_map(MapSpec(*turned, neighbors=3), tmp_path / "turned").toarray()
    for first in (0, 18 * 36, len(TABLE), len(TABLE) + 18 * 36):
        row = matrix[:, first : first + 36]
        assert np.abs(row - row[:, :1]).max() <= UNIT


def test_graphs_and_other_points_that_coincide_are_refused(tmp_path: Path) -> None:
    message = "coordinates must be different points in a graph. Got 70 of level 0"
    refused(message, build, GRID, tmp_path / "g.zarr", error=SpecError)
    assert not (tmp_path / "g.zarr").exists()
    few = TABLE[1:]  # a row that is not whole
    refused("different points. Got points 0 and 1 both", GraphSpec, "s2", coordinates=few)
    again = np.concatenate([TABLE, [[90.0, 5.0]]])
    refused("different points. Got points", GraphSpec, "s2", coordinates=again)
    message = "neighbors must be at most 614, as many as there are places. Got 620"
    refused(message, build_map, MapSpec(GRID, MESH, neighbors=620), tmp_path / "m.zarr")
