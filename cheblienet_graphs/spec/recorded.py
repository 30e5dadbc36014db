"""Records of a specification in stores: JSON types, their digest, the schema that knows them."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.errors import MISSING, SpecError
from cheblienet_graphs.limits import choice
from cheblienet_graphs.manifolds import MANIFOLDS

if TYPE_CHECKING:  # a specification is recorded by these functions
    from cheblienet_graphs.spec.graph_spec import GraphSpec


def digest(values: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a specification, in hex."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `GraphSpec` for a record by its `to_dict`.

    Raises:
        SpecError: there is no such manifold.
    """
    fields = {**values}
    fields.setdefault("boundary_correction", False)
    if "region" in fields:
        fields.setdefault("mask_edge", "pixels")
    geometry = MANIFOLDS[choice("manifold", fields.get("manifold"), tuple(MANIFOLDS))]
    if not geometry.oriented or "axes" in fields:
        fields.pop("orientations", None)
    return fields


def check_recorded(values: Mapping[str, Any]) -> None:
    """See that JSON has masks and points by their digests: else points would be computed.

    Raises:
        SpecError: it has a region and no mask, or a list of values.
    """
    for field in ("mask", "coordinates"):
        if isinstance(value := values.get(field), list | tuple):
            raise SpecError(field, "as `to_dict()` writes it, or an array", value)
    if values.get("region") is not None and values.get("mask") is None:
        accepted = "given with a region, as `to_dict()` writes it: the number of points inside"
        raise SpecError("mask", accepted, MISSING)


def schema(spec: "GraphSpec") -> str:
    """The schema of versions with a specification, the oldest that knows all it says.

    On s2 it is the first with named dimensions of arrays.
    """
    later = spec.mask, spec.directional, spec.drift, spec.boundary_correction, spec.axes
    plain = (*later, spec.spacing) == (None,) * 6
    cut, turned = spec.mask_edge == "cut", spec.period == "2pi"
    since = {"1.1": not plain, "1.2": turned, "1.3": spec.gradients, "1.4": cut}
    since["1.6"] = spec.manifold == "s2"
    later_ones = (one for one, applies in since.items() if applies)
    points = spec.sampling_kind.schemas[spec.levels > 1]
    return max([points, spec.weighting.schema, *later_ones])
