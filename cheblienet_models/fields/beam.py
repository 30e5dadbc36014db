"""The heat kernel of a graph as a Gaussian beam.

On the sphere a beam of standard deviation s multiplies harmonics of degree l by
exp(-l (l + 1) s^2 / 2): that is the heat kernel at t = s^2 / 2. A graph's eigenvalues fall behind
l (l + 1) as waves come near the spacing of the points. By the addition theorem the mean Rayleigh
quotient of the harmonics of degree l is, with d_ij the angle between two points,

    sum_ij w_ij (1 - P_l(cos d_ij)) / sum_i N_i,

and with 1 - P_l(1 - c) = L c / 2 - L^2 c^2 / 16 + L^3 c^3 / 288 for L = l (l + 1) >> 1 it is

    q = L - a L^2 + b L^3,   a = <c> / 8,   b = <c^2> / 144,

means by w_ij c_ij. The beam is the function exp(-t L(q)) of the graph's eigenvalues, with L(q) =
q + a q^2 + (2 a^2 - b) q^3.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from cheblienet_models.arguments import number
from cheblienet_models.errors import quoted
from cheblienet_models.graphs import filters
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.polynomials import Function, Polynomial
from cheblienet_models.graphs.pyramid import Pyramid

TIME = 1 / (16 * math.log(2))
"""Of the heat kernel whose full width at half maximum is 1: sigma^2 / 2 of that Gaussian."""
TOLERANCE = 1e-12
"""At the edge of what is known, differences are taken of numbers that are nearly the same."""


@dataclass(frozen=True)
class Blur:
    """N^-1/2 p(Delta) N^1/2, which keeps constants where p(0) = 1.

    Args:
        operator: of the graph.
        polynomial: p.
    """

    operator: filters.Operator
    polynomial: Polynomial

    def __call__(self, x: Tensor) -> Tensor:
        """(B, C, V) float64 -> (B, C, V)."""
        mass = self.operator.mass.double()
        root = torch.where(mass > 0, mass, 1).sqrt()
        return filters.apply_polynomial(self.operator, x * root, self.polynomial) / root


@dataclass(frozen=True)
class Beam:
    """A beam's function of a graph's eigenvalues.

    Args:
        graph: of the field.
        time: of the operator that the graph discretizes.
        scale: factor from eigenvalues of Delta to q.
        positions: (3, V) float64 unit vectors on the sphere; (0, V) elsewhere.
        lag: a and 2 a^2 - b, 0 where L is q.
    """

    graph: Graph
    time: float
    scale: float
    positions: Tensor
    lag: tuple[float, float]

    def exponent(self, eigenvalues: Tensor) -> Tensor:
        """Time L of eigenvalues of Delta."""
        q, (second, third) = self.scale * eigenvalues, self.lag
        return self.time * q * (1 + second * q + third * q**2)

    def blur(self) -> Blur:
        """exp(-t L)."""
        return self._blur(lambda e: torch.exp(-self.exponent(e)))

    def heat(self) -> Blur:
        """exp(-t q), whose weights are not negative."""
        return self._blur(lambda e: torch.exp(-self.time * self.scale * e))

    def _blur(self, function: Function) -> Blur:
        return Blur(self.graph.operator(), self.graph.polynomial(function, TOLERANCE))


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
    width, on_sphere = number("fwhm", fwhm), pyramid.spec.get("manifold") == "s2"
    if not 0 < width <= (math.pi if on_sphere else math.inf) or math.isinf(width):
        accepted = "in (0, pi], radians" if on_sphere else "positive"
        raise ValueError(f"fwhm must be {accepted}. Got {quoted(fwhm)}.")
    if graph.eigenvalue_scale is None:
        raise ValueError(
            f"{graph.label} has no eigenvalue_scale, so that a width has no meaning on it: build "
            'it with `weights="voronoi"` or "matched".'
        )
    positions = _unit_vectors(graph) if on_sphere else graph.coordinates.T[:0]
    lag = _lag(graph, positions) if on_sphere else (0.0, 0.0)
    return Beam(graph, width**2 * TIME, graph.eigenvalue_scale, positions, lag)


def _lag(graph: Graph, positions: Tensor) -> tuple[float, float]:
    """The lag, a and 2 a^2 - b, neither negative: the exponent must ascend."""
    edges = graph.edges
    apart = (positions[:, edges.first] - positions[:, edges.second]).square().sum(0) / 2
    share = edges.weights.double() * apart
    mean = float((share * apart).sum() / share.sum()) / 8
    square = float((share * apart**2).sum() / share.sum()) / 144
    return mean, max(2 * mean**2 - square, 0.0)


def _unit_vectors(graph: Graph) -> Tensor:
    """(3, V) float64 of a graph on the sphere."""
    beta, gamma = graph.coordinates.T
    sine = beta.sin()
    return torch.stack([sine * gamma.cos(), sine * gamma.sin(), beta.cos()])
