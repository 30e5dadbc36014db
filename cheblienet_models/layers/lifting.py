"""Between signals on the base space and signals on the manifold with its orientations."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import (
    Sizes,
    check_shape,
    check_signal,
    choice,
    instance,
    integer,
)
from cheblienet_models.graphs.connection import check_pairs, check_spin
from cheblienet_models.graphs.full_grid import FullGrid, Order
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.tensors import Constants, logical, vertex_major

Reduction = Literal["max", "mean", "sum"]


class Lift(nn.Module):
    """Repeat a signal on the base space over all orientations, or take one that has them.

    With spin=s, on se2 and so3, the signal is a field psi of spin s, (B, 2 C, ...), and of an
    orientation theta Re(psi exp(-i s theta)): of a wind what blows along it, of polarization what a
    polarizer there lets through. Its components are (south, east) or (x, y), as Q and U of COSMO
    are; a wind is (-v, u). Any other pair is silently wrong. Nonlinear layers on few orientations
    fold harmonics onto others, which `Modulus` does not.

    On a graph with a mask it gathers the points inside: what a full grid has elsewhere, be it NaN,
    does not matter. `Graph.to_grid` is the way back.

    Args:
        graph: where to.
        order: of HEALPix maps: "nested", which is that of the vertices, or "ring".
        spin: of the signal, 0 of scalars. Without orientations pairs stay pairs.

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: another order, or "ring" where the sampling is not HEALPix; orientations that
            have no such spin: with a period of 2 pi more than 2 s are needed, with one of pi an
            even s and more than s.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> Lift(pyramid.levels[0])(torch.randn(1, 3, 16, 16)).shape
        torch.Size([1, 3, 1024])
    """

    def __init__(self, graph: Graph, order: Order = "nested", *, spin: int = 0) -> None:
        super().__init__()
        self.waves, self.spin = _waves(instance("graph", graph, Graph), spin), spin
        self.grid = graph.grid
        self.num_vertices = graph.num_vertices
        self.order = order
        self.grid_places = FullGrid(graph, order)

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        """Shapes that a signal may have after batch and channels."""
        orientations, *base = self.grid
        sizes = tuple(base), (math.prod(base),), (self.num_vertices // orientations,)
        fibers = [self.grid] if orientations > 1 else []
        return [*dict.fromkeys(sizes), *fibers]

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, *base shape), (B, C, points) or (B, C, points inside) -> (B, C, V).

        The first two are of the full sampling. The base shape is (H, W) on a planar lattice,
        (D, H, W) on one in space. A signal for each orientation is (B, C, n_o, *base shape), also
        of the full sampling, where n_o > 1; it is put in the order of the vertices.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or with a spin no floating-point dtype.
        """
        sizes: list[Sizes] = [("B", "C", *size) for size in self.sizes]
        if self.waves is None:
            check_shape("Lift", x, sizes)
        else:
            check_signal("Lift", x, sizes, self.waves.cos.device, words="")
        if has_orientations(self.grid, x):
            fibers = self.grid_places.inside(x.flatten(3)).permute(2, 3, 0, 1)
        else:
            inside = self.grid_places.inside(x.flatten(2)).permute(2, 0, 1)
            fibers = inside.expand(self.grid[0], -1, -1, -1)
            if self.waves is not None:
                check_pairs("Lift", x, self.spin)
                fibers = self.waves.lifted(inside)
        return logical(fibers.contiguous().flatten(0, 1))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        parts = [f"order={self.order!r}"] * (self.order != "nested")
        return ", ".join([*parts, *[f"spin={self.spin}"] * (self.spin > 0)])


class Project(nn.Module):
    """Reduce a signal over orientations, which makes it one on the base space.

    "max" keeps crossings: where two lines meet, each has a maximum of its own along the fiber, and
    after work on the graph the larger one is taken. "sum" and "mean" are traps there. An oriented
    lift, `ChebConv` or diffusion without anything between them, and a sum are all linear and
    equivariant, and so are the three together: an isotropic blur of the image, whatever eps and
    xi. The sum undoes a cake's lift, as `OrientedLift.inverse` does; take it where something that
    is not linear was done to the scores before.

    With spin=s, on se2 and so3, the result is the field of spin s that `Lift` would lift, the
    harmonic 2/n_o sum_k f(theta_k) exp(i s theta_k) of each fiber, (B, 2 C, V / n_o), whatever the
    mode.

    Args:
        graph: where from.
        mode: "max", "mean" or "sum".
        spin: of the result, 0 of scalars.

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: another mode, or orientations that have no such spin, as of `Lift`.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> Project(pyramid.levels[0], mode="max")(torch.randn(1, 3, 1024)).shape
        torch.Size([1, 3, 256])
    """

    def __init__(self, graph: Graph, mode: Reduction = "max", *, spin: int = 0) -> None:
        super().__init__()
        self.waves, self.spin = _waves(instance("graph", graph, Graph), spin), spin
        self.mode = choice("mode", mode, get_args(Reduction))
        self.orientations, self.num_vertices = graph.orientations, graph.num_vertices

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V / n_o).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or no floating-point dtype where fractions are taken.
        """
        floating = self.mode == "mean" or self.waves is not None
        device = None if self.waves is None else self.waves.cos.device
        check_signal("Project", x, ("B", "C", self.num_vertices), device, floating=floating)
        points = self.num_vertices // self.orientations
        fibers = vertex_major(x).view(self.orientations, points, *x.shape[:2])
        if self.waves is not None:
            return logical(self.waves.projected(fibers))
        if self.mode == "max":
            return logical(fibers.amax(0))
        return logical(fibers.mean(0) if self.mode == "mean" else fibers.sum(0))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"spin={self.spin}" if self.waves is not None else f"mode={self.mode!r}"


class Waves(Constants):
    """The harmonic exp(i s theta) of the orientations over each point.

    Args:
        graph: on se2 or so3.
        spin: s.

    Attributes:
        cos, sin: (n_o, points, 1, 1) float64.

    Raises:
        ValueError: the orientations have no such spin.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, graph: Graph, spin: int) -> None:
        super().__init__()
        count = graph.orientations
        if graph.period == math.pi and spin % 2:
            raise ValueError(
                f"spin={spin} has a sense, orientations modulo pi, as on {graph.label}, have none: "
                'build with `period="2pi"`.'
            )
        if count <= (spin if graph.period == math.pi else 2 * spin):
            modulo_pi = f" (or {spin + 1} modulo pi)" * (spin % 2 == 0)
            raise ValueError(
                f"spin={spin} needs more than {2 * spin} orientations modulo 2 pi{modulo_pi}. "
                f"{graph.label} has {count}."
            )
        angles = graph.coordinates[:, -1 if graph.spec["manifold"] == "se2" else 0]
        phases = (spin * angles).view(count, -1, 1, 1)
        self._hold("cos", phases.cos(), exact=True)
        self._hold("sin", phases.sin(), exact=True)

    def lifted(self, x: Tensor) -> Tensor:
        """(points, B, 2 C) -> (n_o, points, B, C)."""
        first, second = x.chunk(2, 2)
        return first * self.cos.to(x.dtype) + second * self.sin.to(x.dtype)

    def projected(self, x: Tensor) -> Tensor:
        """(n_o, points, B, C) -> (points, B, 2 C)."""
        parts = [(x * wave.to(x.dtype)).mean(0) * 2 for wave in (self.cos, self.sin)]
        return torch.cat(parts, 2)


def _waves(graph: Graph, spin: int) -> Waves | None:
    """The harmonic of a spin; None of scalars, and where there are no orientations."""
    if integer("spin", spin, 0) and graph.spec["manifold"] in {"se2", "so3"}:
        return Waves(graph, spin)
    check_spin("A lift or a projection", graph.spec["manifold"], spin)
    return None


def has_orientations(grid: tuple[int, ...], x: Tensor) -> bool:
    """True if a signal is (B, C, n_o, *base shape), of the full sampling, with n_o > 1."""
    return grid[0] > 1 and tuple(x.shape[2:]) == grid


def is_lifted(graph: Graph, x: Tensor) -> bool:
    """True if a signal for a network is (B, C, V) on the vertices; else it is on the base.

    Of a graph with a mask that leaves so much out that V is the number of points of the full
    sampling, a signal of that length is one on these.
    """
    return (
        x.ndim == 3
        and x.shape[2] == graph.num_vertices
        and graph.num_vertices != math.prod(graph.grid[1:])
    )
