"""The specification of a build: frozen, validated, hashable."""

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy.typing as npt

from cheblienet_graphs import limits
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.inputs.masks import LatLonMask
from cheblienet_graphs.inputs.regions import Four
from cheblienet_graphs.inputs.volumes import Volume
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.samplings.given_points import GivenPoints, PointArrays
from cheblienet_graphs.spec.directional import directional_field
from cheblienet_graphs.spec.domain import mask_field, region_field, size_of_mask
from cheblienet_graphs.spec.drift import drift_field
from cheblienet_graphs.spec.fields import (
    anisotropy,
    boundary_field,
    correction_field,
    edge_fields,
    fibre_fields,
    given_points,
    number_of_levels,
    operator_fields,
    sampling_and_size,
    seed_field,
)
from cheblienet_graphs.spec.kernels import KERNELS, Kernel
from cheblienet_graphs.spec.levels import Levels
from cheblienet_graphs.spec.mask import Mask
from cheblienet_graphs.spec.volumes import axes_field, spacing_field
from cheblienet_graphs.values import Number, choice, integer


@dataclass(frozen=True, init=False)
class GraphSpec(Levels):
    """A build: manifold, sampling, metric, neighbour rule, weights and pyramid.

    Values are normalised (96, 96.0 and "96"; 0.1 and "1/10"), so that equal builds have equal
    digests. The defaults are the paper's. Fields that do not apply are None.

    Args:
        manifold: "r2", "se2", "r3", "r3s2" (positions and axes), "s2" or "so3".
        size: of a lattice: pixels of the finest level, `N`, `"WxH"` or `(W, H)`: width times
            height, at least 2 each, for image tensors (B, C, H, W). On r3 and r3s2 voxels: `N`,
            `"WxHxD"` or `(W, H, D)`, for (B, C, D, H, W).
        sampling: of the plane "lattice" (default) or "random", of space "lattice", of the sphere
            "icosahedral" (default), "healpix" (nested), "equiangular", "gaussian" or "random"; of
            plane and sphere "unstructured", points of your own. May be left out where the
            sampling's own size is given.
        subdivisions: of the icosahedron, in [0, 9]: 10 * 4^n + 2 points.
        nside: of HEALPix, a power of two in [1, 8192]: 12 nside^2 points.
        bandlimit: b of the equiangular grid, in [1, 16384]: 2b x 2b points.
        gaussian: a Gaussian grid, "O32" (octahedral) or "F32" (regular), with 32 latitudes on each
            half of the sphere; these in [2, 8192]. O has 4N (N + 9) points, F 2N x 4N.
        points: of a random sampling, in [2, 2^31 - 1], uniform.
        seed: of a random sampling, in [0, 2^32 - 1]; default 0.
        coordinates: points of your own, an array (N, 2), at least two different ones: latitude,
            longitude in degrees on the sphere, x, y on the plane; or (N, 3) with areas, in any
            unit, else these are the areas of Voronoi cells. A sequence of such arrays, finest
            first, makes a pyramid. Kept as `GivenPoints`: the digest counts, not the arrays.
        domain: (X0, Y0, X1, Y1), that of own points on the plane; default their bounding box.
            Lengths are divided by its width, so coordinates come out in [0, 1] x [0, height].
        units: "degrees" confirms that latitudes within pi/2 and longitudes within 2 pi are no
            radians.
        mask: which points the graph has: booleans, True inside, or 0 and 1, or 8- or 16-bit grey,
            inside above half of the range. On the plane (H, W), in space (D, H, W), row 0 at
            y = 0: these give the size, too, and a `Volume`, as of a NIfTI file, the spacing. On the
            sphere one a point in the sampling's order, or an image of the whole sphere (latitudes,
            longitudes), north up, its left edge at longitude -180, or a LatLonMask: then points
            take the nearest pixel. Vertices are numbered in the order of the full sampling; edges
            and weights are those of its graph.
        mask_order: of HEALPix's pixels in the mask, "nested" (default) or "ring".
        region: of the sphere, (W, S, E, N) degrees, limits inside; W > E crosses the date line.
            With a mask, points have to be in both.
        orientations: n_o in [1, 180], samples in [-pi/2, pi/2); default 6. Only on se2 and so3.
        axes: of r3s2, a set of unit vectors n, n and -n being the same: 3, 4, 6, 7, 12 (default),
            13, 22 or 43, which all 24 rotations of the cube map to itself, or "ico6", "ico21" or
            "ico81", the vertices of icospheres, which 12 of them do. Then n_o is their number.
        spacing: of voxels along x, y and z, "X,Y,Z" or a sequence in any unit; default all equal,
            or those of the mask's affine. Lengths are in widths of the volume, and h is the
            geometric mean of a voxel's sides.
        eps: anisotropy in R = diag(1, eps^-2, xi^2), in [0.001, 1]; default sqrt(0.1), and always
            1 on r2, r3 and s2, which are isotropic.
        eps_squared: eps^2, in [1e-6, 1]; give one of the two.
        xi: the orientation weight of the finest level, in [1e-6, 1e6]; or "alpha" (default):
            xi^2 = alpha n_o A, A the base area of a point (on a lattice h^2, h = 1/W; on the sphere
            4 pi / points), coarser levels with the same alpha; or "auto": solved on each level
            for `in_plane_fraction`. Only on se2, so3 and r3s2.
        alpha: in [1e-6, 1e6], default 1; exclusive with other kinds of xi.
        in_plane_fraction: share of edges within one orientation that xi "auto" aims at, in
            [0.01, 0.99]; default 0.4, the paper's. Giving it means xi "auto".
        weights: "kernel" (default), the paper's: a function of distance. Two others have the second
            moments of the metric: "matched", the weights nearest to the kernel's that have, on the
            K nearest neighbours and, on lattices, the offsets of "selling"; "selling", on lattices,
            the smallest such stencil, at most 8 neighbours (r2: 4, r3: 6). "voronoi", on r2 and s2
            without a lattice: the finite-volume weights of the Voronoi cells, whose edges join
            cells with a common side; second order on whatever points.
        neighbors: K in [1, 1024], at most this many neighbours; default 16, on r2 and s2 8, on
            r3 18, on r3s2 32. At least 24 with matched weights on the sphere; left out with selling
            and voronoi weights.
        kernel: "gaussian" (default), "laplace", "cauchy" or "rectangular"; left out with selling
            and voronoi weights.
        bandwidth: t = bandwidth x mean squared distance, in [0.01, 100]; default 0.2; left out
            with selling and voronoi weights.
        laplacian: "normalized", I - D^-1/2 W D^-1/2, the default of kernel weights, or
            "combinatorial", A^-1/2 (D - W) A^-1/2 with the areas A, that of the others.
        boundary: of the plane or space, "open" (default) or "periodic".
        boundary_correction: whether edges along the sides of an open lattice make up for those cut
            off there, so that eigenvalues converge at second order. The default where weights are
            matched, or selling on se2 and r3s2; those of r2 and r3 need none. False builds as
            before.
        levels: number of graphs in the pyramid; each is half as fine as the one before. Default:
            while sides are at least 8, or points at least 42. Of random points 1; each coarser
            level has the first quarter of them. Of own points as many as there are arrays.
        lambda_max: "exact" (default), or 2, the bound that holds for every normalized Laplacian.
        eigenpairs: number of the smallest eigenvalues of each level to store with their
            vectors, in [1, 1000], at most the vertices of the coarsest level; default none.
        directional: delta in [1e-6, 1] of three more Laplacians on the same vertices, for networks
            that learn their anisotropy: "forward", of e e^T + delta e' e'^T with e the direction
            of an orientation and e' across it, "sideways", of delta e e^T + e' e'^T, and
            "rotation", along the fibre alone. Combinatorial, on lattices of se2; default none.
        drift: slack in [0.001, 1] of the first moments of matched weights on the sphere: 0.03 makes
            them small and eigenvalues truer, less takes longer; default None, as they come.

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
    gaussian: str | None
    points: int | None
    seed: int | None
    coordinates: GivenPoints | None
    orientations: int
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
    region: Four | None
    directional: float | None
    drift: float | None
    boundary_correction: Literal[True] | None

    def __init__(
        self,
        manifold: str,
        size: Number | Sequence[Number] | None = None,
        *,
        sampling: str | None = None,
        subdivisions: Number | None = None,
        nside: Number | None = None,
        bandlimit: Number | None = None,
        gaussian: str | None = None,
        points: Number | None = None,
        seed: Number | None = None,
        coordinates: Any = None,
        domain: str | Sequence[Number] | None = None,
        units: str | None = None,
        orientations: Number | None = None,
        axes: Number | None = None,
        spacing: str | Sequence[Number] | None = None,
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
        mask: npt.ArrayLike | LatLonMask | Volume | Mapping[str, Any] | None = None,
        mask_order: str | None = None,
        region: str | Sequence[float] | None = None,
        directional: Number | None = None,
        drift: Number | None = None,
        boundary_correction: bool | None = None,
    ) -> None:
        geometry = MANIFOLDS[choice("manifold", manifold, tuple(MANIFOLDS))]
        sizes = {
            "size": size,
            "subdivisions": subdivisions,
            "nside": nside,
            "bandlimit": bandlimit,
            "gaussian": gaussian,
            "points": points,
            "coordinates": given_points(geometry, coordinates, domain, units, boundary),
        }
        sizes["size"] = size_of_mask(geometry, sampling, sizes, mask)
        kind, finest = sampling_and_size(geometry, sampling, sizes)
        normalised: dict[str, Any] = {
            "manifold": geometry.name,
            "sampling": kind.name,
            **dict.fromkeys(sizes),
            kind.field: finest,
            "seed": seed_field(kind, seed),
            "axes": (kinds := axes_field(geometry, orientations, axes)),
            "spacing": spacing_field(geometry, spacing, mask),
            **fibre_fields(geometry, orientations, kinds, xi, alpha, in_plane_fraction),
            "eps": anisotropy(geometry, eps, eps_squared),
            **edge_fields(geometry, kind, weights, neighbors, kernel, bandwidth),
            "boundary": boundary_field(geometry, boundary),
            "levels": number_of_levels(levels, kind, finest),
            "region": region_field(geometry, region),
        }
        normalised["directional"] = directional_field(
            geometry, kind, normalised["orientations"], directional
        )
        normalised["drift"] = drift_field(kind, normalised["weights"], drift)
        normalised["boundary_correction"] = correction_field(
            geometry, kind, normalised["boundary"], normalised["weights"], boundary_correction
        )
        normalised |= operator_fields(normalised["weights"], laplacian, lambda_max)
        if normalised["weights"] == "selling" and normalised["xi"] == "auto":
            remedy = "Their stencils, and so the in-plane fraction, do not depend on xi."
            if in_plane_fraction is not None:
                where = "left out with selling weights"
                raise SpecError("in_plane_fraction", where, in_plane_fraction, remedy)
            raise SpecError("xi", "a number or 'alpha' with selling weights", "auto", remedy)
        for field, value in normalised.items():
            object.__setattr__(self, field, value)
        object.__setattr__(self, "mask", mask_field(self, mask, mask_order))
        if self.num_vertices > limits.VERTICES:
            accepted = f"such that there are at most {limits.VERTICES:,} vertices"
            fibre = "orientations" if self.axes is None else "axes"
            remedy = f"Or use fewer `{fibre}`." if self.orientations > 1 else ""
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
    def schema(self) -> str:
        """The schema of versions with this specification, the oldest that knows all it says."""
        later = self.mask, self.directional, self.drift, self.boundary_correction, self.axes
        plain = (*later, self.spacing) == (None,) * 6 and self.weights != "voronoi"
        return self.sampling_kind.schemas[self.levels > 1] if plain else "1.1"

    @property
    def default_name(self) -> str:
        """The name under which the graph is published unless another is given."""
        numbers = [*self.sampling_kind.name_parts(self.level_size(0))]
        if self.geometry.oriented:
            numbers.append(self.axes or self.orientations)
        sampling = "" if self.sampling_kind.regular else f"{self.sampling}-"
        seed = f"-seed{self.seed}" if self.seed else ""
        part = "" if self.mask is None else "-masked" if self.region is None else "-region"
        return f"{self.manifold}-{sampling}{'x'.join(map(str, numbers))}{seed}{part}"

    @property
    def searched_neighbors(self) -> int:
        """K, at most how many neighbours each vertex gets.

        Raises:
            ValueError: neighbours are not searched for.
        """
        if self.neighbors is None:
            raise ValueError(f"{self.weights} weights have no K")
        return self.neighbors

    @property
    def kernel_and_bandwidth(self) -> tuple[Kernel, float]:
        """The function of u = d^2 / (4 t), and t / mean(d^2).

        Raises:
            ValueError: the weights have no kernel.
        """
        if self.kernel is None or self.bandwidth is None:
            raise ValueError(f"{self.weights} weights have no kernel")
        return KERNELS[self.kernel], self.bandwidth

    def to_dict(self) -> dict[str, Any]:
        """The normalised values as JSON types; fields that do not apply are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _json(value) for name, value in values.items() if value is not None}

    def recorded(self) -> "GraphSpec":
        """The same, as a store tells it: without the arrays that were given."""
        return self.from_dict(self.to_dict())

    def with_points(self, arrays: Mapping[int, PointArrays]) -> "GraphSpec":
        """The same, its given points known to be these, by level; by digest only where none are.

        Raises:
            ValueError: it has none.
        """
        if self.coordinates is None:
            raise ValueError(f"{self.sampling} sampling has no given points")
        other = copy.copy(self)
        object.__setattr__(other, "coordinates", self.coordinates.with_arrays(arrays))
        return other

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "GraphSpec":
        """The spec whose `to_dict()` is `values`.

        Raises:
            SpecError: it is no mapping, or a value is out of range.
        """
        if not isinstance(values, Mapping):
            raise SpecError("values", "a mapping, as to_dict() returns", values)
        fields = {"boundary_correction": False, **values}
        geometry = MANIFOLDS[choice("manifold", fields.get("manifold"), tuple(MANIFOLDS))]
        if not geometry.oriented or "axes" in fields:
            fields.pop("orientations", None)
        return cls(**fields)

    @property
    def sha256(self) -> str:
        """Hex digest of the canonical JSON of `to_dict()`."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _json(value: Any) -> Any:
    """A field's value as JSON types."""
    if isinstance(value, Mask | GivenPoints):
        return value.to_dict()
    return list(value) if isinstance(value, tuple) else value
