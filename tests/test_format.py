"""Stores read by docs/reference/format.md alone, and what the training side makes of them.

The reader below is written from that page: json and numpy, no zarr, nothing of the packages.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
from stores import store_of

from cheblienet_models import open_store

TYPES = {"float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8"}
READS = (1, 6)


def node(folder: Path, kind: str) -> dict[str, Any]:
    document = json.loads((folder / "zarr.json").read_bytes())
    assert (document["zarr_format"], document["node_type"]) == (3, kind)
    return document


def read_array(folder: Path) -> np.ndarray:
    document = node(folder, "array")
    shape, kind = document["shape"], np.dtype(TYPES[document["data_type"]])
    assert document["codecs"] == [{"name": "bytes", "configuration": {"endian": "little"}}]
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [max(1, n) for n in shape]
    if not math.prod(shape):
        return np.zeros(shape, kind)
    contents = folder.joinpath("c", *["0"] * len(shape)).read_bytes()
    assert len(contents) == math.prod(shape) * kind.itemsize
    return np.frombuffer(contents, kind).reshape(shape)


def read_matrix(folder: Path) -> np.ndarray:
    """Dense."""
    attributes = node(folder, "group")["attributes"]
    assert attributes["encoding-type"] == "csr_matrix"
    assert attributes["encoding-version"] == "0.1.0"
    rows, columns = attributes["shape"]
    indptr, indices, data = (read_array(folder / p) for p in ("indptr", "indices", "data"))
    assert (indptr[0], indptr[-1], len(indptr)) == (0, len(data), rows + 1)
    assert (np.diff(indptr) >= 0).all()
    assert indices.dtype == indptr.dtype
    row = np.repeat(np.arange(rows), np.diff(indptr))
    assert (np.diff(row * columns + indices.astype(np.int64)) > 0).all()
    dense = np.zeros((rows, columns))
    dense[row, indices] = data
    return dense


def canonical_sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Version:
    """A version's folder and facts."""

    folder: Path
    facts: dict[str, Any]

    @classmethod
    def read(cls, store: Path, name: str) -> "Version":
        assert node(store, "group")["attributes"]["clg"] == {"store_schema": 1}
        graph = store / name
        newest = max(graph.glob("v[0-9]*"), key=lambda version: int(version.name[1:]))
        assert node(graph, "group")["attributes"]["clg"]["refs"]["latest"] == newest.name
        facts = node(newest, "group")["attributes"]["clg"]
        major, minor = map(int, facts["schema"].split("."))
        assert major == READS[0]
        assert minor <= READS[1]
        return cls(newest, facts)

    def check_digests(self) -> None:
        facts = dict(self.facts)
        assert facts.pop("attributes_sha256") == canonical_sha256(facts)
        assert facts["spec_sha256"] == canonical_sha256(facts["spec"])
        files = {path for path in self.folder.rglob("*") if path.is_file()}
        for key, entry in facts["manifest"].items():
            path = self.folder / key
            if path.is_dir():
                path = path.joinpath("c", *["0"] * len(node(path, "array")["shape"]))
            assert len(path.read_bytes()) == entry["nbytes"]
            assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]
            files.remove(path)
        assert files == {self.folder / "zarr.json"}

    @property
    def levels(self) -> list["LevelRead"]:
        levels = enumerate(self.facts["levels"])
        return [LevelRead(self.folder / f"levels/{n}", facts) for n, facts in levels]


@dataclass
class LevelRead:
    """A level by its facts."""

    folder: Path
    facts: dict[str, Any]

    def array(self, name: str) -> np.ndarray:
        return read_array(self.folder / name)

    def delta(self) -> np.ndarray:
        """Delta of the rescaled Laplacian."""
        stored = read_matrix(self.folder / "laplacian")
        return (stored + np.eye(len(stored))) * self.facts["lambda_max"] / 2


SPECS = {name: spec for specs in golden.SPECS.values() for name, spec in specs.items()}
store = store_of(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_a_reader_from_the_page_finds_the_same(store: Path, name: str) -> None:
    version, pyramid = Version.read(store, name), open_store(store)[name]
    version.check_digests()
    assert version.facts["schema"] == SPECS[name].schema
    assert len(pyramid.levels) == len(version.levels) == version.facts["spec"]["levels"]
    for level, graph in zip(version.levels, pyramid.levels, strict=True):
        delta = (graph.laplacian.to_dense().double().numpy() + np.eye(graph.num_vertices)) / 2
        assert np.allclose(level.delta(), delta * graph.lambda_max, atol=1e-12 * graph.lambda_max)
        for array in ("degree", "area", "coordinates"):
            assert np.array_equal(level.array(array), getattr(graph, array).numpy())
        for direction, parts in graph.directional.items():
            rows = np.repeat(np.arange(len(delta)), parts[0].diff())
            stored = read_matrix(level.folder / "directional" / direction)
            assert np.array_equal(stored[rows, parts[1]], parts[2])
    for fine in range(len(pyramid.levels) - 1):
        stored = read_matrix(version.folder / f"pooling/{fine}to{fine + 1}")
        assert np.array_equal(stored, pyramid.pooling(fine).matrix().to_dense())


@pytest.mark.parametrize("name", SPECS)
def test_arrays_mean_what_the_page_says(store: Path, name: str) -> None:
    version = Version.read(store, name)
    for level in version.levels:
        facts, degree, area = level.facts, level.array("degree"), level.array("area")
        mass = degree if version.facts["spec"]["laplacian"] == "normalized" else area
        weights = -level.delta() * np.sqrt(np.outer(mass, mass).astype(np.float64))
        np.fill_diagonal(weights, 0)
        scale = weights.max()
        assert abs(weights - weights.T).max() <= 1e-6 * scale
        assert weights.min() >= -1e-7 * scale
        assert np.allclose(weights.sum(axis=1), degree, rtol=1e-4, atol=1e-6 * scale)
        assert 2 * facts["edges"] == (weights > 0).sum() == facts["nnz"] - facts["vertices"]
        assert area.mean() == pytest.approx(1, abs=1e-5)
        full = math.prod(facts["grid"][1:])
        inside = (level.folder / "base_index").exists()
        count = len(level.array("base_index")) if inside else full
        assert facts["grid"][0] * count == facts["vertices"] == len(weights)
        orientation = np.arange(len(weights)) // count
        within = weights[orientation[:, None] == orientation]
        assert (within > 0).sum() / (weights > 0).sum() == pytest.approx(facts["in_plane_fraction"])


def test_masks_and_eigenpairs(store: Path) -> None:
    """A mask has the digest of its points; eigenpairs are the smallest of Delta."""
    version = Version.read(store, "masked")
    level, mask = version.levels[0], version.facts["spec"]["mask"]
    inside = np.zeros(math.prod(level.facts["grid"][1:]), np.uint8)
    inside[level.array("base_index")] = 1
    assert hashlib.sha256(inside.tobytes()).hexdigest() == mask["sha256"]
    assert mask["inside"][0] == inside.sum()
    for level in Version.read(store, "plane-orientations").levels:
        values, vectors = level.array("eigenvalues"), level.array("eigenvectors")
        assert np.allclose(values, np.linalg.eigvalsh(level.delta())[:3], atol=1e-5)
        assert np.allclose(level.delta() @ vectors, vectors * values, atol=1e-4)
