"""A specification as a command line."""

from collections.abc import Mapping
from typing import Any

from cheblienet_graphs.spec.naming import as_typed

FILE = "FILE"
"""Placeholder of a file that only the builder of the graph has."""
SPELLED = {"coordinates": "points-file"}
"""Options with another name than their parameter."""
_BETWEEN = {"size": "x"} | dict.fromkeys(("region", "spacing", "refined", "pl"), ",")
"""Separators of the parts of a value, which else is one word."""


def option(field: str, value: Any = None) -> str:
    """A parameter as '--name value'; of what is true or false '--name' or '--no-name'.

    Args:
        field: name of the parameter.
        value: of it; what can't be written as one word is written by `command`.
    """
    name = SPELLED.get(field, field.replace("_", "-"))
    if value is False:
        return f"--no-{name}"
    return f"--{name}" if value is None or value is True else f"--{name} {value}"


def command(fields: Mapping[str, Any], name: str | None) -> str:
    """The command line that builds from these fields.

    Args:
        fields: JSON types; files are FILE.
        name: of the graph; None for the default.
    """
    given = {field: value for field, value in fields.items() if field != "manifold"}
    if name is not None:
        given["name"] = name
    texts = [option(field, text) for field in given for text in _texts(field, given[field])]
    return " ".join(["clg", "build", str(fields["manifold"]), *texts])


def _texts(field: str, value: Any) -> list[Any]:
    """The words after an option, for each time that it is given."""
    if field in {"coordinates", "mask"}:
        return [FILE] * (len(value["points"]) if field == "coordinates" else 1)
    if field in _BETWEEN:
        return [_BETWEEN[field].join(map(as_typed, value))]
    return [value if isinstance(value, bool) else as_typed(value)]
