"""Verdicts of `inspect` on random graphs of all kinds, against the errors of their eigenvalues.

Of each manifold: how many graphs got which verdict; of those that were called consistent the
largest error of the first 25 eigenvalues, found by other solvers (LAPACK, or ARPACK with a
factorized matrix), and the largest ratio of it to the error that the verdict printed. Builds that
were refused, as matched weights on few neighbors are, do not count.

    python benchmarks/verdicts.py [--graphs 200] [--seed 1]
"""

import collections
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array, eye_array
from scripts import parser_of, print_head, print_row, smallest_eigenvalues, temporary_store

from cheblienet_graphs import CheblienetError, GraphSpec, build, inspect
from cheblienet_graphs.measure.moments import MeasuredLevel
from cheblienet_graphs.measure.opened_graph import open_graph
from cheblienet_graphs.measure.spectra import exact_eigenvalues
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.typing import Floats

COUNT = 25
DENSE = 1500
"""Most vertices of a graph that is solved densely."""
ROUNDING = 1e-6
"""Errors that count as none."""
VERDICTS = ("consistent", "not compared", "kernel weights", "too coarse", "inconsistent")
Choices = dict[str, tuple[Any, ...]]

ORIENTED: Choices = {
    "eps_squared": (0.05, 0.1, 0.3, 1),
    "xi": ("alpha", "alpha", 0.1, 0.3, 1.0),
    "neighbors": (None, 16, 32, 48),
}
PLAIN: Choices = {"neighbors": (None, 8, 24), "laplacian": (None, "combinatorial")}
FLAT: Choices = {"boundary": ("periodic", "periodic", "open")}
ANGLES: Choices = {"orientations": (1, 2, 3, 4, 6, 8, 12), "period": ("pi", "pi", "2pi")}
FIELDS: dict[str, Choices] = {
    "r2": PLAIN | FLAT,
    "r3": {"boundary": ("periodic", "open")},
    "se2": ORIENTED | ANGLES | FLAT,
    "r3s2": ORIENTED
    | {"axes": (3, 4, 6, 7, 12, 13, 22, "ico21"), "neighbors": (None,), "xi": ("alpha", 0.1, 0.3)}
    | FLAT,
    "s2": PLAIN,
    "so3": ORIENTED | ANGLES | {"eps": (0.3, 1), "eps_squared": (None,), "xi": (0.5, 0.7)},
}
WEIGHTS = {
    "r2": ("kernel", "matched", "selling", "voronoi"),
    "r3": ("kernel", "matched", "selling"),
    "se2": ("kernel", "matched", "selling"),
    "r3s2": ("kernel", "selling"),
    "s2": ("kernel", "matched", "voronoi"),
    "so3": ("kernel", "matched"),
}
SPHERES: Choices = {
    "subdivisions": (1, 2, 3),
    "nside": (2, 4, 8),
    "bandlimit": (4, 8, 12),
    "gaussian": ("O4", "O8", "F4", "F8"),
    "points": (60, 200, 800),
}


def sized(random: np.random.Generator, manifold: str, weights: str) -> dict[str, Any]:
    """The size of a sampling, drawn at random."""
    if manifold in ("s2", "so3"):
        field = str(random.choice([*SPHERES]))
        sizes = SPHERES[field][: 2 if manifold == "so3" else None]
        return {field: sizes[random.integers(len(sizes))]}
    if weights == "voronoi":
        return {"points": int(random.choice((100, 400, 1000)))}
    sides = {"r2": (8, 16, 24, 32), "se2": (8, 12, 16, 20), "r3": (5, 8, 10), "r3s2": (6, 8, 10)}
    shape = random.choice(sides[manifold], 2 if manifold in ("r2", "se2") else 3)
    return {"size": tuple(map(int, shape))}


def drawn(
    random: np.random.Generator, levels: int = 1, further: Choices | None = None
) -> Iterator[GraphSpec]:
    """Specifications of all manifolds and weights in turn.

    Args:
        random: what they are drawn with.
        levels: of each.
        further: values of fields besides those of `FIELDS`, or instead.
    """
    kinds = [(manifold, weights) for manifold, every in WEIGHTS.items() for weights in every]
    while True:
        for manifold, weights in kinds:
            fields = {"weights": weights, "levels": levels, **sized(random, manifold, weights)}
            for name, values in (FIELDS[manifold] | (further or {})).items():
                value = values[random.integers(len(values))]
                fields |= {} if value is None else {name: value}
            if weights in ("selling", "voronoi"):
                fields.pop("neighbors", None)
            if (manifold, weights) == ("so3", "matched"):
                fields["neighbors"] = 32
            if "points" in fields and manifold == "r2":
                fields.pop("boundary", None)
            try:
                yield GraphSpec(manifold, **fields)
            except CheblienetError:
                continue


def first_eigenvalues(arrays: MeasuredLevel, scale: float) -> Floats:
    """The smallest of Delta, in the operator's units."""
    facts = arrays.of_level
    rescaled = csr_array(arrays.laplacian.astype(np.float64))
    matrix = (rescaled + eye_array(facts.vertices)) * (facts.lambda_max / 2 * scale)
    count = min(COUNT, facts.vertices)
    if facts.vertices <= DENSE:
        last = (0, count - 1)
        values: Floats = scipy.linalg.eigvalsh(matrix.toarray(), subset_by_index=last)
        return values
    return smallest_eigenvalues(matrix, count, -1e-3 * facts.lambda_max * scale)


def true_error(arrays: MeasuredLevel, level: LevelReport) -> float:
    """The largest relative error of the first eigenvalues but 0."""
    values = first_eigenvalues(arrays, level.eigenvalue_scale or math.nan)
    exact = exact_eigenvalues(arrays, len(values))
    return float(abs(values[1:] / np.array(exact)[1:] - 1).max())


def judged(spec: GraphSpec) -> tuple[str, float, float] | None:
    """The verdict, the error that it printed and the true one; None where a build is refused."""
    store, name = temporary_store(), spec.sha256[:12]
    try:
        build(spec, store, name=name, device="cpu")
    except CheblienetError:
        return None
    level = inspect(store, name).levels[0]
    if level.consistency != "consistent":
        return level.consistency, math.nan, math.nan
    printed = max(level.spectral_error or 0.0, level.further_error or 0.0)
    true = true_error(open_graph(store, name).level(0), level)
    return level.consistency, printed, true


def main() -> None:
    """Print a line for each manifold, and the graphs of which too little was printed."""
    options = parser_of(__doc__, graphs=200, seed=1).parse_args()
    specs = drawn(np.random.default_rng(options.seed))
    counts: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in FIELDS}
    worst = dict.fromkeys(FIELDS, (0.0, 0.0))
    wrong, seen = [], 0
    while seen < options.graphs:
        spec = next(specs)
        if (found := judged(spec)) is None:
            continue
        seen += 1
        consistency, printed, true = found
        counts[spec.manifold][consistency] += 1
        if consistency == "consistent":
            ratio = true / max(printed, ROUNDING)
            error, most = worst[spec.manifold]
            worst[spec.manifold] = max(error, true), max(most, ratio)
            if ratio > 2:
                wrong.append(f"{spec!r}: {true:.2%}, printed {printed:.2%}")
    print_head("manifold", "graphs", *VERDICTS, "error when consistent", "over printed")
    for name, each in counts.items():
        error, ratio = worst[name]
        print_row(name, each.total(), *(each[v] for v in VERDICTS), f"{error:.1%}", f"{ratio:.2f}")
    print(f"\n{seen} graphs, called consistent with more than twice the error: {len(wrong)}")
    print("\n".join(wrong), end="")


if __name__ == "__main__":
    main()
