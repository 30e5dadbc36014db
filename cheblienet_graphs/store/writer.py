"""Staging a version beside the store, then publishing it with one rename.

Until the rename nothing is visible; after it nothing changes. What a crash leaves behind lies in
the staging folder only.
"""

import errno
import hashlib
import math
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import locked_folder, reserve, sync, write, write_errors
from cheblienet_graphs.store.refs import check_graph, locked, publish

INT32_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class CsrArrays:
    """The three arrays of a CSR matrix, mapped for writing."""

    data: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    indptr: npt.NDArray[Any]


class Staging:
    """A version in the making. Use as a context manager: leaving it unpublished removes it.

    Its folder is locked as long as the builder lives, so that what a crash left can be told apart.

    Args:
        store: the store it will be published in; need not exist yet.
        name: of the graph.
        nbytes: disk space the arrays will take.

    Raises:
        StoreError: the place can't be written to, or holds something else of that name.
    """

    def __init__(self, store: Path, name: str, nbytes: int) -> None:
        self._store, self._name = store, name
        check_graph(store, name)
        self.path = layout.staging_folder(store) / uuid.uuid4().hex
        with write_errors(store):
            if not self.path.parent.is_dir():
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = ExitStack()
            with locked(store):
                self.path.mkdir()
                self._lock.enter_context(locked_folder(self.path))
            free = shutil.disk_usage(self.path).free
            if nbytes > free:
                self._remove()
                raise OSError(errno.ENOSPC, f"{nbytes:,} bytes are needed, {free:,} are free")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()
        if not self._store.exists():
            with suppress(OSError):  # other builders may be at work there
                self.path.parent.rmdir()

    def csr(self, path: str, shape: tuple[int, int], nnz: int) -> CsrArrays:
        """Reserve a float32 CSR matrix; indices are int32 while everything fits."""
        with write_errors(self._store):
            (self.path / path).mkdir(parents=True)
            _write(self.path / path, layout.group_document(layout.csr_attributes(shape)))
        index = _index_type(shape, nnz)
        return CsrArrays(
            self._array(f"{path}/data", (nnz,), "float32", {}),
            self._array(f"{path}/indices", (nnz,), index, {}),
            self._array(f"{path}/indptr", (shape[0] + 1,), index, {}),
        )

    def dense(
        self, path: str, shape: Sequence[int], dtype: str, columns: Sequence[str] = ()
    ) -> npt.NDArray[Any]:
        """Reserve a dense array, mapped for writing; dtype is a key of layout.DTYPES."""
        return self._array(path, shape, dtype, layout.dense_attributes(columns))

    def scratch(self, shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
        """An array on the store's disk that is never published and vanishes with its last use."""
        file = self.path / uuid.uuid4().hex
        kind = np.dtype(dtype)
        with write_errors(self._store):
            reserve(file, math.prod(shape) * kind.itemsize)
            mapped = np.memmap(file, kind, "r+", shape=shape)
            file.unlink()
            return mapped

    def publish(self, attributes: layout.Attributes) -> str:
        """Seal the version under these attributes, make it durable and visible.

        Returns:
            Its version, "v001" or the next free number.

        Raises:
            StoreError: the store can't be written to, or holds something else of that name.
        """
        with write_errors(self._store):
            for node in self._nodes():
                if node != self.path and not (node / "zarr.json").exists():
                    _write(node, layout.group_document({}))
            sealed = attributes | {"manifest": self._manifest()}
            sealed["attributes_sha256"] = layout.canonical_sha256(sealed)
            _write(self.path, layout.group_document({"clg": sealed}))
        return self.publish_as_is()

    def publish_as_is(self) -> str:
        """Make what is staged durable and visible; `publish` seals it first.

        Raises:
            StoreError: as `publish`.
        """
        with write_errors(self._store):
            for folder, _, files in os.walk(self.path):
                for file in (Path(folder) / name for name in files):
                    file.chmod(0o444)
                    sync(file)
                sync(Path(folder))
            return publish(self._store, self._name, self.path)

    def _array(
        self, path: str, shape: Sequence[int], dtype: str, attributes: layout.Attributes
    ) -> npt.NDArray[Any]:
        folder, kind = self.path / path, np.dtype(layout.DTYPES[dtype])
        with write_errors(self._store):
            folder.mkdir(parents=True)
            _write(folder, layout.array_document(shape, dtype, attributes))
            if 0 in shape:
                return np.zeros(shape, kind)
            chunk = layout.chunk_file(folder, len(shape))
            chunk.parent.mkdir(parents=True)
            reserve(chunk, math.prod(shape) * kind.itemsize)
            return np.memmap(chunk, kind, "r+", shape=tuple(shape))

    def _nodes(self) -> Iterator[Path]:
        """Folders that are zarr nodes, which those of chunks are not."""
        for folder, folders, _ in os.walk(self.path):
            folders[:] = [name for name in folders if name != "c"]
            yield Path(folder)

    def _manifest(self) -> dict[str, dict[str, str | int]]:
        """Digest and size of each array's bytes, by its path, and of each metadata document."""
        found: dict[str, dict[str, str | int]] = {}
        for file in sorted(path for path in self.path.rglob("*") if path.is_file()):
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            key = layout.manifest_key(str(file.relative_to(self.path)))
            found[key] = {"sha256": digest, "nbytes": file.stat().st_size}
        return found


def csr_nbytes(shape: tuple[int, int], nnz: int) -> int:
    """Size of the arrays that `Staging.csr` reserves."""
    index = np.dtype(layout.DTYPES[_index_type(shape, nnz)]).itemsize
    return nnz * (4 + index) + (shape[0] + 1) * index


def _index_type(shape: tuple[int, int], nnz: int) -> str:
    return "int32" if max(*shape, nnz) <= INT32_LIMIT else "int64"


def _write(node: Path, document: layout.Attributes) -> None:
    write(node / "zarr.json", layout.document_bytes(document))
