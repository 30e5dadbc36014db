"""Rules that recorded facts are read by, whatever they are."""

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from cheblienet_graphs.errors import StoreError, quoted
from cheblienet_graphs.limits import Range
from cheblienet_graphs.store import layout

LARGEST_COUNT = 2**63 - 1
LARGEST = 1e15
"""Largest number that is no count."""
ABOVE_0 = math.nextafter(0, 1)
"""The least positive number."""
ROUNDING = 1e-9
"""Largest relative difference of a number between two machines."""

Rule = Callable[[Any], bool]
"""A check of a fact's value: true where it is possible."""


def is_integer(low: int, high: int) -> Rule:
    """An integer in [low, high]."""
    return lambda value: type(value) is int and low <= value <= high


def is_text(pattern: str) -> Rule:
    """A text of which all matches a pattern."""
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


def is_within(value: Any, range_: Range[float]) -> bool:
    """True for a number in a range."""
    return type(value) in {int, float} and range_.low <= value <= range_.high


def is_object(value: Any) -> bool:
    """A JSON object."""
    return isinstance(value, dict)


def is_time(value: Any) -> bool:
    """A time in ISO 8601 with a zone."""
    try:
        return SHORT(value) and dt.datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


SHORT = is_text(r"[ -~]{1,64}")
SHA256 = is_text(r"[0-9a-f]{64}")
COUNT = is_integer(0, LARGEST_COUNT)
SIZE = Range(ABOVE_0, LARGEST)


def read(name: str, facts: Any, rules: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an object by their rules."""
    checked(name, facts, is_object)
    return {key: checked(f"{name}.{key}", facts.get(key), rule) for key, rule in rules.items()}


def checked(name: str, value: Any, rule: Any) -> Any:
    """The value itself, if it fits: a `Rule`, a range, the value that it must be, a list of these.

    Numbers are that value up to rounding; of other JSON values 1, 1.0 and true differ.

    Returns:
        Numbers that may be no integers as floats, lists with a rule for each element as tuples.

    Raises:
        StoreError: it does not fit; the message has its name and what it is.
    """
    if not _fits(value, rule):
        raise StoreError(f"{name} can't be {quoted(value)}")
    return _kept(value, rule)


def _fits(value: Any, rule: Any) -> bool:
    if callable(rule):
        return bool(rule(value))
    if isinstance(rule, list):
        return isinstance(value, list) and len(value) == len(rule) and all(map(_fits, value, rule))
    if isinstance(rule, float):
        known = is_within(value, Range(ABOVE_0, LARGEST**2))
        return known and math.isclose(value, rule, rel_tol=ROUNDING)
    if isinstance(rule, Range):
        return is_within(value, rule)
    return layout.same(value, rule)


def _kept(value: Any, rule: Any) -> Any:
    if isinstance(rule, list):
        return tuple(map(_kept, value, rule))
    return float(value) if isinstance(rule, float | Range) else value
