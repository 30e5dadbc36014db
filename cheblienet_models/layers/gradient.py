"""Layers of first derivatives: along the frame of a graph, and their norms, which need no frame."""

import math

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, flag, instance, integer
from cheblienet_models.graphs.gradients import Gradients
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.derivatives import derivatives, norms
from cheblienet_models.tensors import autocast_type, logical, vertex_major


class Gradient(nn.Module):
    """The first derivatives of a signal along the frame of a graph, by the step of a vertex.

    A_f x = G_f x / unit_f for the fields that `graph.gradients.names` says, unit_f those of
    `graph.gradients.units`, 1 / spacing, whatever the size, boundary and mask, so that weights may
    be carried over; noise keeps about half of its size, and a smooth signal less.

    On SE(2) and SO(3) the fields, forward, sideways and rotation, are left-invariant, so the layer
    is equivariant under rotations and translations; a reflection gives them the signs +, - and -.
    Elsewhere they are those of the coordinates, and turn with these: `GradientNorm` is free of
    that. Random sub-graphs, which are of the Laplacian, leave derivatives as they are.

    Args:
        graph: built with `gradients`; shared, not copied.

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: the graph has no gradients, or orientations modulo pi, over a half turn of which
            forward and sideways change their sign.
    """

    handed = True

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = instance("graph", graph, Graph)
        linear_fields("Gradient", graph)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, F C, V): the C channels along the first field, then the next one.

        In the dtype of x, computed in that of the graph, also under autocast; vertex-major in
        memory.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device.
        """
        graph, gradients = self.graph, fields_of(self.graph)
        sizes = "B", "C", graph.num_vertices
        check_signal(f"Gradient on {graph.label}", x, sizes, graph.values.device)
        return logical(derivatives(vertex_major(x), gradients, len(gradients.names)))


class GradientNorm(nn.Module):
    """Norms of mixed gradients, which depend on no frame: edges of every direction alike.

    On the plane and the sphere, with u and v the derivatives of x along the two fields (`Gradient`
    says in which units),

        p = u P - v Q,    q = u Q + v P,    y = sqrt(p^2 + q^2 + 1e-6),

    the moduli of (u + i v)(P + i Q): another frame of the same sense multiplies u + i v by a number
    of modulus 1. On SE(2) and SO(3) u and v are forward and sideways, also with orientations modulo
    pi, as only their common sign is free there; rotation is no part of them. In space
    y = sqrt(sum_f (A_f x P)^2 + 1e-6) over the three fields.

    A reflection conjugates u + i v, so with Q = 0, `handed=False`, mirror images have equal norms,
    exactly. Q tells them apart by the angles between gradients of two channels; with one input
    channel |z (P + i Q)| = |z| |P + i Q|, and Q has no such effect. Random sub-graphs leave
    derivatives as they are.

    Args:
        in_channels, out_channels: at least 1.
        graph: built with `gradients`; shared, not copied.
        handed: whether there is a Q. There is none in space.

    Attributes:
        weight: (2, in, out), P and Q, or (1, in, out), P; normal, of variance 1 / (2 in) or 1 / in.

    Raises:
        TypeError: a size is no integer, or graph is something else, such as a whole pyramid.
        ValueError: a size below 1, the graph has no gradients, or it is in space and handed.
    """

    def __init__(
        self, in_channels: int, out_channels: int, graph: Graph, *, handed: bool = True
    ) -> None:
        super().__init__()
        self.in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = integer("out_channels", out_channels, 1)
        self.graph, self.handed = instance("graph", graph, Graph), flag("handed", handed)
        names = fields_of(graph).names
        self.fields = 2 if "forward" in names else len(names)
        if handed and self.fields > 2:
            raise ValueError(
                f"GradientNorm on {graph.label} has no handed norms, which are of two directions: "
                "give handed=False in space."
            )
        self.weight = nn.Parameter(torch.empty(1 + handed, in_channels, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        nn.init.normal_(self.weight, std=math.sqrt(1 / self.weight[..., 0].numel()))

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V), positive.

        In the dtype of x, computed in float32 at least, also under autocast.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device; the message states both.
        """
        check_input(
            f"GradientNorm on {self.graph.label}", x, self.in_channels, self.graph, self.weight
        )
        signal = x.to(torch.promote_types(x.dtype, torch.float32))
        along = derivatives(vertex_major(signal), fields_of(self.graph), self.fields)
        y = norms(along, self._matrix().to(signal.dtype), self.fields)
        return logical(y.to(x.dtype))

    def _matrix(self) -> Tensor:
        """(2 in, 2 out) from u and v to p and q, or (in, out) for each field."""
        if not self.handed:
            return self.weight[0]
        p, q = self.weight
        return torch.cat([torch.cat([p, q], 1), torch.cat([-q, p], 1)])

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"{self.in_channels}, {self.out_channels}, handed={self.handed}"


def fields_of(graph: Graph) -> Gradients:
    """The gradients of a graph.

    Raises:
        ValueError: it was built without.
    """
    if graph.gradients is None:
        raise ValueError(f"{graph.label} has no gradients; build it with `gradients=True`.")
    return graph.gradients


def linear_fields(name: str, graph: Graph) -> Gradients:
    """The gradients of a graph on which all are operators.

    Raises:
        ValueError: it was built without, or forward and sideways have no sign.
    """
    gradients = fields_of(graph)
    if "forward" in gradients.names and graph.period == math.pi:
        raise ValueError(
            f"{name} needs orientations modulo 2 pi; modulo pi, as on {graph.label}, forward and "
            'sideways have no sign: build it with `period="2pi"`.'
        )
    return gradients


def check_input(name: str, x: Tensor, channels: int, graph: Graph, weight: Tensor) -> None:
    """Check that a signal is one for a layer with weights on a graph.

    Raises:
        TypeError: it is no tensor.
        ValueError: it has another shape, dtype or device.
    """
    check_signal(name, x, ("B", channels, graph.num_vertices), graph.values.device)
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(autocast_type(x)):
        raise ValueError(
            f"{name} takes {weight.dtype}, as its weights are. Got {x.dtype}; move either with "
            ".to()."
        )
