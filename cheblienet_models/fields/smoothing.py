"""Smoothing of fields with missing values.

The mean of the known values under the beam leans, at the edge of what is known, towards the side
that is: on a slope it is off by 0.8 sigma times the slope. So on the sphere a tangent plane is
fitted to the known values: normalized convolution of first order (Knutsson and Westin 1993), local
linear regression. With S the heat kernel, which is not negative, m the mask, r the places, C the
weighted second moments of r - p in the tangent plane at p, and u = C^-1 S(m (r - p)),

    y = (S(m x) - u . S(m x r)) / (S(m) - u . S(m r)).

u is 0 where all around is known. Of fields of spin x has two components, which the heat kernel of
their connection carries in the numerator; the denominator and u are of scalars. r needs no p in it,
as u . p = 0. What the beam damps more than the heat kernel, short waves, is then taken off: (B - S)
of the field, filled with y.

The heat kernel of a graph serves as a Gaussian beam. On the sphere a beam of standard deviation s
multiplies harmonics of degree l by exp(-l (l + 1) s^2 / 2): that is the heat kernel at t = s^2 / 2.
A graph's eigenvalues fall behind
l (l + 1) as waves come near the spacing of the points. By the addition theorem the mean Rayleigh
quotient of the harmonics of degree l is, with d_ij the angle between two points,

    sum_ij w_ij (1 - P_l(cos d_ij)) / sum_i N_i,

and with 1 - P_l(1 - c) = L c / 2 - L^2 c^2 / 16 + L^3 c^3 / 288 for L = l (l + 1) >> 1 it is

    q = L - a L^2 + b L^3,   a = <c> / 8,   b = <c^2> / 144,

means by w_ij c_ij. The beam is the function exp(-t L(q)) of the graph's eigenvalues, with L(q) =
q + a q^2 + (2 a^2 - b) q^3. Fields of spin s have l (l + 1) - s^2 in place of l (l + 1), and the
same lag.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from cheblienet_models.arguments import flag, number
from cheblienet_models.errors import quoted
from cheblienet_models.fields.filling import known_values
from cheblienet_models.graphs.connection import Connection, check_pairs, check_spin
from cheblienet_models.graphs.families import check_family
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.polynomials import Polynomial
from cheblienet_models.graphs.pyramid import Pyramid, level_of

TIME = 1 / (16 * math.log(2))
"""Time of the heat kernel with a full width at half maximum of 1: sigma^2 / 2 of that Gaussian."""
TOLERANCE = 1e-12
"""At the edge of what is known, differences are taken of numbers that are nearly the same."""
NEAR = 1e-8
"""Share of the beam's weight below which known values are too far off to say anything."""
RIDGE = 1e-3
"""Added to C, in units of sigma^2 S(m): points that fix no plane give the mean."""


@dataclass(frozen=True)
class Beam:
    """A beam's function of a graph's eigenvalues.

    Args:
        graph: of the field.
        time: of the operator that the graph discretizes.
        scale: factor from eigenvalues of Delta to q.
        positions: (3, V) float64 unit vectors on the sphere; (0, V) elsewhere.
        lag: a and 2 a^2 - b, 0 where L is q.
        connection: of a field of spin; None of scalars.
    """

    graph: Graph
    time: float
    scale: float
    positions: Tensor
    lag: tuple[float, float]
    connection: Connection | None = None

    def exponent(self, eigenvalues: Tensor) -> Tensor:
        """Time L of eigenvalues of Delta."""
        return self.time * square_of(self.scale * eigenvalues, self.lag)

    @cached_property
    def blur(self) -> Polynomial:
        """exp(-t L)."""
        return self._of.polynomial(lambda e: torch.exp(-self.exponent(e)), TOLERANCE)

    @cached_property
    def heat(self) -> Polynomial:
        """exp(-t q), with weights that are not negative."""
        return self._of.polynomial(lambda e: torch.exp(-self.time * self.scale * e), TOLERANCE)

    def applied(self, p: Polynomial, x: Tensor) -> Tensor:
        """N^-1/2 p(Delta) N^1/2 x, which keeps constants where p(0) = 1; (B, C, V) float64.

        Components of fields of spin are (B, 2 C, V).
        """
        mass = self.graph.mass.double()
        root = torch.where(mass > 0, mass, 1).sqrt()
        return self._of.filter(x * root, p) / root

    @property
    def _of(self) -> Graph | Connection:
        """The module that has the operator."""
        return self.connection or self.graph


def beam_of(pyramid: Pyramid, graph: Graph, fwhm: float) -> Beam:
    """The beam of a full width at half maximum.

    Args:
        pyramid: of the graph.
        graph: that it smooths on.
        fwhm: in units of the metric, positive; on the sphere radians, at most pi.

    Raises:
        TypeError: fwhm is no number.
        ValueError: it is out of range, or the graph has no `eigenvalue_scale`.
    """
    width = number("fwhm", fwhm)
    on_sphere = pyramid.spec["manifold"] == "s2"
    if not 0 < width <= (math.pi if on_sphere else math.inf) or math.isinf(width):
        accepted = "in (0, pi], radians" if on_sphere else "positive"
        raise ValueError(f"fwhm must be {accepted}. Got {quoted(fwhm)}.")
    if graph.eigenvalue_scale is None:
        raise ValueError(
            f"{graph.label} has no eigenvalue_scale, so that a width has no meaning on it: build "
            'it with `weights="voronoi"` or "matched".'
        )
    positions = positions_of(graph) if on_sphere else graph.coordinates.T[:0]
    lag = lag_of(graph, positions) if on_sphere else (0.0, 0.0)
    return Beam(graph, width**2 * TIME, graph.eigenvalue_scale, positions, lag)


def lag_of(graph: Graph, positions: Tensor) -> tuple[float, float]:
    """The lag, a and 2 a^2 - b, neither negative: L must ascend with q.

    Args:
        graph: on the sphere.
        positions: (3, V) of its vertices.
    """
    edges = graph.edges
    apart = (positions[:, edges.first] - positions[:, edges.second]).square().sum(0) / 2
    share = edges.weights.double() * apart
    mean = float((share * apart).sum() / share.sum()) / 8
    square = float((share * apart**2).sum() / share.sum()) / 144
    return mean, max(2 * mean**2 - square, 0.0)


def square_of(q: Tensor, lag: tuple[float, float]) -> Tensor:
    """L of eigenvalues q of the operator, with the lag of `lag_of`."""
    return q * (1 + lag[0] * q + lag[1] * q**2)


def positions_of(graph: Graph) -> Tensor:
    """(3, V) float64 of a graph on the sphere."""
    beta, gamma = graph.coordinates.T
    sine = beta.sin()
    return torch.stack([sine * gamma.cos(), sine * gamma.sin(), beta.cos()])


def smooth(
    pyramid: Pyramid,
    x: Tensor,
    fwhm: float,
    *,
    level: int = 0,
    spin: int = 0,
    allow_inconsistent: bool = False,
) -> Tensor:
    """Smooth fields as by a Gaussian beam, missing values left out; differentiable in x.

    On s2 harmonics of degree l are multiplied by exp(-l (l + 1) s^2 / 2) with s = fwhm /
    sqrt(8 ln 2), as by healpy's `smoothing`. On other manifolds it is the heat kernel of the
    graph's metric at t = s^2 / 2; on se2 and so3 the width is that along the forward direction.

    Missing values, NaN or UNSEEN, stay as they are. The others are smoothed from the known ones:
    constants stay constant to rounding, whatever is missing. On s2 so do, nearly, slopes: at the
    edge of what is known values lie on the plane that fits best, which may leave the range of the
    field. On other manifolds they are means, off by 0.8 s times the slope there. Points that a mask
    or a region of the graph left out count as missing.

    With a spin, on s2 and r2, fields have two components, which are carried along geodesics:
    harmonics of degree l are multiplied by exp(-(l (l + 1) - spin^2) s^2 / 2), as healpy's
    `smoothing` does with Q and U. The second component is a quarter turn from the first, south
    toward east: (south, east), (east, north), Q and U of COSMO. U of the IAU has the other sign,
    and any such pair is silently wrong, most of all near poles. A point is known where both
    components are; else both are missing in the result.

    Graphs with eigenvalues that stay off their metric's, however many points, are refused: kernel
    weights, the default, off isotropic lattices; matched weights on random or given points; a
    normalized Laplacian where degrees are not as areas. Errors there may exceed what smoothing
    changes.

    Args:
        pyramid: of the field. Weights "voronoi" are the most accurate on s2.
        x: (B, C, V), any floating point dtype; each channel may miss other values. With a spin
            (B, 2 C, V), the first components of all C fields, then the second ones.
        fwhm: full width at half maximum: radians in (0, pi] on s2, else a length of the metric.
        level: of the pyramid, 0 the finest.
        spin: of the fields, 0 of scalars.
        allow_inconsistent: take such graphs all the same; it is then their own heat kernel.

    Returns:
        The same shape in the dtype of x, computed in float64.

    Raises:
        TypeError: an argument is of another type.
        ValueError: x has another shape, dtype or device, or infinite values; fwhm is out of range;
            there is no such level, or the graph has no `eigenvalue_scale`, or does not converge to
            its metric.

    Example:
        >>> sphere = open_or_build(GraphSpec("s2", nside=4, weights="voronoi"), "graphs.zarr")
        >>> field = torch.ones(1, 1, 192)
        >>> field[..., 100] = torch.nan
        >>> smoothed = smooth(sphere, field, 0.7)
        >>> smoothed.isnan().sum(), smoothed.nanmean()
        (tensor(1), tensor(1.))
    """
    graph = level_of(pyramid, level)
    known, values = known_values("smooth", graph, x)
    beam = beam_of(pyramid, graph, fwhm)
    if not flag("allow_inconsistent", allow_inconsistent):
        check_family("smooth", graph)
    own = beam
    if check_spin("smooth", pyramid.spec["manifold"], spin):
        check_pairs("smooth", x, spin)
        own = replace(beam, connection=graph.connection(spin))
        half = x.shape[1] // 2
        other = known.roll(half, 1)
        x = torch.where(known & ~other, x.roll(half, 1), x)
        known = known & other
        values = torch.where(known, values, 0.0)
    if bool(known.all()) and graph.base_index is None:
        return own.applied(own.blur, values).to(x.dtype)
    # No field of spin is constant.
    mean = (not spin) * values.sum(2, keepdim=True) / known.sum(2, keepdim=True).clamp(min=1)
    smoothed = mean + _smoothed(beam, own, known, torch.where(known, values - mean, 0.0))
    return torch.where(known, smoothed.to(x.dtype), x)


def _smoothed(beam: Beam, own: Beam, known: Tensor, values: Tensor) -> Tensor:
    """At the known values, of these and 0 elsewhere, (B, C, V); own is the beam of their spin."""
    fitted = _fitted(beam, own, known, values)
    filled = torch.where(known, values, fitted)
    return fitted + own.applied(own.blur, filled) - own.applied(own.heat, filled)


def _fitted(beam: Beam, own: Beam, known: Tensor, values: Tensor) -> Tensor:
    """Values (B, C, V) of what fits the known ones: planes on the sphere, means elsewhere."""
    components = 1 if own is beam else 2
    fields: Tensor = values.unflatten(1, (components, -1)).transpose(1, 2).flatten(0, 1)
    known = known[:, : values.shape[1] // components]
    masks, which = known.flatten(0, 1).unique(dim=0, return_inverse=True)
    tilts, is_near = _tilts(beam, masks)
    total = torch.where(is_near, _weighed(beam, masks.double()[:, None], tilts)[:, 0], 1.0)
    sums = _weighed(own, fields, tilts[which])
    fitted = torch.where(is_near[which, None], sums / total[which, None], 0.0)
    pairs: Tensor = fitted.unflatten(0, known.shape[:2])
    return pairs.transpose(1, 2).flatten(1, 2)


def _weighed(beam: Beam, x: Tensor, tilts: Tensor) -> Tensor:
    """S(x) - u . S(x r) of x (n, components, V), tilts (n, 1 + k, V) being 1 and -u."""
    powers = x[:, :, None] * _with_ones(beam.positions)
    return (beam.applied(beam.heat, powers.flatten(1, 2)).view_as(powers) * tilts[:, None]).sum(2)


def plane_weights(beam: Beam) -> Tensor:
    """(1 + k, V): what weighs S(x) and S(x r) in `smooth` where all values are known.

    Args:
        beam: on a graph of which a mask or a region left points out.
    """
    known = torch.ones_like(beam.positions[:1], dtype=torch.bool)
    tilts, _ = _tilts(beam, known)
    return (tilts / _weighed(beam, known.double()[:, None], tilts))[0]


def _with_ones(positions: Tensor) -> Tensor:
    return torch.cat([positions.new_ones(1, positions.shape[1]), positions])


def _tilts(beam: Beam, masks: Tensor) -> tuple[Tensor, Tensor]:
    """(M, 1 + k, V): 1 and -u for each mask, (M, V); and (M, V) whether known values are near."""
    positions = beam.positions
    ridge = RIDGE * 2 * beam.time
    size, vertices = positions.shape
    first, second = torch.triu_indices(size, size, device=positions.device)
    powers = torch.cat([_with_ones(positions), positions[first] * positions[second]])
    moments = beam.applied(beam.heat, masks.double()[:, None] * powers)
    is_near = masks | (moments[:, 0] > NEAR)
    share = torch.where(is_near, moments[:, 0], 1.0)
    spread = moments.new_empty(len(masks), size, size, vertices)
    spread[:, first, second] = spread[:, second, first] = moments[:, 1 + size :]
    across, eye = _across(positions), _eye(positions)
    spread = across @ spread.permute(0, 3, 1, 2) @ across + ridge * share[..., None, None] * eye
    shift = across @ moments[:, 1 : 1 + size].mT[..., None]
    tilt = torch.linalg.solve(torch.where(is_near[..., None, None], spread, eye), shift)
    return torch.cat([torch.ones_like(share)[:, None], -tilt[..., 0].mT], 1), is_near


def _eye(positions: Tensor) -> Tensor:
    return torch.eye(len(positions), dtype=positions.dtype, device=positions.device)


def _across(positions: Tensor) -> Tensor:
    """(V, k, k): onto the planes tangent to the sphere."""
    return _eye(positions) - positions.T[:, :, None] * positions.T[:, None, :]
