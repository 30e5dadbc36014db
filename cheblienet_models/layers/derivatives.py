"""First derivatives along the frame of a graph, as layers, and as operators with own backwards.

With G the stacked matrices of the fields and S = G + G^T of each, the backward of G x is

    sum_f G_f^T y_f = sum_f (S_f y_f - G_f y_f),

so no transposed copy is held. The two operators are each other's derivatives, and can be
differentiated any number of times. Their matrices come last: row pointers, columns and values of G,
then of S. Signals are vertex-major, (V, B, C).
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, flag, instance, integer
from cheblienet_models.graphs.connection import CovariantGradients, check_pairs, check_spin, kept
from cheblienet_models.graphs.gradients import Gradients, block
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.mapped import OnGraph
from cheblienet_models.layers.chebyshev import as_rows, contracted
from cheblienet_models.missing import check_known
from cheblienet_models.tensors import (
    CsrParts,
    csr_tensor,
    custom_op,
    is_cast,
    logical,
    paired,
    quarter_turned,
    uncast,
    unpaired,
    vertex_major,
)

PARTS = ", ".join(
    f"Tensor {kind}{part}" for kind in ("", "symmetric_") for part in CsrParts._fields
)
SETTINGS = f"float[] scales, int own, int[] starts, {PARTS}"
"""Factors of the first fields, which alone are taken; how many copies of x come before them, 0 or
1; entries before each field's of G, then of S."""
NONE = (None,) * 9
"""Their gradients."""
SMALL = 1e-6
"""Added below roots, which have no derivative at 0."""
ROWS_AT_ONCE = 2**12
"""Number of rows for norms while their parts are in a CPU's cache; a GPU takes all at once."""


@custom_op("gradient", f"(Tensor x, {SETTINGS}) -> Tensor")
def gradient(
    x: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    """x, if own, and scale_f G_f x, side by side; (V, B, C) contiguous -> (V, B, (own + F) C).

    Computed in the dtype of the matrices, whatever that of x.
    """
    pointers, columns, values = parts[:3]
    count = len(scales)
    vertices = len(x)
    entries = starts[count]
    first = CsrParts(pointers[: count * vertices + 1], columns[:entries], values[:entries])
    with uncast(x):
        signal = x.to(values.dtype)
        along = csr_tensor(first, vertices) @ signal.flatten(1)
        total = signal.new_empty(*x.shape[:2], own + count, x.shape[2])
        if own:
            total[:, :, 0] = signal
        for n, (scale, part) in enumerate(zip(scales, along.view(count, *x.shape), strict=True)):
            torch.mul(part, scale, out=total[:, :, own + n])
    return total.flatten(2).to(x.dtype)


@gradient.register_fake
def _(x: Tensor, scales: Sequence[float], own: int, *_: Any) -> Tensor:
    return x.new_empty(*x.shape[:2], (own + len(scales)) * x.shape[2])


@custom_op("gradient_adjoint", f"(Tensor y, {SETTINGS}) -> Tensor")
def gradient_adjoint(
    y: Tensor, scales: Sequence[float], own: int, starts: Sequence[int], *parts: Tensor
) -> Tensor:
    """The transpose of `gradient`: (V, B, (own + F) C) contiguous -> (V, B, C)."""
    fields, symmetric, vertices = CsrParts(*parts[:3]), CsrParts(*parts[3:]), len(y)
    middle = len(starts) // 2
    with uncast(y):
        terms = y.to(fields.values.dtype).unflatten(2, (own + len(scales), -1))
        total: Tensor = terms[:, :, 0].clone(memory_format=torch.contiguous_format)
        total = (total if own else total.zero_()).flatten(1)
        for n, scale in enumerate(scales):
            term = (terms[:, :, own + n] * scale).flatten(1)
            for matrix, begins, sign in (
                (symmetric, starts[middle:], 1),
                (fields, starts[:middle], -1),
            ):
                if begins[n] < begins[n + 1]:
                    part = csr_tensor(block(matrix, vertices, n, begins), vertices)
                    total.addmm_(part, term, alpha=sign)
    return total.view(terms[:, :, 0].shape).to(y.dtype)


@gradient_adjoint.register_fake
def _(y: Tensor, scales: Sequence[float], own: int, *_: Any) -> Tensor:
    return y.new_empty(*y.shape[:2], y.shape[2] // (own + len(scales)))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    _, *ctx.settings = inputs[:4]
    ctx.save_for_backward(*inputs[4:])


def _gradient_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    return gradient_adjoint(g.contiguous(), *ctx.settings, *ctx.saved_tensors), *NONE


def _adjoint_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    return gradient(g.contiguous(), *ctx.settings, *ctx.saved_tensors), *NONE


@custom_op("norms", "(Tensor along, Tensor weight, int fields) -> Tensor")
def norms(along: Tensor, weight: Tensor, fields: int) -> Tensor:
    """sqrt(sum_f z_f^2 + SMALL), z = along W; (V, B, F in) contiguous -> (V, B, out).

    W is (F in, F out), or (in, out) for each field alike. Computed in the dtype of both.
    """
    total = _empty_norms(along, weight, fields)
    size = ROWS_AT_ONCE if along.device.type == "cpu" else max(1, along.shape[0] * along.shape[1])
    rows = as_rows(along).split(size), as_rows(total).split(size)
    with uncast(along):
        for some, norm in zip(*rows, strict=True):
            first, *others = _mixed(some, weight, fields).unbind(1)
            torch.mul(first, first, out=norm)
            for part in others:
                norm.addcmul_(part, part)
            norm.add_(SMALL).sqrt_()
    return total


def _empty_norms(along: Tensor, weight: Tensor, fields: int) -> Tensor:
    alike = along.shape[2] // weight.shape[0]
    return along.new_empty(*along.shape[:2], weight.shape[1] * alike // fields)


def _mixed(rows: Tensor, weight: Tensor, fields: int) -> Tensor:
    """(N, F in) -> (N, F, out)."""
    mixed = rows.reshape(-1, len(weight)) @ weight
    return mixed.view(len(rows), fields, rows.shape[1] // len(weight) * weight.shape[1] // fields)


norms.register_fake(_empty_norms)


def _keep_norms(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    along, weight, ctx.fields = inputs
    ctx.save_for_backward(along, weight, output)


def _norms_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    along, weight, total = ctx.saved_tensors
    rows = along.flatten(0, 1)
    with uncast(g):
        mixed = _mixed(rows, weight, ctx.fields)
        scale = (g / total).reshape(len(rows), 1, total.shape[2])
        by_mixed = (mixed * scale).view(-1, weight.shape[1])
        by_weight = contracted(rows.reshape(-1, len(weight)), by_mixed)
        return (by_mixed @ weight.T).view_as(along), by_weight, None


norms.register_autograd(_norms_backward, setup_context=_keep_norms)
gradient.register_autograd(_gradient_backward, setup_context=_keep)
gradient_adjoint.register_autograd(_adjoint_backward, setup_context=_keep)


def derivatives(
    x: Tensor, gradients: Gradients | CovariantGradients, count: int, own: int = 0
) -> Tensor:
    """`gradient` along the first fields of a graph, in their units."""
    scales = [1 / unit if unit else 0.0 for unit in gradients.units[:count]]
    y = gradient(x, scales, own, gradients.starts, *gradients.parts())
    return cast("Tensor", y)


class Gradient(OnGraph):
    """The first derivatives of a signal along the frame of a graph, by the step of a vertex.

    A_f x = G_f x / unit_f for the fields `graph.gradients.names`, unit_f from
    `graph.gradients.units`, 1 / spacing, whatever the size, boundary and mask, so that weights may
    be carried over; noise keeps about half of its size, and a smooth signal less.

    On SE(2) and SO(3) the fields, forward, sideways and rotation, are left-invariant, so the layer
    is equivariant under rotations and translations; a reflection gives them the signs +, - and -.
    Elsewhere they belong to the coordinates, and turn with these: they are a field of spin 1, the
    components (south, east) or (x, y), and `GradientNorm` is free of that. Random sub-graphs, which
    are of the Laplacian, leave derivatives as they are.

    With spin=s, on s2 and r2, the layer takes a field of spin s, of components in these very
    directions, and raises and lowers its spin: (A_1 + i A_2) psi has spin s + 1, (A_1 - i A_2) psi
    s - 1, with covariant derivatives A. For s = 1 the second one is divergence and curl, the curl
    positive where a field turns from the first direction toward the second: counterclockwise from
    outside on the sphere. Winds are (-v, u).

    Args:
        graph: built with `gradients`; shared, not copied.
        spin: of the signal, 0 of scalars.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: the graph has no gradients, or orientations modulo pi, over a half turn of which
            forward and sideways change their sign.
    """

    graph: Graph

    handed = True

    def __init__(self, graph: Graph, *, spin: int = 0) -> None:
        super().__init__()
        self.graph = instance("graph", graph, Graph)
        self.spin = check_spin("Gradient", graph.spec["manifold"], spin)
        linear_fields("Gradient", graph)
        self.covariant = kept(graph, CovariantGradients, spin) if spin else None

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """(B, C, V) -> (B, F C, V): the C channels along the first field, then the next one.

        With a spin (B, 2 C, V) -> twice (B, 2 C, V), the fields of spin s + 1 and of s - 1. In the
        dtype of x, computed in that of the graph, also under autocast; vertex-major in memory.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device, or missing or infinite values.
        """
        gradients = fields_of(self.graph)
        check_input(self, x, self.graph, "C")
        count = len(gradients.names)
        if self.covariant is None:
            return logical(derivatives(vertex_major(x), gradients, count))
        check_pairs("Gradient", x, self.spin)
        first, second = derivatives(paired(x), self.covariant, count).chunk(2, 2)
        second = quarter_turned(second)
        return unpaired(first + second), unpaired(first - second)

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"spin={self.spin}" * (self.spin > 0)


class GradientNorm(OnGraph):
    """Norms of mixed gradients, which depend on no frame: edges of every direction alike.

    On the plane and the sphere, with u and v the derivatives of x along the two fields (`Gradient`
    says in which units),

        p = u P - v Q,    q = u Q + v P,    y = sqrt(p^2 + q^2 + 1e-6),

    the moduli of (u + i v)(P + i Q): another frame of the same sense multiplies u + i v by a number
    of modulus 1. On SE(2) and SO(3) u and v are forward and sideways, also with orientations modulo
    pi, as only their common sign is free there; rotation is no part of them. In space
    y = sqrt(sum_f (A_f x P)^2 + 1e-6) over the three fields.

    A reflection conjugates u + i v, so with Q = 0, `handed=False`, mirror images have equal norms,
    exactly. Q distinguishes them by the angles between gradients of two channels; with one input
    channel |z (P + i Q)| = |z| |P + i Q|, and Q has no such effect. Random sub-graphs leave
    derivatives as they are.

    Args:
        in_channels, out_channels: at least 1.
        graph: built with `gradients`; shared, not copied.
        handed: whether there is a Q. There is none in space.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.
        weight: (2, in, out), P and Q, or (1, in, out), P; normal, of variance 1 / (2 in) or 1 / in.

    Raises:
        TypeError: a size is no integer, or graph is something else, such as a whole pyramid.
        ValueError: a size below 1, the graph has no gradients, or it is in space and handed.
    """

    graph: Graph

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
            ValueError: x has another shape, dtype or device, or missing or infinite values.
        """
        check_input(self, x, self.graph, self.in_channels, self.weight)
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


def check_input(
    layer: nn.Module, x: Tensor, graph: Graph, channels: int | str, weight: Tensor | None = None
) -> None:
    """Check that a signal is one for a layer on a graph, of the dtype of its weights.

    Raises:
        TypeError: it is no tensor.
        ValueError: it has another shape, dtype or device, or missing or infinite values.
    """
    name = f"{type(layer).__name__} on {graph.label}"
    check_signal(name, x, ("B", channels, graph.num_vertices), graph.values.device)
    if weight is not None and x.dtype != weight.dtype and not is_cast(x):
        raise ValueError(
            f"{name} takes {weight.dtype}, as its weights are. Got {x.dtype}; move either with "
            ".to()."
        )
    if layer.check_finite:
        check_known(name, x)
