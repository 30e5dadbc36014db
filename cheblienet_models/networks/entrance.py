"""What networks do with a signal first: put it on the vertices, by a lift of one's choice."""

from typing import Literal, get_args

from torch import Tensor, nn

from cheblienet_models.arguments import check_dtype, check_tensor, choice
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.lifting import Lift, has_orientations, is_lifted
from cheblienet_models.layers.oriented_lift import OrientedLift
from cheblienet_models.layers.wavelets import Kind
from cheblienet_models.tensors.finite import check_finite

LiftChoice = Literal["repeat", "cake", "gabor"] | nn.Module
"""How a network lifts images: repeated over orientations, by an `OrientedLift` of one scale, or by
a module that makes (B, C', V) of them, C' being C, or `num_scales` times C where it has that."""


def chosen_lift(graph: Graph, lift: LiftChoice) -> nn.Module:
    """The lift that a choice stands for.

    Raises:
        ValueError: another choice, or one that the graph does not allow.
    """
    if isinstance(lift, nn.Module):
        return lift
    kind = choice("lift", lift, ("repeat", *get_args(Kind)), more="a module")
    return Lift(graph) if kind == "repeat" else OrientedLift(graph, kind)


def lifted_channels(lift: nn.Module, in_channels: int) -> int:
    """How many channels a lift makes of so many."""
    scales: int = getattr(lift, "num_scales", 1)
    return in_channels * scales


def check_signal(
    name: str,
    graph: Graph,
    lift: nn.Module,
    places: Lift,
    channels: tuple[int, int],
    signal: Tensor,
) -> None:
    """Check that a network's signal has a shape that it takes.

    Args:
        name: of the network, for messages.
        graph: the finest level.
        lift: of images; those that name no sizes take the images of `places`.
        places: of signals that have orientations.
        channels: of an image, and of a lifted one.
        signal: (B, C, *base shape), or as `entered` takes it.

    Raises:
        TypeError: it is no tensor.
        ValueError: it has another shape, or no floating-point dtype.
    """
    check_tensor(name, signal)
    images = getattr(lift, "sizes", places.sizes)
    fibres = [*[graph.grid] * (graph.orientations > 1), (graph.num_vertices,)]
    taken = [(channels[0], *size) for size in images if size not in fibres]
    taken += [(channels[1], *size) for size in fibres]
    if tuple(signal.shape[1:]) not in taken:
        shapes = " or ".join(f"(B, {', '.join(map(str, shape))})" for shape in taken)
        raise ValueError(f"{name} on {graph.label} takes {shapes}. Got {tuple(signal.shape)}.")
    check_dtype(name, signal)


def entered(
    name: str, graph: Graph, lift: nn.Module, places: Lift, x: Tensor, *, finite: bool
) -> Tensor:
    """A network's signal on the vertices, (B, C', V).

    Args:
        name: of the network, for messages.
        graph: the finest level.
        lift: of images.
        places: of signals that have orientations.
        x: (B, C, *base shape) and what else the lift takes, or (B, C', n_o, *base shape), or
            (B, C', V).
        finite: whether to search for values that are not.

    Raises:
        ValueError: x has another shape, or values that are not finite.
    """
    of_orientations = has_orientations(graph.grid, x)
    put = places if of_orientations else lift
    lifted: Tensor = x if is_lifted(graph, x) else put(x)
    if finite:
        # Images themselves have a shorter way to say where, but those outside of a mask only count
        # where filters see them.
        inside_counts = graph.base_index is not None and not isinstance(lift, OrientedLift)
        check_finite(name, lifted if of_orientations or inside_counts else x)
    return lifted
