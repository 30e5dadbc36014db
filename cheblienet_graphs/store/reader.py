"""Published versions as numpy sees them, and the points that they are of.

Opening checks what can't be trusted later: shapes and types, pointers and columns of matrices,
masses, places, averages. Values that only products read are looked at where they are used.
"""

import math
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.limits import Range
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.samplings.given_tables import PointArrays
from cheblienet_graphs.samplings.points import base_places
from cheblienet_graphs.samplings.region import RegionSampling
from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling, SamplingKind
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.mask import points_inside
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.arrays import mapped_array, mapped_places, within
from cheblienet_graphs.store.facts import LevelFacts, VersionFacts
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.matrices import mapped_averages, mapped_csr
from cheblienet_graphs.store.rules import LARGEST
from cheblienet_graphs.typing import Floats

if TYPE_CHECKING:
    import scipy.sparse
    import zarr

SPECTRUM = 1 + 1e-6
"""Largest absolute eigenvalue that a rescaled Laplacian may have, in float32."""
EIGENVALUE = 1e-4
"""Tolerance of the range of stored eigenvalues, in units of lambda_max."""
AREA = Range(1 / LARGEST, LARGEST)


def open_group(store: str | Path, name: str | None = None) -> "zarr.Group":
    """A published version as a read-only zarr group.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.

    Raises:
        UnknownGraphError: there is none of that name.
        StoreError: the store can't be read.
    """
    import zarr  # slow to import, builds and training do without

    version = catalog.resolve(store, name)
    for path, status in version.walk(lambda _: True):
        if stat.S_ISLNK(status.st_mode):  # zarr follows links
            raise StoreError(f"{version}/{path} is a link, which is not followed.")
        if not stat.S_ISREG(status.st_mode):  # zarr waits for pipes; a folder was not looked into
            raise StoreError(f"{version}/{path} is not a file of a version.")
    return zarr.open_group(Path(version), mode="r", zarr_format=3)


@dataclass(frozen=True)
class LevelFolder:
    """The arrays of a level, mapped on first use and of the shapes that its facts imply.

    Their values are checked to be finite and within their ranges, so computing with them does not
    overflow. What can't be read, or isn't so, is a StoreError.

    Args:
        version: folder of the version.
        spec: of the graph.
        levels: facts of the levels, finest first, as far as they are known.
        level: 0 is the finest.
        numbers_sha256: digest of all numbers of the version; empty where it is not published.
    """

    version: Folder
    spec: GraphSpec
    levels: tuple[LevelFacts, ...]
    level: int
    numbers_sha256: str = ""

    @classmethod
    def published(cls, version: Folder, facts: VersionFacts, level: int) -> Self:
        """A level of a published version."""
        return cls(version, facts.spec, facts.levels, level, facts.numbers_sha256)

    @property
    def folder(self) -> Folder:
        """Folder of the level."""
        return self.version / f"levels/{self.level}"

    @property
    def of_level(self) -> LevelFacts:
        """The level's facts."""
        return self.levels[self.level]

    @property
    def label(self) -> str:
        """'NAME@VERSION, level 0', for messages."""
        return f"{self.version.parent.name}@{self.version.name}, level {self.level}"

    @property
    def laplacians(self) -> dict[str, int]:
        """Names of its Laplacians and the number of their entries, that of the metric first."""
        known = self.of_level.directional or {}
        others = {f"{layout.DIRECTIONAL}/{name}": facts.nnz for name, facts in known.items()}
        return {"laplacian": self.of_level.nnz, **others}

    @property
    def maps(self) -> dict[str, tuple[int, int]]:
        """Paths and shapes of the maps to the coarser level and back; empty on the last."""
        here = self.level
        there = self.level + 1
        if there == self.spec.levels:
            return {}
        many, few = (self.spec.vertices[level] for level in (here, there))
        down, up = f"pooling/{here}to{there}", f"unpooling/{there}to{here}"
        return {down: (few, many), up: (many, few)}

    def averages(self, path: str) -> Csr:
        """One of the `maps`; its rows are averages.

        Raises:
            StoreError: as `mapped_averages`.
        """
        return mapped_averages(self.version / path, self.maps[path])

    def matrix(self, name: str) -> Csr:
        """(V, V) float32, one of the `laplacians`, rescaled; its values are not looked at.

        Raises:
            StoreError: as `mapped_csr`.
        """
        vertices = self.of_level.vertices
        return mapped_csr(self.folder / name, (vertices, vertices), self.laplacians[name])

    def rescaled(self, name: str) -> "scipy.sparse.csr_array":
        """The same for computing with it.

        Raises:
            StoreError: as `mapped_csr`, or entries are not finite or outside [-1, 1], the
                interval of the spectrum of a rescaled Laplacian.
        """
        matrix = self.matrix(name)
        within(self.folder / name, matrix.data, Range(-SPECTRUM, SPECTRUM))
        return matrix.scipy()

    @cached_property
    def laplacian(self) -> "scipy.sparse.csr_array":
        """(V, V) float32, that of the metric, rescaled."""
        return self.rescaled("laplacian")

    @cached_property
    def gradients(self) -> "dict[str, scipy.sparse.csr_array]":
        """By direction of the frame, (V, V) float32, per unit of length; empty without any."""
        if self.of_level.gradients is None:
            return {}
        matrix = self.finite_gradients()
        vertices = self.of_level.vertices
        starts = range(0, matrix.shape[0], vertices)
        blocks = (matrix.block(n, n + vertices).scipy() for n in starts)
        return dict(zip(self.spec.geometry.frame, blocks, strict=True))

    def stacked_gradients(self, part: str = layout.FIELDS) -> Csr:
        """(fields V, V) float32, a part of the gradients of all fields; its values as they are.

        Raises:
            StoreError: as `mapped_csr`, or the level has no gradients.
        """
        known, vertices = self.of_level.gradients, self.of_level.vertices
        if known is None:
            raise StoreError(f"{self.label} has no gradients; give `gradients=True`.")
        shape = (len(self.spec.geometry.frame) * vertices, vertices)
        entries = known.nnz if part == layout.FIELDS else known.symmetric_nnz
        folder = self.folder / layout.GRADIENTS / part
        if not entries and folder.status() is None:  # what has no entries is not stored
            return Csr.empty(shape)
        return mapped_csr(folder, shape, entries)

    def finite_gradients(self, part: str = layout.FIELDS) -> Csr:
        """The same, all finite."""
        matrix = self.stacked_gradients(part)
        within(self.folder / layout.GRADIENTS / part, matrix.data)
        return matrix

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """A dense array with a row for each vertex: "coordinates" or "eigenvectors".

        Its values are not looked at.

        Raises:
            StoreError: as `mapped_array`.
        """
        vertices = self.of_level.vertices
        columns = len(self.spec.geometry.columns)
        if name == "coordinates":
            return mapped_array(self.folder / name, (vertices, columns), ("float64",))
        return mapped_array(self.folder / name, (vertices, self.spec.eigenpairs), ("float32",))

    @cached_property
    def degree(self) -> npt.NDArray[np.float32]:
        """(V,) float32 weighted degrees."""
        return self._dense("degree", (self.of_level.vertices,), "float32", Range(0, LARGEST))

    @cached_property
    def area(self) -> npt.NDArray[np.float32]:
        """(V,) float32 areas, positive."""
        return self._dense("area", (self.of_level.vertices,), "float32", AREA)

    @cached_property
    def coordinates(self) -> npt.NDArray[np.float64]:
        """(V, d) float64."""
        return within(self.folder / "coordinates", self.mapped("coordinates"))

    @cached_property
    def base_index(self) -> npt.NDArray[np.integer] | None:
        """(n_inside,) where the points are in the full sampling, ascending; None without a mask."""
        if self.spec.mask is None:
            return None
        count, points = self.spec.base_points(self.level), self.spec.full_points(self.level)
        return mapped_places(self.folder / layout.BASE_INDEX, count, points)

    @cached_property
    def eigenvalues(self) -> npt.NDArray[np.float64] | None:
        """(M,) float64 ascending from about 0, None where none are stored."""
        if self.spec.eigenpairs is None:
            return None
        array = self.folder / "eigenvalues"
        rounding = EIGENVALUE * self.of_level.lambda_max
        allowed = Range(-rounding, self.of_level.lambda_max + rounding)
        values = self._dense("eigenvalues", (self.spec.eigenpairs,), "float64", allowed)
        if (np.diff(values) < 0).any() or values[0] > rounding:
            raise StoreError(f"{array} do not ascend from about 0.")
        return values

    @cached_property
    def eigenvectors(self) -> npt.NDArray[np.float32] | None:
        """(V, M) float32, None where none are stored; values are not looked at."""
        return None if self.spec.eigenpairs is None else self.mapped("eigenvectors")

    @property
    def mass(self) -> npt.NDArray[np.float32]:
        """(V,) divisors of the Laplacian: the degrees, or the areas."""
        return self.degree if self.spec.laplacian == "normalized" else self.area

    def weights(self, vertices: npt.NDArray[np.int64]) -> "scipy.sparse.csr_array":
        """(N, V) float64 rows of W for N vertices; it has no diagonal.

        w_ij = -Delta_ij sqrt(n_i n_j), n the mass.
        """
        import scipy.sparse  # training does without

        stored = self.laplacian[vertices].tocoo()
        edge = stored.col != vertices[stored.row]
        row, column = stored.row[edge], stored.col[edge]
        roots = (np.sqrt(self.mass[end], dtype=np.float64) for end in (vertices[row], column))
        weights: Any = -stored.data[edge] * (self.of_level.lambda_max / 2) * math.prod(roots)
        return scipy.sparse.csr_array((weights, (row, column)), shape=stored.shape)

    @cached_property
    def sampling(self) -> Sampling:
        """The sampling; where the graph has a mask, its points inside.

        Given points come from the coordinates and areas: they agree with the build up to rounding,
        as areas are stored in float32, and points of the sphere as angles.

        Raises:
            StoreError: points inside contradict the parts of pixels.
        """
        if self.spec.coordinates is not None:
            area = self.area[: self.spec.base_points(self.level)].astype(np.float64)
            return self._given(area / area.mean())
        full = self.spec.full_sampling(self.level)
        places = self.base_index
        if places is None:
            return full
        fraction = self.fraction.astype(np.float64) if self.spec.cuts_pixels else None
        inside = points_inside(self.spec, full, places.astype(np.int64), fraction)
        if inside.places is None or not np.array_equal(inside.places, places):
            raise StoreError(f"{self.folder}/{layout.FRACTION} has other points than the mask.")
        return inside

    @cached_property
    def fraction(self) -> npt.NDArray[np.float32]:
        """(all points,) the part of each pixel in the domain, where that cuts pixels."""
        shape = (self.spec.full_points(self.level),)
        return self._dense(layout.FRACTION, shape, "float32", Range(0, 1))

    @cached_property
    def filling(self) -> Csr:
        """(all points, points) what each pixel shows of a signal, where the domain cuts pixels.

        Rows are averages; a point shows itself. Rows of places outside, or near no point, are
        empty.

        Raises:
            StoreError: as `mapped_averages`, or points do not show themselves.
        """
        places = self.base_index
        points = self.spec.base_points(self.level)
        shape = (self.spec.full_points(self.level), points)
        array = self.folder / layout.FILLING
        filling = mapped_averages(array, shape, gaps=True)
        counts = np.diff(filling.indptr)[places]
        first = filling.indptr[:-1][places]
        if not (counts == 1).all() or (filling.indices[first] != np.arange(points)).any():
            raise StoreError(f"{array} must show each point in its own pixel.")
        return filling

    @property
    def sampled(self) -> SampledManifold[Sampling]:
        """The points with the metric that was asked for, xi 0 without orientations."""
        metric = Metric(self.spec.eps, self.of_level.xi or 0.0)
        return SampledManifold(self.sampling, self.spec.geometry, metric)

    @cached_property
    def cells(self) -> Sampling:
        """Given points with the areas of their Voronoi cells, clipped where a region does so."""
        points = self._given(None)
        if self.spec.clipping is not None:
            return RegionSampling(points, np.arange(points.num_points), self.spec.clipping)
        return points

    @property
    def areas_by_cells(self) -> Floats | None:
        """(points,) given areas over areas of Voronoi cells; None without given ones.

        There are none with a mask, either: points outside, which bound cells, are not stored.

        Raises:
            CheblienetError: the points have no cells that can be computed.
        """
        given = self.spec.coordinates
        if given is None or not given.given_areas or self.spec.mask is not None:
            return None
        points = self.spec.base_points(self.level)
        return self.area[:points] / self.cells.areas(0, points)

    def _given(self, areas: Floats | None) -> SamplingKind:
        """Given points; without points outside a mask, which are not stored."""
        base = self.coordinates[: self.spec.base_points(self.level)]
        points = np.array(base_places(self.spec.geometry.base, base))
        given = self.spec.with_points({self.level: PointArrays(points, areas)})
        return given.full_sampling(self.level)

    def _dense(
        self, name: str, shape: tuple[int, ...], dtype: str, allowed: Range[float]
    ) -> npt.NDArray[Any]:
        """A dense array of which all values are within a range."""
        array = self.folder / name
        return within(array, mapped_array(array, shape, (dtype,)), allowed)
