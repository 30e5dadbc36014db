"""One level of a version: its arrays mapped, its numbers checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.base_index import count_inside, read_base_index
from cheblienet_models.store.csr import CsrArrays, read_csr
from cheblienet_models.store.directional import MAX_LAMBDA, Directional, read_directional
from cheblienet_models.store.documents import Document
from cheblienet_models.store.eigenpairs import Eigenpairs, read_eigenpairs
from cheblienet_models.store.files import Folder

LaplacianKind = Literal["normalized", "combinatorial"]
LAPLACIANS: tuple[LaplacianKind, ...] = ("normalized", "combinatorial")
MAX_SIDES = 4


@dataclass(frozen=True)
class Level:
    """Everything that is stored of a level, mapped copy-on-write.

    Args:
        label: name@version, level; for messages.
        grid: (orientations, *base shape) of the full sampling; of product V without a mask.
        laplacian: (V, V), 2 Delta / lambda_max - I.
        laplacian_kind: "normalized", Delta = I - D^-1/2 W D^-1/2, or "combinatorial",
            Delta = A^-1/2 (D - W) A^-1/2.
        lambda_max: upper bound of the spectrum of Delta, in (0, MAX_LAMBDA].
        degree: (V,) float32.
        area: (V,) float32.
        coordinates: (V, d) float64.
        eigenpairs: the smallest ones of Delta; None where none are stored.
        base_index: (V / orientations,) int32 or int64, ascending: where each base point is among
            the points of the full sampling; None without a mask.
        sampling: as the specification names it; None where it names none.
        eigenvalue_scale: factor by which Delta's eigenvalues estimate the operator's, in (0,
            MAX_LAMBDA]; None where none is stored.
        boundary: as the specification names it; None where it names none.
        directional: the Laplacians along single directions, by name; empty where none are stored.
    """

    label: str
    grid: tuple[int, ...]
    laplacian: CsrArrays
    laplacian_kind: LaplacianKind
    lambda_max: float
    degree: Tensor
    area: Tensor
    coordinates: Tensor
    eigenpairs: Eigenpairs | None = None
    base_index: Tensor | None = None
    sampling: str | None = None
    eigenvalue_scale: float | None = None
    boundary: str | None = None
    directional: Mapping[str, Directional] = field(default_factory=dict)

    @property
    def num_vertices(self) -> int:
        """V."""
        return self.laplacian.shape[0]

    @property
    def num_edges(self) -> int:
        """Undirected; every vertex has an entry on the diagonal besides."""
        return (len(self.laplacian.data) - self.num_vertices) // 2

    @property
    def orientations(self) -> int:
        """n_o; 1 where the manifold has none."""
        return self.grid[0]

    @property
    def mass(self) -> Tensor:
        """(V,) m by which Delta_ij = -w_ij / sqrt(m_i m_j): the degrees or the areas."""
        return self.degree if self.laplacian_kind == "normalized" else self.area


def read_level(version: Folder, number: int, label: str, spec: Document, facts: Any) -> Level:
    """Map a level.

    Args:
        version: the folder that it is in.
        number: of the level, 0 the finest.
        label: of the level, for messages.
        spec: of the version.
        facts: of the level, any JSON value.

    Raises:
        StoreError: an array is missing, of another shape, type or encoding, or a number of the
            facts or the specification is not one that a level can have.
    """
    folder = version / f"levels/{number}"
    grid = _grid(folder, facts)
    inside = count_inside(folder, spec, number, grid)
    vertices = grid[0] * inside
    lambda_max = _lambda_max(folder, facts)
    laplacian = read_csr(folder / "laplacian", (vertices, vertices))
    points = {
        "degree": torch.from_numpy((folder / "degree").array(("float32",), 1)),
        "area": torch.from_numpy((folder / "area").array(("float32",), 1)),
        "coordinates": torch.from_numpy((folder / "coordinates").array(("float64",), 2)),
    }
    for name, values in points.items():
        if len(values) != vertices:
            raise StoreError(f"{folder}/{name} must have {vertices} rows. Got {len(values)}.")
    for name in ("degree", "area"):  # coordinates are larger, and looked at where they are used
        stored = points[name].numpy()  # whose thread has nobody to wait for
        if not (stored.min() >= 0 and stored.max() < math.inf):
            raise StoreError(f"{folder}/{name} must have finite numbers from 0.")
    eigenpairs = None
    if "eigenpairs" in spec:
        eigenpairs = read_eigenpairs(folder, vertices, spec["eigenpairs"], lambda_max)
    base_index = None
    if "mask" in spec:
        base_index = read_base_index(folder, inside, math.prod(grid[1:]))
    sampling, boundary = spec.get("sampling"), spec.get("boundary")
    kind = _laplacian_kind(version, spec)
    return Level(
        label,
        grid,
        laplacian,
        kind,
        lambda_max,
        **points,
        eigenpairs=eigenpairs,
        base_index=base_index,
        sampling=sampling if isinstance(sampling, str) else None,
        eigenvalue_scale=_eigenvalue_scale(folder, facts),
        boundary=boundary if isinstance(boundary, str) else None,
        directional=read_directional(folder, spec, facts, vertices),
    )


def _grid(folder: Folder, facts: Any) -> tuple[int, ...]:
    """(orientations, *shape of a signal on the base) of a level."""
    grid = facts.get("grid") if isinstance(facts, dict) else None
    if (
        not isinstance(grid, list)
        or not 2 <= len(grid) <= 1 + MAX_SIDES
        or not all(type(n) is int and 0 < n < 2**31 for n in grid)
    ):
        raise StoreError(
            f"{folder} must have a grid of orientations and 1 to {MAX_SIDES} sides. "
            f"Got {quoted(grid)}."
        )
    return tuple(grid)


def _lambda_max(folder: Folder, facts: Any) -> float:
    value: Any = facts.get("lambda_max") if isinstance(facts, dict) else None
    if type(value) not in {int, float} or not 0 < value <= MAX_LAMBDA:
        raise StoreError(
            f"{folder} must have lambda_max in (0, {MAX_LAMBDA:g}]. Got {quoted(value)}."
        )
    return float(value)


def _eigenvalue_scale(folder: Folder, facts: Any) -> float | None:
    """None in stores that are older than this fact, too."""
    value: Any = facts.get("eigenvalue_scale") if isinstance(facts, dict) else None
    if value is None:
        return None
    if type(value) not in {int, float} or not 0 < value <= MAX_LAMBDA:
        raise StoreError(
            f"{folder} must have eigenvalue_scale in (0, {MAX_LAMBDA:g}] or null. "
            f"Got {quoted(value)}."
        )
    return float(value)


def _laplacian_kind(folder: Folder, spec: Document) -> LaplacianKind:
    for kind in LAPLACIANS:
        if spec.get("laplacian") == kind:
            return kind
    raise StoreError(
        f"{folder} must have a spec whose laplacian is one of {', '.join(LAPLACIANS)}. "
        f"Got {quoted(spec.get('laplacian'))}."
    )
