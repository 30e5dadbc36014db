"""Stored eigenpairs: mapped, verified when asked, not read where they are not used."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from damage import edit, writable_copy
from spectral import SPECS
from stores import level
from torch import Tensor

from cheblienet_models import StoreError, open_store, sample_edges
from cheblienet_models.store.files import opened
from cheblienet_models.store.verify import verify_laplacian
from cheblienet_models.store.version import read_version


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
    with pytest.raises(StoreError, match=r"lambda_max in \(0, 1e\+15\]"):
        level(copy, "selling")


@pytest.mark.parametrize("name", SPECS)
def test_verified(spectral_graphs: Path, name: str) -> None:
    assert open_store(spectral_graphs, verify=True)[name].levels


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
    with opened(str(spectral_graphs)) as root:
        stored = read_version(root / "kernel" / "v001", "kernel").levels[0]
    change(stored.eigenpairs.vectors)
    with pytest.raises(StoreError, match=match):
        verify_laplacian(stored)
