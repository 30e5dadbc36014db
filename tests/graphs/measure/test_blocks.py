"""Graphs examined in row blocks: the same numbers as from whole matrices, in little memory."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from csr_truth import edge_weights, mapped
from examined import SPECS, allocated_by, laplacian_of, random_matrix
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs import GraphSpec, build, sparse
from cheblienet_graphs.measure.diagnostics import equivariance_errors, weight_statistics
from cheblienet_graphs.measure.moments import MeasuredLevel, effective_metrics
from cheblienet_graphs.sparse import components, mapped_product
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.verification.levels import is_symmetric


def level_of(version: Path) -> MeasuredLevel:
    return MeasuredLevel.published(Folder(version), read_facts(Folder(version)), 0)


@given(st.integers(1, 80), st.floats(0, 0.06), st.integers(0, 99))
def test_components_are_the_sets_that_all_steps_reach(size: int, density: float, seed: int) -> None:
    matrix = random_matrix(size, density, seed)
    reached = np.linalg.matrix_power(matrix.toarray() / 4 + np.eye(size), size) > 0
    assert components(matrix) == len(np.unique(reached, axis=0))


@pytest.mark.parametrize("name", ["torus", "combinatorial", "sphere"])
def test_equivariance_errors_by_definition(versions: Path, name: str) -> None:
    laplacian, points = laplacian_of(versions, name), SPECS[name].full_sampling(0)
    dense = laplacian.toarray()
    expected = {
        symmetry: abs(dense[np.ix_(permutation, permutation)] - dense).max()
        for symmetry, permutation in points.symmetries()
    }
    assert expected
    for entries in (1, 300, 10**6):
        assert equivariance_errors(laplacian, points, entries=entries) == expected


@pytest.mark.parametrize("name", SPECS)
def test_weights_are_those_of_the_whole_matrix(versions: Path, name: str) -> None:
    version = versions / name / "v001"
    level, whole = level_of(version), edge_weights(Folder(version), 0)
    chosen, values = np.array([5, 3, 3, 40]), whole.data
    assert np.array_equal(level.weights(chosen).toarray(), whole.toarray()[chosen])
    expected = {"min": values.min(), "median": np.median(values), "max": values.max()}
    for entries in (17, 10**6):
        assert weight_statistics(level, entries=entries) == pytest.approx(expected, rel=1e-15)


@pytest.mark.slow
@patch.multiple(sparse, CAST_AT_ONCE=0, CAST_TOGETHER=2**12)
def test_memory_does_not_grow_with_the_edges(tmp_path: Path) -> None:
    """Examinations allocate far less than the values of the matrix would in float64."""
    spec = GraphSpec("se2", 48, orientations=8, neighbors=64, levels=1)
    build(spec, tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr/g/v001"
    level = level_of(version)
    laplacian, points = level.laplacian, spec.full_sampling(0)
    x = np.ones(points.num_vertices)
    few = min(10 * x.nbytes, 8 * laplacian.nnz / 5)
    for examine, most in (
        (lambda: mapped(Folder(version / "levels/0/laplacian")), few),
        (lambda: mapped_product(laplacian)(x), few),
        (lambda: components(laplacian), few),
        (lambda: effective_metrics(level, level.probes), few),
        (lambda: equivariance_errors(laplacian, points, entries=2**12), few),
        (lambda: is_symmetric(laplacian, 2**12), few),
        # The median takes each edge once: half of the stored entries.
        (lambda: weight_statistics(level, entries=2**12), 6 * laplacian.nnz),
    ):
        examine()
        assert allocated_by(examine) < most
