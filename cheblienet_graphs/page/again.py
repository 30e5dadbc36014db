"""How to build a graph again: the command, and the lines of Python."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.recipes import recipes
from cheblienet_graphs.spec import GraphSpec

FILE = "FILE"
"""Stands for a file that only whoever built the graph has."""
_BETWEEN = {"size": "x", "region": ",", "spacing": ","}


def least_fields(spec: GraphSpec) -> dict[str, Any]:
    """The fields that are not implied by the others, as JSON types.

    `GraphSpec.from_dict` makes the same specification of them.
    """
    fields = spec.to_dict()
    # A region implies its mask; first of all, as it takes a look at all points.
    for name in sorted(fields, key=lambda field: field != "mask"):
        without = {field: value for field, value in fields.items() if field != name}
        if name != "manifold" and _makes(without, spec):
            fields = without
    return _readable(fields)


def _makes(fields: Mapping[str, Any], spec: GraphSpec) -> bool:
    try:
        return GraphSpec.from_dict(fields) == spec
    except SpecError:
        return False


def _readable(fields: dict[str, Any]) -> dict[str, Any]:
    """The same, with eps^2 instead of eps where that is the shorter number."""
    if "eps" in fields:
        eps, squared = fields["eps"], float(f"{fields['eps'] ** 2:.12g}")
        if math.sqrt(squared) == eps and len(repr(squared)) < len(repr(eps)):
            return {
                ("eps_squared" if name == "eps" else name): squared if name == "eps" else value
                for name, value in fields.items()
            }
    return fields


def recipe_of(spec: GraphSpec) -> str | None:
    """The name of the shipped recipe with this specification."""
    return next((recipe.name for recipe in recipes() if recipe.spec == spec), None)


def typed(fields: Mapping[str, Any], name: str | None, option: Callable[[str], str] | None) -> str:
    """What builds from these fields: a command, or Python where no options are known."""
    return python(fields, name) if option is None else command(fields, name, option)


def command(fields: Mapping[str, Any], name: str | None, option: Callable[[str], str]) -> str:
    """The command line that builds from these fields.

    Args:
        fields: JSON types; files are FILE.
        name: of the graph; None for the default.
        option: writes a parameter, `name=value` in backticks, as an option.
    """
    given = [(field, text) for field, value in fields.items() for text in _texts(field, value)]
    if name is not None:
        given.append(("name", name))
    options = [option(f"`{field}={text}`") for field, text in given if field != "manifold"]
    return " ".join(["clg", "build", str(fields["manifold"]), *options])


def _texts(field: str, value: Any) -> list[str]:
    """What is typed after an option, as often as that is given."""
    if field == "coordinates":
        return [FILE] * len(value["points"])
    if field == "mask":
        return [FILE]
    if field in _BETWEEN:
        return [_BETWEEN[field].join(map(_number, value))]
    return [_number(value)]


def _number(value: Any) -> str:
    """A value as it is typed: 96, 0.1, periodic."""
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def python(fields: Mapping[str, Any], name: str | None) -> str:
    """The lines of Python that build from these fields.

    Args:
        fields: JSON types; arrays are `mask` and `coordinates`.
        name: of the graph; None for the default.
    """
    said = [json.dumps(fields["manifold"])]
    said += [f"{field}={_literal(field, fields[field])}" for field in fields if field != "manifold"]
    named = "" if name is None else f", name={json.dumps(name)}"
    lines = ["from cheblienet_graphs import GraphSpec, build", ""]
    return "\n".join([*lines, f'build(GraphSpec({", ".join(said)}), "graphs.zarr"{named})'])


def _literal(field: str, value: Any) -> str:
    if field in {"mask", "coordinates"}:
        return field
    return (
        f"({', '.join(map(_literal_number, value))})"
        if isinstance(value, list)
        else (_literal_number(value))
    )


def _literal_number(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else _number(value)


def missing(spec: GraphSpec, fields: Mapping[str, Any]) -> list[str]:
    """Sentences about what the specification knows by its digest alone."""
    said = []
    if spec.mask is not None and "mask" in fields:
        said.append(
            f"The mask is not part of this page: `mask` stands for the file or array with "
            f"{spec.mask.inside[0]:,} points inside, of SHA-256 {spec.mask.sha256}."
        )
    if spec.coordinates is not None:
        many = " / ".join(f"{count:,}" for count in spec.coordinates.points)
        also = " The domain has to be given, too, unless it is their bounding box."
        said.append(
            "The points are not part of this page: `coordinates` stands for the files or arrays "
            f"of {many} points, finest first, of SHA-256 {spec.coordinates.sha256}."
            + (also if spec.geometry.base.flat else "")
        )
    return said
