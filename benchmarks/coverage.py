"""Error bars of eigenvalues on random graphs of all kinds, against true errors.

Of each kind of graph: how many have bars; of the first eigenvalues but 0 that have one, the share
of errors within 1.5 times it, over all graphs and on the worst one; the largest error over its bar;
and the share that extrapolation makes smaller. Graphs have two levels and domains whose spectrum is
known exactly. Builds that were refused, as matched weights on few neighbors are, do not count.

    python benchmarks/coverage.py [--graphs 200] [--seed 1]
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scripts import parser_of, print_head, print_row, temporary_store
from verdicts import Choices, drawn

from cheblienet_graphs import CheblienetError, GraphSpec, build, inspect
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.typing import Floats

WITHIN = 1.5
COUNT = 25
LAPLACIANS: Choices = {"laplacian": (None, "combinatorial", "normalized")}
OTHERS = ("given", "pl", "refined")
"""Samplings of the sphere that are drawn besides those of `verdicts`, every tenth graph."""


def kinds(random: np.random.Generator) -> Iterator[GraphSpec]:
    """Specifications of all manifolds, weights and samplings whose exact spectrum is known."""
    usual = drawn(random, 2, LAPLACIANS)
    while True:
        yield from (next(usual) for _ in range(9))
        yield of_points(random, str(random.choice(OTHERS)))


def of_points(random: np.random.Generator, sampling: str) -> GraphSpec:
    """Voronoi weights of given points, of rows given by their lengths, or of finer ones inside."""
    common: dict[str, Any] = {
        "weights": "voronoi",
        "laplacian": str(random.choice(("combinatorial", "normalized"))),
    }
    if sampling == "refined":
        return GraphSpec("s2", refined=(2, 4, -10, 35, 30, 60), levels=2, **common)
    if sampling == "pl":
        half = np.sort(random.choice(np.arange(8, 44, 4), 6)).tolist()
        return GraphSpec("s2", pl=(*half, *half[::-1]), levels=2, **common)
    points = random.normal(size=(1000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    latitude, longitude = np.arcsin(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])
    degrees = np.degrees(np.stack([latitude, longitude], axis=1))
    return GraphSpec("s2", coordinates=[degrees, degrees[: random.integers(200, 600)]], **common)


def reported(spec: GraphSpec) -> LevelReport | None:
    """The report on the finer level; None where the build is refused, or no spectrum is known."""
    store, name = temporary_store(), spec.sha256[:12]
    try:
        build(spec, store, name=name, device="cpu")
    except CheblienetError:
        return None
    level = inspect(store, name, eigenvalues=COUNT, level=0).levels[0]
    return None if level.exact_eigenvalues is None else level


def off(level: LevelReport) -> tuple[Floats, Floats]:
    """(M,) errors over their bars, and those left in extrapolated values over these errors."""
    bars, far = np.array(level.error_bars.bars[1:]), np.array(level.error_bars.extrapolated[1:])
    exact = np.array(level.exact_eigenvalues)[1 : len(bars) + 1]
    found = np.array(level.eigenvalues)[1 : len(bars) + 1] * (level.eigenvalue_scale or 0.0)
    errors = np.maximum(abs(found - exact), np.finfo(np.float32).eps * exact)
    return errors / bars, abs(far - exact) / errors


def main() -> None:
    """Print a line for each manifold with each kind of weights."""
    options = parser_of(__doc__, graphs=200, seed=1).parse_args()
    specs, seen = kinds(np.random.default_rng(options.seed)), 0
    known: dict[str, list[tuple[Floats, Floats]]] = {}
    while seen < options.graphs:
        spec = next(specs)
        if (level := reported(spec)) is None:
            continue
        seen += 1
        places = "lattice" if spec.sampling_kind.regular else "points"
        known.setdefault(f"{spec.manifold}, {places}, {spec.weights}", []).append(off(level))
    known = dict(sorted(known.items())) | {
        "all": [pair for each in known.values() for pair in each]
    }
    titles = f"within {WITHIN} bars", "on the worst graph", "error / bar, at most", "better"
    print_head("graphs", "number", "with bars", *titles)
    for name, pairs in known.items():
        with_bars = [pair for pair in pairs if len(pair[0])]
        if not with_bars:
            print_row(name, len(pairs), 0, *[""] * 4)
            continue
        ratios, left = (np.concatenate(each) for each in zip(*with_bars, strict=True))
        worst = min((ratio <= WITHIN).mean() for ratio, _ in with_bars)
        shares = f"{(ratios <= WITHIN).mean():.1%}", f"{worst:.0%}", f"{ratios.max():.2f}"
        print_row(name, len(pairs), len(with_bars), *shares, f"{(left < 1).mean():.1%}")


if __name__ == "__main__":
    main()
