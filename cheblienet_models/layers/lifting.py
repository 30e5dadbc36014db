"""Between signals on the base space and signals on the manifold with its orientations."""

import math
from typing import Literal, get_args

from torch import Tensor, nn

from cheblienet_models.arguments import check_shape, check_signal, choice, instance
from cheblienet_models.graphs.full_grid import FullGrid, Order
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.tensors import logical, vertex_major

Reduction = Literal["max", "mean", "sum"]


class Lift(nn.Module):
    """Repeat a signal on the base space over all orientations, or take one that has them.

    On a graph with a mask it gathers the points inside: what a full grid has elsewhere, be it NaN,
    does not matter. `Graph.to_grid` is the way back.

    Args:
        graph: where to.
        order: of HEALPix maps: "nested", which is that of the vertices, or "ring".

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: another order, or "ring" where the sampling is not HEALPix.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> Lift(pyramid.levels[0])(torch.randn(1, 3, 16, 16)).shape
        torch.Size([1, 3, 1024])
    """

    def __init__(self, graph: Graph, order: Order = "nested") -> None:
        super().__init__()
        instance("graph", graph, Graph)
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
            ValueError: x has another shape.
        """
        check_shape("Lift", x, [("B", "C", *size) for size in self.sizes])
        if has_orientations(self.grid, x):
            fibers = self.grid_places.inside(x.flatten(3)).permute(2, 3, 0, 1)
        else:
            inside = self.grid_places.inside(x.flatten(2)).permute(2, 0, 1)
            fibers = inside.expand(self.grid[0], -1, -1, -1)
        return logical(fibers.contiguous().view(self.num_vertices, *x.shape[:2]))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return "" if self.order == "nested" else f"order={self.order!r}"


class Project(nn.Module):
    """Reduce a signal over orientations, which makes it one on the base space.

    "max" keeps crossings: where two lines meet, each has a maximum of its own along the fiber, and
    after work on the graph the larger one is taken. "sum" and "mean" are traps there. An oriented
    lift, `ChebConv` or diffusion without anything between them, and a sum are all linear and
    equivariant, and so are the three together: an isotropic blur of the image, whatever eps and
    xi. The sum undoes a cake's lift, as `OrientedLift.inverse` does; take it where something that
    is not linear was done to the scores before.

    Args:
        graph: where from.
        mode: "max", "mean" or "sum".

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: another mode.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> Project(pyramid.levels[0], mode="max")(torch.randn(1, 3, 1024)).shape
        torch.Size([1, 3, 256])
    """

    def __init__(self, graph: Graph, mode: Reduction = "max") -> None:
        super().__init__()
        instance("graph", graph, Graph)
        self.mode = choice("mode", mode, get_args(Reduction))
        self.orientations, self.num_vertices = graph.orientations, graph.num_vertices

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V / n_o).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or no floating-point dtype where fractions are taken.
        """
        floating = self.mode == "mean"
        check_signal("Project", x, ("B", "C", self.num_vertices), floating=floating)
        points = self.num_vertices // self.orientations
        fibers = vertex_major(x).view(self.orientations, points, *x.shape[:2])
        if self.mode == "max":
            return logical(fibers.amax(0))
        return logical(fibers.mean(0) if self.mode == "mean" else fibers.sum(0))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"mode={self.mode!r}"


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
