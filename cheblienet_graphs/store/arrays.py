"""Arrays of a store, mapped copy-on-write: without a copy, and without a descriptor for each."""

import ctypes
import math
import mmap
import os
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.limits import Range
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.durable import unreadable
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.rules import LARGEST

Shape = tuple[int | None, ...]
"""Shape of an array; None is a side of any length."""

EVERY = Range(-LARGEST, LARGEST)
"""Range of coordinates, and of entries of gradients."""
CHECKED_AT_ONCE = 2**20
"""Values that are checked together."""
LEAST_FORGOTTEN = 2**20
"""Size of arrays from which their pages are worth taking back, in bytes."""
_UNNEEDED = 4
"""MADV_DONTNEED."""
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_LIBRARY.mmap.restype = ctypes.c_void_p
_LIBRARY.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
_LIBRARY.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value
"""Value that mmap returns where it fails."""


def mapped_array(
    folder: Folder, shape: Shape | None = None, dtypes: tuple[str, ...] | None = None
) -> npt.NDArray[Any]:
    """An array of a version, mapped copy-on-write.

    Args:
        folder: of its node.
        shape: that it must have; default any.
        dtypes: keys of layout.DTYPES, one of which it must have; default any.

    Raises:
        StoreError: it is missing, not of the format, of another shape or type, or not of the size
            that its metadata says.
    """
    actual, dtype = layout.array_type(folder)
    if shape is not None and not _fits(actual, shape):
        sides = ", ".join("any" if side is None else str(side) for side in shape)
        raise StoreError(f"{folder} must have shape [{sides}]. Got {quoted(list(actual))}.")
    if dtypes is not None and dtype not in dtypes:
        raise StoreError(f"{folder} must be of type {' or '.join(dtypes)}. Got {quoted(dtype)}.")
    kind = np.dtype(layout.DTYPES[dtype])
    nbytes = math.prod(actual) * kind.itemsize
    if nbytes == 0:
        return np.zeros(actual, kind)
    chunk = folder / layout.chunk_path(len(actual))
    descriptor, size = chunk.opened()
    try:
        if size != nbytes:
            raise StoreError(f"{chunk} has {size} bytes; its metadata promises {nbytes}.")
        return np.frombuffer(_mapped(descriptor, nbytes), kind).reshape(actual)
    except OSError as error:
        raise unreadable(chunk, error) from error
    finally:
        os.close(descriptor)


def mapped_places(array: Folder, count: int, points: int) -> npt.NDArray[np.integer]:
    """(count,) where points inside a mask are among all, ascending.

    Raises:
        StoreError: as `mapped_array`, or they do not ascend, or lie beyond all points.
    """
    places = mapped_array(array, (count,), ("int32", "int64"))
    if (np.diff(places) <= 0).any() or places[0] < 0 or places[-1] >= points:
        raise StoreError(f"{array} must ascend in [0, {points - 1}].")
    return places


def within(
    array: Folder, values: npt.NDArray[Any], allowed: Range[float] = EVERY
) -> npt.NDArray[Any]:
    """The values of an array, if all are within a range, which NaN never is.

    Raises:
        StoreError: they are not.
    """
    for start in range(0, len(values), CHECKED_AT_ONCE):
        block = values[start : start + CHECKED_AT_ONCE]
        if not (block.min() >= allowed.low and block.max() <= allowed.high):
            raise StoreError(f"{array} has values that are not finite or outside {allowed}.")
    return values


def _fits(actual: tuple[int, ...], shape: Shape) -> bool:
    return len(actual) == len(shape) and all(
        side in {None, n} for n, side in zip(actual, shape, strict=True)
    )


def _mapped(descriptor: int, nbytes: int) -> memoryview:
    """The bytes of an open file, mapped copy-on-write.

    Python's mmap would keep a descriptor for each map, and a process would run out of them after a
    few dozen graphs.
    """
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = _LIBRARY.mmap(None, nbytes, access, mmap.MAP_PRIVATE, descriptor, 0)
    if address == _FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    held = (ctypes.c_uint8 * nbytes).from_address(address)
    # Not at exit, when arrays may still be read.
    weakref.finalize(held, _LIBRARY.munmap, address, nbytes).atexit = False
    return memoryview(held)


def forget_pages(array: npt.NDArray[Any]) -> None:
    """Let the system take back the pages of a mapped array that a check has read.

    They stay cached for all processes, but are no memory of this one until it uses them: so many
    graphs can be open. Nothing of the array may have been written. Where the system does not do so,
    nothing happens.

    Args:
        array: as `mapped_array` returns it.
    """
    if array.nbytes >= LEAST_FORGOTTEN and hasattr(_LIBRARY, "madvise"):
        _LIBRARY.madvise(
            ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), _UNNEEDED
        )
