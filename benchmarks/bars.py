"""Error bars of eigenvalues, as `inspect` estimates them, against true errors.

Of the first eigenvalues but 0 that have a bar, on the finer of two levels: how many; the largest
relative error; the share of errors within 1.5 times their bar; the median of bar over error; and
the largest relative error of the extrapolated values. Truth: Mathieu's functions on the torus,
cosines and Galerkin's method (`neumann.py`) on the square, no heat flowing through its sides, and
Bessel functions on the disc of radius 1/2, which cuts pixels. SE(2) has eps^2 = 0.1 and Selling's
weights, and so has the disc.

    python benchmarks/bars.py [--count 24]
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from domains import disc_spectrum
from neumann import neumann_spectrum
from scripts import errors_of, parser_of, print_head, print_row, report_of

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.typing import Floats

WITHIN = 1.5
XI = math.sqrt(0.1)
ORIENTED = ((16, 8), (24, 12), (32, 8), (32, 16), (48, 12))
FLAT = (16, 24, 32, 48, 64)
Case = tuple[str, str, GraphSpec, Floats | None]
"""Domain, graph, its specification, and (M,) exact eigenvalues; None where reports have them."""


def disc(size: int) -> GraphSpec:
    """The disc of radius 1/2."""

    def outside(x: Floats, y: Floats) -> Floats:
        return np.hypot(x - size / 2, y - size / 2) - size / 2

    return GraphSpec("r2", size, mask=outside, mask_edge="cut", weights="selling", levels=2)


def cases(count: int) -> Iterator[Case]:
    """Graphs by domain."""
    square = neumann_spectrum(count, XI, XI)
    for boundary, name in (("periodic", "torus"), ("open", "square")):
        common: dict[str, Any] = {"weights": "selling", "boundary": boundary, "levels": 2}
        for size, n_o in ORIENTED:
            spec = GraphSpec("se2", size, orientations=n_o, eps_squared=0.1, xi=XI, **common)
            known = square if boundary == "open" else None
            yield name, f"SE(2), {size}x{size}x{n_o}", spec, known
        for size in FLAT:
            yield name, f"plane, {size}x{size}", GraphSpec("r2", size, **common), None
    bessel = disc_spectrum(count)
    for size in FLAT:
        yield "disc", f"plane, {size}x{size}", disc(size), bessel


def measured(spec: GraphSpec, exact: Floats | None, count: int) -> tuple[Floats, Floats, Floats]:
    """(M - 1,) true errors, bars, and errors of extrapolated values, relative to the exact ones.

    Of the M eigenvalues that have a bar.
    """
    level = report_of(spec, count)
    known = len(level.error_bars.bars)
    true = np.array(level.exact_eigenvalues if exact is None else exact)[:known]
    bars, far = np.array(level.error_bars.bars), np.array(level.error_bars.extrapolated)
    found = replace(level, eigenvalues=level.eigenvalues[:known])
    return abs(errors_of(found, true)), bars[1:] / true[1:], abs(far[1:] / true[1:] - 1)


def main() -> None:
    """Print a line for each graph, and the share of errors within their bars over each domain."""
    count = parser_of(__doc__, count=24).parse_args().count + 1
    titles = "largest error", f"within {WITHIN} bars", "bar / error, median", "extrapolated"
    print_head("domain", "graph", "bars", *titles)
    within: dict[str, list[bool]] = {}
    for domain, graph, spec, exact in cases(count):
        errors, bars, left = measured(spec, exact, count)
        inside = errors <= WITHIN * bars
        within.setdefault(domain, []).extend(inside.tolist())
        ratio = f"{np.median(bars / errors):.2f}"
        row = f"{errors.max():.2%}", f"{inside.mean():.0%}", ratio, f"{left.max():.2%}"
        print_row(domain, graph, len(errors), *row)
    shares = (f"{name} {np.mean(each):.1%}" for name, each in within.items())
    print(f"\nwithin {WITHIN} bars: {', '.join(shares)}")


if __name__ == "__main__":
    main()
