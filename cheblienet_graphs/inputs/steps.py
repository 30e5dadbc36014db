"""Steps of a field in a file along dimensions besides latitudes and longitudes, such as time."""

import re
import warnings
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

DATE = re.compile(r"\d{4}-\d\d.*")
"""The beginning of a time, to the month at least."""


def place_of(
    field: "xr.DataArray", others: list[str], where: str, steps: str | None
) -> dict[str, int]:
    """The index of a field along each other dimension: of its step, or of the only one.

    Args:
        field: of a file.
        others: names of the dimensions besides latitudes and longitudes.
        where: FILE:VARIABLE, for messages.
        steps: one for each of them that is longer than 1: its number, or the beginning of a time.

    Raises:
        InputError: there is no such step, or one is missing.
    """
    long = [name for name in others if field.sizes[name] != 1]
    sizes = ", ".join(f"{name} ({field.sizes[name]})" for name in long) or "none"
    if steps is None and long:
        chosen = ",".join("0" for _ in long)
        raise InputError(
            f"{where} must have latitudes and longitudes alone. It has {sizes} too; select one, "
            f"as {where}@{chosen}."
        )
    given = steps.split(",") if steps is not None else []
    long = others if len(given) == len(others) else long
    named = {
        name: _dated(field, name, step, where) if DATE.fullmatch(step) else step
        for name, step in zip(long, given, strict=False)
    }
    known = [step.isdecimal() and int(step) < field.sizes[name] for name, step in named.items()]
    if len(given) != len(long) or not all(known):
        raise InputError(
            f"{where} must have a step, from 0, for each other dimension: {sizes}. Got @{steps}."
        )
    return dict.fromkeys(others, 0) | {name: int(step) for name, step in named.items()}


def _dated(field: "xr.DataArray", name: str, date: str, where: str) -> str:
    """The number of the only step whose time begins with a date."""
    import xarray as xr  # an extra

    along = field[name]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", xr.SerializationWarning
        )  # of calendars without a datetime64
        times = xr.decode_cf(along.to_dataset(name=f"{name}_")).coords[name].values
    texts = [str(time).replace(" ", "T") for time in times]
    steps = [number for number, text in enumerate(texts) if text.startswith(date)]
    if len(steps) != 1:
        known = f"{name} from {texts[0][:19]} to {texts[-1][:19]}" if texts else "none"
        raise InputError(
            f"{where} must have one step whose {name} begins with {date}. Got {len(steps)}; it has "
            f"{known}."
        )
    return str(steps[0])
