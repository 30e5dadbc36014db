"""Between signals on the base space and signals on the manifold with its orientations."""

from typing import Literal

from torch import Tensor, nn

from cheblienet_models.graphs.graph import Graph
from cheblienet_models.tensors.layout import logical, vertex_major


class Lift(nn.Module):
    """Repeat a signal on the base space over all orientations.

    Args:
        graph: where to.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.grid, self.num_vertices = graph.grid, graph.num_vertices

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, *base shape) or (B, C, base vertices) -> (B, C, V).

        The base shape is (H, W) on a planar lattice, (D, H, W) on one in space.

        Raises:
            ValueError: x has another shape.
        """
        orientations, *base = self.grid
        vertices = self.num_vertices // orientations
        # No set: traced sizes are tensors, equal to numbers, but with other hashes.
        if tuple(x.shape[2:]) not in [tuple(base), (vertices,)]:
            shapes = [f"(B, C, {', '.join(map(str, base))})"]
            if len(base) > 1:
                shapes.append(f"(B, C, {vertices})")
            raise ValueError(f"Lift takes {' or '.join(shapes)}. Got {tuple(x.shape)}.")
        lifted = x.flatten(2).permute(2, 0, 1).expand(orientations, -1, -1, -1)
        return logical(lifted.reshape(self.num_vertices, *x.shape[:2]))


class Project(nn.Module):
    """Reduce a signal over orientations, which makes it one on the base space.

    Args:
        graph: where from.
        mode: "max" or "mean".

    Raises:
        ValueError: another mode.
    """

    def __init__(self, graph: Graph, mode: Literal["max", "mean"] = "max") -> None:
        super().__init__()
        if mode not in {"max", "mean"}:
            raise ValueError(f"mode must be 'max' or 'mean'. Got {mode!r}.")
        self.orientations, self.num_vertices, self.mode = (
            graph.orientations,
            graph.num_vertices,
            mode,
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V / n_o).

        Raises:
            ValueError: x has another shape.
        """
        if x.ndim != 3 or x.shape[2] != self.num_vertices:
            raise ValueError(f"Project takes (B, C, {self.num_vertices}). Got {tuple(x.shape)}.")
        fibres = vertex_major(x).view(self.orientations, -1, *x.shape[:2])
        return logical(fibres.amax(0) if self.mode == "max" else fibres.mean(0))

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"mode={self.mode!r}"
