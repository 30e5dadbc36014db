"""A specification in plain words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cheblienet_graphs.errors import quoted
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibers import per_radian
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.weights.directional import DIRECTIONS

PAPER_EPS_SQUARED = 0.1


def sentences(spec: GraphSpec) -> list[str]:
    """The specification, a line for each: domain, mask, coordinates, metric, edges, weights."""
    lines = [f"{domain(spec)}; {_signals(spec)}", *_inside(spec), _coordinates(spec)]
    scale = "its largest eigenvalue" if spec.lambda_max == "exact" else "2"
    edges = f"{_edges(spec)}, rescaled by {scale}"
    return [*lines, *_metric(spec), *_anisotropy(spec), edges, *_operators(spec)]


def brief(spec: GraphSpec) -> list[str]:
    """The specification in few lines: domain, size of a mask's inside, metric, edges, weights."""
    return [domain(spec), *_inside(spec), _lengths(spec), _edges(spec), *_operators(spec)]


def shown(value: object) -> str:
    """A field of a specification: 'none', a number of six digits, the beginning of a digest."""
    if value is None:
        return "none"
    if isinstance(value, dict) and "sha256" in value:
        return f"of SHA-256 {value['sha256'][:12]}..."
    return f"{value:.6g}" if isinstance(value, float) else quoted(value).strip("'")


def reached(spec: GraphSpec, levels: Sequence[Mapping[str, Any]]) -> list[str]:
    """The result of solving for xi, a line for each level; nothing where xi was given.

    Args:
        spec: of the build.
        levels: recorded facts of its levels.
    """
    if spec.xi != "auto":
        return []
    return [
        f"level {number}: in-plane fraction {facts['in_plane_fraction']:.3f} "
        f"(asked for {spec.in_plane_fraction:g}) at xi = {per_radian(spec, number, facts['xi'])}"
        for number, facts in enumerate(levels)
    ]


def domain(spec: GraphSpec) -> str:
    """Manifold, sampling, orientations and boundary."""
    where = spec.sampling_kind.described(spec.level_size(0))
    if spec.seed is not None:
        where += f", seed {spec.seed}"
    if not spec.sampling_kind.regular:
        where = f"{spec.base_points(0):,} points ({where})"
    if spec.axes is not None:
        where += f" x {spec.orientations} axes{'' if spec.axes.isdigit() else ' of an icosphere'}"
    elif spec.geometry.oriented:
        where += f" x {spec.orientations} orientation{'s'[: spec.orientations > 1]}"
        where += " modulo 2 pi" if spec.period == "2pi" else ""
    if spec.spacing is not None:
        where += f", sides of a voxel {' : '.join(f'{side:.4g}' for side in spec.spacing)}"
    if spec.boundary:
        where += f", {spec.boundary} boundary{', corrected' if spec.boundary_correction else ''}"
    return f"{spec.geometry.title}: {where}"


def _signals(spec: GraphSpec) -> str:
    on_grid = "images" if spec.geometry.base.dimension == 2 else "volumes"
    signals = on_grid if spec.sampling_kind.regular else "signals"
    shape = ", ".join(map(str, spec.grid(0)[1:]))
    return f"{signals} (B, C, {shape})"


def _inside(spec: GraphSpec) -> list[str]:
    """The mask or region, and how much of the finest level is inside."""
    if spec.mask is None:
        return []
    inside, points = spec.base_points(0), spec.full_points(0)
    part = f"mask of SHA-256 {spec.mask.sha256[:12]}..."
    if spec.region is not None:
        west, south, east, north = spec.region
        part = f"region from {west:g} to {east:g} degrees east, {south:g} to {north:g} north"
    kept = f"{percent(inside / points)}; edges and weights are those of the whole sampling"
    if spec.clipping is not None:
        kept = f"{percent(inside / points)}; its sides clip their cells"
    elif spec.cuts_pixels:
        kept = f"{percent(inside / points)}; those that its edge cuts count by their part inside"
    return [f"{part}: {inside:,} of {points:,} points inside, {kept}"]


def _coordinates(spec: GraphSpec) -> str:
    """Name the columns of the coordinates; on the plane y goes down, as rows of images do."""
    kind = spec.sampling_kind
    on_grid = "image" if spec.geometry.base.dimension == 2 else "volume"
    columns = spec.geometry.coordinates_in_words.format(
        domain=on_grid if kind.regular else "domain",
        longitudes=kind.longitudes,
        angles="[-pi, pi)" if spec.period == "2pi" else "[-pi/2, pi/2)",
    )
    return f"coordinates {columns}"


def _metric(spec: GraphSpec) -> list[str]:
    if not spec.geometry.oriented:
        return [_lengths(spec)]
    frame = spec.geometry.frame
    base = spec.geometry.base.dimension

    def diagonal(across: str, turning: str) -> str:
        entries = ["1", *[across] * (base - 1), *[turning] * (len(frame) - base)]
        return f"diag({', '.join(entries)})"

    rotation = "xi^2" if spec.xi == "auto" else f"{spec.metric(0).xi ** 2:.4g}"
    metric = diagonal(f"{spec.eps**-2:.6g}", rotation)
    return [
        f"R = {diagonal('eps^-2', 'xi^2')} = {metric} along ({', '.join(frame)})",
        f"eps = {spec.eps:.4g}, {_lengths(spec)}",
    ]


def _lengths(spec: GraphSpec) -> str:
    """The metric's parameters, 'eps^2 = 0.1, xi = ...'; R where it has none."""
    if not spec.geometry.oriented:
        ones = ", ".join("1" for _ in spec.geometry.weights(spec.metric(0)))
        return f"R = diag({ones}), isotropic"
    sentence = f"eps^2 = {spec.eps**2:.4g}, xi "
    if spec.xi == "auto":
        sentence += f"solved on each level for an in-plane fraction of {spec.in_plane_fraction:g}"
    else:
        sentence += f"= {per_radian(spec, 0, spec.metric(0).xi)}"
    return sentence if spec.alpha is None else f"{sentence}, alpha = {spec.alpha:g}"


def _anisotropy(spec: GraphSpec) -> list[str]:
    ratio = PAPER_EPS_SQUARED / spec.eps**2
    if not spec.geometry.oriented or spec.eps == 1 or math.isclose(ratio, 1):
        return []
    less = "less anisotropic than the paper's"
    more = f"{ratio:.3g} times the paper's anisotropy"
    paper = f"`eps_squared={PAPER_EPS_SQUARED}` is the paper's"
    return [f"eps^2 = {spec.eps**2:.4g} is {more if ratio > 1 else less}; {paper}"]


def _edges(spec: GraphSpec) -> str:
    """The edges with their weights, and the Laplacian."""
    return f"{spec.weighting.words(spec)}; {spec.laplacian} Laplacian"


def _operators(spec: GraphSpec) -> list[str]:
    """The operators that are stored besides the metric's Laplacian."""
    lines = []
    if spec.directional is not None:
        along = ", ".join(DIRECTIONS)
        lines.append(f"directional Laplacians, delta = {spec.directional:g}: {along}")
    if spec.gradients:
        lines.append(f"gradients: {', '.join(spec.geometry.frame)}")
    return lines


def map_sentences(spec: MapSpec) -> str:
    """'the 4 nearest sources of each target, ties included; equal weights'."""
    return f"{_rule(spec)}; {_weights(spec)}"


def _rule(spec: MapSpec) -> str:
    unit = spec.source.geometry.base.unit
    if spec.neighbors is not None:
        few = "nearest source" if spec.neighbors == 1 else f"{spec.neighbors} nearest sources"
        return f"the {few} of each target, ties included"
    if spec.radius is not None:
        return f"all sources within {spec.radius:g} {unit} of a target"
    return f"edges of the {spec.scales} finest meshes of the icosphere together"


def _weights(spec: MapSpec) -> str:
    if spec.weights == "gaussian":
        return f"Gaussian weights, bandwidth {spec.bandwidth:g}"
    inverse = "weights by inverse squares of distances"
    return inverse if spec.weights == "inverse" else "equal weights"


def span(values: Iterable[float | None], between: str = " .. ") -> str:
    """The smallest and the largest of some numbers: '0.019 .. 0.0583', '0.019', or '-'.

    Args:
        values: shown with three digits; None does not count.
        between: the two.
    """
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    return low if low == high else f"{low}{between}{high}"


def size(vertices: int, edges: int, levels: int, nbytes: int, level: int = 0) -> str:
    """'13,824 vertices, 92,160 edges on level 0; 3 levels, 3.1 MB'."""
    several, which = (f"{levels} levels", f" on level {level}") if levels > 1 else ("1 level", "")
    return f"{vertices:,} vertices, {edges:,} edges{which}; {several}, {human_bytes(nbytes)}"


def percent(share: float) -> str:
    """0.0123 -> '1.2 %'; below 1, but for rounding, never '100 %'."""
    value = round(100 * share, 9)
    if 99.5 <= value < 100:
        return f"{math.floor(10 * value) / 10:g} %"
    return f"{value:.2g} %" if value < 100 else f"{value:,.0f} %"


def two_places(share: float) -> str:
    """0.98345 -> '98.35 %'."""
    return f"{share:.2%}".replace("%", " %")


def human_bytes(count: float) -> str:
    """1234567 -> '1.2 MB'."""
    units = ["B", "kB", "MB", "GB", "TB", "PB"]
    while count >= 999.95 and len(units) > 1:  # which one digit would show as 1000
        count /= 1000
        units.pop(0)
    return f"{count:.0f} B" if units[0] == "B" else f"{count:.1f} {units[0]}"
