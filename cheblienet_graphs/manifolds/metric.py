"""The anisotropic left-invariant Riemannian metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Diffusion: TypeAlias = tuple[tuple[float, tuple[float, ...]], ...]
"""Rate and direction, along a flat base, of each term of the operator."""


@dataclass(frozen=True)
class Metric:
    """R = diag(1, eps^-2, xi^2) in the left-invariant frame (forward, sideways, rotation).

    `Manifold.weights` gives the entries that R has on a manifold.

    Args:
        eps: anisotropy in (0, 1]; 1 is isotropic; sideways lengths are multiplied by 1 / eps.
        xi: length that one radian of rotation counts for; 0 where there is no rotation.
    """

    eps: float
    xi: float = 0.0

    def scaled(self, length: float) -> "Metric":
        """The metric with lengths measured in units of `length`."""
        return Metric(self.eps, self.xi / length)


def squared_norm(weights: Sequence[float], components: tuple[Any, ...]) -> Any:
    """c^T R c for the diagonal entries of R and the components of c, elementwise."""
    first, *others = (r * c * c for r, c in zip(weights, components, strict=True))
    return sum(others, start=first)
