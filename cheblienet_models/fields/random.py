"""Gaussian random fields with a wanted spectrum, on any graph with areas.

With z white noise, m the areas of the vertices and Delta the graph's symmetric Laplacian,

    u = m^-1/2 f(Delta) z,    Cov u = m^-1/2 f(Delta)^2 m^-1/2.

On the sphere that approaches sum_l C_l (2 l + 1) / (4 pi) P_l with C_l = f(l (l + 1))^2, the power
that healpy's `synfast` takes. The order of the factors matters wherever areas differ. As a graph's
eigenvalues lag behind l (l + 1), f is taken at L(q), as by `smooth`.

No flux passes a coast: images of the field beyond it double the variance there, and a lake of few
points has that of its mean, many times as large. `std` divides by the deviation of each point,
which colored probes give: with random signs p_c on points that lie so far apart that the field
is not correlated between them, v_i = sum_c (f(Delta) p_c)_i^2 / m_i.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.typing import Floats, Indices
from cheblienet_models.arguments import check_signal, integer, number
from cheblienet_models.fields.matrix import Rows
from cheblienet_models.fields.smoothing import lag_of, positions_of, square_of
from cheblienet_models.fields.spectra import (
    Spectrum,
    amplitude,
    check_positive,
    checked,
    fitted,
    range_of,
    variance,
)
from cheblienet_models.graphs.families import why_off
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.polynomials import Polynomial, check_tolerance
from cheblienet_models.graphs.pyramid import Pyramid, level_of
from cheblienet_models.missing import check_known
from cheblienet_models.tensors import CsrParts, csr_tensor

T = TypeVar("T")

CORRELATED = 1.5
"""Points of one probe are so many ranges apart."""
PROBES = 64
"""Most probes that are filtered at once."""
EXACT = 5_000
"""Most vertices on which the variance of any spectrum is taken from all columns."""
SPACINGS, RESOLVED = 2.0, 2.5
"""Least range, and largest degree times spacing, that the points of a graph carry."""
UNEVEN = {"refined-icosahedral", "unstructured"}
"""Samplings with spacings so different that the mean lag of eigenvalues is none's."""


def random_field(
    pyramid: Pyramid,
    spectrum: Spectrum,
    n: int = 1,
    *,
    level: int = 0,
    seed: int = 0,
    first: int = 0,
    std: float | None = None,
    noise: Tensor | None = None,
    tolerance: float = 1e-3,
) -> Tensor:
    """Draw Gaussian random fields with a wanted spectrum; differentiable in the noise.

    Power is per degree on s2, C_l as healpy has it; on r2 and r3 per unit of area or volume of the
    domain, whose width is 1; on se2 per unit of the metric's volume, all directions together.
    `Matern` and `Gaussian` have the variance 1 there, as far as the points carry the spectrum.

    A draw depends on its seed and number alone: not on n, the batch, threads or the device, up to
    rounding of sums. Vertices without area or without an edge have the value 0.

    Args:
        pyramid: of the fields, on s2, r2, r3 or se2. Weights "voronoi" are the most accurate on s2.
        spectrum: `Matern`, `Gaussian`, or on s2 C_l from degree 0 on, (degrees,).
        n: number of fields.
        level: of the pyramid, 0 the finest.
        seed: in [0, 2^63).
        first: number of the first draw: fields first to first + n - 1 of the seed.
        std: the deviation of every point, positive; None leaves the spectrum as it is, so that
            coasts and open sides have up to twice the variance, and small lakes more. Its first use
            takes about 3.7 (range / spacing)^2 fields' time on the sphere, and is kept.
        noise: (n, 1, V) white noise instead of draws, such as a state that evolves in time.
        tolerance: of the amplitude, in units of its maximum.

    Returns:
        (n, 1, V) float64 on the graph's device; in the dtype of the noise where that is given.

    Raises:
        TypeError: an argument is of another type.
        ValueError: an argument is out of range, there is no such level, or the graph has kernel
            weights, a normalized Laplacian, directional Laplacians, or lies on another manifold.

    Example:
        >>> sphere = open_or_build(GraphSpec("s2", subdivisions=3), "graphs.zarr")
        >>> fields = random_field(sphere, Matern(0.5), n=10, std=1)
        >>> last = random_field(sphere, Matern(0.5), first=9, std=1)
        >>> fields.shape, (fields[9:] - last).abs().max() < 1e-12
        (torch.Size([10, 1, 642]), tensor(True))
    """
    if std is not None:
        check_positive(std=std)
    field = _Field(level_of(pyramid, level), spectrum, tolerance, "random_field")
    graph = field.graph
    if noise is None:
        count, start = integer("n", n, 1, 2**31), integer("first", first, 0, 2**63 - 1)
        key = integer("seed", seed, 0, 2**63 - 1)
        draws = [_white(graph.num_vertices, key, start + number) for number in range(count)]
        noise = torch.stack(draws)[:, None].to(graph.area.device)
    else:
        check_signal("random_field", noise, ("n", 1, graph.num_vertices), graph.area.device)
        check_known("random_field", noise)
        if n not in {1, len(noise)}:
            raise ValueError(f"n is the number of draws: noise has {len(noise)}. Got n={n!r}.")
    values = field.applied(noise)
    if std is None:
        field.warn_of_sides()
        return values
    deviation = field.variance().sqrt()
    scale = torch.where(deviation > 0, std / deviation, 0.0)
    return values * scale.to(values)


def noise_matrix(
    pyramid: Pyramid, spectrum: Spectrum, *, level: int = 0, tolerance: float = 1e-2
) -> Tensor:
    """`random_field` with std=1 as a sparse matrix on white noise, with rows of norm 1.

    `save_npz` writes it as anemoi-models' `NoiseConditioning` reads it, which must leave its rows
    as they are.

    Args:
        pyramid: as of `random_field`.
        spectrum: the same.
        level: of the pyramid, 0 the finest.
        tolerance: in [1e-6, 0.1]: entries below this, in units of the largest of their row, are
            left out.

    Returns:
        (V, V) sparse CSR float32, on the CPU.

    Raises:
        TypeError, ValueError: as `random_field`.
    """
    if not 1e-6 <= number("tolerance", tolerance) <= 0.1:
        raise ValueError(f"tolerance must be in [1e-06, 0.1]. Got {tolerance!r}.")
    field = _Field(level_of(pyramid, level), spectrum, tolerance / 10, "noise_matrix")
    return field.matrix(tolerance)


class _Field:
    """A spectrum on a graph.

    Args:
        graph: of the fields.
        spectrum: as given.
        tolerance: of the amplitude.
        name: of the function that draws, for messages.

    Attributes:
        sides: of a flat domain; None on the sphere.
        root: (V,) float64 m^-1/2; 0 where a vertex has no area or no edge.
        polynomial: that stands for f.
    """

    def __init__(self, graph: Graph, spectrum: Spectrum, tolerance: float, name: str) -> None:
        _check_graph(name, graph)
        check_tolerance(tolerance)
        self.graph, self.tolerance = graph, tolerance
        self.spec = graph.stored.spec
        mass = _areas(graph)
        present = (mass > 0) & (graph.degree > 0)
        self.root = torch.where(present, mass.clamp(min=torch.finfo(mass.dtype).tiny), 1).rsqrt()
        self.root = torch.where(present, self.root, 0.0)
        self.sides = _sides(graph)
        self.spectrum = checked(spectrum, self.sides)
        self._warn_of_spacing(float(mass[present].mean()) ** (1 / self._dimension))
        self.polynomial = self._kept("polynomial", self._polynomial)

    @property
    def _dimension(self) -> int:
        """The manifold's dimension."""
        return self.spec.geometry.base.dimension + self.spec.geometry.oriented

    def _polynomial(self) -> Polynomial:
        graph, spectrum = self.graph, self.spectrum
        scale = float(graph.eigenvalue_scale or 0.0)
        on_sphere = self.sides is None
        lag = lag_of(graph, positions_of(graph)) if on_sphere else (0.0, 0.0)
        if isinstance(spectrum, Tensor):
            return fitted(spectrum.sqrt(), lag, scale, graph.lambda_max)
        lag = (0.0, 0.0) if self.spec.sampling in UNEVEN else lag
        dimension = self._dimension
        norm = math.sqrt(variance(spectrum, dimension, on_sphere=on_sphere))
        return graph.polynomial(
            lambda e: amplitude(spectrum, square_of(scale * e, lag), dimension) / norm,
            self.tolerance,
        )

    def _kept(self, what: str, make: Callable[[], T]) -> T:
        """Something of this graph and spectrum, made once."""
        own = self.spectrum
        kind = tuple(own.tolist()) if isinstance(own, Tensor) else own
        kept = _KEPT.setdefault(self.graph, {})
        key = what, kind, self.tolerance
        if key not in kept:
            kept[key] = make()
        found: T = kept[key]
        return found

    def applied(self, noise: Tensor) -> Tensor:
        """m^-1/2 f(Delta) z, (n, 1, V) in the dtype of the noise."""
        return self.graph.filter(noise, self.polynomial) * self.root.to(noise)

    def variance(self) -> Tensor:
        """(V,) of each vertex."""
        return self._kept("variance", self._variance).to(self.root.device)

    def _variance(self) -> Tensor:
        sums = torch.zeros_like(self.root)
        for probes in self._probes():
            sums += self.graph.filter(probes, self.polynomial).double().square().sum((0, 1))
        return (sums * self.root**2).cpu()

    def _probes(self) -> Iterator[Tensor]:
        """(P, 1, V) float32 random signs on vertices that are far apart; or a vertex each."""
        count = self.graph.num_vertices
        colors = self._colors()
        number = int(colors.max()) + 1
        signs = torch.from_numpy(np.random.default_rng(1).choice([-1.0, 1.0], count)).float()
        for own in torch.arange(number).split(PROBES):
            probes = torch.where(torch.from_numpy(colors) == own[:, None], signs, 0.0)
            yield probes[:, None].to(self.root.device)

    def _colors(self) -> Indices:
        """(V,) the probe of each vertex."""
        count, points = self.graph.num_vertices, self.graph.num_points
        if isinstance(self.spectrum, Tensor):
            if count > EXACT:
                raise ValueError(
                    f"std of an array C_l takes a graph of at most {EXACT:,} vertices, as its "
                    f"fields are correlated over any distance. {self.graph.label} has {count:,}: "
                    "give a Matern or Gaussian spectrum."
                )
            return np.arange(count)
        apart, box = CORRELATED * range_of(self.spectrum), None
        if self.sides is None:
            places = positions_of(self.graph).T
            apart = 2 * math.sin(min(apart, math.pi) / 2)
        else:
            base = self.spec.geometry.base.dimension
            places = self.graph.coordinates[:points, :base]
            box = self.sides if self.spec.periodic else None
        found = _greedy_colors(places.cpu().numpy(), apart, box)
        turns = np.arange(self.graph.orientations)[:, None]
        every: Indices = (found + turns * (found.max() + 1)).ravel()
        return every if every.max() < count else np.arange(count)

    def matrix(self, tolerance: float) -> Tensor:
        """Rows of f(Delta), without small entries, of norm 1."""
        import scipy.sparse  # networks and graphs do without scipy

        found = []
        present = (self.root > 0).cpu().numpy()
        for block, part, (rows,) in Rows(self.graph).blocks(tolerance, self.polynomial):
            rows *= present[block, None] & present[part]
            size = abs(rows)
            row, column = np.nonzero(size > tolerance * size.max(axis=1, keepdims=True))
            found.append((block[row], part[column], rows[row, column]))
        rows_, columns, values = (np.concatenate(each) for each in zip(*found, strict=True))
        count = len(present)
        matrix = scipy.sparse.csr_array((values, (rows_, columns)), shape=(count, count))
        norms = np.sqrt(matrix.power(2).sum(axis=1))
        matrix.data /= np.repeat(norms, np.diff(matrix.indptr))
        return csr_tensor(CsrParts.of(matrix.astype(np.float32)), count)

    def warn_of_sides(self) -> None:
        """Warn of coasts and open sides, where the variance is not the spectrum's."""
        is_part = self.graph.base_index is not None
        if is_part or self.spec.boundary == "open":
            where = "coasts" if is_part else "open sides"
            warnings.warn(
                f"Fields on {self.graph.label} have about twice the variance at {where}, and more "
                "in small lakes: give std to have the same everywhere.",
                stacklevel=3,
            )

    def _warn_of_spacing(self, spacing: float) -> None:
        """Warn of a spectrum that the points do not carry."""
        own = self.spectrum
        if isinstance(own, Tensor):
            most = RESOLVED / spacing
            if len(own) - 1 > most:
                beyond = f"degrees up to {len(own) - 1}, beyond about {most:.0f}"
            else:
                return
        elif own.length < SPACINGS * spacing:
            few = f"{SPACINGS:g} spacings of {spacing:.3g}"
            beyond = f"a length of {own.length:.4g}, less than {few}"
        else:
            return
        warnings.warn(
            f"{self.graph.label} does not carry {beyond}: fields lack that part of the spectrum.",
            stacklevel=4,
        )


_KEPT: WeakKeyDictionary[Graph, dict[object, Any]] = WeakKeyDictionary()


def _white(count: int, seed: int, draw: int) -> Tensor:
    """(count,) float64 standard normal numbers, by seed and number of the draw alone."""
    words = np.random.Philox(key=np.array([seed, draw], np.uint64)).random_raw(count)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    normal: Tensor = torch.special.ndtri(torch.from_numpy(uniform))
    return normal


def _greedy_colors(points: Floats, apart: float, box: tuple[float, ...] | None) -> Indices:
    """(P,) numbers from 0 on, different for points less than `apart` from each other."""
    from scipy.spatial import KDTree  # networks and graphs do without scipy

    tree = KDTree(points, boxsize=box)
    colors = np.full(len(points), -1)
    order = np.random.default_rng(0).permutation(len(points))
    count = 0
    for part in np.array_split(order, -(-len(order) // 512)):
        for point, near in zip(part, tree.query_ball_point(points[part], apart), strict=True):
            used = np.zeros(count + 2, bool)
            used[colors[near]] = True  # the last, where there is none
            colors[point] = used.argmin()
            count = max(count, colors[point] + 1)
    return colors


def _areas(graph: Graph) -> Tensor:
    """(V,) float64 areas or volumes of the metric: radians^2 on the sphere, else of width 1."""
    spec, facts = graph.stored.spec, graph.stored.of_level
    cell = spec.squared_spacing(graph.stored.level) ** (spec.geometry.base.dimension / 2)
    if spec.geometry.oriented:
        step = spec.geometry.fiber.step(spec.orientations)
        cell *= float(facts.xi or 0.0) * step / spec.eps
    area: Tensor = cell * graph.area.double()
    return area


def _sides(graph: Graph) -> tuple[float, ...] | None:
    """Sides of the domain of a flat base; None on the sphere."""
    spec = graph.stored.spec
    if spec.manifold == "s2":
        return None
    if spec.sampling == "unstructured":  # of which a store has the points, the specification none
        places = graph.coordinates[:, : spec.geometry.base.dimension]
        return tuple((places.amax(0) - places.amin(0)).tolist())
    return spec.full_sampling(0).extent


def _check_graph(name: str, graph: Graph) -> None:
    """See that a graph approaches its metric's operator, with known areas."""
    spec = graph.stored.spec
    why = ""
    if spec.manifold not in {"s2", "r2", "r3", "se2"}:
        why = f"{graph.label} is on {spec.manifold}, not on s2, r2, r3 or se2"
    elif spec.weights == "kernel":
        other = "selling" if spec.sampling_kind.regular else "voronoi"
        why = f"{graph.label} has kernel weights: build it with `weights={other!r}`"
    elif spec.laplacian == "normalized":
        why = f"{graph.label} has a normalized Laplacian: build it with `laplacian='combinatorial'`"
    elif spec.directional is not None:
        why = f"{graph.label} has directional Laplacians: build it without `directional`"
    elif graph.eigenvalue_scale is None:
        why = f"{graph.label} has no eigenvalue_scale: build it again"
    why = why or why_off(graph)
    if why:
        raise ValueError(f"{name} takes a graph that approaches its metric's operator. {why}.")
