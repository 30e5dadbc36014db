"""Neighbors of points in arrays: ours beside scipy's cKDTree and scikit-learn's BallTree.

Each finds the 8 nearest others of every point, trees built anew each time; processor time, medians
over rounds in which all take turns. `others` counts the entries that differ from ours where no two
points are equally far, and lengths that differ by more than rounding. cKDTree searches chords of
unit vectors, and periodic planes with `boxsize`; BallTree has haversine's arcs. None of the two has
the metric on SE(2); there ours stands alone.

    python benchmarks/points.py --rounds 5
"""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scripts import parser_of, print_head, print_row
from turns import in_turns, times_or_refusal

from cheblienet_graphs import GraphSpec, nearest_neighbors
from cheblienet_graphs.typing import Floats, Indices

NEIGHBORS = 8
OURS, CHORDS, ARCS = "nearest_neighbors", "cKDTree", "BallTree"
ROUNDING = 1e-7
"""Of haversines, in radians."""
Nearest = tuple[Indices, Floats]
"""(N, K) neighbors and their lengths."""


class Case(NamedTuple):
    """Points and those who find their neighbors, ours first."""

    title: str
    size: int
    contenders: Mapping[str, Callable[[], Nearest]]


def ours(points: Floats, **fields: Any) -> Nearest:
    indices, squared = nearest_neighbors(points, NEIGHBORS, device="cpu", **fields)
    return indices, np.sqrt(squared)


def by_chords(points: Floats, boxsize: tuple[float, ...] | None = None) -> Nearest:
    lengths, others = cKDTree(points, boxsize=boxsize).query(points, NEIGHBORS + 1)
    return others[:, 1:], lengths[:, 1:]


def by_arcs(radians: Floats) -> Nearest:
    from sklearn.neighbors import BallTree  # an extra of the tests, seconds to import

    lengths, others = BallTree(radians, metric="haversine").query(radians, NEIGHBORS + 1)
    return others[:, 1:], lengths[:, 1:]


def of_sphere(places: Floats) -> Nearest:
    """CKDTree on latitudes and longitudes in degrees: unit vectors, then arcs."""
    latitude, longitude = np.radians(places).T
    across = np.cos(latitude)
    vectors = (across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude))
    others, chords = by_chords(np.stack(vectors, axis=1))
    return others, 2 * np.arcsin(chords / 2)


def cases(*, quick: bool) -> Iterator[Case]:
    spheres: dict[str, dict[str, Any]] = {
        "s2, random": {"sampling": "random", "points": 2000 if quick else 40_000},
        "s2, icosphere": {"subdivisions": 3 if quick else 6},
        "s2, Gaussian": {"gaussian": "O16" if quick else "O80"},
    }
    for title, fields in spheres.items():
        beta, gamma = GraphSpec("s2", levels=1, **fields).full_sampling(0).coordinates().T
        places = np.degrees(np.stack([np.pi / 2 - beta, gamma], axis=1))
        works = {
            OURS: partial(ours, places, manifold="s2"),
            CHORDS: partial(of_sphere, places),
            ARCS: partial(by_arcs, np.radians(places)),
        }
        yield Case(title, len(places), works)
    random, count = np.random.default_rng(0), 2000 if quick else 40_000
    cell = random.random((count, 2))
    torus = {
        OURS: partial(ours, cell, manifold="r2", periodic=(1, 1)),
        CHORDS: partial(by_chords, cell, (1.0, 1.0)),
    }
    yield Case("r2, random, periodic", count, torus)
    turned = np.column_stack([cell, random.random(count) * 180])
    yield Case("se2, random", count, {OURS: partial(ours, turned, manifold="se2", xi=0.02)})


def differences(result: Nearest, expected: Nearest) -> int:
    """Lengths beyond rounding, and other neighbors where no length is another's."""
    lengths = expected[1]
    apart = np.diff(lengths, axis=1) > ROUNDING
    alone = np.ones(lengths.shape, bool)
    alone[:, 1:] &= apart
    alone[:, :-1] &= apart
    alone[:, -1] = False  # the next one is not known
    other = (result[0] != expected[0]) & alone
    return int((other | (abs(result[1] - lengths) > ROUNDING)).sum())


def main() -> None:
    options = parser_of(__doc__, rounds=5, quick=False).parse_args()
    print_head("points", "N", "found by", "others", "median (quartiles)", "/ ours")
    for case in cases(quick=options.quick):
        expected = case.contenders[OURS]()
        others = {name: differences(work(), expected) for name, work in case.contenders.items()}
        took = in_turns(case.contenders, options.rounds, clock=time.process_time)
        for name in case.contenders:
            times = times_or_refusal(name, took, OURS, {})
            print_row(case.title, f"{case.size:,}", name, others[name], *times)


if __name__ == "__main__":
    main()
