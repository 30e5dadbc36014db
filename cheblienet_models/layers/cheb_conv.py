"""The Chebyshev convolution of signals on a graph."""

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, choice, flag, instance, integer
from cheblienet_models.graphs.checkpoints import OPERATOR_NAMES
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.layers.chebyshev import chebyshev, chebyshev_basis
from cheblienet_models.tensors import autocast_type, logical, vertex_major

Operators = Literal["laplacian", "directional"]


class ChebConv(nn.Module):
    """Spectral convolution by a polynomial of the rescaled Laplacian L = 2 Delta/lambda_max - I.

    y = sum_{k < K} T_k(L) x W_k + b with T_0 = 1, T_1 = L, T_k = 2 L T_{k-1} - T_{k-2}
    (Defferrard, Bresson, Vandergheynst 2016). Equivariant under every symmetry of the graph.

    With operators="directional", y = x W_0 + sum_j sum_{1 <= k < K} T_k(L_j) x W_jk + b, the L_j
    being the graph's Laplacians along forward, sideways and rotation: the layer learns its
    anisotropy, which that of the metric fixes. Any polynomial in left-invariant operators is
    equivariant.

    Results are vertex-major in memory, (V, B, C) behind the logical (B, C, V), and so is what the
    layer works on: between layers of this package nothing is transposed.

    Args:
        in_channels, out_channels: at least 1.
        kernel_size: K >= 1, the number of polynomials; vertices K - 1 edges away are reached.
        graph: shared, not copied.
        bias: whether to add b.
        save_basis: keep T_k(L) x for the backward. Costs K - 1 times the memory of the input for
            each operator; saves up to half of the backward's sparse products where out_channels >
            in_channels.
        operators: "laplacian", that of the metric, or "directional", the J = 3 of a graph that was
            built with `directional`; these know, while training, no random sub-graphs, which are of
            the metric's Laplacian.

    Attributes:
        weight: (K, in, out), or (1 + J (K - 1), in, out) with W_0 first, then W_1k, k = 1..K-1,
            and so on; Kaiming-normal, the fan-in being the product of the first two.
        bias: (out,), or None.

    Raises:
        TypeError: a size is no integer, or graph is something else, such as a whole pyramid.
        ValueError: a size below 1, other operators, or ones that the graph does not have.
    """

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
    ) -> None:
        super().__init__()
        self.in_channels = integer("in_channels", in_channels, 1)
        self.out_channels = integer("out_channels", out_channels, 1)
        self.kernel_size = integer("kernel_size", kernel_size, 1)
        self.graph = instance("graph", graph, Graph)
        self.save_basis = flag("save_basis", save_basis)
        self.operators = operators
        terms = 1 + len(self._checked_operators()) * (kernel_size - 1)
        self.weight = nn.Parameter(torch.empty(terms, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if flag("bias", bias) else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights; the bias becomes 0."""
        nn.init.normal_(self.weight, std=math.sqrt(2 / (len(self.weight) * self.in_channels)))
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, in_channels, V) -> (B, out_channels, V).

        Under autocast the input is cast as for a linear layer and the result has that dtype; the
        recursion itself runs in the dtype of the graph, float32 unless the graph is double.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, dtype or device; the message states both. Or a random
                sub-graph is drawn, and the operators are directional.
        """
        self._check(x)
        if torch.is_autocast_enabled(autocast_type(x)):
            x = x.to(torch.get_autocast_dtype(autocast_type(x)))
        y = self._summed(vertex_major(x))
        if self.bias is not None:
            y = y + self.bias.to(y.dtype)
        return logical(y)

    def _summed(self, x: Tensor) -> Tensor:
        """The sum without the bias, (V, B, in) -> (V, B, out)."""
        graph = self.graph
        if self.operators == "laplacian":
            matrices = [*graph.laplacian_parts(training=self.training)]
        elif self.training and graph.subgraph is not None:
            raise ValueError(
                f"ChebConv on {graph.label} with operators='directional' has no random "
                "sub-graphs, which are of the metric's Laplacian: call sample_edges(graph, 1)."
            )
        else:
            matrices = graph.directional_parts()
        y: Tensor
        if self.save_basis and self.kernel_size > 1:
            y, _ = chebyshev_basis(x, self.weight, *matrices)
        else:
            y = chebyshev(x, self.weight, *matrices)
        return y

    def _checked_operators(self) -> tuple[str, ...]:
        """Names of the operators; those that are not the metric's are told in checkpoints."""
        if choice("operators", self.operators, get_args(Operators)) == "laplacian":
            self.graph.laplacian_parts()  # refused here where they are damaged
            return ("laplacian",)
        names = tuple(self.graph.directional)
        if not names:
            raise ValueError(
                f"{self.graph.label} has no directional Laplacians; build it with "
                "`directional=0.05`."
            )
        encoded = torch.tensor(list(",".join(names).encode()), dtype=torch.uint8)
        self.register_buffer(OPERATOR_NAMES, encoded)
        return names

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *others: Any, **named: Any
    ) -> None:
        """Refuse weights of other operators, which may have the same shape."""
        given, own = f"{prefix}{OPERATOR_NAMES}", self._buffers.get(OPERATOR_NAMES)
        if f"{prefix}weight" in state_dict and (given in state_dict) != (own is not None):
            then = "directional" if given in state_dict else "laplacian"
            raise ValueError(
                f"{prefix}weight is of operators='{then}'; this layer has operators="
                f"'{self.operators}', of which the same weights would be another function."
            )
        super()._load_from_state_dict(state_dict, prefix, *others, **named)

    def _check(self, x: Tensor) -> None:
        graph, name = self.graph, f"ChebConv on {self.graph.label}"
        check_signal(name, x, ("B", self.in_channels, graph.num_vertices), graph.values.device)
        if x.dtype != self.weight.dtype and not torch.is_autocast_enabled(autocast_type(x)):
            raise ValueError(
                f"{name} takes {self.weight.dtype}, as its weights are. Got {x.dtype}; move either "
                "with .to()."
            )

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        sizes = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        return sizes if self.operators == "laplacian" else f"{sizes}, operators={self.operators}"
