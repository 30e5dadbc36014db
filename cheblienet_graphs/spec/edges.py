"""The fields of edges and operators: each is checked, normalized, and given its default."""

from collections.abc import Mapping
from typing import Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import Given, choice, flag, integer, left_out
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.samplings import SamplingKind
from cheblienet_graphs.weights import WEIGHTINGS, Weighting
from cheblienet_graphs.weights.directional import parse_directional

FEWEST_TURNING = 3
"""Orientations of which each has two others next to it."""


def weighting_of(geometry: Manifold, kind: type[SamplingKind], given: Given) -> Weighting:
    """The weights with their parameters.

    Raises:
        SpecError: there are none of this name there, or a value is out of range, or given where it
            does not apply.
    """
    weights = WEIGHTINGS[choice("weights", given["weights"], tuple(WEIGHTINGS))]
    if (reason := weights.absence(geometry, lattice=kind.regular)) is not None:
        every = WEIGHTINGS.values()
        names = [w.name for w in every if w.absence(geometry, lattice=kind.regular) is None]
        accepted = f"{' or '.join(names)} on {geometry.name} with {kind.name} sampling"
        raise SpecError("weights", accepted, weights.name, reason)
    return weights.parse(geometry, kind, given)


def operator_fields(
    geometry: Manifold,
    kind: type[SamplingKind],
    weighting: Weighting,
    values: Mapping[str, Any],
    given: Given,
) -> dict[str, Any]:
    """The fields of Laplacians and of what corrects their weights.

    Args:
        geometry: the manifold.
        kind: of the sampling.
        weighting: of the edges.
        values: normalized ones of the other fields.
        given: to the specification.

    Raises:
        SpecError: a value is out of range, or given where it does not apply.
    """
    orientations, delta = values["orientations"], given["directional"]
    asked = given["boundary_correction"]
    fields = {
        "directional": parse_directional(geometry, kind, orientations, delta),
        "gradients": _gradients(geometry, orientations, given["gradients"]),
        "boundary_correction": _correction(geometry, kind, weighting, values, asked),
        **_rescaled(weighting, given["laplacian"], given["lambda_max"]),
    }
    weighting.check(values, given)
    return fields


def _rescaled(weighting: Weighting, laplacian: Any, lambda_max: Any) -> dict[str, Any]:
    """The Laplacian and what it is rescaled by."""
    if laplacian is None:
        laplacian = weighting.laplacian
    kind = choice("laplacian", laplacian, limits.LAPLACIANS)
    if isinstance(lambda_max, str) and lambda_max == "exact":
        return {"laplacian": kind, "lambda_max": "exact"}
    integer("lambda_max", lambda_max, 2, 2, "'exact' or 2")
    if kind == "combinatorial":
        remedy = "2 bounds the normalized one."
        raise SpecError("lambda_max", "'exact' with the combinatorial Laplacian", 2, remedy)
    return {"laplacian": kind, "lambda_max": 2}


def _correction(
    geometry: Manifold,
    kind: type[SamplingKind],
    weighting: Weighting,
    values: Mapping[str, Any],
    asked: Any,
) -> Literal[True] | None:
    """True where open sides are corrected, which they are by default; else None."""
    asked = _choice("boundary_correction", asked)
    boundary, needless = values["boundary"], weighting.uncorrected(geometry)
    for excluded, where in (
        (boundary is None, f"on {geometry.name}, which has no boundary"),
        (not kind.regular, f"with {kind.name} sampling"),
        (boundary != "open", f"with a {boundary} boundary"),
        (needless is not None, needless or ""),
        (values["mask_edge"] == "cut", "with a mask that cuts pixels, at sides of the domain too"),
    ):
        if excluded:
            left_out("boundary_correction", asked or None, where)
            return None
    return None if asked is False else True


def _choice(field: str, asked: Any) -> bool | None:
    """Whether something is wanted; None where that is left out."""
    return asked if asked is None else flag(field, asked)


def _gradients(geometry: Manifold, orientations: int, asked: Any) -> Literal[True] | None:
    """True where gradients are stored."""
    if not _choice("gradients", asked):
        return None
    if geometry.oriented and not geometry.fiber.cyclic:
        left_out("gradients", asked, f"on {geometry.name}: they are of r2, r3, s2, se2 and so3")
    if geometry.oriented and orientations < FEWEST_TURNING:
        with_gradients = f"at least {FEWEST_TURNING} with gradients, which turn to both sides"
        raise SpecError("orientations", with_gradients, orientations)
    return True
