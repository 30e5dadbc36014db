"""A specification by what differs from the defaults: arguments, the default name, a line."""

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.samplings.classical_grids import classical_name

if TYPE_CHECKING:  # a specification names itself by these functions
    from cheblienet_graphs.spec.graph_spec import GraphSpec

LONGEST = 48
"""Most characters of a default name that lists fields."""
MOST = 64
"""Most characters of any name."""
DIGITS = 8
"""Number of the digest's digits in a name that does not list fields."""
SCREEN = 96
"""Columns of a printed specification."""
_ELSEWHERE = {"manifold", "sampling", "gaussian", "orientations", "axes"}
_ELSEWHERE |= {"mask", "coordinates", "region"}
"""Fields that the rest of a name shows, or its digits."""
_NAMED = {"xi", "mask_edge", "lambda_max"}
"""Fields with words as values that need the field's name beside them."""


def least_fields(spec: "GraphSpec") -> dict[str, Any]:
    """The arguments of `GraphSpec` that the others do not imply, as JSON types.

    Masks and points are as a version knows them; eps is given by its square where that is shorter,
    and a classical grid by its name.
    """
    told = spec.to_dict()
    implied = spec.implied
    fields = {name: value for name, value in told.items() if name not in implied}
    for name, value in (("boundary_correction", False), ("mask_edge", "pixels")):
        if name not in implied:
            fields.setdefault(name, value)
    squared = float(f"{spec.eps**2:.12g}")
    shorter = math.sqrt(squared) == spec.eps and len(repr(squared)) < len(repr(spec.eps))
    named: dict[str, tuple[str, Any]] = {"eps": ("eps_squared", squared)} if shorter else {}
    if spec.pl is not None and (grid := classical_name(spec.pl)) is not None:
        named["pl"] = "gaussian", grid
    return dict(named.get(field, (field, value)) for field, value in fields.items())


def without_field(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The fields but one."""
    return {field: value for field, value in fields.items() if field != name}


def specifies(fields: Mapping[str, Any], spec: "GraphSpec") -> bool:
    """True if these arguments give the specification."""
    try:
        return type(spec)(**fields) == spec
    except SpecError:
        return False


def as_typed(value: Any) -> str:
    """A value as it is typed: 96, 0.1, periodic."""
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def default_name(spec: "GraphSpec") -> str:
    """The size, then the fields that are not the default: 'se2-96x96x6-eps0.1-selling'.

    The first digits of the digest stand for fields that there is no room for, and for masks,
    regions and given points: 'se2-96x96x6-masked-eps0.1-12ab34cd'. If the name is still too long,
    they replace the size as well.
    """
    size = sizes_in_name(spec)
    listed = without_field(least_fields(spec), spec.sampling_kind.field)
    fields = [*_parts(listed)]
    if spec.mask is None and spec.coordinates is None:
        name = "-".join([size, *fields])
        if len(name) <= LONGEST:
            return name
    domain = [] if spec.mask is None else ["masked" if spec.region is None else "region"]
    shown = ["-".join([size, *domain])]
    for part in fields:
        if len("-".join([*shown, part])) + 1 + DIGITS <= LONGEST:
            shown.append(part)
    name = "-".join([*shown, spec.sha256[:DIGITS]])
    return name if len(name) <= MOST else f"{spec.manifold}-{spec.sampling}{name[len(size) :]}"


def sizes_in_name(spec: "GraphSpec") -> str:
    """Manifold, sampling and size: 'se2-96x96x6', 's2-icosahedral-3'."""
    numbers = [*spec.sampling_kind.name_parts(spec.level_size(0))]
    if spec.geometry.oriented:
        numbers.append(spec.axes or spec.orientations)
    sampling = [] if spec.sampling_kind.regular else [spec.sampling]
    return "-".join([spec.manifold, *sampling, "x".join(map(str, numbers))])


def _parts(fields: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a name for the fields that its size does not show."""
    for field, value in fields.items():
        if field in _ELSEWHERE:
            continue
        if isinstance(value, str) and field not in _NAMED:
            yield value
        elif isinstance(value, bool):
            yield field.replace("_", "-") if value else f"no-{field.replace('_', '-')}"
        else:
            texts = value if isinstance(value, list) else [value]
            written = "x".join(map(as_typed, texts)).replace("+", "")
            between = "-" if written[0].isalpha() else ""
            yield f"{field.replace('_', '-')}{between}{written}"


def expression(spec: "GraphSpec") -> str:
    """'GraphSpec("se2", size=[96, 96], eps=0.1)': manifold, size and what is not the default."""
    told = least_fields(spec)
    manifold, field = told.pop("manifold"), spec.sampling_kind.field
    fields = {name: told[name] for name in (field, "gaussian") if name in told} | told
    given = (f"{field}={_short(value)}" for field, value in fields.items())
    return f"GraphSpec({', '.join([repr(manifold), *given])})"


def screen_text(spec: "GraphSpec") -> str:
    """The expression, then the other fields, which have their defaults, in lines of a screen."""
    told = least_fields(spec)
    told |= {"pl": None} if "gaussian" in told else {}
    implied = {name: value for name, value in spec.to_dict().items() if name not in told}
    if "eps_squared" in told:
        del implied["eps"]
    defaults = ", ".join(f"{name}={_short(value)}" for name, value in implied.items())
    parts = (expression(spec), f"by default: {defaults}")
    return "\n".join("\n".join(textwrap.wrap(p, SCREEN, subsequent_indent="  ")) for p in parts)


def _short(value: Any) -> str:
    """A value as Python writes it; of masks and points the beginning of their digest."""
    if isinstance(value, dict):
        return f"<SHA-256 {value['sha256'][:DIGITS]}>"
    return repr(tuple(value) if isinstance(value, list) else value)
