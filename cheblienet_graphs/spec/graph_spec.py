"""The specification of a build: frozen, validated, hashable."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Never

import numpy.typing as npt

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.inputs.labelled import named_mask
from cheblienet_graphs.inputs.masks import Four, LatLonMask
from cheblienet_graphs.inputs.polygons import LevelSet, Polygons, block_means
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.limits import Number, refuse_unknown
from cheblienet_graphs.manifolds import Manifold, Metric, with_period
from cheblienet_graphs.manifolds.base import Fiber
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Size
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.samplings.given import GivenPoints
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.sampling import Sampling
from cheblienet_graphs.spec import naming, recorded
from cheblienet_graphs.spec.fields import as_json, eigenpairs_of, parsed_fields
from cheblienet_graphs.spec.mask import Mask, mask_field, points_inside
from cheblienet_graphs.weights import WEIGHTINGS, Weighting


@dataclass(frozen=True, init=False)
class GraphSpec:
    """A build: manifold, sampling, metric, neighbor rule, weights and pyramid.

    Values are normalized (96, 96.0 and "96"; 0.1 and "1/10"), so that equal builds have equal
    digests. Fields that do not apply are None. docs/reference/specification.md says all of each.

    Args:
        manifold: "r2", "se2", "r3", "r3s2", "s2" or "so3".
        size: of a lattice: `N`, `"WxH"` or `(W, H)`, width times height; in space `"WxHxD"`.
        sampling: "lattice", "random" or "unstructured"; of the sphere "icosahedral",
            "refined-icosahedral", "healpix", "equiangular", "gaussian", "reduced-gaussian",
            "random" or "unstructured". Its size alone names it, too.
        subdivisions: of the icosahedron, in [0, 9].
        refined: (G, L, W, S, E, N): G subdivisions of the icosahedron, L in this region, degrees.
        nside: of HEALPix, a power of two in [1, 8192].
        bandlimit: of the equiangular grid, in [1, 16384].
        gaussian: "O32" (octahedral) or "F32" (regular), N in [2, 8192]; "N32" to "N640", as `pl`.
        pl: points of each Gaussian latitude, north to south, in [4, 65536].
        points: of a random sampling, in [2, 2^31 - 1].
        seed: of a random sampling, in [0, 2^32 - 1]; default 0.
        coordinates: given points, (N, 2): latitude, longitude in degrees, or x, y; or (N, 3) with
            areas; or a sequence of such arrays, finest first. Tables with names by these.
        domain: (X0, Y0, X1, Y1) of given points on the plane; default their bounding box.
        units: "degrees", where given angles look like radians.
        mask: booleans or gray, (H, W) or (D, H, W), of the sphere (points,) or (latitudes,
            longitudes), from xarray and pandas by names and coordinates; what files hold:
            `LatLonMask`, `Volume`; on lattices also parts in [0, 1], `Polygons`, or a function of
            x, y[, z] in pixels that is negative inside.
        mask_edge: "pixels" (default), each in or out; or "cut": pixels count by their part inside.
        mask_order: of HEALPix's pixels in the mask, "nested" (default) or "ring".
        region: of the sphere, (W, S, E, N) degrees.
        orientations: n_o in [1, 180], on se2 and so3; default 6, modulo 2 pi 8.
        period: of orientations, "pi" (default), of lines, or "2pi", of arrows.
        axes: of r3s2: 3, 4, 6, 7, 12 (default), 13, 22, 43, "ico6", "ico21" or "ico81".
        spacing: of voxels along x, y and z, in any unit; default the mask's, or all equal.
        eps: anisotropy in R = diag(1, eps^-2, xi^2), in [0.001, 1]; default sqrt(0.1).
        eps_squared: eps^2, in [1e-6, 1]; give one of the two.
        xi: the orientation weight, in [1e-6, 1e6], "alpha" (default) or "auto".
        alpha: xi^2 = alpha n A, n orientations a half turn, A the area of a point; in [1e-6, 1e6],
            default 1.
        in_plane_fraction: of edges, for xi "auto", in [0.01, 0.99]; default 0.4.
        weights: "kernel", "matched", "selling" or "voronoi", the default on icospheres of s2 unless
            a field below means kernel weights; elsewhere "kernel".
        neighbors: K in [1, 1024]; default 16, on r2 and s2 8, on r3 18, on r3s2 32.
        kernel: "gaussian" (default), "laplace", "cauchy" or "rectangular".
        bandwidth: t over the mean squared distance, in [0.01, 100]; default 0.2.
        laplacian: "normalized", the default of kernel weights, else "combinatorial".
        boundary: of plane or space, "open" (default) or "periodic".
        boundary_correction: of open lattices' sides; default where it applies.
        levels: number of graphs in the pyramid; default while they are large enough.
        lambda_max: "exact" (default), or 2.
        eigenpairs: number of them to store, in [1, 1000]; default none.
        directional: delta in [1e-6, 1] of three more Laplacians on lattices of se2; default none.
        gradients: whether to store first derivatives along the frame; default False.
        drift: slack in [0.001, 1] of first moments of matched weights on the sphere; default none.

    Raises:
        TypeError: there is no argument of a name; the message has the nearest that there is.
        SpecError: a value is of the wrong type or out of range; the message names the field, the
            accepted range and the value found.

    Example:
        >>> spec = GraphSpec("se2", 16, orientations=4, eps_squared=0.1)
        >>> spec.vertices, spec.default_name
        ((1024, 256), 'se2-16x16x4')
    """

    manifold: str
    sampling: str
    size: tuple[int, ...] | None
    subdivisions: int | None
    refined: tuple[float, ...] | None
    nside: int | None
    bandlimit: int | None
    gaussian: str | None
    pl: tuple[int, ...] | None
    points: int | None
    seed: int | None
    coordinates: GivenPoints | None
    orientations: int
    period: str | None
    axes: str | None
    spacing: tuple[float, ...] | None
    eps: float
    xi: float | Literal["alpha", "auto"] | None
    alpha: float | None
    in_plane_fraction: float | None
    weights: str
    neighbors: int | None
    kernel: str | None
    bandwidth: float | None
    laplacian: str
    boundary: str | None
    levels: int
    lambda_max: Literal["exact", 2]
    eigenpairs: int | None
    mask: Mask | None
    mask_edge: Literal["cut"] | None
    region: Four | None
    directional: float | None
    gradients: Literal[True] | None
    drift: float | None
    boundary_correction: Literal[True] | None

    _sizes: ClassVar[list[Size]]
    """Sizes of the finest level and of all coarser ones; this and the next one are no fields."""
    _defaults: ClassVar[Mapping[str, Any]]
    """The values that some fields have where they are left out."""

    def __init__(
        self,
        manifold: str,
        size: Number | Sequence[Number] | None = None,
        *,
        sampling: str | None = None,
        subdivisions: Number | None = None,
        refined: str | Sequence[Number] | None = None,
        nside: Number | None = None,
        bandlimit: Number | None = None,
        gaussian: str | None = None,
        pl: str | Sequence[Number] | None = None,
        points: Number | None = None,
        seed: Number | None = None,
        coordinates: Any = None,
        domain: str | Sequence[Number] | None = None,
        units: str | None = None,
        orientations: Number | None = None,
        period: str | None = None,
        axes: Number | None = None,
        spacing: str | Sequence[Number] | None = None,
        eps: Number | None = None,
        eps_squared: Number | None = None,
        xi: Number | None = None,
        alpha: Number | None = None,
        in_plane_fraction: Number | None = None,
        weights: str | None = None,
        neighbors: Number | None = None,
        kernel: str | None = None,
        bandwidth: Number | None = None,
        laplacian: str | None = None,
        boundary: str | None = None,
        levels: Number | None = None,
        lambda_max: Number = "exact",
        eigenpairs: Number | None = None,
        mask: npt.ArrayLike
        | LatLonMask
        | Volume
        | Polygons
        | LevelSet
        | Mapping[str, Any]
        | None = None,
        mask_edge: str | None = None,
        mask_order: str | None = None,
        region: str | Sequence[float] | None = None,
        directional: Number | None = None,
        gradients: bool | None = None,
        drift: Number | None = None,
        boundary_correction: bool | None = None,
        **unknown: Never,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        refuse_unknown(given.pop("unknown"), [*given])
        mask = given["mask"] = named_mask(mask, manifold)
        self.__dict__.update(parsed_fields(given))
        object.__setattr__(self, "mask", mask_field(self, mask, mask_order))
        if self.num_vertices > limits.VERTICES:
            accepted = f"such that there are at most {limits.VERTICES:,} vertices"
            fiber = "orientations" if self.axes is None else "axes"
            fewer = f"Or use fewer `{fiber}`."
            remedy = fewer if self.orientations > 1 else ""
            raise SpecError(self.sampling_kind.field, accepted, self.num_vertices, remedy)
        object.__setattr__(self, "eigenpairs", eigenpairs_of(self, eigenpairs))

    @property
    def geometry(self) -> Manifold:
        """The manifold itself."""
        return with_period(self.manifold, self.period)

    @property
    def fiber(self) -> Fiber:
        """The samples over each point, as a set."""
        return axis_set(self.axes) if self.axes else self.geometry.fiber

    @property
    def per_half_turn(self) -> float:
        """Orientations in half a turn, n_o modulo pi and n_o / 2 modulo 2 pi; or all axes."""
        step = self.geometry.fiber.step(self.orientations)
        return math.pi / step if step else self.orientations

    @property
    def sampling_kind(self) -> type[SamplingKind]:
        """The kind of sampling, which knows what its size means."""
        return SAMPLINGS[self.sampling]

    @property
    def weighting(self) -> Weighting:
        """The weights of the edges, with their parameters."""
        parameters = self.neighbors, self.kernel, self.bandwidth, self.drift
        return WEIGHTINGS[self.weights](*parameters)

    @property
    def implied(self) -> frozenset[str]:
        """Names of the fields that have the value that they have where they are left out."""
        defaults = self._defaults.items()
        return frozenset(name for name, value in defaults if getattr(self, name) == value)

    @property
    def vertices(self) -> tuple[int, ...]:
        """Vertices of each level, the finest first."""
        return tuple(self.orientations * self.base_points(level) for level in range(self.levels))

    @property
    def num_vertices(self) -> int:
        """Vertices of the finest level."""
        return self.vertices[0]

    def level_size(self, level: int) -> Size:
        """Size of the sampling of a level, 0 the finest: (width, height) on a lattice."""
        return self._sizes[level]

    def base_points(self, level: int) -> int:
        """Number of points of a level, only inside a mask; orientations are not counted."""
        return self.full_points(level) if self.mask is None else self.mask.inside[level]

    def full_points(self, level: int) -> int:
        """Points of a level's full sampling, orientations not counted."""
        return self.sampling_kind.points(self.level_size(level))

    @property
    def periodic(self) -> bool:
        """True if opposite sides of a flat domain are glued."""
        return self.boundary == "periodic"

    def full_sampling(self, level: int) -> SamplingKind:
        """The sampling of a level, 0 the finest: all points, whatever the mask.

        Raises:
            SpecError: points are given, and the specification knows their digest alone.
        """
        return self.sampling_kind.sampled(self.level_size(level), self)

    def domain(self, level: int) -> Sampling:
        """The points of a level's graph: all, or the points inside a mask.

        Raises:
            SpecError: the specification knows a mask or given points by digest alone.
        """
        full = self.full_sampling(level)
        mask = self.mask
        if mask is None:
            return full
        fraction = block_means(mask.halves_on(level), 2) if self.cuts_pixels else None
        return points_inside(self, full, mask.on_level(level), fraction)

    def grid(self, level: int) -> tuple[int, ...]:
        """(n_o, *shape of a signal on the base), of the full sampling: (n_o, H, W) on a lattice."""
        return self.orientations, *self.sampling_kind.grid(self.level_size(level))

    def squared_spacing(self, level: int) -> float:
        """A, the mean area of the base for each point; on a lattice h^2 in any dimension.

        The domain of a flat base has width 1; h is the geometric mean of a voxel's sides.
        """
        squared = self.sampling_kind.squared_spacing(self.level_size(level), self.geometry.base)
        if self.spacing is None:
            return squared
        return squared * math.prod(self.spacing) ** (2 / len(self.spacing))

    def metric(self, level: int) -> Metric:
        """The metric of a level; on the plane lengths are in units of the domain's width.

        Raises:
            ValueError: xi is "auto", so it is known only once the graph is built.
        """
        if self.xi is None:
            return Metric(self.eps)
        if isinstance(self.xi, float):
            return Metric(
                self.eps, self.xi * math.sqrt(self.squared_spacing(level) / self.squared_spacing(0))
            )
        if self.alpha is None:
            raise ValueError("xi is solved for when the graph is built")
        return self.metric_of_alpha(self.alpha, level)

    def metric_of_alpha(self, alpha: float, level: int) -> Metric:
        """The metric with xi^2 = alpha n A, n `per_half_turn`, A the points' squared spacing."""
        return Metric(self.eps, math.sqrt(alpha * self.per_half_turn * self.squared_spacing(level)))

    @property
    def cuts_pixels(self) -> bool:
        """True if pixels count by their part in the domain."""
        return self.mask_edge == "cut" and self.region is None

    @property
    def clipping(self) -> Four | None:
        """The region that clips the cells of points; None where none does."""
        return self.region if self.mask_edge == "cut" else None

    @property
    def schema(self) -> str:
        """The schema of versions with this specification, the oldest that knows all it says.

        On s2 it is the first with named dimensions of arrays.
        """
        return recorded.schema(self)

    @property
    def default_name(self) -> str:
        """The name under which the graph is published unless another is given.

        Size, and fields that differ from the defaults, as far as 48 characters allow; else, and
        with masks, regions or given points, the first 8 digits of the digest.
        """
        return naming.default_name(self)

    def __repr__(self) -> str:
        """Manifold, size, and the fields that differ from the defaults; arrays by their digest."""
        return naming.expression(self)

    def __str__(self) -> str:
        """The same, and below it the fields that have their defaults; lines of 96 columns."""
        return naming.screen_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The normalized values as JSON types; fields that do not apply are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.period == "pi":  # older specifications, which do not name it, keep their digests
            del values["period"]
        return {name: as_json(value) for name, value in values.items() if value is not None}

    def recorded(self) -> "GraphSpec":
        """The same, as a store records it: without the arrays that were given."""
        other = self if self.coordinates is None else self.with_points({})
        if self.mask is None:
            return other
        other = copy.copy(other)
        object.__setattr__(other, "mask", replace(self.mask, places=None, halves=None))
        return other

    def with_points(self, arrays: Mapping[int, PointArrays]) -> "GraphSpec":
        """The same, its given points known to be these, by level; by digest only where none are.

        Raises:
            ValueError: it has none.
        """
        if self.coordinates is None:
            raise ValueError(f"{self.sampling} sampling has no given points")
        other = copy.copy(self)
        points = replace(self.coordinates, arrays=arrays)
        other.__dict__.update(coordinates=points, _sizes=self.sampling_kind.sizes(points))
        return other

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "GraphSpec":
        """The spec with `values` as its `to_dict()`; no point is computed, whatever they say.

        Raises:
            SpecError: it is no mapping, or a value is out of range, or lacks the mask of a region.
            TypeError: it has a field that there is not.
        """
        if not isinstance(values, Mapping):
            raise SpecError("values", "a mapping, as to_dict() returns", values)
        recorded.check_recorded(values)
        return cls(**recorded.arguments(values))

    @property
    def sha256(self) -> str:
        """Hex digest of the canonical JSON of `to_dict()`."""
        return recorded.digest(self.to_dict())
