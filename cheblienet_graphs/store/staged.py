"""Arrays of a staged version: parts are written in place, by any process, in any order.

A part's bytes follow from the specification alone and each file is written by one sweep only, so
the file is the same whichever process writes a part, and however often. Parts are written, not
mapped: errors of the disk are then exceptions in the writing process, never signals.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import reserve, write

INT32_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class StagedArray:
    """An array of one chunk, whose file is reserved before parts are written.

    Args:
        folder: of its node.
        shape: of the whole array.
        dtype: a key of layout.DTYPES.
    """

    folder: Path
    shape: tuple[int, ...]
    dtype: str

    @property
    def chunk(self) -> Path:
        """The file of the one chunk."""
        return layout.chunk_file(self.folder, len(self.shape))

    @property
    def kind(self) -> np.dtype[Any]:
        """The elements' type."""
        return np.dtype(layout.DTYPES[self.dtype])

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return math.prod(self.shape) * self.kind.itemsize

    def reserve(self, attributes: layout.Attributes) -> Self:
        """Write its metadata and allocate its disk space; an existing file keeps its bytes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        document = layout.array_document(self.shape, self.dtype, attributes)
        write_document(self.folder, document)
        if self.nbytes:
            self.chunk.parent.mkdir(parents=True, exist_ok=True)
            reserve(self.chunk, self.nbytes)
        return self

    def mapped(self) -> npt.NDArray[Any]:
        """The whole array, mapped read-only."""
        if not self.nbytes:
            return np.zeros(self.shape, self.kind)
        return np.memmap(self.chunk, self.kind, "r", shape=self.shape)

    def part(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Elements start..stop of the first axis, in memory."""
        row = math.prod(self.shape[1:])
        shape = (stop - start, *self.shape[1:])
        if not math.prod(shape):
            return np.zeros(shape, self.kind)
        offset = start * row * self.kind.itemsize
        return np.fromfile(self.chunk, self.kind, (stop - start) * row, offset=offset).reshape(
            shape
        )


@dataclass(frozen=True)
class StagedCsr:
    """The three arrays of a CSR matrix."""

    data: StagedArray
    indices: StagedArray
    indptr: StagedArray


def opened(folder: Path) -> StagedArray:
    """An array that another process reserved."""
    document = layout.read_document(folder)
    return StagedArray(folder, tuple(document["shape"]), document["data_type"])


def opened_csr(folder: Path) -> StagedCsr:
    """A matrix that another process reserved."""
    return StagedCsr(*(opened(folder / part) for part in ("data", "indices", "indptr")))


class Writer:
    """Writes parts of reserved arrays; leaving its context without an error makes them durable.

    Args:
        durable: False where the caller makes them durable.
    """

    def __init__(self, *, durable: bool = True) -> None:
        self._durable = durable
        self._descriptors: dict[Path, int] = {}

    def __enter__(self) -> Self:
        return self

    def write(self, array: StagedArray, start: int, values: npt.ArrayLike) -> None:
        """Write elements from `start` of the first axis, in the array's type."""
        contents = np.ascontiguousarray(values, array.kind)
        offset = start * math.prod(array.shape[1:]) * array.kind.itemsize
        left = contents.reshape(-1).view(np.uint8).data
        while left:
            written = os.pwrite(self._descriptor(array.chunk), left, offset)
            left, offset = left[written:], offset + written

    def _descriptor(self, file: Path) -> int:
        if file not in self._descriptors:
            self._descriptors[file] = os.open(file, os.O_WRONLY)
        return self._descriptors[file]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self._durable:
                for descriptor in self._descriptors.values():
                    os.fsync(descriptor)
        finally:
            for descriptor in self._descriptors.values():
                os.close(descriptor)


def write_document(node: Path, document: layout.Attributes) -> None:
    """Write a node's metadata, replacing any that a killed process left."""
    file = node / "zarr.json"
    file.unlink(missing_ok=True)
    write(file, layout.document_bytes(document))


def index_type(shape: tuple[int, int], nnz: int) -> str:
    """Type of a matrix's indices and row pointers: int32 while everything fits."""
    return "int32" if max(*shape, nnz) <= INT32_LIMIT else "int64"


def csr_nbytes(shape: tuple[int, int], nnz: int) -> int:
    """Size of a CSR matrix with float32 values."""
    index = np.dtype(layout.DTYPES[index_type(shape, nnz)]).itemsize
    return nnz * (4 + index) + (shape[0] + 1) * index
