"""Stored eigenpairs: mapped, checked when opened, verified when asked."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from spectral import SPECS, level
from torch import Tensor

from cheblienet_models import (
    Pyramid,
    StoreError,
    open_store,
    sample_edges,
)
from cheblienet_models.store.files import opened
from cheblienet_models.store.levels import Level
from cheblienet_models.store.verify import verify_laplacian
from cheblienet_models.store.version import read_version


@pytest.fixture
def copy(spectral_graphs: Path, tmp_path: Path) -> Path:
    """A private copy of the store, writable."""
    shutil.copytree(spectral_graphs, tmp_path / "g.zarr")
    for path in (tmp_path / "g.zarr").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "g.zarr"


def stored_levels(spectral_graphs: Path, name: str) -> tuple[Level, ...]:
    with opened(str(spectral_graphs)) as root:
        return read_version(root / name / "v001", name).levels


def test_vectors_are_mapped(spectral_graphs: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = level(spectral_graphs, "few")
    assert graph.eigenvectors.data_ptr() == graph.eigenpairs[1].data_ptr()
    maps = Path("/proc/self/maps").read_text()
    assert "few/v001/levels/0/eigenvectors/c/0/0" in maps


def edit_array(dtype: str, change: Callable[[np.ndarray], None]) -> Callable[[Path], None]:
    def mutate(path: Path) -> None:
        values = np.fromfile(path, dtype)
        change(values)
        values.tofile(path)

    return mutate


def put(index: int, value: float) -> Callable[[Path], None]:
    return edit_array("<f8", lambda values: values.__setitem__(index, value))


def in_spec(**values: object) -> Callable[[Path], None]:
    def mutate(path: Path) -> None:
        document = json.loads(path.read_text())
        spec = document["attributes"]["clg"]["spec"]
        spec.update(values)
        for key in [key for key, value in values.items() if value is ...]:
            del spec[key]
        path.write_text(json.dumps(document, default=lambda _: None))

    return mutate


def field(**values: object) -> Callable[[Path], None]:
    return lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | values))


ATTRIBUTES = "few/v001/zarr.json"


VALUES, VECTORS = "few/v001/levels/0/eigenvalues", "few/v001/levels/0/eigenvectors"


MUTATIONS: list[tuple[str, Callable[[Path], object]]] = [
    *((ATTRIBUTES, in_spec(laplacian=word)) for word in ("other", "", None, 1, ["normalized"], {})),
    (ATTRIBUTES, in_spec(laplacian=...)),
    *((ATTRIBUTES, in_spec(eigenpairs=n)) for n in (0, -1, 19, 21, 385, 2**70, True, 20.0, "20")),
    (ATTRIBUTES, in_spec(eigenpairs=None)),
    (f"{VALUES}/c/0", put(3, np.nan)),
    (f"{VALUES}/c/0", put(-1, np.inf)),
    (f"{VALUES}/c/0", put(-1, 1e9)),
    (f"{VALUES}/c/0", put(0, -np.inf)),
    (f"{VALUES}/c/0", put(0, -1e3)),
    (f"{VALUES}/c/0", put(0, 1e3)),
    (f"{VALUES}/c/0", put(5, 0)),
    (f"{VALUES}/c/0", edit_array("<f8", lambda values: values.__iadd__(10))),
    (f"{VALUES}/c/0", Path.unlink),
    (VALUES, shutil.rmtree),
    (VECTORS, shutil.rmtree),
    (f"{VALUES}/zarr.json", field(shape=[10])),
    (f"{VALUES}/zarr.json", field(data_type="float32")),
    (f"{VECTORS}/zarr.json", field(data_type="float64")),
    (f"{VECTORS}/zarr.json", field(shape=[20, 1536])),
    (f"{VECTORS}/zarr.json", field(shape=[1536 * 20])),
    (f"{VECTORS}/c/0/0", lambda path: path.write_bytes(path.read_bytes()[:-4])),
]


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    copy: Path, where: str, change: Callable[[Path], object]
) -> None:
    assert open_store(copy)["few"].levels
    change(copy / where)
    with pytest.raises(StoreError) as caught:
        open_store(copy)["few"]
    assert len(str(caught.value)) < 1000
    assert open_store(copy)["kernel"].levels


def test_unused_arrays_are_not_read(copy: Path) -> None:
    in_spec(eigenpairs=...)(copy / ATTRIBUTES)
    assert open_store(copy)["few"].levels[0].eigenvectors is None


def test_lambda_max_may_be_large(copy: Path) -> None:
    def scaled(lambda_max: float) -> Pyramid:
        path = copy / "selling/v001/zarr.json"
        document = json.loads(path.read_text())
        clg = document["attributes"]["clg"]
        clg["spec"].pop("eigenpairs", None)
        clg["levels"][0]["lambda_max"] = lambda_max
        path.write_text(json.dumps(document))
        return open_store(copy)["selling"]

    graph = scaled(1e15).levels[0]
    sample_edges(graph, 0.5)
    assert graph.subgraph.isfinite().all()
    assert graph.subgraph.abs().max() <= 1 + 1e-6
    with pytest.raises(StoreError, match=r"lambda_max in \(0, 1e\+15\]"):
        scaled(1.1e15)


@pytest.mark.parametrize("name", SPECS)
def test_verified(spectral_graphs: Path, name: str) -> None:
    assert open_store(spectral_graphs, verify=True)[name].levels
    for stored in stored_levels(spectral_graphs, name):
        verify_laplacian(stored)


def shuffled(vectors: Tensor) -> None:
    vectors[:, [1, 10]] = vectors[:, [10, 1]]


def vanished(vectors: Tensor) -> None:
    vectors[:, 3] = 0


def unknown(vectors: Tensor) -> None:
    vectors[7, 3] = torch.nan


def repeated(vectors: Tensor) -> None:
    vectors[:, 2] = vectors[:, 1]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (shuffled, "not its Laplacian's"),
        (unknown, "not its Laplacian's"),
        (vanished, "not orthonormal"),
        (repeated, "not orthonormal"),
    ],
)
def test_verification_finds_other_vectors(
    spectral_graphs: Path, change: Callable[[Tensor], None], match: str
) -> None:
    stored = stored_levels(spectral_graphs, "kernel")[0]
    change(stored.eigenpairs.vectors)
    with pytest.raises(StoreError, match=match):
        verify_laplacian(stored)
