"""Levels: what they say of themselves, points inside of a mask, eigenpairs."""

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import edit, writable_copy
from masked import GRAPHS
from refusing import refused
from stores import level
from torch import Tensor

from cheblienet_graphs import open_group
from cheblienet_graphs.store.folder import Folder
from cheblienet_models import StoreError, open_store, sample_edges
from cheblienet_models.store import verify
from cheblienet_models.store.levels import count_inside
from cheblienet_models.store.verify import verify_laplacian, verify_mask
from cheblienet_models.store.version import read_version

ATTRIBUTES = "torus/v001/zarr.json"


def test_grids_at_the_limits(copy: Path) -> None:
    """Four sides, and a side of one point."""
    grid = [4, 1, 16, 2, 8]
    edit(copy / ATTRIBUTES, lambda d: d["attributes"]["clg"]["levels"][0].update(grid=grid))
    with Folder(copy).kept_open() as root:
        fine, _ = read_version(root / "torus" / "v001", "torus").levels
    assert fine.grid == tuple(grid)
    assert fine.num_vertices == 4 * 256


POINTS = 1000


def test_points_inside_are_those_of_the_mask() -> None:
    spec: dict[str, Any] = {"mask": {"inside": [196, 256, 1]}}
    assert [count_inside("here", spec, n, (4, 16, 16)) for n in range(3)] == [196, 256, 1]
    assert count_inside("here", {}, 0, (4, 16, 16)) == 256
    for number, grid in ((3, (4, 16, 16)), (1, (4, 255)), (0, (4, 195))):
        message = "here must have a mask with a number of points"
        refused(message, count_inside, "here", spec, number, grid, error=StoreError)
    assert count_inside("here", spec, 0, (8, 2**18, 2**18)) == 196
    message, grid = "here must have a mask of at most 68719476736 points", (1, 2**18, 2**18 + 1)
    refused(message, count_inside, "here", spec, 0, grid, error=StoreError)
    assert count_inside("here", {}, 0, (1, 2**40)) == 2**40  # without a mask nothing is hashed


@pytest.mark.parametrize("block", [7, POINTS - 1, POINTS, 10 * POINTS])
@pytest.mark.parametrize("share", [0.01, 1.0])
def test_digests_do_not_depend_on_blocks(
    monkeypatch: pytest.MonkeyPatch, block: int, share: float
) -> None:
    monkeypatch.setattr(verify, "MASKED", block)
    mask = np.random.default_rng(0).random(POINTS) < share
    mask[POINTS // 2] = True
    spec = {"mask": {"sha256": hashlib.sha256(mask.astype(np.uint8).tobytes()).hexdigest()}}
    index = torch.from_numpy(np.flatnonzero(mask))
    verify_mask("there", spec, index, POINTS)
    verify_mask("there", spec, index.int(), POINTS)
    for other, points in ((index[:-1], POINTS), (index[1:], POINTS), (index, POINTS + 1)):
        message = "there has points inside that are not those of its"
        refused(message, verify_mask, "there", spec, other, points, error=StoreError)


@pytest.mark.parametrize("name", GRAPHS)
def test_masked_levels_are_read_as_they_were_written(masked_graphs: Path, name: str) -> None:
    pyramid = open_store(masked_graphs, verify=True)[name]
    for number, graph in enumerate(pyramid.levels):
        inside = open_group(masked_graphs, name)[f"levels/{number}/base_index"][:]
        assert torch.equal(graph.base_index, torch.from_numpy(inside))
        assert graph.num_points == len(inside) == pyramid.spec["mask"]["inside"][number]
        assert graph.num_vertices == graph.orientations * len(inside)
        whole = open_store(masked_graphs)[f"whole-{name}"].levels[number]
        assert whole.base_index is None
        assert (whole.grid, whole.sampling) == (graph.grid, graph.sampling)
        assert whole.num_points == np.prod(whole.grid[1:])
        kept = np.concatenate([inside + k * whole.num_points for k in range(graph.orientations)])
        assert torch.equal(graph.coordinates, whole.coordinates[kept])


def test_vectors_are_mapped(spectral_graphs: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = level(spectral_graphs, "few")
    assert graph.eigenvectors.data_ptr() == graph.eigenpairs[1].data_ptr()
    maps = Path("/proc/self/maps").read_text()
    assert "few/v001/levels/0/eigenvectors/c/0/0" in maps


def test_unused_arrays_are_not_read(spectral_graphs: Path, tmp_path: Path) -> None:
    copy = writable_copy(spectral_graphs, tmp_path / "g.zarr")
    document = copy / "few/v001/zarr.json"
    edit(document, lambda d: d["attributes"]["clg"]["spec"].pop("eigenpairs"))
    assert level(copy, "few").eigenvectors is None
    document = copy / "selling/v001/zarr.json"
    edit(document, lambda d: d["attributes"]["clg"]["spec"].pop("eigenpairs"))
    edit(document, lambda d: d["attributes"]["clg"]["levels"][0].update(lambda_max=1e15))
    graph = level(copy, "selling")
    sample_edges(graph, 0.5)
    assert graph.subgraph.isfinite().all()
    assert graph.subgraph.abs().max() <= 1 + 1e-6
    edit(document, lambda d: d["attributes"]["clg"]["levels"][0].update(lambda_max=1.1e15))
    refused(r"lambda_max in \(0, 1e\+15\]", level, copy, "selling", error=StoreError)


def shuffled(vectors: Tensor) -> None:
    vectors[:, [1, 10]] = vectors[:, [10, 1]]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (shuffled, "not its Laplacian's"),
        (lambda vectors: vectors[7, 3].fill_(torch.nan), "not its Laplacian's"),
        (lambda vectors: vectors[:, 3].zero_(), "not orthonormal"),
        (lambda vectors: vectors[:, 2].copy_(vectors[:, 1]), "not orthonormal"),
    ],
)
def test_verification_finds_other_vectors(
    spectral_graphs: Path, change: Callable[[Tensor], object], match: str
) -> None:
    with Folder(spectral_graphs).kept_open() as root:
        stored = read_version(root / "kernel" / "v001", "kernel").levels[0]
    change(stored.eigenvectors)
    refused(match, verify_laplacian, stored, error=StoreError)
