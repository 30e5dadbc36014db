"""Parts of networks: an entrance for signals, batch normalization, residual blocks."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import (
    Sizes,
    check_signal,
    check_tensor,
    choice,
    flag,
    instance,
    integer,
    number,
)
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import EXTRA, Recorded
from cheblienet_models.graphs.mapped import OnGraph
from cheblienet_models.graphs.pyramid import Pyramid
from cheblienet_models.layers.cheb_conv import ChebConv, Operators
from cheblienet_models.layers.derivatives import check_input
from cheblienet_models.layers.lifting import Lift, has_orientations, is_lifted
from cheblienet_models.layers.oriented_lift import OrientedLift
from cheblienet_models.layers.wavelets import Kind
from cheblienet_models.missing import check_finite
from cheblienet_models.tensors import logical, vertex_major

Head = Literal["invariant", "oriented"]
LiftChoice = Literal["repeat", "cake", "gabor"] | nn.Module
"""The lift of a network's images: repeated over orientations, by an `OrientedLift` of one scale, or
by a module that makes (B, C', V) of them, C' being C, or `num_scales` times C where it has that."""


class Network(Recorded):
    """A network that begins with a signal on its pyramid's finest level, lifted if it is an image.

    Args:
        pyramid: on any manifold.
        in_channels: of images.
        num_classes: of the output.
        lift: of images; a module that names no `sizes` takes other images than `Lift` does.
        check_finite: whether signals are searched for values that are not finite.
        pad: whether images smaller than the graph are padded.

    Attributes:
        lifted_channels: the number of channels of a lifted image.
        places: of signals that have orientations.

    Raises:
        TypeError: pyramid is something else, such as a store, or a number is no integer.
        ValueError: a number below 1, a lift that there is not or the graph does not allow, or pad
            on points that are no lattice.
    """

    since_later = True

    def __init__(
        self,
        pyramid: Pyramid,
        in_channels: int,
        num_classes: int,
        lift: LiftChoice,
        *,
        check_finite: bool,
        pad: bool = False,
    ) -> None:
        super().__init__()
        self.check_finite = flag("check_finite", check_finite)
        self.pyramid = instance("pyramid", pyramid, Pyramid)
        integer("num_classes", num_classes, 1)
        self.in_channels = integer("in_channels", in_channels, 1)
        finest = pyramid.levels[0]
        self.lift = lift if isinstance(lift, nn.Module) else _made(finest, lift)
        self._own_lift = self.lift is not lift
        if (grid := getattr(self.lift, "grid", finest.grid)) != finest.grid:
            onto = "onto the graph's (orientations, *base shape)"
            raise ValueError(f"lift must be {onto}, {finest.grid}. Got one onto {grid}.")
        self.places = Lift(finest)
        self.pad = flag("pad", pad)
        if pad and finest.sampling != "lattice":
            raise ValueError(
                f"pad=True takes a lattice, whose images have sides. {finest.label} has "
                f"{finest.sampling} points: leave it out."
            )
        self.lifted_channels: int = in_channels * getattr(self.lift, "num_scales", 1)

    def _look_once(self) -> None:
        """Have layers not search what the network has searched, but for a given lift's."""
        given = set() if self._own_lift else {*self.lift.modules()}
        for layer in {*self.modules()} - given - {self}:
            if hasattr(layer, "check_finite"):
                layer.check_finite = False  # type: ignore[assignment]

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:
        """Take it that layers of earlier checkpoints are on the graph that these name once."""
        if f"{prefix}pyramid.{EXTRA}" in state_dict:
            for place, layer in self.named_modules():
                if isinstance(layer, OnGraph):
                    state_dict.setdefault(f"{prefix}{place}.{EXTRA}", layer.get_extra_state())
        super()._load_from_state_dict(state_dict, prefix, *others)

    def _of_layers(self, operators: str, *, handed: bool, low_pass: bool) -> dict[str, Any]:
        """The arguments of convolutions.

        Raises:
            ValueError: mirror images are to be alike, and the lift distinguishes them.
        """
        handed = flag("handed", handed)
        if operators == "first-order" and not handed and getattr(self.lift, "handed", False):
            raise ValueError(
                f"handed=False keeps mirror images alike on {self.pyramid.levels[0].label}, but "
                "the odd filters of OrientedLift modulo 2 pi have the other sign in them. Lift by "
                "'repeat', or let the network be handed."
            )
        return {"operators": operators, "handed": handed, "low_pass": low_pass}

    def _margins(self, shape: Sequence[int]) -> list[tuple[int, int]]:
        """Pixels that images lack before and after each side; empty for other signals."""
        finest = self.pyramid.levels[0]
        sides = finest.grid[1:]
        if finest.sampling != "lattice" or len(shape) != 2 + len(sides):
            return []
        lacking = [side - own for side, own in zip(sides, shape[2:], strict=True)]
        if min(lacking) < 0 or not any(lacking) or shape[1] != self.in_channels:
            return []
        return [(each // 2, each - each // 2) for each in lacking]

    def _padded(self, signal: Tensor) -> Tensor:
        """Images as large as the graph, zeros around smaller ones; other signals as they are."""
        if not self.pad or not isinstance(signal, Tensor) or signal.layout != torch.strided:
            return signal
        margins = self._margins(signal.shape)
        around = [pixels for pair in reversed(margins) for pixels in pair]
        return nn.functional.pad(signal, around) if margins else signal

    def _cut_back(self, known: Tensor, shape: Sequence[int]) -> Tensor:
        """(B, C, *base shape) without what was padded of signals of a shape."""
        margins = self._margins(shape) if self.pad else []
        for dim, (before, _) in enumerate(margins, start=2):
            known = known.narrow(dim, before, shape[dim])
        return known

    def _check_shape(self, signal: Tensor) -> None:
        """Check that a signal is an image of the graph's sizes, or as large as a lifted one.

        Raises:
            TypeError: it is no tensor.
            ValueError: it has another shape, or no floating-point dtype.
        """
        graph = self.pyramid.levels[0]
        images = getattr(self.lift, "sizes", self.places.sizes)
        fibers = [*[graph.grid] * (graph.orientations > 1), (graph.num_vertices,)]
        bases = [size for size in images if size not in fibers]
        taken: list[Sizes] = [("B", self.in_channels, *size) for size in bases]
        taken += [("B", self.lifted_channels, *size) for size in fibers]
        name = f"{type(self).__name__} on {graph.label}"
        remedy = ""
        check_tensor(name, signal)
        if signal.shape[2:] in bases and signal.shape[1] != self.in_channels:
            remedy = f" Its in_channels is {self.in_channels}: construct it with "
            remedy += f"in_channels={signal.shape[1]}, or give as many channels as it has."
        if not self.pad and self._margins(signal.shape):
            remedy = " Construct it with pad=True, which pads smaller images."
        check_signal(name, signal, taken, words="", remedy=remedy)

    def _lifted(self, x: Tensor) -> Tensor:
        """A signal on the vertices, (B, lifted_channels, V).

        Args:
            x: (B, C, *base shape) and what else the lift takes, or with lifted_channels
                (B, C', n_o, *base shape) or (B, C', V).

        Raises:
            ValueError: x has another shape, or values that are not finite.
        """
        graph = self.pyramid.levels[0]
        of_orientations = has_orientations(graph.grid, x)
        put = self.places if of_orientations else self.lift
        lifted: Tensor = x if is_lifted(graph, x) else put(x)
        if self.check_finite:
            # Images themselves have a shorter way to say where, but pixels outside of a mask only
            # count where filters see them.
            inside_counts = graph.base_index is not None and not isinstance(self.lift, OrientedLift)
            in_order = of_orientations or inside_counts
            check_finite(type(self).__name__, lifted if in_order else x)
        return lifted


def _made(graph: Graph, lift: str) -> Lift | OrientedLift:
    """The lift that a word stands for."""
    kind = choice("lift", lift, ("repeat", *get_args(Kind)), more="a module")
    return Lift(graph) if kind == "repeat" else OrientedLift(graph, kind)


class BatchNorm(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d for (B, C, V), over batch and vertices, in vertex-major memory.

    Same parameters, buffers and results; torch's own would copy the signal there and back.

    Args:
        num_features: channels, at least 1.
        eps: added to the variance, above 0.
        momentum: of the running statistics; None for the mean of all batches.
        others: torch's: affine, track_running_stats, device, dtype.

    Raises:
        TypeError: num_features is no integer, or eps or momentum no number.
        ValueError: num_features is below 1, or eps not above 0.

    Example:
        >>> BatchNorm(3)(torch.randn(2, 3, 100)).shape
        torch.Size([2, 3, 100])
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, **others: Any
    ) -> None:
        average = None if momentum is None else number("momentum", momentum)
        if not number("eps", eps) > 0:
            raise ValueError(f"eps must be above 0. Got {eps}.")
        super().__init__(integer("num_features", num_features, 1), eps, average, **others)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or no floating-point dtype.
        """
        check_signal("BatchNorm", x, ("B", self.num_features, "V"))
        vertices = vertex_major(x)
        if not x.is_cuda:  # as rows of channels
            return logical(super().forward(vertices.flatten(0, 1)).view_as(vertices))
        # As an image of height V and width B with its channels last, for which there are kernels.
        image = vertices.permute(2, 0, 1).unsqueeze(0)
        return logical(super().forward(image).squeeze(0).permute(1, 2, 0))

    def _check_input_dim(self, input: Tensor) -> None:  # noqa: A002 -- torch's name
        """The image above has four dimensions; `forward` has checked what it was given."""


class ResidualBlock(nn.Module):
    """x + conv(relu(norm(conv(relu(norm(x)))))), with a pointwise map where widths differ.

    Args:
        in_channels, out_channels: widths.
        kernel_size: of both Chebyshev convolutions.
        graph: where.
        operators, handed, low_pass: of these, as ChebConv has them.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.

    Raises:
        TypeError, ValueError: as ChebConv.
    """

    check_finite: bool = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        graph: Graph,
        operators: Operators = "laplacian",
        *,
        handed: bool = True,
        low_pass: bool = False,
    ) -> None:
        super().__init__()
        conv = partial(
            ChebConv, out_channels=out_channels, graph=graph, bias=False, low_pass=low_pass
        )
        kind: Any = {"kernel_size": kernel_size, "operators": operators, "handed": handed}
        self.norm1 = BatchNorm(in_channels)
        self.conv1 = conv(in_channels, **kind)
        self.norm2 = BatchNorm(out_channels)
        self.conv2 = conv(out_channels, **kind)
        same = in_channels == out_channels
        self.skip = nn.Identity() if same else conv(in_channels, kernel_size=1)
        for layer in (self.conv1, self.conv2, self.skip):
            layer.check_finite = False

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device, or missing or infinite values.
        """
        if self.check_finite:
            check_input(self, x, self.conv1.graph, self.norm1.num_features)
        y: Tensor = self.conv1(torch.relu(self.norm1(x)))
        y = self.conv2(torch.relu(self.norm2(y)))
        x = self.skip(x)
        return y + x
