"""The anisotropic left-invariant Riemannian metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Diffusion: TypeAlias = tuple[tuple[float, tuple[float, ...]], ...]
"""How fast the operator diffuses along each of some directions of a flat base."""


@dataclass(frozen=True)
class Metric:
    """R = diag(1, eps^-2, xi^2) in the left-invariant frame (forward, sideways, rotation).

    Which entries a manifold's R has, `Manifold.weights` says.

    Args:
        eps: anisotropy in (0, 1]; 1 is isotropic, a small one makes sideways motion long.
        xi: length that one radian of rotation counts for; 0 where there is no rotation.
    """

    eps: float
    xi: float = 0.0

    def scaled(self, length: float) -> "Metric":
        """The same metric where lengths are measured in units of `length`."""
        return Metric(self.eps, self.xi / length)


def squared_norm(weights: Sequence[float], components: tuple[Any, ...]) -> Any:
    """c^T R c for the diagonal entries of R and the components of c, elementwise."""
    first, *others = (r * c * c for r, c in zip(weights, components, strict=True))
    return sum(others, start=first)
