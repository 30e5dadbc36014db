"""The anisotropic left-invariant Riemannian metric."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """R = diag(1, eps^-2, xi^2) in the left-invariant frame (forward, sideways, rotation).

    Args:
        eps: anisotropy in (0, 1]; 1 is isotropic, small makes sideways motion dear.
        xi: length that one radian of rotation counts for; 0 where there is no rotation.
    """

    eps: float
    xi: float = 0.0

    @property
    def diagonal(self) -> tuple[float, float, float]:
        """The entries of R."""
        return 1.0, self.eps**-2, self.xi**2

    def scaled(self, length: float) -> "Metric":
        """The same metric where lengths are measured in units of `length`."""
        return Metric(self.eps, self.xi / length)

    def squared_norm(self, components: tuple[Any, ...]) -> Any:
        """c^T R c for components (forward, sideways[, rotation]), elementwise."""
        first, *others = (r * c * c for r, c in zip(self.diagonal, components, strict=False))
        return sum(others, start=first)
