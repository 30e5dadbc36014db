"""Histograms and sparsity patterns, against dense matrices."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from figured import SPECS, dense_weights

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.figures import sparsity
from cheblienet_graphs.figures.degrees import degrees_of
from cheblienet_graphs.figures.opened import OpenedGraph, open_graph
from cheblienet_graphs.figures.sparsity import sparsity_of

Opened = Callable[[str], OpenedGraph]


@pytest.mark.parametrize("name", SPECS)
def test_every_vertex_and_every_edge_is_counted_once(
    opened: Opened, figured: Path, name: str
) -> None:
    graph = opened(name)
    data, weights = degrees_of(graph), dense_weights(figured, name)
    degrees = (weights > 0).sum(axis=1)
    np.testing.assert_array_equal(data.neighbours, np.bincount(degrees))
    assert data.mean == pytest.approx(degrees.mean())
    row, column = np.nonzero(np.triu(weights))
    turning = row // graph.spec.base_points(0) != column // graph.spec.base_points(0)
    assert data.within.sum() == (~turning).sum()
    assert data.across.sum() == turning.sum()
    assert data.edges[0] <= weights[row, column].min() * (1 + 1e-9)
    assert data.edges[-1] >= weights[row, column].max() * (1 - 1e-9)
    assert data.weightless == 0


def test_weights_fall_into_their_bins(opened: Opened, figured: Path) -> None:
    data = degrees_of(opened("rotations"))
    weights = dense_weights(figured, "rotations")
    upper = weights[np.nonzero(np.triu(weights))]
    truth = np.histogram(upper, np.linspace(upper.min(), upper.max(), 49))[0]
    assert not data.logarithmic
    assert abs(data.within + data.across - truth).sum() <= 0.02 * len(upper)  # rounded limits


def test_equal_weights_are_one_bin(tmp_path: Path) -> None:
    build(GraphSpec("r2", 8, kernel="rectangular", levels=1), store := tmp_path / "g.zarr")
    data = degrees_of(open_graph(store))
    assert len(data.edges) == 2
    assert data.edges.mean() == pytest.approx(1)
    assert len(data.within) == 1


def test_wide_weights_are_binned_by_their_logarithms(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not degrees_of(opened("own")).logarithmic
    monkeypatch.setattr("cheblienet_graphs.figures.degrees.WIDE", 10.0)
    data = degrees_of(opened("own"))
    assert data.logarithmic
    assert (data.within + data.across).sum() == opened("own").level(0).of_level.edges
    steps = np.diff(np.log(data.edges))
    np.testing.assert_allclose(steps, steps[0])


@pytest.mark.parametrize("name", ["plane", "tiny", "dust", "masked"])
@pytest.mark.parametrize("cells", [1, 7, 64, 5000])
def test_cells_hold_the_share_of_stored_entries(
    opened: Opened, figured: Path, monkeypatch: pytest.MonkeyPatch, name: str, cells: int
) -> None:
    monkeypatch.setattr(sparsity, "CELLS", cells)
    data = sparsity_of(opened(name))
    stored = (dense_weights(figured, name) > 0) | np.eye(data.vertices, dtype=bool)
    assert len(data.density) <= cells
    assert data.side == -(-data.vertices // cells)
    limits = np.arange(0, data.vertices, data.side)
    sums = np.add.reduceat(np.add.reduceat(stored.astype(int), limits), limits, axis=1)
    sizes = np.diff(np.append(limits, data.vertices))
    np.testing.assert_allclose(data.density, sums / np.outer(sizes, sizes))
    assert data.stored == stored.sum()
    assert data.zeros == pytest.approx(1 - stored.mean())
