"""The specification of a map between two samplings of one manifold, and the weights that it means.

Weights of the sources of a target are averages, which sum to exactly 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, SpecError, Unquoted
from cheblienet_graphs.limits import Number, choice, integer, left_out, number
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.masked import MaskedSampling
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec.cutoff import cutoff_radius
from cheblienet_graphs.spec.graph_spec import GraphSpec
from cheblienet_graphs.spec.naming import DIGITS, as_typed, least_fields, sizes_in_name
from cheblienet_graphs.spec.point_fields import SIZES
from cheblienet_graphs.spec.recorded import digest
from cheblienet_graphs.typing import Floats, Indices

POINTS = (
    *("manifold", "sampling", *SIZES, "seed", "orientations", "period", "axes", "spacing"),
    *("boundary", "mask", "mask_edge", "region"),
)
"""Fields of a graph's specification that say where its points are."""
METRIC = ("eps", "xi", "alpha")
"""Fields that define the distances between vertices."""
RULES = {"neighbors": "k", "radius": "r", "scales": "s"}
"""Rules, of which a map has one, and their letters in names."""
BANDWIDTH = 0.2
"""Bandwidth of Gaussian weights, by default the same as of kernels."""
LONGEST = 60
"""Most characters of a default name that lists fields."""
SAME_SIDES = 1e-9
"""Largest relative difference of the sides of two flat domains."""
WEIGHTS = ("inverse", "gaussian", "uniform")
"""Shepard's inverse squares, which give a source's own value where a target coincides with it; a
Gaussian kernel, which smooths; and equal ones, of edges that a network weighs itself."""
UNIT = 2.0**-24
"""Weights are multiples of this. So are their sums, which float32 holds exactly up to 1."""


@dataclass(frozen=True, init=False)
class MapSpec:
    """A map from the vertices of one graph to another's, such as an encoder's or decoder's.

    Only the points of both count, on their finest levels, and the metric of the source: equal maps
    have equal digests, whatever the weights, pyramids and Laplacians of the graphs are. Lengths are
    the same as of graphs: radians of arc on the sphere, else widths of the domain. Pixels are at
    their centers. Given points of a row on a pole are one source and share its weight equally.

    Args:
        source: of the signals.
        target: of the mapped signals; on the same manifold, of the same domain.
        neighbors: K in [1, 1024]: the K nearest sources of each target, and all as far as the last
            of them, to 1e-6 of d^2.
        radius: instead, in [1e-6, 1e6]: all sources within this distance of a target.
        cutoff_factor: instead, in [1e-3, 1e3]: the radius in units of the largest distance of a
            target to its nearest other one; the specification records the radius.
        scales: instead, on an icosphere that is source and target: the edges of so many of its
            meshes together, the finest and the next coarser ones.
        weights: "inverse" (default), of d^2; "gaussian", exp(-d^2 / (4 t)); or "uniform". The
            weights of a target sum to exactly 1.
        bandwidth: of Gaussian weights, t over the mean of d^2, in [0.01, 100]; default 0.2.

    Raises:
        SpecError: a value is out of range, sides do not fit each other, or not exactly one of
            neighbors, radius, cutoff_factor and scales is given.

    Example:
        >>> fine, coarse = GraphSpec("s2", nside=8), GraphSpec("s2", nside=4)
        >>> MapSpec(fine, coarse, neighbors=4).shape
        (192, 768)
    """

    source: GraphSpec
    target: GraphSpec
    neighbors: int | None
    radius: float | None
    scales: int | None
    weights: str
    bandwidth: float | None

    def __init__(
        self,
        source: GraphSpec,
        target: GraphSpec,
        *,
        neighbors: Number | None = None,
        radius: Number | None = None,
        cutoff_factor: Number | None = None,
        scales: Number | None = None,
        weights: str = "inverse",
        bandwidth: Number | None = None,
    ) -> None:
        for name, side in (("source", source), ("target", target)):
            if not isinstance(side, GraphSpec):
                raise SpecError(name, "a GraphSpec", Unquoted(type(side).__name__))
        _check_sides(source, target)
        rules: dict[str, Any] = dict(zip(RULES, (neighbors, radius, scales), strict=True))
        if cutoff_factor is not None:
            for name, value in rules.items():
                left_out(name, value, "where `cutoff_factor` is given", "Give one of the two.")
            rules["radius"] = cutoff_radius(source, target, cutoff_factor)
        fields: dict[str, Any] = {"source": source, "target": target}
        fields |= _rule(source, target, rules)
        fields["weights"] = choice("weights", weights, WEIGHTS)
        fields["bandwidth"] = _bandwidth(weights, bandwidth)
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapSpec) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    @property
    def sides(self) -> dict[str, GraphSpec]:
        """The source and the target by these names."""
        return {"source": self.source, "target": self.target}

    @property
    def schema(self) -> str:
        """The schema of versions with this map, the oldest that knows maps and both samplings."""
        return max(["1.5", *(side.sampling_kind.schemas[0] for side in self.sides.values())])

    @property
    def metric(self) -> Metric:
        """The metric of the source's finest level."""
        return self.source.metric(0)

    @property
    def periods(self) -> tuple[float, ...] | None:
        """Sides of the domain where opposite ones are glued; else None."""
        return extent(self.source) if self.source.boundary == "periodic" else None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of vertices of the target and of the source."""
        return self.target.num_vertices, self.source.num_vertices

    def to_dict(self) -> dict[str, Any]:
        """The normalized values as JSON types; fields that do not apply are left out."""
        rules = {name: getattr(self, name) for name in (*RULES, "weights", "bandwidth")}
        known = {name: value for name, value in rules.items() if value is not None}
        oriented = self.source.geometry.oriented
        metric = {k: v for k, v in self.source.to_dict().items() if oriented and k in METRIC}
        return {"source": _points(self.source) | metric, "target": _points(self.target), **known}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "MapSpec":
        """The spec with `values` as its `to_dict()`; it knows masks and given points by digest.

        Raises:
            SpecError: it is of another form, or a value is out of range.
            TypeError: it has a field that there is not; of its sides others are left out.
        """
        if not isinstance(values, Mapping):
            raise SpecError("values", "a mapping, as to_dict() returns", values)
        sides = {}
        for name in ("source", "target"):
            side = values.get(name)
            if not isinstance(side, Mapping):
                raise SpecError(name, "a mapping, as to_dict() returns", side)
            known = {key: side[key] for key in (*POINTS, *METRIC) if key in side}
            # The default weights do not exist on a domain that cuts pixels.
            cuts = "mask_edge" in known and "region" not in known
            weights = {"weights": "selling"} if cuts else {}
            levels = {} if "coordinates" in known else {"levels": 1}
            sides[name] = GraphSpec.from_dict(known | weights | levels)
        return cls(**{**values, **sides})

    @property
    def sha256(self) -> str:
        """Hex digest of the canonical JSON of `to_dict()`."""
        return digest(self.to_dict())

    @property
    def default_name(self) -> str:
        """Both sizes and the rule, as in 's2-gaussian-O80-to-s2-icosahedral-5-k4'.

        The first digits of the digest stand for what is too long, and for masks and given points.
        They are added where other fields of the points, or the metric, are not the default.
        """
        name = f"{sizes_in_name(self.source)}-to-{sizes_in_name(self.target)}"
        rule, value = next((r, getattr(self, r)) for r in RULES if getattr(self, r) is not None)
        name += f"-{RULES[rule]}{as_typed(value)}".replace("+", "")
        name += "" if self.weights == "inverse" else f"-{self.weights}"
        name += (
            "" if self.bandwidth in {None, BANDWIDTH} else f"-bandwidth{as_typed(self.bandwidth)}"
        )
        plain = all(side.mask is None and side.coordinates is None for side in self.sides.values())
        if plain and _beyond_sizes(self.source, METRIC) | _beyond_sizes(self.target, ()):
            name += f"-{self.sha256[:DIGITS]}"
        if plain and len(name) <= LONGEST:
            return name
        return f"{self.source.manifold}-map-{self.sha256[:DIGITS]}"

    def __repr__(self) -> str:
        rule = ", ".join(f"{key}={value!r}" for key, value in list(self.to_dict().items())[2:])
        return f"MapSpec({self.source!r}, {self.target!r}, {rule})"


def side_sampling(side: GraphSpec) -> Sampling:
    """The points of a side of a map: all, or only the ones inside its mask.

    Raises:
        SpecError: the specification was read back, and knows a mask or given points by digest.
    """
    full = side.full_sampling(0)
    return full if side.mask is None else MaskedSampling(full, side.mask.on_level(0))


def _points(side: GraphSpec) -> dict[str, Any]:
    """The fields of a graph's specification on the points of its finest level.

    The digest of given points is of all levels, so these all count.
    """
    fields = {key: value for key, value in side.to_dict().items() if key in POINTS}
    if side.mask is not None and side.coordinates is None:
        fields["mask"] = fields["mask"] | {"inside": fields["mask"]["inside"][:1]}
    return fields


def _beyond_sizes(side: GraphSpec, metric: tuple[str, ...]) -> set[str]:
    """Fields of its points and of the metric that neither its size nor their defaults say."""
    named = {"manifold", "sampling", *SIZES, "orientations", "axes"}
    told = {field.removesuffix("_squared") for field in least_fields(side)}
    return told & {*POINTS, *metric} - named


def _check_sides(source: GraphSpec, target: GraphSpec) -> None:
    """See that both are samplings of one domain, and that the metric is known."""
    if (source.manifold, source.period) != (target.manifold, target.period):
        names = [s.manifold + (f" modulo {s.period}" if s.period else "") for s in (source, target)]
        raise SpecError("target", f"on {names[0]}, as the source is", Unquoted(names[1]))
    if source.boundary != target.boundary:
        accepted = f"with {source.boundary} boundary, as the source is"
        raise SpecError("target", accepted, Unquoted(str(target.boundary)))
    if source.xi == "auto":
        accepted = "with a number or 'alpha' for xi, which 'auto' makes known once a graph is built"
        raise SpecError("source", accepted, Unquoted("xi 'auto'"))
    ours, theirs = (np.array(extent(side) or ()) for side in (source, target))
    if not np.allclose(ours, theirs, rtol=SAME_SIDES, atol=0):
        texts = [" x ".join(f"{side:.6g}" for side in sides) for sides in (ours, theirs)]
        remedy = "Crop or pad one of them: lengths are in widths of each."
        raise SpecError(
            "target", f"of a domain {texts[0]}, the source's", Unquoted(texts[1]), remedy
        )


def extent(side: GraphSpec) -> tuple[float, ...] | None:
    """Sides of the flat domain of a side of a map; None of the sphere."""
    if side.coordinates is not None:
        return side.coordinates.extent
    return side.full_sampling(0).extent


def _rule(source: GraphSpec, target: GraphSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The one rule that is given, checked; None for the others."""
    known = [name for name, value in given.items() if value is not None]
    if not known:
        raise SpecError("neighbors", "given, or `radius` or `scales` instead", MISSING)
    for name in known[1:]:
        where = f"where `{known[0]}` is given"
        left_out(name, given[name], where, "Give one of the two.")
    rule = known[0]
    value = given[known[0]]
    if rule == "radius":
        return dict.fromkeys(RULES) | {rule: number(rule, value, *limits.RADIUS)}
    sources = min(source.num_vertices, limits.NEIGHBORS.high)
    most = sources if rule == "neighbors" else _meshes(source, target, value)
    return dict.fromkeys(RULES) | {rule: integer(rule, value, 1, most)}


def _bandwidth(weights: str, bandwidth: Any) -> float | None:
    if weights != "gaussian":
        left_out("bandwidth", bandwidth, f"with {weights} weights, which have none")
        return None
    return number("bandwidth", BANDWIDTH if bandwidth is None else bandwidth, *limits.BANDWIDTH)


def _meshes(source: GraphSpec, target: GraphSpec, scales: Any) -> int:
    """The number of meshes of the whole icosphere that both sides have to be."""
    if source.manifold != "s2" or source.subdivisions is None or source.mask is not None:
        accepted = "left out but on a whole icosphere of s2, whose vertices coarser meshes share"
        raise SpecError("scales", accepted, scales)
    if _points(source) != _points(target):
        accepted = "the source itself with scales, whose edges join vertices of one mesh"
        raise SpecError(
            "target", accepted, Unquoted(target.sampling_kind.described(target.level_size(0)))
        )
    return source.subdivisions + 1


def averages(
    kind: str,
    squared: Floats,
    indptr: Indices,
    bandwidth: float | None,
    sharing: Indices | None = None,
) -> Floats:
    """Weights that sum to exactly 1 in each row, in float32 too and in any order.

    Args:
        kind: one of WEIGHTS.
        squared: (entries,) d^2 between targets and sources.
        indptr: (targets + 1,) row pointers; no row is empty.
        bandwidth: t over the mean of d^2, of Gaussian weights exp(-d^2 / (4 t)).
        sharing: (entries,) how many sources are at the place of each, which share its weight
            equally; None where all are alone.
    """
    count = np.diff(indptr)
    row = np.repeat(np.arange(len(count)), count)
    first = indptr[:-1]
    mean = float(squared.mean() if sharing is None else np.average(squared, weights=1 / sharing))
    raw = _relative(kind, squared, np.minimum.reduceat(squared, first)[row], bandwidth, mean)
    raw = raw if sharing is None else raw / sharing
    return _exact(raw / np.add.reduceat(raw, first)[row], row, indptr)


def _relative(
    kind: str, squared: Floats, least: Floats, bandwidth: float | None, mean: float
) -> Floats:
    """Weights in units of that of the nearest source of a row, so that one at least is 1."""
    if kind == "inverse":
        ones = np.ones(squared.shape)
        return np.divide(least, squared, out=ones, where=squared > least)
    excess = squared - least
    scale = 4 * (bandwidth or np.inf) * mean
    return np.exp(-excess / scale) if kind == "gaussian" and scale > 0 else np.ones(squared.shape)


def _exact(weights: Floats, row: Indices, indptr: Indices) -> Floats:
    """Multiples of UNIT next to weights, of sum 1 in a row: the largest remainders go up."""
    whole = np.floor(weights / UNIT)
    missing = np.rint(1 / UNIT - np.add.reduceat(whole, indptr[:-1])).astype(np.int64)
    order = np.lexsort((whole - weights / UNIT, row))
    raised = np.arange(len(row)) - indptr[row] < missing[row]
    whole[order] += raised
    return whole * UNIT
