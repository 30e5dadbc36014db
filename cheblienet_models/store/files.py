"""Reading the files of a store as if somebody hostile had written them.

Every path segment is opened relative to the one before, without following links; only regular files
of the exact size their metadata promises are mapped; metadata is bounded and compared with the one
form that is ours. Numbers of the stated shape pass; anything else is a StoreError.
"""

import ctypes
import errno
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import torch

from cheblienet_models.errors import StoreError, UnreadableError, quoted

Document = dict[str, Any]
"""A JSON object."""
Shape = tuple[int | None, ...]
"""Of an array, None for a side of any length."""

SEGMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DTYPES = {"float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8"}
REFUSALS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EACCES, errno.EPERM}
"""Errors of reading that are faults of the machine."""
LEAST_FORGOTTEN = 2**20
"""Bytes of arrays whose pages are worth taking back."""
UNNEEDED = 4
"""MADV_DONTNEED."""
_LIBRARY = ctypes.CDLL(None)
MAX_METADATA = 4 * 2**20
MAX_DEPTH = 32
MAX_SIDE = 2**40
LARGEST = 1e15
"""Largest number that is no count."""
MOST_SIDES = 4
"""Of a signal on the base."""


class Folder:
    """A folder of a store. `opened` makes the root; `folder / "a/b"` those below it.

    Descriptors of folders are kept in one table, so that each file costs one open; `opened` closes
    them all.
    """

    def __init__(
        self, path: str, segments: tuple[str, ...], descriptors: dict[tuple[str, ...], int]
    ) -> None:
        self._path, self._segments, self._descriptors = path, segments, descriptors

    def __truediv__(self, path: str) -> "Folder":
        segments = path.split("/")
        if not all(map(SEGMENT.fullmatch, segments)):
            raise StoreError(f"{self} has no {quoted(path)}: that is no path below a graph.")
        return Folder(self._path, (*self._segments, *segments), self._descriptors)

    def __str__(self) -> str:
        return "/".join((self._path, *self._segments))

    def names(self) -> list[str]:
        """Sorted names of what lies in the folder, hidden and misnamed entries left out."""
        return [name for name, _ in self.entries() if SEGMENT.fullmatch(name)]

    def attributes(self) -> Document:
        """Attributes of the zarr group that the folder is."""
        document = self.document()
        attributes = document.pop("attributes", {})
        if document != {"zarr_format": 3, "node_type": "group"} or not isinstance(attributes, dict):
            raise StoreError(f"{self} is not a zarr v3 group.")
        return attributes

    def array(self, dtypes: Sequence[str], shape: Shape) -> npt.NDArray[Any]:
        """The zarr array that the folder is, mapped copy-on-write.

        Args:
            dtypes: keys of DTYPES that are acceptable.
            shape: that it must have; None for a side of any length.

        Raises:
            StoreError: it is missing, of another shape, type or encoding, or not of its size.
        """
        actual, dtype = self._array_type(dtypes, shape)
        nbytes = math.prod(actual) * dtype.itemsize
        if nbytes == 0:
            return np.zeros(actual, dtype)
        chunk = self / "/".join(["c", *["0"] * len(actual)])
        with chunk.opened_file() as (descriptor, size):
            if size != nbytes:
                raise StoreError(f"{chunk} has {size} bytes; its metadata promises {nbytes}.")
            return _mapped(descriptor, actual, dtype)

    def _array_type(
        self, dtypes: Sequence[str], shape: Shape
    ) -> tuple[tuple[int, ...], np.dtype[Any]]:
        document = self.document()
        actual, dtype = document.get("shape"), document.get("data_type")
        if not _has_shape(actual, shape):
            sides = ", ".join("any" if side is None else str(side) for side in shape)
            raise StoreError(f"{self} must have shape [{sides}]. Got {quoted(actual)}.")
        if not isinstance(dtype, str) or dtype not in dtypes:
            raise StoreError(f"{self} must be of type {' or '.join(dtypes)}. Got {quoted(dtype)}.")
        document.pop("attributes", None)
        if are_names(document.get("dimension_names"), len(shape)):
            del document["dimension_names"]
        if canonical(document) != canonical(array_document(actual, dtype)):
            raise StoreError(f"{self} is not a raw little-endian array of one chunk.")
        return tuple(actual), np.dtype(DTYPES[dtype])

    def document(self) -> Document:
        """The metadata of the zarr node that the folder is.

        Raises:
            StoreError: there is none, it is too large, or not a JSON object.
        """
        path = self / "zarr.json"
        try:
            document = parsed(path.contents())
            depth = depth_of(document)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{path} is not JSON.") from error
        if depth > MAX_DEPTH:
            raise StoreError(f"{path} is nested more than {MAX_DEPTH} deep, all that is allowed.")
        if not isinstance(document, dict):
            raise StoreError(f"{path} is not the metadata of a zarr node.")
        return document

    def contents(self) -> bytes:
        """The bytes of the metadata file at this path.

        Raises:
            StoreError: it is not a regular file, or too large.
        """
        with self.opened_file() as (descriptor, size):
            if size > MAX_METADATA:
                raise StoreError(f"{self} has {size} bytes; {MAX_METADATA} are allowed.")
            return os.pread(descriptor, size, 0)

    def sha256(self) -> tuple[str, int]:
        """Hex digest and size of the regular file at this path."""
        with (
            self.opened_file() as (descriptor, size),
            os.fdopen(descriptor, "rb", closefd=False) as file,
        ):
            return hashlib.file_digest(file, "sha256").hexdigest(), size

    def entries(self) -> list[tuple[str, int]]:
        """Names and modes of everything in the folder, links not followed."""
        descriptor = self.descriptor()
        with _reading(self):
            names = sorted(os.listdir(descriptor))
            modes = (os.stat(n, dir_fd=descriptor, follow_symlinks=False).st_mode for n in names)
            return list(zip(names, modes, strict=True))

    @contextmanager
    def opened_file(self) -> Iterator[tuple[int, int]]:
        """A descriptor of the regular file at this path, and its size."""
        with _reading(self):
            descriptor = self._opened(os.O_NONBLOCK)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise StoreError(f"{self} is not a regular file.")
                yield descriptor, status.st_size
            finally:
                os.close(descriptor)

    def descriptor(self) -> int:
        """A descriptor of the folder, opened segment by segment from the root."""
        if self._segments not in self._descriptors:
            self._descriptors[self._segments] = self._opened(os.O_DIRECTORY)
        return self._descriptors[self._segments]

    def _opened(self, flags: int) -> int:
        """A new descriptor of what is at this path, in the folder above; no link is followed."""
        parent = Folder(self._path, self._segments[:-1], self._descriptors).descriptor()
        with _reading(self):
            flags |= os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(self._segments[-1], flags, dir_fd=parent)


@contextmanager
def opened(path: str) -> Iterator[Folder]:
    """The root folder of a store, which itself may be reached through links.

    Raises:
        StoreError: there is no folder.
    """
    with _reading(Folder(path, (), {})):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    descriptors: dict[tuple[str, ...], int] = {(): descriptor}
    try:
        yield Folder(path, (), descriptors)
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


@contextmanager
def _reading(path: Folder) -> Iterator[None]:
    """Say of what the system or torch refuse that it can't be read."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        message = f"{path} can't be read: {getattr(error, 'strerror', None) or error}."
        no_memory = "Cannot allocate memory" in str(error)  # torch's mmap has no errno
        if no_memory or getattr(error, "errno", None) in REFUSALS:
            raise UnreadableError(
                f"{message} That is no fault of the store, but of this machine."
            ) from error
        raise StoreError(message) from error


def _mapped(descriptor: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The open file's contents, copy-on-write.

    torch maps it, since Python's mmap would keep a descriptor for each map and so run out of them
    after a few dozen graphs.
    """
    kind = getattr(torch, dtype.name)
    path = f"/dev/fd/{descriptor}"
    flat = torch.from_file(path, shared=False, size=math.prod(shape), dtype=kind)
    return flat.numpy().reshape(shape)


def forget_pages(array: npt.NDArray[Any]) -> None:
    """Let the system take back the pages of a mapped array that a check has read.

    They stay cached for all processes, but are no memory of this one until it uses them: so many
    graphs can be open. Nothing of the array may have been written. Where the system does not do so,
    nothing happens.

    Args:
        array: as `Folder.array` returns it.
    """
    if array.nbytes >= LEAST_FORGOTTEN and hasattr(_LIBRARY, "madvise"):
        _LIBRARY.madvise(
            ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), UNNEEDED
        )


def own_attributes(folder: Folder) -> Document:
    """Attributes that cheblienet gave to a group.

    Raises:
        StoreError: it has none.
    """
    attributes = folder.attributes().get("clg")
    if not isinstance(attributes, dict):
        raise StoreError(f"{folder} was not written by cheblienet.")
    return attributes


def parsed(contents: bytes) -> Any:
    """The JSON value that some bytes are.

    Raises:
        ValueError: they are not UTF-8 or not JSON, or hold a number that is NaN or infinite.
        RecursionError: they are nested too deep for Python's parser.
    """
    return json.loads(contents.decode("utf-8"), parse_constant=_finite, parse_float=_finite)


def depth_of(document: Any) -> int:
    """How many objects and lists a JSON value lies in at most.

    Raises:
        RecursionError: they are too many.
    """
    values = document.values() if isinstance(document, dict) else document
    return max(map(depth_of, values), default=-1) + 1 if isinstance(document, dict | list) else 0


def array_document(shape: Sequence[int], dtype: str) -> Document:
    """Metadata of a raw little-endian array of one chunk, attributes left out."""
    return {
        "shape": list(shape),
        "data_type": dtype,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(1, n) for n in shape]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0 if dtype.startswith("float") else 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def _has_shape(value: Any, shape: Shape) -> TypeGuard[list[int]]:
    """Whether a JSON value is a shape, None standing for any side."""
    return (
        isinstance(value, list)
        and len(value) == len(shape)
        and all(type(n) is int and 0 <= n <= MAX_SIDE for n in value)
        and all(side in {None, n} for n, side in zip(value, shape, strict=True))
    )


def are_names(value: Any, dimensions: int) -> bool:
    """Whether a JSON value names so many dimensions."""
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return texts and len(set(value)) == len(value) == dimensions


def canonical(document: Any) -> str:
    """A JSON value as text, which 1, 1.0 and true are three different ones of."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _finite(text: str) -> float:
    """A number of a document, which may not be NaN or infinite: JSON has no such numbers."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def read_number(where: object, name: str, value: Any, *, zero: bool = False) -> float:
    """A number in (0, LARGEST], or 0 where it may be.

    Args:
        where: what must have it, for messages.
        name: of the number.
        value: any JSON value.
        zero: whether it may be 0.

    Raises:
        StoreError: it is something else.
    """
    if type(value) not in {int, float} or not (0 < value <= LARGEST or (zero and value == 0)):
        low = "[0" if zero else "(0"
        raise StoreError(f"{where} must have {name} in {low}, {LARGEST:g}]. Got {quoted(value)}.")
    return float(value)


def read_count(where: object, name: str, value: Any, most: int) -> int:
    """A number of things in [1, most]; arguments as those of `read_number`.

    Raises:
        StoreError: it is something else.
    """
    if type(value) is not int or not 1 <= value <= most:
        raise StoreError(f"{where} must have {name} in [1, {most}]. Got {quoted(value)}.")
    return value


def read_grid(where: object, name: str, value: Any) -> tuple[int, ...]:
    """(orientations, *shape of a signal on the base); arguments as those of `read_number`.

    Raises:
        StoreError: it is something else.
    """
    fits = isinstance(value, list) and 2 <= len(value) <= 1 + MOST_SIDES
    if not fits or not all(type(n) is int and 0 < n < 2**31 for n in value):
        raise StoreError(
            f"{where} must have a {name} of orientations and 1 to {MOST_SIDES} sides. "
            f"Got {quoted(value)}."
        )
    return tuple(value)
