"""A staged version: arrays in parts that any process writes, and records of finished ones.

A part's bytes follow from the specification alone and each file is written by one sweep only, so
the file is the same whichever process writes a part, and however often. Parts are written, not
mapped: errors of the disk are then exceptions in the writing process, never signals. A record is
written, whole, after the bytes of its range of rows are on disk, so it can be trusted after a crash
of the process or of the machine, and by other machines that share the file system.
"""

import json
import math
import os
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr, index_type
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import opened_folder, replace, reserve, undone, write
from cheblienet_graphs.store.folder import DOCUMENT, Folder
from cheblienet_graphs.store.leftovers import IDENTITY

VERSION, FINISHED, SCRATCH = "version", "finished", "scratch"
"""Its folders: what is published, the records, and arrays that never are."""
KIND = 2
"""Format of scratch arrays and records: builds of another kind can't be resumed, whatever the
software's version."""
_RECORD = re.compile(r"[0-9]{1,18}-[0-9]{1,18}\.json")
"""Name of the record of a range of rows."""
_NO_IDENTITY = FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, RecursionError
"""Errors of reading the identity of what is not a build's folder, or not a whole one."""

Identity = dict[str, Any]
Range = tuple[int, int]
Result = dict[str, Any]


@dataclass(frozen=True)
class StagedArray:
    """An array of one chunk; its file is reserved before parts are written.

    Args:
        folder: of its node.
        shape: of the whole array.
        dtype: a key of layout.DTYPES.
    """

    folder: Path
    shape: tuple[int, ...]
    dtype: str

    @cached_property
    def chunk(self) -> Path:
        """The file of the one chunk."""
        return self.folder / layout.chunk_path(len(self.shape))

    @property
    def kind(self) -> np.dtype[Any]:
        """The elements' type."""
        return np.dtype(layout.DTYPES[self.dtype])

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return math.prod(self.shape) * self.kind.itemsize

    def reserve(self, attributes: layout.Attributes, names: Sequence[str] = ()) -> Self:
        """Write its metadata and allocate its disk space; an existing file keeps its bytes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_document(
            self.folder, layout.array_document(self.shape, self.dtype, attributes, names)
        )
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
        return np.array(self.mapped()[start:stop])


@dataclass(frozen=True)
class StagedCsr:
    """The three arrays of a CSR matrix."""

    data: StagedArray
    indices: StagedArray
    indptr: StagedArray

    def matrix(self, columns: int, data: StagedArray | None = None) -> Csr:
        """The matrix with so many columns, mapped, by default with its own data."""
        parts = (array.mapped() for array in (self.indptr, self.indices, data or self.data))
        return Csr((self.indptr.shape[0] - 1, columns), *parts)


def opened(folder: Path) -> StagedArray:
    """An array that another process reserved."""
    document = Folder(folder).document()
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
            written = os.pwrite(self._descriptor(array), left, offset)
            left = left[written:]
            offset = offset + written

    def _descriptor(self, array: StagedArray) -> int:
        if array.folder not in self._descriptors:
            self._descriptors[array.folder] = os.open(array.chunk, os.O_WRONLY)
        return self._descriptors[array.folder]

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None and self._durable:
                for descriptor in self._descriptors.values():
                    os.fsync(descriptor)
        finally:
            for descriptor in self._descriptors.values():
                os.close(descriptor)


def write_document(node: Path, document: layout.Attributes) -> None:
    """Write a node's metadata, replacing any that a killed process left."""
    file = node / DOCUMENT
    file.unlink(missing_ok=True)
    write(file, layout.document_bytes(document))


def csr_nbytes(shape: tuple[int, int], nnz: int) -> int:
    """Size of a CSR matrix with float32 values."""
    index = np.dtype(layout.DTYPES[index_type(shape, nnz)]).itemsize
    return nnz * (4 + index) + (shape[0] + 1) * index


class Records:
    """The finished ranges of the sweeps of a build, with their results.

    Args:
        folder: of the records; once it is deleted, with the build, nothing can be recorded.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def finished(self, sweep: str) -> dict[Range, Result]:
        """Disjoint finished ranges, ascending, with their results."""
        folder = self._folder / sweep
        files = folder.glob("*.json") if folder.is_dir() else ()
        ranges = sorted(_range(file) for file in files if _RECORD.fullmatch(file.name))
        chosen: dict[Range, Result] = {}
        end = 0
        for start, stop in ranges:
            if start >= end and (result := self.result(sweep, (start, stop))) is not None:
                chosen[start, stop], end = result, stop
        return chosen

    def result(self, sweep: str, rows: Range) -> Result | None:
        """The result of a range, None where it is not finished, or its record is not whole."""
        try:
            outcome: Result = json.loads(self._file(sweep, rows).read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        return outcome

    def keep(self, sweep: str, rows: Range, result: Result) -> None:
        """Record a range as finished; its results must be JSON types."""
        file = self._file(sweep, rows)
        file.parent.mkdir(exist_ok=True)
        with undone(), opened_folder(file.parent) as folder:
            replace(folder, file.name, json.dumps(result).encode(), uuid.uuid4().hex, folder)

    def __len__(self) -> int:
        return sum(1 for _ in self._folder.glob("*/*.json"))

    def _file(self, sweep: str, rows: Range) -> Path:
        return self._folder / sweep / f"{rows[0]}-{rows[1]}.json"


def gaps(finished: Iterable[Range], total: int) -> list[Range]:
    """The parts of 0..total that disjoint ascending ranges leave out."""
    missing = []
    end = 0
    for start, stop in [*finished, (total, total)]:
        if start > end:
            missing.append((end, start))
        end = stop
    return missing


def cut(ranges: list[Range], step: int) -> list[Range]:
    """Ranges cut into pieces of at most `step`."""
    return [(lo, min(lo + step, stop)) for start, stop in ranges for lo in range(start, stop, step)]


def _range(file: Path) -> Range:
    start, stop = file.stem.split("-")
    return int(start), int(stop)


def identity_of(folder: Path) -> Identity | None:
    """The identity of the build in a folder; None where it can't be resumed.

    Raises:
        OSError: the folder can't be read.
    """
    try:
        identity = json.loads((folder / IDENTITY).read_bytes())
    except _NO_IDENTITY:
        return None
    whole = all((folder / part).is_dir() for part in (VERSION, FINISHED))
    return identity if whole and isinstance(identity, dict) else None
