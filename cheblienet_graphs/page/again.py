"""How to build a graph, again or another way: the command, and the lines of Python."""

import json
import math
from collections.abc import Mapping
from typing import Any

from cheblienet_graphs.errors import Remedy, SpecError
from cheblienet_graphs.recipes import recipes
from cheblienet_graphs.report.findings import Spell
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.mask import Mask

FILE = "FILE"
"""Stands for a file that only whoever built the graph has,"""
BOX = "X0,Y0,X1,Y1"
"""and for the box around their points."""
_BETWEEN = {"size": "x", "region": ",", "spacing": ","}


def least_fields(spec: GraphSpec) -> dict[str, Any]:
    """The arguments of `GraphSpec` that are not implied by the others, as JSON types.

    Files and boxes that only whoever built the graph has are written as a version knows them.
    """
    fields = spec.to_dict() | {"boundary_correction": bool(spec.boundary_correction)}
    if not spec.geometry.oriented or spec.axes is not None:
        del fields["orientations"]
    for name in sorted(fields.keys() - {"manifold", "mask"}):
        if _makes(without := _without(fields, name), spec):
            fields = without
    # That of a region takes a look at all points, so it is the last; given points are not known.
    if spec.region is not None and (
        spec.coordinates is not None or _makes(_without(fields, "mask"), spec)
    ):
        fields = _without(fields, "mask")
    if spec.coordinates is not None:
        fields |= {"domain": BOX} if spec.geometry.base.flat else {"units": "degrees"}
    return _readable(fields)


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field != name}


def _makes(fields: Mapping[str, Any], spec: GraphSpec) -> bool:
    try:
        return GraphSpec(**fields) == spec
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


def changed_fields(spec: GraphSpec, changed: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the same graph but for some, without those that do not go with these.

    None where there is no such graph.
    """
    fields = least_fields(spec) | changed
    # What is inside a region is known, so no look is taken at its points.
    known = {} if spec.mask is None else {"mask": spec.mask.to_dict()}
    while True:
        try:
            GraphSpec(**fields | known)
        except SpecError as error:  # of a field that does not go with the remedy
            if error.field in changed or error.field not in fields:
                return None
            del fields[error.field]
        else:
            return fields


def typed(fields: Mapping[str, Any], name: str | None, option: Spell | None) -> str:
    """What builds from these fields: a command, or Python where no options are known."""
    return python(fields, name) if option is None else command(fields, name, option)


def command(fields: Mapping[str, Any], name: str | None, option: Spell) -> str:
    """The command line that builds from these fields.

    Args:
        fields: JSON types; files are FILE.
        name: of the graph; None for the default.
        option: writes a parameter as an option.
    """
    texts = [(field, text) for field, value in fields.items() for text in _texts(field, value)]
    if name is not None:
        texts.append(("name", name))
    options = [option(Remedy(field, text)) for field, text in texts if field != "manifold"]
    return " ".join(["clg", "build", str(fields["manifold"]), *options])


def _texts(field: str, value: Any) -> list[Any]:
    """What is typed after an option, as often as that is given."""
    if field == "coordinates":
        return [FILE] * len(value["points"])
    if field == "mask":
        return [FILE]
    if field in _BETWEEN:
        return [_BETWEEN[field].join(map(_number, value))]
    return [value if isinstance(value, bool) else _number(value)]


def _number(value: Any) -> str:
    """A value as it is typed: 96, 0.1, periodic."""
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def python(fields: Mapping[str, Any], name: str | None) -> str:
    """The lines of Python that build from these fields.

    Args:
        fields: JSON types; `mask`, `coordinates` and `domain` are the builder's.
        name: of the graph; None for the default.
    """
    given = [json.dumps(fields["manifold"])]
    given += [
        f"{field}={_literal(field, fields[field])}" for field in fields if field != "manifold"
    ]
    named = "" if name is None else f", name={json.dumps(name)}"
    lines = ["from cheblienet_graphs import GraphSpec, build", ""]
    return "\n".join([*lines, f'build(GraphSpec({", ".join(given)}), "graphs.zarr"{named})'])


def _literal(field: str, value: Any) -> str:
    if field in {"mask", "coordinates", "domain"}:
        return field
    if isinstance(value, list):
        return f"({', '.join(map(_literal_number, value))})"
    return _literal_number(value)


def _literal_number(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else _number(value)


def missing(spec: GraphSpec, fields: Mapping[str, Any], spell: Spell = str) -> list[str]:
    """Sentences about what the specification knows by its digest alone; `spell` writes fields."""
    mask, domain = spell(Remedy("mask")), spell(Remedy("domain"))
    sentences = []
    if spec.mask is not None and "mask" in fields:
        order = spell(Remedy("mask_order", "ring"))
        ring = f" One in ring order takes {order}, too." if spec.nside else ""
        sentences.append(
            f"The mask is not part of this page: {mask} stands for the file or array with "
            f"{_inside(spec.mask)}.{ring}"
        )
    if spec.coordinates is not None:
        many = " / ".join(f"{count:,}" for count in spec.coordinates.points)
        box = (
            f" {domain} stands for their box, four numbers; if none was given, leave {domain} out."
        )
        sentences.append(
            f"The points are not part of this page: {spell(Remedy('coordinates'))} stands for the "
            f"files or arrays of {many} points, finest first, of SHA-256 "
            f"{spec.coordinates.sha256}." + (box if spec.geometry.base.flat else "")
        )
        if spec.mask is not None and "mask" not in fields:
            sentences.append(
                f"If there was a mask besides the region, give it as {mask}: together they have "
                f"{_inside(spec.mask)}."
            )
    return sentences


def _inside(mask: Mask) -> str:
    return f"{mask.inside[0]:,} points inside, of SHA-256 {mask.sha256}"
