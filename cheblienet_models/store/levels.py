"""One level of a version: its arrays mapped, its numbers checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import Folder
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import INDEX, CsrArrays, read_averages, read_csr
from cheblienet_models.store.files import Document, read_count, read_grid, read_number
from cheblienet_models.store.gradients import StoredGradients, read_gradients

LaplacianKind = Literal["normalized", "combinatorial"]
DIRECTIONS = ("forward", "sideways", "rotation")
WORDS = ("sampling", "boundary")
MAX_POINTS = 2**36
"""Of a base of which a mask is taken."""
ROUNDING = 1e-4
"""How far eigenvalues may be out of order or out of range, in units of lambda_max."""
AREA = 1e-5
"""Largest error of a mass, in units of the mean one."""


@dataclass(frozen=True)
class Level:
    """Everything that is stored of a level, mapped copy-on-write.

    Args:
        label: name@version, level; for messages.
        grid: (orientations, *base shape) of the full sampling; of product V without a mask.
        laplacian: (V, V), 2 Delta / lambda_max - I.
        laplacian_kind: "normalized", Delta = I - D^-1/2 W D^-1/2, or "combinatorial",
            Delta = A^-1/2 (D - W) A^-1/2.
        lambda_max: upper bound of the spectrum of Delta, positive.
        degree: (V,) float32.
        area: (V,) float32.
        coordinates: (V, d) float64.
        eigenvalues: (M,) float64, the smallest ones of Delta, ascending; None where none are
            stored.
        eigenvectors: (V, M) float32, theirs.
        base_index: (V / orientations,) int32 or int64, ascending: where each base point is among
            the points of the full sampling; None without a mask.
        sampling: as the specification names it; None where it names none.
        eigenvalue_scale: factor by which Delta's eigenvalues estimate the operator's, positive;
            None where none is stored.
        boundary: as the specification names it; None where it names none.
        period: of orientations, radians.
        directional: the Laplacians along single directions, combinatorial, by name, each with its
            own lambda_max; empty where none are stored.
        gradients: first derivatives along the frame; None where none are stored.
        fraction: (*base shape) float32, the part of each pixel in a domain that cuts them, in
            [0, 1]; None where none does.
        filling: (all pixels, points) averages, what each pixel shows of a signal on the points
            there. Rows are empty of what is outside, or near no point.
        spec: of the version.
    """

    label: str
    grid: tuple[int, ...]
    laplacian: CsrArrays
    laplacian_kind: LaplacianKind
    lambda_max: float
    degree: Tensor
    area: Tensor
    coordinates: Tensor
    eigenvalues: Tensor | None = None
    eigenvectors: Tensor | None = None
    base_index: Tensor | None = None
    sampling: str | None = None
    eigenvalue_scale: float | None = None
    boundary: str | None = None
    period: float = math.pi
    directional: Mapping[str, tuple[CsrArrays, float]] = field(default_factory=dict)
    gradients: StoredGradients | None = None
    fraction: Tensor | None = None
    filling: CsrArrays | None = None
    spec: Document = field(default_factory=dict)

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
    folder, known = version / f"levels/{number}", facts if isinstance(facts, dict) else {}
    grid = read_grid(folder, "grid", known.get("grid"))
    inside = count_inside(folder, spec, number, grid)
    vertices = grid[0] * inside
    lambda_max = read_number(folder, "lambda_max", known.get("lambda_max"))
    scale = known.get("eigenvalue_scale")
    if scale is not None:  # which older stores have not
        scale = read_number(folder, "eigenvalue_scale", scale)
    kinds = [kind for kind in get_args(LaplacianKind) if spec.get("laplacian") == kind]
    if not kinds:
        raise StoreError(
            f"{version} must have a spec whose laplacian is one of "
            f"{', '.join(get_args(LaplacianKind))}. Got {quoted(spec.get('laplacian'))}."
        )
    values = vectors = fraction = filling = None
    if "eigenpairs" in spec:
        values, vectors = read_eigenpairs(folder, vertices, spec["eigenpairs"], lambda_max)
    gradients = None
    if "gradients" in spec:
        gradients = read_gradients(folder, spec, known.get("gradients"), vertices)
    degree, area = (_masses(folder / name, vertices) for name in ("degree", "area"))
    # Looked at where they are used.
    coordinates = mapped_array(folder / "coordinates", (vertices, None), ("float64",))
    base_index = read_base_index(folder, inside, grid) if "mask" in spec else None
    if base_index is not None and spec.get("mask_edge") == "cut" and "region" not in spec:
        fraction, filling = read_cut(folder, grid, base_index.numpy())
    words = {name: spec[name] for name in WORDS if isinstance(spec.get(name), str)}
    return Level(
        label,
        grid,
        read_csr(folder / "laplacian", (vertices, vertices)),
        kinds[0],
        lambda_max,
        degree,
        area,
        torch.from_numpy(coordinates),
        eigenvalues=values,
        eigenvectors=vectors,
        base_index=base_index,
        eigenvalue_scale=scale,
        period=2 * math.pi if spec.get("period") == "2pi" else math.pi,
        directional=_directional(folder, known, vertices) if "directional" in spec else {},
        gradients=gradients,
        fraction=fraction,
        filling=filling,
        spec=spec,
        **words,
    )


def _masses(array: Folder, vertices: int) -> Tensor:
    """Degrees or areas."""
    values = mapped_array(array, (vertices,), ("float32",))
    if not (values.min() >= 0 and values.max() < math.inf):
        raise StoreError(f"{array} must have finite numbers from 0.")
    return torch.from_numpy(values)


def _directional(
    folder: Folder, facts: Document, vertices: int
) -> dict[str, tuple[CsrArrays, float]]:
    """Map the Laplacians of a level along single directions."""
    known, directions = facts.get("directional"), {}
    for name in DIRECTIONS:
        own = known.get(name) if isinstance(known, dict) else None
        place = folder / "directional" / name
        scale = own.get("lambda_max") if isinstance(own, dict) else None
        matrix = read_csr(place, (vertices, vertices))
        directions[name] = matrix, read_number(place, "lambda_max", scale)
    return directions


def read_eigenpairs(
    folder: Folder, vertices: int, count: Any, lambda_max: float
) -> tuple[Tensor, Tensor]:
    """Map the eigenpairs of a level.

    The vectors are not looked at, which would read the whole file; `verify=True` does.

    Args:
        folder: of the level.
        vertices: V.
        count: M, as the specification has it.
        lambda_max: upper bound of the spectrum of Delta.

    Raises:
        StoreError: M is not an integer in [1, V], an array is missing or of another shape or type,
            or the eigenvalues do not ascend from about 0 to at most lambda_max.
    """
    count = read_count(folder, "a number of eigenpairs", count, vertices)
    values = mapped_array(folder / "eigenvalues", (count,), ("float64",))
    vectors = mapped_array(folder / "eigenvectors", (vertices, count), ("float32",))
    if not _is_lower_spectrum(values / lambda_max):
        raise StoreError(
            f"{folder}/eigenvalues must be finite and ascend from about 0 to at most lambda_max, "
            f"{lambda_max:g}."
        )
    return torch.from_numpy(values), torch.from_numpy(vectors)


def _is_lower_spectrum(shares: npt.NDArray[np.float64]) -> bool:
    """Whether eigenvalues, in units of lambda_max, can be the smallest of a graph's Laplacian."""
    if not np.isfinite(shares).all() or (np.diff(shares) < 0).any():
        return False
    return bool(abs(shares[0]) <= ROUNDING and shares[-1] <= 1 + ROUNDING)


def count_inside(folder: Folder, spec: Document, number: int, grid: tuple[int, ...]) -> int:
    """Points of a level's base: all of the full sampling, or those inside its mask.

    Args:
        folder: of the level, for messages.
        spec: of the version.
        number: of the level, 0 the finest.
        grid: (orientations, *base shape) of the full sampling.

    Raises:
        StoreError: the specification's mask does not say a number of points that there can be.
    """
    points = math.prod(grid[1:])
    if "mask" not in spec:
        return points
    if points > MAX_POINTS:
        raise StoreError(f"{folder} must have a mask of at most {MAX_POINTS} points. Got {points}.")
    mask = spec["mask"]
    inside = mask.get("inside") if isinstance(mask, dict) else None
    count = inside[number] if isinstance(inside, list) and number < len(inside) else None
    return read_count(folder, "a mask with a number of points inside", count, points)


def read_base_index(folder: Folder, count: int, grid: tuple[int, ...]) -> Tensor:
    """Map the places of a masked level's points in the full sampling.

    Args:
        folder: of the level.
        count: n_inside, as the specification has it.
        grid: (orientations, *base shape) of the full sampling.

    Returns:
        (n_inside,) int32 or int64, ascending, in [0, points of the full sampling's base).

    Raises:
        StoreError: it is missing, of another length or type, or holds something else.
    """
    index, points = mapped_array(folder / "base_index", (count,), INDEX), math.prod(grid[1:])
    if not (index[0] >= 0 and index[-1] < points and (index[1:] > index[:-1]).all()):
        raise StoreError(f"{folder}/base_index must ascend within [0, {points}).")
    return torch.from_numpy(index)


def read_cut(
    folder: Folder, grid: tuple[int, ...], places: npt.NDArray[np.integer]
) -> tuple[Tensor, CsrArrays]:
    """Map the part of each pixel in the domain of a level, and what each shows of a signal.

    Args:
        folder: of the level.
        grid: (orientations, *base shape) of all pixels.
        places: (points,) where the points are among these, ascending.

    Raises:
        StoreError: an array is missing, of another shape, type or range, points do not show
            themselves, or other rows are neither averages nor empty.
    """
    pixels, points = math.prod(grid[1:]), len(places)
    fraction = mapped_array(folder / "fraction", (pixels,), ("float32",))
    if not (fraction.min() >= 0 and fraction.max() <= 1):
        raise StoreError(f"{folder}/fraction must have numbers in [0, 1].")
    filling = read_averages(folder / "filling", (pixels, points), gaps=True)
    counts, first = np.diff(filling.indptr), filling.indptr[:-1][places]
    if not (counts[places] == 1).all() or (filling.indices[first] != np.arange(points)).any():
        raise StoreError(f"{folder}/filling must show each point in its own pixel.")
    return torch.from_numpy(fraction).view(grid[1:]), filling
