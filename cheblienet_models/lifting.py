"""Between signals on the base space and signals on the manifold with its orientations."""

from typing import Literal

from torch import Tensor, nn

from cheblienet_models.graph import Graph


class Lift(nn.Module):
    """Repeat a signal on the base space over all orientations.

    Args:
        graph: where to.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.grid, self.num_vertices = graph.grid, graph.num_vertices

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, *base shape) or (B, C, base vertices) -> (B, C, V). On the plane, (B, C, H, W).

        Raises:
            ValueError: x has another shape.
        """
        orientations, *base = self.grid
        vertices = self.num_vertices // orientations
        if x.shape[2:] not in {tuple(base), (vertices,)}:
            shape = ", ".join(map(str, base))
            raise ValueError(
                f"Lift takes (B, C, {shape}) or (B, C, {vertices}). Got {tuple(x.shape)}."
            )
        return x.flatten(2).repeat(1, 1, orientations)


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
        fibres = x.reshape(*x.shape[:2], self.orientations, -1)
        return fibres.amax(2) if self.mode == "max" else fibres.mean(2)

    def extra_repr(self) -> str:
        """What print(layer) shows."""
        return f"mode={self.mode!r}"
