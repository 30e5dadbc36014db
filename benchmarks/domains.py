"""Spectra of parts of a domain, no heat flowing through their edges, against the exact ones.

The disc of radius 1/2 in the plane: squares of zeros of derivatives of Bessel functions, times 4.
Half a sphere: l(l+1) for the harmonics of even l - m. A cap of the sphere, 60 degrees from its
middle: nu (nu + 1) where the derivative of the Legendre function P_nu^m vanishes at its edge. Mask
boundaries are pixelated, so eigenvalues converge at first order: a mask's domain is only known to a
spacing. The largest relative error of the first eigenvalues but 0 is printed, and how far the
area inside is from the domain's.

    python benchmarks/domains.py [--count 10]
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import hyp2f1, jnp_zeros
from scripts import errors_of, parser_of, print_head, print_row, report_of

from cheblienet_graphs import GraphSpec

CAP = math.radians(60)


@dataclass(frozen=True)
class Domain:
    """A part of the plane or of the sphere.

    Args:
        name: in words.
        area: of the part, over that of the whole.
        exact: count -> its smallest eigenvalues, multiplicities repeated, 0 first.
        graphs: specifications of it, coarsest first, by the kind of their weights.
    """

    name: str
    area: float
    exact: Callable[[int], NDArray[np.float64]]
    graphs: dict[str, list[GraphSpec]]


def disc_spectrum(count: int) -> NDArray[np.float64]:
    """Of the disc of radius 1/2."""
    values = [0.0]
    for m in range(count):
        squares = (2 * jnp_zeros(m, count)) ** 2
        values += np.repeat(squares, 1 if m == 0 else 2).tolist()
    return np.sort(values)[:count]


def half_sphere_spectrum(count: int) -> NDArray[np.float64]:
    """Harmonics of even l - m do not change in the mirror of the equator."""
    return np.concatenate([np.full(el + 1, el * (el + 1.0)) for el in range(count)])[:count]


def cap_spectrum(count: int) -> NDArray[np.float64]:
    """Roots nu of the derivative at the edge, for each m; scanned in steps of 0.05."""
    values = [0.0]
    u = (1 - math.cos(CAP)) / 2

    def slope(nu: float, m: int) -> float:
        """Of sin^m F(m - nu, m + nu + 1; m + 1; u), over sin^(m - 1)."""
        a, b, c = m - nu, m + nu + 1, m + 1
        value, derivative = hyp2f1(a, b, c, u), a * b / c * hyp2f1(a + 1, b + 1, c + 1, u)
        return float(m * math.cos(CAP) * value + math.sin(CAP) ** 2 / 2 * derivative)

    for m in range(count):
        steps = np.arange(0.05, 3.0 * math.sqrt(count) + 3, 0.05)
        slopes = [slope(nu, m) for nu in steps]
        for low, high, before, after in zip(
            steps[:-1], steps[1:], slopes[:-1], slopes[1:], strict=True
        ):
            if before * after < 0:
                nu = brentq(slope, low, high, args=(m,))
                values += [nu * (nu + 1)] * (1 if m == 0 else 2)
    return np.sort(values)[:count]


def disc(size: int, weights: str) -> GraphSpec:
    """Pixels whose centers are within the disc."""
    y, x = (np.mgrid[:size, :size] - (size - 1) / 2) / size
    return GraphSpec("r2", mask=x**2 + y**2 < 1 / 4, weights=weights, levels=1)


def above(height: float, **size: int) -> GraphSpec:
    """Points of the sphere whose z is above a height, weights matched."""
    fields: dict[str, Any] = {"weights": "matched", "neighbors": 24, "levels": 1, **size}
    z = GraphSpec("s2", **fields).full_sampling(0).base_points[:, 2]
    return GraphSpec("s2", **fields, mask=z > height)


def domains() -> Iterator[Domain]:
    """The three, with graphs of three resolutions."""
    discs = {w: [disc(n, w) for n in (32, 64, 128)] for w in ("selling", "matched")}
    yield Domain("disc in r2", math.pi / 4, disc_spectrum, discs)
    halves = [above(1e-9, subdivisions=n) for n in (3, 4, 5)]
    yield Domain("half of s2, icosphere", 1 / 2, half_sphere_spectrum, {"matched": halves})
    caps = [above(math.cos(CAP), nside=n) for n in (8, 16, 32)]
    yield Domain("cap of s2, HEALPix", (1 - math.cos(CAP)) / 2, cap_spectrum, {"matched": caps})


def errors(spec: GraphSpec, exact: NDArray[np.float64]) -> tuple[float, float, float]:
    """Largest and mean relative error of the eigenvalues but 0; share of points inside."""
    level = report_of(spec, len(exact))
    relative = abs(errors_of(level, exact))
    return float(relative.max()), float(relative.mean()), level.inside or math.nan


def main() -> None:
    """Print a line for each graph."""
    count = parser_of(__doc__, count=10).parse_args().count + 1
    print_head("domain", "weights", "vertices", "largest error", "mean", "order", "area")
    for domain in domains():
        exact = domain.exact(count)
        for weights, graphs in domain.graphs.items():
            before = math.nan
            for spec in graphs:
                largest, mean, inside = errors(spec, exact)
                off = inside / domain.area - 1
                order = "" if math.isnan(before) else f"{math.log2(before / largest):.2f}"
                cells = f"{largest:.2%}", f"{mean:.2%}", order, f"{off:+.2%}"
                print_row(domain.name, weights, f"{spec.num_vertices:,}", *cells)
                before = largest


if __name__ == "__main__":
    main()
