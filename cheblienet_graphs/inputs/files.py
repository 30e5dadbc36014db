"""Files of users: errors of the libraries that read them, as one line that names the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import MISSING, CheblienetError, InputError, SpecError, one_line
from cheblienet_graphs.typing import Floats

LONGEST_REASON = 200
"""Most characters of a message of another library."""


@contextmanager
def reading(file: Path, form: str) -> Iterator[None]:
    """Turn whatever a library raises for a file into one line.

    Args:
        file: the file.
        form: its kind, with an article: "a NetCDF file".

    Raises:
        InputError: instead of any exception that is none of ours.
    """
    try:
        _check_file(file)
        yield
    except CheblienetError:
        raise
    except MemoryError as error:
        raise InputError(f"{file} does not fit into memory.") from error
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{file} can't be read: {error.strerror}.") from error
        reason = one_line(" ".join(f"{error}".split()) or type(error).__name__, LONGEST_REASON)
        raise InputError(f"{file} can't be read as {form}: {reason.rstrip('.?')}.") from error


def _check_file(file: Path) -> None:
    if not file.is_file():  # reading a pipe would wait
        raise InputError(f"{file} {'is not a file' if file.exists() else 'does not exist'}.")


def read_npy(file: Path) -> npt.NDArray[Any]:
    """The array in a .npy file, mapped read-only: a header can't ask for more than the file holds.

    Raises:
        InputError: it is no whole .npy file, or holds Python objects.
    """
    with reading(file, "a .npy file"):
        array = np.load(file, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise InputError(f"{file} holds several arrays, as .npz files do; save one as .npy.")
        return np.asarray(array)


def reals(field: str, value: object) -> Floats:
    """Numbers as a float64 array of their own.

    Raises:
        SpecError: something else.
    """
    array = unmasked(field, value)
    if array.dtype.kind not in "iuf":
        raise SpecError(field, "an array of numbers", value)
    return array.astype(np.float64)


def unmasked(field: str, value: object) -> npt.NDArray[Any]:
    """What numpy makes of a value, as `array_of`.

    Raises:
        SpecError: some of its values are masked, which an array would show.
    """
    if np.ma.is_masked(value):
        accepted = "an array without masked values; fill them, as .filled() does"
        raise SpecError(field, accepted, MISSING)
    return array_of(value)


def array_of(value: object) -> npt.NDArray[Any]:
    """What numpy makes of a value; an array of None where that is nothing."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError):  # rows of several lengths, or on a GPU
        return np.asarray(None)
