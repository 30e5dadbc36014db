"""The paper's kernels: weight of an edge from its squared distance.

With s = d^2 and t = bandwidth x mean(s over the edges of the symmetrised graph), a kernel sees
u = s / (4 t). Method style, so numpy (through `manifolds.arrays.Array`) and torch both run it.
"""

from collections.abc import Callable
from typing import Any

Kernel = Callable[[Any], Any]
"""Weight from u, elementwise."""


def gaussian(u: Any) -> Any:
    """exp(-u)."""
    return (-u).exp()


def laplace(u: Any) -> Any:
    """exp(-sqrt(u))."""
    return (-u.sqrt()).exp()


def cauchy(u: Any) -> Any:
    """1 / (1 + u); the published code has 1 / (1 - u), which is negative beyond the bandwidth."""
    return 1 / (1 + u)


def rectangular(u: Any) -> Any:
    """1 on every edge."""
    return 0 * u + 1


KERNELS: dict[str, Kernel] = {
    kernel.__name__: kernel for kernel in (gaussian, laplace, cauchy, rectangular)
}
"""Those of `limits.KERNELS`."""
