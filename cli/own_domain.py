"""Options that name files or boxes: what GraphSpec takes instead of them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cheblienet_graphs.errors import InputError, Remedy, SpecError
from cheblienet_graphs.inputs.regions import domain, region


def contents(given: Mapping[str, Any], *, sphere: bool) -> dict[str, Any]:
    """Options with the contents of their files, and boxes as numbers.

    Raises:
        InputError: a file can't be read, or is not what it must be.
        SpecError: a box is none.
    """

    def points(files: tuple[str, ...]) -> list[Any]:
        return [_points(file, sphere=sphere) for file in files]

    readers: dict[str, Callable[[Any], Any]] = {
        "mask": _mask,
        "coordinates": points,
        "region": region,
        "domain": domain,
    }
    return {
        field: readers[field](value) if field in readers else value
        for field, value in given.items()
    }


@contextmanager
def files_named(given: Mapping[str, Any]) -> Iterator[None]:
    """Let errors of what files hold begin with the names of the files.

    Raises:
        InputError: instead of a SpecError of a field that came from files.
    """
    try:
        yield
    except SpecError as error:
        named = given.get(error.field) if error.field in {"mask", "coordinates"} else None
        if named is None:
            raise
        files = named if isinstance(named, str) else ", ".join(named)
        raise InputError(f"{files}: ", Remedy(error.field), " ", error.complaint) from error


def _mask(source: str) -> Any:
    from cheblienet_graphs.inputs.mask_files import read_mask  # numpy: others do without

    return read_mask(source)


def _points(file: str, *, sphere: bool) -> Any:
    from cheblienet_graphs.inputs.points_files import read_points  # numpy: others do without

    return read_points(file, sphere=sphere)
