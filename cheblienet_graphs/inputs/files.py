"""Files of users: points from .npy, .npz and .csv; errors of what reads files, as one line."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import (
    MISSING,
    CheblienetError,
    InputError,
    SpecError,
    Unquoted,
    listed,
    needing,
    one_line,
    quoted,
)
from cheblienet_graphs.inputs.coordinates import unit_of
from cheblienet_graphs.limits import file_path, flag
from cheblienet_graphs.typing import Floats

SPHERE, PLANE, AREA = ("latitude", "longitude"), ("x", "y"), "area"
SHORT = {"lat": "latitude", "lon": "longitude"}
SEPARATORS = (",", ";", "\t")
LONGEST_REASON = 200
"""Most characters of a message of another library."""


@contextmanager
def reading(file: Path, form: str, extra: str | None = None) -> Iterator[None]:
    """Turn whatever a library raises for a file into one line.

    Args:
        file: the file.
        form: its kind, with an article: "a NetCDF file".
        extra: of this package, which brings the library that reads it; None where one is there.

    Raises:
        InputError: in place of any exception that is not this package's own.
        CheblienetError: the library is not installed.
    """
    try:
        _check_file(file)
        with needing(f"{file} is {form}; this", extra) if extra else nullcontext():
            yield
    except CheblienetError:
        raise
    except MemoryError as error:
        raise InputError(f"{file} does not fit into memory.") from error
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{file} can't be read: {error.strerror}.") from error
        raise InputError(f"{file} can't be read as {form}: {reason(error)}.") from error


def reason(error: Exception) -> str:
    """Message of another library's error, on one line without a full stop."""
    said = one_line(" ".join(f"{error}".split()) or type(error).__name__, LONGEST_REASON)
    return said.rstrip(".?")


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
    accepted = "an array of numbers"
    array = unmasked(field, value, accepted)
    if array.dtype.kind not in "iuf":
        raise SpecError(field, accepted, value)
    return array.astype(np.float64)


def unmasked(field: str, value: object, accepted: str = "an array") -> npt.NDArray[Any]:
    """The array that numpy makes of a value.

    Args:
        field: of the value, for messages.
        value: an array, or what can become one.
        accepted: words for what it must be.

    Raises:
        SpecError: numpy makes nothing of it, as of rows of several lengths and of tensors that are
            sparse, need gradients or are on a GPU; or some of its values are masked, which an array
            would show.
    """
    if np.ma.is_masked(value):
        filled = "an array without masked values; fill them, as .filled() does"
        raise SpecError(field, filled, MISSING)
    if (unit := unit_of(value)) is not None:
        alone = "Give its values, as .value does."
        raise SpecError(field, "without a unit", Unquoted(f"the unit {quoted(unit)}"), alone)
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        found = value if isinstance(value, list | tuple) else Unquoted(type(value).__name__)
        raise SpecError(field, accepted, found, f"numpy says: {reason(error)}.") from error


def read_points(file: str | Path, *, sphere: bool) -> Floats:
    """The points in a file: x, y on the plane, latitude, longitude in degrees on the sphere.

    - `.npy`: (N, 2) in this order, or (N, 3) with the areas.
    - `.npz`: arrays (N,) of these names, lat and lon too, and area if there is one.
    - `.csv`: columns of these names in a header line, in any order; others are left out. Commas
      separate, or semicolons or tabs where the header has them.

    Args:
        file: the file.
        sphere: which names to look for.

    Returns:
        (N, 2) or (N, 3) float64, in the order of the file; neither checked for their range nor
        finite.

    Raises:
        InputError: there is no such file, it can't be read, or it holds no such columns.
    """
    file = file_path("file", file)
    readers = {".npy": _npy, ".npz": _npz, ".csv": _csv}
    read = readers.get(file.suffix.lower())
    if read is None:
        raise InputError(f"{file} must be one of {', '.join(readers)}.")
    return read(file, SPHERE if flag("sphere", sphere) else PLANE)


def _npy(file: Path, columns: Sequence[str]) -> Floats:
    values = read_npy(file)
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        raise InputError(
            f"{file} must have shape (N, 2): {', '.join(columns)}; or (N, 3), with the areas. "
            f"Got {values.shape}."
        )
    return _numbers(file, values)


def _npz(file: Path, columns: Sequence[str]) -> Floats:
    with reading(file, "a .npz file"), file.open("rb") as opened:
        archive = np.load(opened, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise InputError(f"{file} holds one array without a name; call it .npy.")
        with archive:
            places = _places(file, archive.files, columns, "arrays named")
            arrays = {archive.files[place]: archive[archive.files[place]] for place in places}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1 or len(shapes.pop()) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"{file} must hold arrays (N,) of one length. Got {found}.")
    return np.stack([_numbers(file, array) for array in arrays.values()], axis=1)


def _csv(file: Path, columns: Sequence[str]) -> Floats:
    form = "a .csv file in UTF-8"
    with reading(file, form), file.open(encoding="utf-8-sig", newline="") as opened:
        header = opened.readline()
        unquoted = re.sub(r'"[^"]*"', "", header)
        separator = next((sign for sign in SEPARATORS if sign in unquoted), ",")
        titles = next(csv.reader([header], delimiter=separator), [])
        if titles and None not in map(_number, titles):
            line = separator.join(columns)
            raise InputError(f"{file} has no header line. Begin it with the line {line}.")
        places = _places(file, titles, columns, "columns named")
        rows = csv.reader(opened, delimiter=separator, strict=True)
        values = [_row(file, rows.line_num + 1, titles, row, places) for row in rows if row]
    return np.array(values, dtype=np.float64).reshape(-1, len(places))


def _row(
    file: Path, line: int, titles: Sequence[str], row: Sequence[str], places: Sequence[int]
) -> list[float]:
    if len(row) != len(titles):
        raise InputError(
            f"{file}, line {line}: must have {len(titles)} fields, as its header. Got {len(row)}."
        )
    numbers = []
    for place in places:
        if (number := _number(row[place])) is None:
            name = titles[place].strip()
            text = quoted(row[place])
            raise InputError(f"{file}, line {line}: {name} must be a number. Got {text}.")
        numbers.append(number)
    return numbers


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _places(file: Path, titles: Sequence[str], columns: Sequence[str], kind: str) -> list[int]:
    """Places of the columns among the titles, in their order; that of the areas last, if any."""
    stripped = [title.strip().lower() for title in titles]
    names = [SHORT.get(name, name) for name in stripped]
    present = [column for column in (*columns, AREA) if column in names]
    for column in present:
        if names.count(column) > 1:
            raise InputError(f"{file} has {column} twice; leave out one.")
    if not set(columns) <= set(present):
        raise InputError(
            f"{file} must have {kind} {' and '.join(columns)}. "
            f"Got {listed(map(quoted, titles)) or 'none'}."
        )
    return [names.index(column) for column in present]


def _numbers(file: Path, values: npt.NDArray[Any]) -> Floats:
    if values.dtype.kind not in "iuf":
        raise InputError(f"{file} must hold numbers. Got {values.dtype}.")
    return values.astype(np.float64)
