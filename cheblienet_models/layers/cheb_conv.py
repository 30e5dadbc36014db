"""The Chebyshev convolution of signals on a graph."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import choice, flag, instance, integer
from cheblienet_models.graphs.checkpoints import LOW_PASS, OPERATOR_NAMES, SPIN, operators_of
from cheblienet_models.graphs.filters import filtered
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.mapped import OnGraph
from cheblienet_models.layers.chebyshev import chebyshev, chebyshev_basis
from cheblienet_models.layers.derivatives import (
    GradientNorm,
    check_input,
    derivatives,
    fields_of,
    linear_fields,
)
from cheblienet_models.tensors import (
    autocast_type,
    is_cast,
    logical,
    paired,
    quarter_turned,
    unpaired,
    vertex_major,
)

Operators = Literal["laplacian", "directional", "first-order"]
SMOOTHING = torch.tensor([[0.5], [-0.5]])
"""(I - L) / 2 as a Chebyshev series: x - Delta x / lambda_max."""


class ChebConv(OnGraph):
    """Spectral convolution by a polynomial of the rescaled Laplacian L = 2 Delta/lambda_max - I.

    y = sum_{k < K} T_k(L) x W_k + b with T_0 = 1, T_1 = L, T_k = 2 L T_{k-1} - T_{k-2}
    (Defferrard, Bresson, Vandergheynst 2016). Equivariant under every symmetry of the graph.

    With operators="directional", y = x W_0 + sum_j sum_{1 <= k < K} T_k(L_j) x W_jk + b, the L_j
    being the graph's Laplacians along forward, sideways and rotation: the layer learns its
    anisotropy, which that of the metric fixes. Any polynomial in left-invariant operators is
    equivariant.

    Laplacians commute with reflections, so layers and networks of these alone treat mirror images
    alike. With operators="first-order" on SE(2) and SO(3), orientations modulo 2 pi,

        y = sum_{k < K} T_k(L) (x W_k + sum_j (A_j x) U_jk) + b,

    A_j along forward, sideways and rotation as `Gradient` has them: equivariant under rotations and
    translations, not under reflections, which change the signs of sideways and rotation. These two
    are left out with handed=False, and reflections kept. On the plane, in space and on the sphere
    the A_j x are in_channels norms of gradients instead, `GradientNorm`, handed or not. Recursions
    run on the narrower of all that and the result.

    With low_pass all this is of x - Delta x / lambda_max, so that no filter passes the shortest
    waves of the graph: these change most if an image is moved by a part of a pixel or turned.

    With spin=s, on s2 and r2, L is that of `Graph.connection` and channels are fields of spin s,
    each of two components, (B, 2 in, V) -> (B, 2 out, V): winds have s = 1, polarization has s = 2.
    The second component is a quarter turn from the first, south toward east: (south, east), (east,
    north), Q and U of COSMO; U of the IAU has the other sign, and any such pair is silently wrong.
    Weights are complex numbers, or with handed=False real ones, which commute with reflections.
    There is no bias, as no field of spin is constant.

    Results are vertex-major in memory, (V, B, C) behind the logical (B, C, V), and so is what the
    layer works on: between layers of this package nothing is transposed.

    Args:
        in_channels, out_channels: at least 1.
        kernel_size: K >= 1, the number of polynomials; vertices K - 1 edges away are reached.
        graph: shared, not copied.
        bias: whether to add b; fields of spin have none.
        save_basis: keep T_k(L) x for the backward. Costs K - 1 times the memory of the input for
            each operator; saves up to half of the backward's sparse products where out_channels >
            in_channels.
        operators: "laplacian", that of the metric, or "directional", the J = 3 of a graph that was
            built with `directional`; these know, while training, no random sub-graphs, which are of
            the metric's Laplacian. Or "first-order", with gradients, of the whole graph, of a graph
            that was built with `gradients`.
        handed: whether first-order operators, or weights of fields of spin, distinguish mirror
            images; in space they do not.
        low_pass: one more sparse product.
        spin: of the fields, 0 of scalars. Its operators are "laplacian"; while training it knows no
            random sub-graphs.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.
        weight: (K, in, out), or (1 + J (K - 1), in, out) with W_0 first, then W_1k, k = 1..K-1,
            and so on, or (K, (1 + J) in, out) with W_k above U_1k, U_2k, ... and J = 1 for norms,
            or (K, in, 2 out) of complex weights, their real parts first; Kaiming-normal, the fan-in
            being the product of the first two.
        bias: (out,), or None.
        norms: the GradientNorm of first-order operators where there are no orientations; else None.

    Raises:
        TypeError: a size is no integer, or graph is something else, such as a whole pyramid.
        ValueError: a size below 1, other operators, or ones that the graph does not have, such as
            first-order ones where orientations count modulo pi, or handed ones in space.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> layer = ChebConv(3, 8, kernel_size=4, graph=pyramid.levels[0])
        >>> layer(torch.randn(2, 3, 1024)).shape
        torch.Size([2, 8, 1024])
    """

    graph: Graph

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        graph: Graph,
        bias: bool = True,  # noqa: FBT001, FBT002 -- as torch.nn.Conv2d has it
        *,
        save_basis: bool = False,
        operators: Operators = "laplacian",
        handed: bool = True,
        low_pass: bool = False,
        spin: int = 0,
    ) -> None:
        super().__init__()
        self.in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = integer("out_channels", out_channels, 1)
        self.kernel_size = integer("kernel_size", kernel_size, 1)
        self.graph = instance("graph", graph, Graph)
        self.save_basis = flag("save_basis", save_basis)
        self.operators = choice("operators", operators, get_args(Operators))
        self.spin = integer("spin", spin, 0)
        self.handed = flag("handed", handed) and (self.spin > 0 or operators == "first-order")
        self.low_pass = flag("low_pass", low_pass)
        self.norms: GradientNorm | None = None
        self.fields = 0  # that are taken as they are
        graph.laplacian_parts()  # refused here where they are damaged
        self.connection = graph.connection(spin) if spin else None
        self.complex = self.spin > 0 and self.handed
        terms, width = kernel_size, in_channels
        if spin and operators != "laplacian":
            raise ValueError(
                f"ChebConv with spin={spin} takes operators='laplacian'. Got {operators!r}: "
                "Gradient(graph, spin=...) has first derivatives of fields of spin."
            )
        if operators == "directional":
            if not graph.directional:
                raise ValueError(
                    f"{graph.label} has no directional Laplacians; build it with "
                    "`directional=0.05`."
                )
            terms = 1 + len(graph.directional) * (kernel_size - 1)
        elif operators == "first-order":
            width *= 1 + self._derivatives()
        if names := self._names():
            self.register_buffer(OPERATOR_NAMES, torch.tensor(names, dtype=torch.uint8))
        self.weight = nn.Parameter(torch.empty(terms, width, (1 + self.complex) * out_channels))
        biased = flag("bias", bias) and not spin
        self.bias = nn.Parameter(torch.empty(out_channels)) if biased else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights; the bias becomes 0."""
        count = self.weight[..., 0].numel() * (1 + self.complex)
        nn.init.normal_(self.weight, std=math.sqrt(2 / count))
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V), or with a spin twice as many of both.

        Under autocast the input is cast as for a linear layer and the result has that dtype; the
        recursion itself runs in the dtype of the graph, float32 unless the graph is double.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device, the message states both, or missing or
                infinite values. Or a random sub-graph is drawn, and the operators are directional.
        """
        components = 2 if self.spin else 1
        check_input(self, x, self.graph, components * self.in_channels, self.weight)
        if is_cast(x):
            x = x.to(torch.get_autocast_dtype(autocast_type(x)))
        if self.spin:
            y = self._summed(paired(x))
            if self.complex:
                real, imaginary = y.chunk(2, 2)
                y = real + quarter_turned(imaginary)
            return unpaired(y)
        y = self._summed(vertex_major(x))
        if self.bias is not None:
            y = y + self.bias.to(y.dtype)
        return logical(y)

    def _summed(self, x: Tensor) -> Tensor:
        """The sum without the bias, (V, B, in) -> (V, B, out)."""
        matrices = self._matrices()
        if self.low_pass:
            metric = self.graph.laplacian_parts(training=self.training)
            x = filtered(x, SMOOTHING, *(matrices if self.spin else metric))
        x = self._with_derivatives(x)
        y: Tensor
        if self.save_basis and self.kernel_size > 1:
            y, _ = chebyshev_basis(x, self.weight, *matrices)
        else:
            y = chebyshev(x, self.weight, *matrices)
        return y

    def _with_derivatives(self, x: Tensor) -> Tensor:
        """The inputs of polynomials, (V, B, in) -> (V, B, in or (1 + J) in)."""
        if self.fields:
            return derivatives(x, fields_of(self.graph), self.fields, own=1)
        if self.norms is not None:
            return torch.cat([x, vertex_major(self.norms(logical(x)))], dim=2)
        return x

    def _matrices(self) -> list[Tensor]:
        """Row pointers, columns and values of the Laplacians."""
        graph = self.graph
        if self.operators != "directional" and self.connection is None:
            return [*graph.laplacian_parts(training=self.training)]
        if self.training and graph.subgraph is not None:
            kind = f"spin={self.spin}" if self.spin else "operators='directional'"
            raise ValueError(
                f"ChebConv on {graph.label} with {kind} has no random sub-graphs, which are of the "
                "metric's Laplacian of scalars: call sample_edges(graph, 1)."
            )
        if self.connection is not None:
            return [*self.connection.parts()]
        return [part for one in graph.directional.values() for part in one[:3]]

    def _derivatives(self) -> int:
        """The number of channels of derivatives for each channel of the signal."""
        if "forward" in fields_of(self.graph).names:
            names = linear_fields("ChebConv with operators='first-order'", self.graph).names
            self.fields = len(names) if self.handed else 1
            return self.fields
        channels = self.in_channels
        self.norms = GradientNorm(channels, channels, self.graph, handed=self.handed)
        self.norms.check_finite = False
        return 1

    def _names(self) -> list[int]:
        """Bytes of what the weights are of, beside the Laplacian."""
        own = {"directional": [*self.graph.directional], "first-order": ["first-order"]}
        spins = [f"{SPIN}{self.spin}"] * (self.spin > 0)
        names = [*own.get(self.operators, []), *spins, *[LOW_PASS] * self.low_pass]
        return [*",".join(names).encode()]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        """Names are made anew, as `.to_empty()` leaves none."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if names := self._names():
            made = torch.tensor(names, dtype=torch.uint8, device=self.weight.device)
            setattr(self, OPERATOR_NAMES, made)
        return self

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *others: Any, **named: Any
    ) -> None:
        """Refuse weights of other operators, which may have the same shape."""
        then = operators_of(state_dict.get(f"{prefix}{OPERATOR_NAMES}"))
        here = operators_of(torch.tensor(self._names(), dtype=torch.uint8, device="cpu"))
        if f"{prefix}weight" in state_dict and then != here:
            raise ValueError(
                f"{prefix}weight is of {then}; this layer has {here}, of which the same weights "
                "would be another function."
            )
        super()._load_from_state_dict(state_dict, prefix, *others, **named)

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        sizes = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        may = self.spin > 0 or self.operators == "first-order"
        unhanded = ", handed=False" * (may and not self.handed)
        named = f", operators={self.operators}" * (self.operators != "laplacian")
        named += f", spin={self.spin}" * (self.spin > 0)
        return f"{sizes}{named}{unhanded}{', low_pass=True' * self.low_pass}"


@torch.no_grad()
def low_pass_(module: nn.Module, order: int = 2) -> None:
    """Draw the weights of all Chebyshev convolutions of a module anew, as low-pass filters.

    Each filter is p(lambda) = (1 - lambda / lambda_max)^m q(lambda), q a random polynomial of
    degree K - 1 - m. Training may bring short waves back, which layers with low_pass never see. The
    mean variance of the weights is as before; biases and norms of gradients stay as they are.

    Args:
        module: a network or a layer, changed in place.
        order: m, at least 1; in layers with K <= m polynomials it is K - 1.

    Raises:
        TypeError: module is no module, or order no integer.
        ValueError: order is below 1.
    """
    integer("order", order, 1)
    for layer in instance("module", module, nn.Module).modules():
        if isinstance(layer, ChebConv):
            count = layer.kernel_size
            terms, width, channels = layer.weight.shape
            basis = _low_pass_basis(count, min(order, count - 1)).to(layer.weight)
            operators = (terms - 1) // (count - 1) if count > 1 else 1
            series = torch.randn(operators, basis.shape[1], width * channels).to(basis)
            filters = (basis @ series).unflatten(2, (width, channels))
            whole = torch.cat([filters[:, 0].sum(0, keepdim=True), filters[:, 1:].flatten(0, 1)])
            scale = math.sqrt(2 / (width * operators * (1 + layer.complex)))
            layer.weight.copy_(whole * scale / basis.norm())


def _low_pass_basis(count: int, order: int) -> Tensor:
    """(count, count - order): Chebyshev coefficients of ((1 - mu) / 2)^order T_n(mu)."""
    halves = torch.full((count - 1,), 0.5, dtype=torch.float64)
    by_mu = halves.diag(1) + halves.diag(-1)  # mu T_n is the mean of T_(n-1) and T_(n+1)
    by_mu[1:2, 0] = 1  # and mu T_0 is T_1
    eye = torch.eye(count, dtype=torch.float64)
    power: Tensor = torch.linalg.matrix_power((eye - by_mu) / 2, order)
    return power[:, : count - order]
