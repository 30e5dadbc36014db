"""What to build: a frozen, validated, hashable description.

Only the standard library is imported here, so that the command line can show its help at once.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cheblienet_graphs import limits
from cheblienet_graphs.errors import MISSING, SpecError
from cheblienet_graphs.manifolds import MANIFOLDS, Manifold, Metric
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Size, sampling_names
from cheblienet_graphs.spec.kernels import KERNELS, Kernel
from cheblienet_graphs.values import Number, choice, integer, number

BOUNDARIES = ("open", "periodic")
WEIGHTS = ("kernel", "matched", "selling")
LAPLACIANS = ("normalized", "combinatorial")
SMALLEST_DEFAULT_SIDE = 8
"""The default pyramid has no coarser level with a shorter side,"""
SMALLEST_DEFAULT_POINTS = 42
"""nor, where there are no sides, one with fewer points."""


@dataclass(frozen=True, init=False)
class GraphSpec:
    """A build: manifold, sampling, metric, neighbour rule, weights and pyramid.

    Values are normalised (96, 96.0 and "96"; 0.1 and "1/10"), so that equal builds have equal
    digests. The defaults are the paper's. Fields that do not apply are None.

    Args:
        manifold: "r2", "se2", "s2" or "so3".
        size: of a lattice: pixels of the finest level, `N`, `"WxH"` or `(W, H)`: width times
            height, at least 2 each. An image tensor then has shape (B, C, H, W).
        sampling: of the plane "lattice" (default) or "random", of the sphere "icosahedral"
            (default), "healpix" (nested), "equiangular" or "random". May be left out where the
            sampling's own size is given.
        subdivisions: of the icosahedron, in [0, 9]: 10 * 4^n + 2 points.
        nside: of HEALPix, a power of two in [1, 8192]: 12 nside^2 points.
        bandlimit: b of the equiangular grid, in [1, 16384]: 2b x 2b points.
        points: of a random sampling, in [2, 2^31 - 1], uniform.
        seed: of a random sampling, in [0, 2^32 - 1]; default 0.
        orientations: n_o in [1, 180], samples in [-pi/2, pi/2); default 6. Only on se2 and so3.
        eps: anisotropy in R = diag(1, eps^-2, xi^2), in [0.001, 1]; default sqrt(0.1), and always
            1 on r2 and s2, which have no orientation to be anisotropic about.
        eps_squared: the same as its square, in [1e-6, 1]; give one of the two.
        xi: the orientation weight of the finest level, in [1e-6, 1e6]; or "alpha" (default):
            xi^2 = alpha n_o A, A the base area of a point (on a lattice h^2, h = 1/W; on the sphere
            4 pi / points), coarser levels with the same alpha; or "auto": solved on each level
            for `in_plane_fraction`. Only on se2 and so3.
        alpha: in [1e-6, 1e6], default 1; exclusive with other kinds of xi.
        in_plane_fraction: share of edges within one orientation that xi "auto" aims at, in
            [0.01, 0.99]; default 0.4, the paper's. Giving it means xi "auto".
        weights: "kernel" (default), the paper's: a function of distance. Two others have the second
            moments of the metric: "matched", the weights nearest to the kernel's that have, on the
            K nearest neighbours and, on lattices, the offsets of "selling"; "selling", on lattices,
            the smallest such stencil, at most 8 neighbours (on r2 4).
        neighbors: K in [1, 1024], at most this many neighbours; default 16, on r2 and s2 8. At
            least 24 with matched weights on the sphere; left out with selling weights.
        kernel: "gaussian" (default), "laplace", "cauchy" or "rectangular"; left out with selling
            weights.
        bandwidth: t = bandwidth x mean squared distance, in [0.01, 100]; default 0.2; left out
            with selling weights.
        laplacian: "normalized", I - D^-1/2 W D^-1/2, the default of kernel weights, or
            "combinatorial", A^-1/2 (D - W) A^-1/2 with the areas A, that of the other two.
        boundary: of the plane, "open" (default) or "periodic".
        levels: number of graphs in the pyramid; each is half as fine as the one before. Default:
            while sides are at least 8, or points at least 42. Random samplings have one.
        lambda_max: "exact" (default), or 2, the bound that holds for every normalized Laplacian.
        eigenpairs: how many of the smallest eigenvalues of each level are stored with their
            vectors, in [1, 1000], at most the vertices of the coarsest level; default none.

    Raises:
        SpecError: a value is of the wrong type or out of range; the message names the field, the
            accepted range and the value found.
    """

    manifold: str
    sampling: str
    size: tuple[int, ...] | None
    subdivisions: int | None
    nside: int | None
    bandlimit: int | None
    points: int | None
    seed: int | None
    orientations: int
    eps: float
    xi: float | Literal["alpha", "auto"] | None
    alpha: float | None
    in_plane_fraction: float | None
    weights: str
    neighbors: int
    kernel: str | None
    bandwidth: float | None
    laplacian: str
    boundary: str | None
    levels: int
    lambda_max: Literal["exact", 2]
    eigenpairs: int | None

    def __init__(
        self,
        manifold: str,
        size: Number | Sequence[Number] | None = None,
        *,
        sampling: str | None = None,
        subdivisions: Number | None = None,
        nside: Number | None = None,
        bandlimit: Number | None = None,
        points: Number | None = None,
        seed: Number | None = None,
        orientations: Number | None = None,
        eps: Number | None = None,
        eps_squared: Number | None = None,
        xi: Number | None = None,
        alpha: Number | None = None,
        in_plane_fraction: Number | None = None,
        weights: str = "kernel",
        neighbors: Number | None = None,
        kernel: str | None = None,
        bandwidth: Number | None = None,
        laplacian: str | None = None,
        boundary: str | None = None,
        levels: Number | None = None,
        lambda_max: Number = "exact",
        eigenpairs: Number | None = None,
    ) -> None:
        geometry = MANIFOLDS[choice("manifold", manifold, tuple(MANIFOLDS))]
        sizes = {
            "size": size,
            "subdivisions": subdivisions,
            "nside": nside,
            "bandlimit": bandlimit,
            "points": points,
        }
        kind, finest = _sampling(geometry, sampling, sizes)
        normalised: dict[str, Any] = {
            "manifold": geometry.name,
            "sampling": kind.name,
            **dict.fromkeys(sizes),
            kind.field: finest,
            "seed": _seed(kind, seed),
            **_fibre(geometry, orientations, xi, alpha, in_plane_fraction),
            "eps": _anisotropy(geometry, eps, eps_squared),
            **_edges(geometry, kind, weights, neighbors, kernel, bandwidth),
            "boundary": _boundary(geometry, boundary),
            "levels": _levels(levels, kind, finest),
        }
        normalised |= _operator(normalised["weights"], laplacian, lambda_max)
        if normalised["weights"] == "selling" and normalised["xi"] == "auto":
            remedy = "Their stencils, and so the in-plane fraction, do not depend on xi."
            if in_plane_fraction is not None:
                where = "left out with selling weights"
                raise SpecError("in_plane_fraction", where, in_plane_fraction, remedy)
            raise SpecError("xi", "a number or 'alpha' with selling weights", "auto", remedy)
        for field, value in normalised.items():
            object.__setattr__(self, field, value)
        if self.num_vertices > limits.VERTICES:
            accepted = f"such that there are at most {limits.VERTICES:,} vertices"
            remedy = "Or use fewer `orientations`." if self.orientations > 1 else ""
            raise SpecError(kind.field, accepted, self.num_vertices, remedy)
        object.__setattr__(self, "eigenpairs", self._eigenpairs(eigenpairs))

    def _eigenpairs(self, eigenpairs: Number | None) -> int | None:
        if eigenpairs is None:
            return None
        fewest = self.orientations * self.base_points(self.levels - 1)
        most = min(fewest, limits.EIGENPAIRS.high)
        accepted = f"an integer in {limits.Integers(limits.EIGENPAIRS.low, most)}"
        if fewest < limits.EIGENPAIRS.high:
            accepted += f", as the coarsest level has {fewest} vertices"
        return integer("eigenpairs", eigenpairs, limits.EIGENPAIRS.low, most, accepted)

    @property
    def geometry(self) -> Manifold:
        """The manifold itself."""
        return MANIFOLDS[self.manifold]

    @property
    def sampling_kind(self) -> SamplingKind:
        """What the sampling's size means."""
        return SAMPLINGS[self.sampling]

    @property
    def num_vertices(self) -> int:
        """Vertices of the finest level."""
        return self.orientations * self.base_points(0)

    @property
    def default_name(self) -> str:
        """The name under which the graph is published unless another is given."""
        size = self.level_size(0)
        numbers = [*size] if isinstance(size, tuple) else [size]
        if self.geometry.oriented:
            numbers.append(self.orientations)
        sampling = "" if self.sampling_kind.regular else f"{self.sampling}-"
        seed = f"-seed{self.seed}" if self.seed else ""
        return f"{self.manifold}-{sampling}{'x'.join(map(str, numbers))}{seed}"

    def level_size(self, level: int) -> Size:
        """Size of the sampling of a level, 0 the finest: (width, height) on a lattice."""
        kind = self.sampling_kind
        return kind.sizes(getattr(self, kind.field))[level]

    def base_points(self, level: int) -> int:
        """Points of a level, orientations not counted."""
        return self.sampling_kind.points(self.level_size(level))

    def grid(self, level: int) -> tuple[int, ...]:
        """(orientations, *shape of a signal on the base): (n_o, height, width) on a lattice."""
        return self.orientations, *self.sampling_kind.grid(self.level_size(level))

    def squared_spacing(self, level: int) -> float:
        """A, the mean area of the base that a point stands for; on a lattice h^2 in any dimension.

        The domain of a flat base has width 1.
        """
        return self.sampling_kind.squared_spacing(self.level_size(level), self.geometry.base)

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
        """The metric with xi^2 = alpha n_o A, A the squared spacing of the points."""
        return Metric(self.eps, math.sqrt(alpha * self.orientations * self.squared_spacing(level)))

    @property
    def kernel_and_bandwidth(self) -> tuple[Kernel, float]:
        """The function of u = d^2 / (4 t), and t / mean(d^2).

        Raises:
            ValueError: the weights are no kernel's and not compared with one.
        """
        if self.kernel is None or self.bandwidth is None:
            raise ValueError(f"{self.weights} weights have no kernel")
        return KERNELS[self.kernel], self.bandwidth

    def to_dict(self) -> dict[str, Any]:
        """The normalised values as JSON types; fields that do not apply are left out."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        if self.size is not None:
            values["size"] = list(self.size)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "GraphSpec":
        """The spec of which `values` is the `to_dict()`."""
        fields = dict(values)
        if not MANIFOLDS[choice("manifold", fields.get("manifold"), tuple(MANIFOLDS))].oriented:
            fields.pop("orientations", None)
        return cls(**fields)

    @property
    def sha256(self) -> str:
        """Hex digest of the canonical JSON of `to_dict()`."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _sampling(
    geometry: Manifold, sampling: str | None, sizes: Mapping[str, object]
) -> tuple[SamplingKind, Size]:
    """The kind of sampling and its finest size; a size of its own tells which is meant."""
    names = sampling_names(geometry.base)
    sampling_given = sampling is not None
    if sampling is None:
        told = [n for n in names if sizes[SAMPLINGS[n].field] is not None]
        sampling = told[0] if told else names[0]
    kind = SAMPLINGS[choice("sampling", sampling, names)]
    for field, value in sizes.items():
        if value is not None and field != kind.field:
            where = f"left out on {geometry.name} with {kind.name} sampling"
            remedy = f"Its size is given by `{kind.field}` alone."
            raise SpecError(field, where, value, remedy)
    if sizes[kind.field] is None:
        where = f"given: it is the size of {geometry.name} with {kind.name} sampling"
        others = ", ".join(f"`{SAMPLINGS[n].field}`" for n in names if n != kind.name)
        remedy = "" if sampling_given else f"Or choose another sampling by its size: {others}."
        raise SpecError(kind.field, where, MISSING, remedy)
    return kind, kind.parse(sizes[kind.field], geometry.base)


def _seed(kind: SamplingKind, seed: Number | None) -> int | None:
    if kind.seeded:
        return integer("seed", 0 if seed is None else seed, *limits.SEED)
    if seed is not None:
        raise SpecError("seed", "left out where the sampling is not random", seed)
    return None


def _boundary(geometry: Manifold, boundary: str | None) -> str | None:
    if geometry.base.flat:
        return choice("boundary", "open" if boundary is None else boundary, BOUNDARIES)
    if boundary is not None:
        raise SpecError("boundary", f"left out on {geometry.name}, which has none", boundary)
    return None


def _fibre(
    geometry: Manifold,
    orientations: Number | None,
    xi: Number | None,
    alpha: Number | None,
    in_plane_fraction: Number | None,
) -> dict[str, Any]:
    given = {
        "orientations": orientations,
        "xi": xi,
        "alpha": alpha,
        "in_plane_fraction": in_plane_fraction,
    }
    if not geometry.oriented:
        for field, value in given.items():
            if value is not None:
                raise SpecError(
                    field, f"left out on {geometry.name}, which has no orientations", value
                )
        return given | {"orientations": 1}
    found = dict.fromkeys(given) | {
        "orientations": integer(
            "orientations", 6 if orientations is None else orientations, *limits.ORIENTATIONS
        )
    }
    if xi is None:
        xi = "alpha" if in_plane_fraction is None else "auto"
    if xi != "auto" and in_plane_fraction is not None:
        raise SpecError("in_plane_fraction", "left out unless `xi` is 'auto'", in_plane_fraction)
    if xi != "alpha" and alpha is not None:
        raise SpecError("alpha", f"left out where `xi` is {xi}", alpha, "Give one of the two.")
    if xi == "alpha":
        alpha = number("alpha", 1 if alpha is None else alpha, *limits.ALPHA)
        return found | {"xi": "alpha", "alpha": alpha}
    if xi == "auto":
        if found["orientations"] == 1:
            field = "xi" if in_plane_fraction is None else "in_plane_fraction"
            where = "left out with one orientation, where all edges are in-plane"
            raise SpecError(field, where, given[field] if given[field] is not None else xi)
        share = 0.4 if in_plane_fraction is None else in_plane_fraction
        fraction = number("in_plane_fraction", share, *limits.IN_PLANE_FRACTION)
        return found | {"xi": "auto", "in_plane_fraction": fraction}
    return found | {"xi": number("xi", xi, *limits.XI, "'alpha', 'auto', or a number")}


def _anisotropy(geometry: Manifold, eps: Number | None, eps_squared: Number | None) -> float:
    if eps is not None and eps_squared is not None:
        raise SpecError("eps", "left out where `eps_squared` is given", eps, "Give one of the two.")
    if eps_squared is not None:
        field, given = "eps_squared", eps_squared
        value = math.sqrt(number(field, given, *limits.EPS_SQUARED))
    else:
        field, given = "eps", geometry.default_eps if eps is None else eps
        value = number(field, given, *limits.EPS)
    if not geometry.oriented and value != 1:
        other = geometry.anisotropic
        remedy = "" if other is None else f"Use {other} for an anisotropic metric."
        raise SpecError(field, f"1 on {geometry.name}, which is isotropic", given, remedy)
    return value


def _levels(levels: Number | None, kind: SamplingKind, finest: Size) -> int:
    sizes = kind.sizes(finest)
    if levels is not None:
        return integer("levels", levels, 1, len(sizes), _accepted_levels(kind, finest, len(sizes)))
    worthwhile = 1
    while worthwhile < len(sizes) and _large_enough(kind.grid(sizes[worthwhile])):
        worthwhile += 1
    return worthwhile


def _large_enough(grid: tuple[int, ...]) -> bool:
    return min(grid) >= (SMALLEST_DEFAULT_SIDE if len(grid) > 1 else SMALLEST_DEFAULT_POINTS)


def _accepted_levels(kind: SamplingKind, finest: Size, possible: int) -> str:
    if kind.seeded:
        return "1 on a random sampling, which has no coarser levels to pool to"
    if kind.regular:
        sides = " x ".join(("width", "height", "depth")[: len(finest)])
        shape = ", ".join(map(str, kind.grid(finest)))
        return (
            f"an integer in [1, {possible}] for {'x'.join(map(str, finest))} ({sides}; images "
            f"(B, C, {shape})): each level halves {'both' if len(finest) == 2 else 'all'} sides, "
            "which must come out whole and at least 2"
        )
    return f"an integer in [1, {possible}] for {kind.field} {finest}"


def _edges(
    geometry: Manifold,
    kind: SamplingKind,
    weights: str,
    neighbors: Number | None,
    kernel: str | None,
    bandwidth: Number | None,
) -> dict[str, Any]:
    if choice("weights", weights, WEIGHTS) == "selling":
        return _selling(geometry, kind, neighbors, kernel, bandwidth)
    if neighbors is None:
        neighbors = geometry.default_neighbors
    count = integer("neighbors", neighbors, *limits.NEIGHBORS)
    if weights == "matched" and geometry.base.flat and not kind.regular:
        found = f"{kind.name} sampling"
        raise SpecError("weights", "kernel on the plane unless it is sampled by a lattice", found)
    least = geometry.least_matched_neighbors
    if weights == "matched" and count < least:
        accepted = f"at least {least} with matched weights on the {geometry.base.name}"
        remedy = f"Use `neighbors={least}` or more; fewer can't be matched."
        raise SpecError("neighbors", accepted, count, remedy)
    width = 0.2 if bandwidth is None else bandwidth
    return {
        "weights": weights,
        "neighbors": count,
        "kernel": choice("kernel", "gaussian" if kernel is None else kernel, tuple(KERNELS)),
        "bandwidth": number("bandwidth", width, *limits.BANDWIDTH),
    }


def _selling(
    geometry: Manifold,
    kind: SamplingKind,
    neighbors: Number | None,
    kernel: str | None,
    bandwidth: Number | None,
) -> dict[str, Any]:
    most = geometry.selling_neighbors
    if not kind.regular or most is None:
        others = "kernel" if geometry.base.flat else "kernel or matched"
        remedy = "Selling's stencils exist on lattices only."
        raise SpecError("weights", f"{others} with {kind.name} sampling", "selling", remedy)
    for field, value in {"kernel": kernel, "bandwidth": bandwidth, "neighbors": neighbors}.items():
        if value is not None and not (field == "neighbors" and value == most):
            where = f"left out with selling weights, whose stencil of at most {most} is fixed"
            raise SpecError(field, where, value)
    return {"weights": "selling", "neighbors": most, "kernel": None, "bandwidth": None}


def _operator(weights: str, laplacian: str | None, lambda_max: Number) -> dict[str, Any]:
    if laplacian is None:
        laplacian = "normalized" if weights == "kernel" else "combinatorial"
    kind = choice("laplacian", laplacian, LAPLACIANS)
    if lambda_max == "exact":
        return {"laplacian": kind, "lambda_max": "exact"}
    if not (isinstance(lambda_max, str | int | float) and lambda_max in {2, "2"}):
        raise SpecError("lambda_max", "'exact' or 2", lambda_max)
    if kind == "combinatorial":
        remedy = "2 bounds the normalized one."
        raise SpecError("lambda_max", "'exact' with the combinatorial Laplacian", 2, remedy)
    return {"laplacian": kind, "lambda_max": 2}
