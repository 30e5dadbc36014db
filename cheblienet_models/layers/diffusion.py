"""Diffusion of signals on a graph, for learned times."""

import math

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import flag, instance, integer, is_sequence, number
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.families import warn_of_family
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.mapped import OnGraph
from cheblienet_models.graphs.polynomials import check_tolerance
from cheblienet_models.layers.derivatives import check_input

REACH = 16
"""Default times end where heat has spread over about an eighth of the domain: at 1 / REACH of the
time in which it would spread over half."""


class Diffusion(OnGraph):
    """Diffuses each channel for its own learned time, exp(-t Delta) x.

    Channels do not mix, and nothing else is learned: put it beside or between ChebConvs, or before
    a BatchNorm. Equivariant under every symmetry of the graph. Its cost is that of about
    sqrt(t lambda_max log(4 / tolerance)) sparse products, t the longest of the times.

    The entries 1, eps^2 and xi^-2 of R^-1 are the diffusivities D11, D22 and D33 of the literature
    on orientation scores; its hypoelliptic diffusions have D22 = 0 (a small eps) and, of
    D11 d_forward^2 + D33 d_rotation^2, t D11 as time and xi^-2 = D33 / D11.

    Times belong to the operator that the graph discretizes where its `eigenvalue_scale` is known,
    so they mean the same on finer and coarser levels of a metric, and a state_dict loads on any;
    where it is None they are times of Delta.

    With kernel weights, the default, off isotropic lattices, with matched weights on random or
    given points, and with a normalized Laplacian where degrees are not as areas, times are off by
    some percent that do not vanish with more points. The first layer on such a graph warns; trained
    layers run as they did.

    Args:
        channels: C, at least 1.
        graph: shared, not copied.
        times: (shortest, longest) initial times, positive, between which channels are spaced by
            equal factors. By default from 1 / lambda_max of Delta's time, which blurs by half a
            pixel, to one in which heat spreads over an eighth of the domain: the number of points
            to the power 2 / d, over 16 lambda_max, d the dimension of the base.
        density: diffuse as of a density (the default), N^-1/2 exp(-t Delta) N^1/2 x: constants stay
            constant and nothing leaves the range of the input. Else the symmetric operator of
            ChebConv itself. N are the areas or degrees, `graph.mass`; where these are all equal the
            two are the same.
        tolerance: as of `Graph.diffuse`.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.
        log_times: (C,) logarithms of the times, the only parameter.

    Raises:
        TypeError: graph is something else, such as a whole pyramid, or a number is none.
        ValueError: channels is below 1, the times are not positive and ascending, or the tolerance
            is out of range.

    Example:
        >>> sphere = open_or_build(GraphSpec("s2", nside=4, weights="voronoi"), "graphs.zarr")
        >>> Diffusion(3, sphere.levels[0])(torch.ones(1, 3, 192)).std() < 1e-5
        tensor(True)
    """

    graph: Graph

    def __init__(
        self,
        channels: int,
        graph: Graph,
        *,
        times: tuple[float, float] | None = None,
        density: bool = True,
        tolerance: float = 1e-4,
    ) -> None:
        super().__init__()
        self.channels = integer("channels", channels, 1)
        self.graph = instance("graph", graph, Graph)
        graph.laplacian_parts()  # refused here where they are damaged
        warn_of_family("Diffusion", graph)
        shortest, longest = _default_times(graph) if times is None else _checked_times(times)
        check_tolerance(tolerance)
        self.density = flag("density", density)
        self.tolerance = tolerance
        self._range = math.log(shortest), math.log(longest)
        self.log_times = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Space the times anew; a single channel gets the middle of the range."""
        first, last = self._range
        middle = (first + last) / 2
        spaced = torch.linspace(first, last, self.channels) if self.channels > 1 else middle
        with torch.no_grad():
            self.log_times.copy_(torch.as_tensor(spaced))

    @property
    def times(self) -> Tensor:
        """(C,) times of the operator; of Delta where the graph's `eigenvalue_scale` is None."""
        return self.log_times.to(torch.promote_types(self.log_times.dtype, torch.float32)).exp()

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V), in the dtype of x; in training mode on the random sub-graph.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device, or missing or infinite values, or a
                time has become too long.
        """
        check_input(self, x, self.graph, self.channels)
        return self.graph.diffuse(
            x,
            self.times * (self.graph.eigenvalue_scale or 1.0),
            density=self.density,
            tolerance=self.tolerance,
            training=self.training,
        )

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"{self.channels}, density={self.density}"


def _checked_times(times: tuple[float, float]) -> tuple[float, float]:
    two = is_sequence(times) and len(times) == 2
    ends = [number("times", time) for time in times] if two else [math.nan] * 2
    if not 0 < ends[0] <= ends[1] < math.inf:
        raise ValueError(
            f"times must be (shortest, longest), positive and ascending. Got {quoted(times)}."
        )
    return ends[0], ends[1]


def _default_times(graph: Graph) -> tuple[float, float]:
    """From half a pixel to an eighth of the domain, in the units of `Diffusion.times`."""
    dimension = 3 if len(graph.grid) == 4 else 2
    shortest = 1 / (graph.lambda_max * (graph.eigenvalue_scale or 1.0))
    return shortest, shortest * max(1.0, graph.num_points ** (2 / dimension) / REACH)
