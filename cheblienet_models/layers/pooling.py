"""Pooling between the levels of a pyramid, and over all vertices."""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, choice, instance
from cheblienet_models.graphs.connection import check_pairs, check_spin, transport_angles
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.pyramid import LevelMap, Pyramid
from cheblienet_models.missing import check_known
from cheblienet_models.tensors import Constants, logical, vertex_major

Mode = Literal["max", "mean", "random"]


class _Reduce(Constants):
    """Each target vertex takes the max, the weighted mean or a random one of its sources."""

    check_finite: bool = True
    turns: Tensor | None

    def __init__(
        self, level_map: LevelMap, mode: Mode, spin: int, targets: Graph, sources: Graph
    ) -> None:
        super().__init__()
        self.level_map, self.mode = level_map, choice("mode", mode, get_args(Mode))
        manifold = targets.spec["manifold"]
        self.spin = check_spin(type(self).__name__, manifold, spin)
        if spin and mode != "mean":
            raise ValueError(
                f"{mode!r} of components depends on the frame: give mode='mean' with spin={spin}."
            )
        turns = _turns(level_map, spin * (manifold == "s2"), targets, sources) if spin else None
        self._hold("turns", turns, exact=True)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, source vertices) -> (B, C, target vertices).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape or device, or no floating-point dtype where means are
                taken, or missing or infinite values.
        """
        level_map = self.level_map
        name = type(self).__name__
        sizes = ("B", "C", level_map.origins)
        device = level_map.weights.device
        check_signal(name, x, sizes, device, floating=self.mode != "max")
        check_pairs(name, x, self.spin)
        y = self._reduced(x)
        if self.check_finite:
            # A maximum hides UNSEEN, and what is drawn or repeated is not all, or more.
            means = self.mode == "mean" and level_map.targets < level_map.origins
            check_known(name, x, y if means else None)
        return y

    def _reduced(self, x: Tensor) -> Tensor:
        level_map = self.level_map
        rows = vertex_major(x)
        if self.mode == "random" and self.training:
            chosen = torch.multinomial(level_map.weights, 1)
            return logical(rows.index_select(0, level_map.sources.gather(1, chosen)[:, 0]))
        if level_map.sources.shape[1] == 1 and self.turns is None:
            return logical(rows.index_select(0, level_map.sources[:, 0]))
        gathered = rows.index_select(0, level_map.sources.flatten())
        gathered = gathered.view(*level_map.sources.shape, *x.shape[:2])
        if self.mode == "max":
            return logical(gathered.amax(1))
        if self.turns is not None:
            pairs = gathered.unflatten(3, (2, -1))
            y = torch.einsum("vmpq,vmbqc->vbpc", self.turns.to(x.dtype), pairs)
            return logical(y.flatten(2))
        weights = level_map.weights.to(x.dtype)
        return logical(torch.einsum("vm,vmbc->vbc", weights, gathered))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"mode={self.mode!r}" + f", spin={self.spin}" * (self.spin > 0)


def _turns(level_map: LevelMap, spin: int, targets: Graph, sources: Graph) -> Tensor:
    """(targets, m, 2, 2) float64: weights of components of fields of spin."""
    here, there = targets.coordinates, sources.coordinates[level_map.sources.long()]
    angles = transport_angles(here[:, None].expand_as(there).flatten(0, 1), there.flatten(0, 1))
    cos, sin = (spin * angles).cos(), (spin * angles).sin()
    blocks = torch.stack([cos, -sin, sin, cos], 1).view(*level_map.sources.shape, 2, 2)
    return blocks * level_map.weights.double()[..., None, None]


class SpatialPool(_Reduce):
    """From a level to the next coarser one, orientation by orientation.

    Args:
        pyramid: of the levels.
        level: the finer one, 0 the finest of all.
        mode: "max", "mean" (weighted by area), or "random": one source drawn for each vertex and
            call while training, the mean in eval mode.
        spin: of the signal, on s2 and r2, 0 of scalars: (B, 2 C, V), the first components of all
            fields, then the second ones, which turn with the frames. These are a quarter turn from
            the first, south toward east; other pairs are silently wrong. The mode is "mean".

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.

    Raises:
        TypeError: pyramid is something else, such as one of its levels, or level is no integer.
        ValueError: another mode, or no such level.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> SpatialPool(pyramid, level=0, mode="max")(torch.randn(1, 3, 1024)).shape
        torch.Size([1, 3, 256])
    """

    def __init__(self, pyramid: Pyramid, level: int, mode: Mode = "max", *, spin: int = 0) -> None:
        level_map = instance("pyramid", pyramid, Pyramid).pooling(level)
        fine, coarse = pyramid.levels[level : level + 2]
        super().__init__(level_map, mode, spin, coarse, fine)


class SpatialUnpool(_Reduce):
    """To a level from the next coarser one: each vertex takes from its parents.

    Args:
        pyramid: of the levels.
        level: the finer one, 0 the finest of all.
        mode: of the parents, as in SpatialPool; on lattices there is only one.
        spin: as of SpatialPool.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.

    Raises:
        TypeError: pyramid is something else, such as one of its levels, or level is no integer.
        ValueError: another mode, or no such level.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> SpatialUnpool(pyramid, level=0)(torch.randn(1, 3, 256)).shape
        torch.Size([1, 3, 1024])
    """

    def __init__(self, pyramid: Pyramid, level: int, mode: Mode = "mean", *, spin: int = 0) -> None:
        level_map = instance("pyramid", pyramid, Pyramid).unpooling(level)
        fine, coarse = pyramid.levels[level : level + 2]
        super().__init__(level_map, mode, spin, fine, coarse)


class GlobalPool(nn.Module):
    """Reduce a signal over all vertices: invariant under every symmetry of the graph.

    Or over positions alone, which keeps orientations: a turn by a step of theta that maps positions
    to positions, such as by 90 degrees, rolls what is left; other turns do so about as well as the
    layers before are equivariant.

    Args:
        mode: "max" or "mean"; the mean is that of the vertices, whatever area each stands for, so
            that on latitudes and longitudes the poles count for more than their share.
        keep: the graph with the orientations that are kept; none where left out.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.

    Raises:
        TypeError: keep is no graph.
        ValueError: another mode, or a graph without orientations, or on the sphere, where they are
            counted from another direction at each point.

    Example:
        >>> GlobalPool("mean")(torch.ones(2, 3, 100)).shape
        torch.Size([2, 3])
    """

    check_finite: bool = True

    def __init__(self, mode: Literal["max", "mean"] = "max", keep: Graph | None = None) -> None:
        super().__init__()
        self.mode = choice("mode", mode, ("max", "mean"))
        self.kept = None if keep is None else (keep_orientations(keep), keep.num_vertices)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C), or (B, C, n_o).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another number of dimensions, or no floating-point dtype where the
                mean is taken, or another number of vertices than the graph `keep`.
        """
        orientations, vertices = self.kept or (None, "V")
        check_signal("GlobalPool", x, ("B", "C", vertices), floating=self.mode == "mean")
        fibers = x if orientations is None else x.unflatten(2, (orientations, -1))
        y = fibers.amax(-1) if self.mode == "max" else fibers.mean(-1)
        if self.check_finite:
            check_known("GlobalPool", x, y if self.mode == "mean" else None)
        return y

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"mode={self.mode!r}" + (f", orientations={self.kept[0]}" if self.kept else "")


def keep_orientations(graph: Graph) -> int:
    """The number of orientations of a graph on which all points count them alike.

    Raises:
        TypeError: it is something else, such as a whole pyramid.
        ValueError: there are none, or on the sphere, from another direction at each point.
    """
    count = instance("keep", graph, Graph).orientations
    if count == 1 or graph.boundary is None:
        raise ValueError(
            f"{graph.label} has no orientations that all points count alike, as SE(2) has: pool "
            "over everything (head='invariant')."
        )
    return count
