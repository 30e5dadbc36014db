"""Attributes of published versions, and the facts in them as numbers that can be trusted."""

from typing import Any

from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.groups import group_attributes
from cheblienet_models.errors import StoreError, quoted

Document = dict[str, Any]
"""A JSON object."""

LARGEST = 1e15
"""Largest number that is no count."""
MOST_SIDES = 4
"""Most sides of a signal on the base."""


def own_attributes(folder: Folder) -> Document:
    """Attributes that cheblienet gave to a group.

    Raises:
        StoreError: it has none.
    """
    attributes = group_attributes(folder).get("clg")
    if not isinstance(attributes, dict):
        raise StoreError(f"{folder} was not written by cheblienet.")
    return attributes


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
