"""The order at which eigenvalues converge, where README or benchmarks/RESULTS.md record it.

A construction that was not measured has none here, however likely one may be.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cheblienet_graphs.spec import GraphSpec

BUILT_FOR_METRIC = {
    "selling": "Selling's stencil",
    "matched": "matched weights",
    "voronoi": "Voronoi weights",
}
"""Weights that are made for the metric, in words."""


@dataclass(frozen=True)
class _Recorded:
    """An order that was measured.

    Args:
        applies: whether a specification is of the kind that was.
        words: the order, with {weights} for the weights.
    """

    applies: Callable[[GraphSpec], bool]
    words: str


def _lattice(spec: GraphSpec, boundary: str, *manifolds: str) -> bool:
    is_one = spec.sampling == "lattice" and spec.mask is None and spec.boundary == boundary
    return is_one and spec.manifold in manifolds


def _masked(spec: GraphSpec, manifold: str, *samplings: str) -> bool:
    open_or_sphere = spec.boundary in {"open", None}
    is_part = spec.mask is not None and open_or_sphere
    return is_part and spec.manifold == manifold and spec.sampling in samplings


def _corrected(spec: GraphSpec, *manifolds: str) -> bool:
    return _lattice(spec, "open", *manifolds) and bool(spec.boundary_correction)


REGULAR = {"icosahedral", "healpix", "gaussian"}
"""Samplings of the sphere whose points crowd nowhere."""

_RECORDED = (
    _Recorded(
        lambda spec: _lattice(spec, "periodic", "se2"),
        "second order on this periodic lattice ({weights}), pixels and orientations refined "
        "together",
    ),
    _Recorded(
        lambda spec: _lattice(spec, "periodic", "r3s2"),
        "second order on this periodic lattice ({weights}), voxels and axes refined together",
    ),
    _Recorded(
        lambda spec: _lattice(spec, "periodic", "r2", "r3"),
        "second order on this periodic lattice ({weights})",
    ),
    _Recorded(
        lambda spec: _corrected(spec, "se2"),
        "second order on this open lattice ({weights}, sides corrected), pixels and orientations "
        "refined together: 1.8 to 2.0 at eps^2 = 0.1, 1.4 to 1.8 at eps^2 = 0.01",
    ),
    _Recorded(
        lambda spec: _corrected(spec, "r2", "r3"),
        "second order on this open lattice ({weights}, sides corrected)",
    ),
    _Recorded(
        lambda spec: _lattice(spec, "open", "se2"),
        "converges at order 1.1 to 1.4 on this open lattice ({weights}), pixels and orientations "
        "refined together: rows at the boundary are not corrected, so eigenvalues are low",
    ),
    _Recorded(
        lambda spec: _masked(spec, "r2", "lattice"),
        "about first order ({weights}), as the mask's edge is a staircase: 0.7 to 1.4 on a disc",
    ),
    _Recorded(
        lambda spec: _masked(spec, "s2", "icosahedral", "healpix"),
        "converges at order 1.2 to 1.6 ({weights}) on half of the icosphere and a cap of HEALPix: "
        "the mask's edge is a staircase",
    ),
    _Recorded(
        lambda spec: spec.weights == "voronoi" and not spec.mask and spec.boundary != "periodic",
        "second order on these points ({weights})",
    ),
    _Recorded(
        lambda spec: spec.manifold == "s2" and spec.sampling in REGULAR and not spec.mask,
        "second order on this sampling of the sphere ({weights}, K = 30)",
    ),
    _Recorded(
        lambda spec: spec.manifold == "so3" and spec.sampling == "icosahedral" and not spec.mask,
        "converges at order 1.5 to 1.7 ({weights}, K = 24), points and orientations "
        "refined together: errors fall about three times a level",
    ),
    _Recorded(
        lambda spec: spec.manifold == "s2" and spec.sampling == "random" and not spec.mask,
        "hardly converges ({weights} on random points, K = 30): order 0.3 to 0.7, eigenvalues "
        "4 % low at 16,000 points, as first moments do not vanish; use `weights='voronoi'`",
    ),
)
"""The first that applies counts. A construction whose order is measured gets a line here."""


def order_of(spec: GraphSpec) -> str | None:
    """The recorded order at which a construction's eigenvalues converge, in a line.

    Args:
        spec: of the build.

    Returns:
        Words such as "second order on this periodic lattice (Selling's stencil)"; None where no
        order is known, as of all weights by a kernel of distance.
    """
    weights = BUILT_FOR_METRIC.get(spec.weights)
    if weights is None:
        return None
    found = next((known.words for known in _RECORDED if known.applies(spec)), None)
    return None if found is None else found.format(weights=weights)
