"""Neighbors under one anisotropic left-invariant metric, found in several ways.

Ours finds all edges from nothing but the specification: stencils on SE(2)'s lattice, the pruned
search on SO(3). Others look for the nearest vertices of each among all; our rule, whole shells of
vertices that list each other, is not in their times. Edges and their lengths are compared first.
"""

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from scripts import print_head, print_row
from search import NEIGHBORS, nearest_of_all
from turns import in_turns, installed, progress, refusals, times_or_refusal

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.assembly.level_plan import LevelPlan, level_plans
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.search import neighbor_lists, offsets
from cheblienet_graphs.search.choice import Choice
from cheblienet_graphs.search.positions import Cloud, PlacedPoints
from cheblienet_graphs.search.rule import last_whole_shell
from cheblienet_graphs.typing import Floats, Indices

SAME_LENGTH = 1e-9
"""Largest difference of squared lengths, relative to the longest edge's."""
BRUTE_FORCE, BALL_TREE = "scikit-learn, brute force", "scikit-learn, ball tree"
ALL_PAIRS, KEOPS = "torch, all pairs", "KeOps, all pairs"
MOST_PAIRS = {BRUTE_FORCE: 3e6, BALL_TREE: 3e6, ALL_PAIRS: 4e7, KEOPS: 4e7}
"""Beyond these a contender takes too long, and is left out."""
Distance = Callable[[Floats, Floats], float]
Nearest = tuple[Floats, Indices]
"""(V, m) ascending squared distances to other vertices, and these."""


@dataclass(frozen=True)
class Edges:
    """All edges in both directions: V times row plus column, ascending, and squared lengths."""

    keys: Indices
    squared: Floats


@dataclass(frozen=True)
class Sampled:
    """The vertices of a graph, K = 16, eps^2 = 0.1.

    Args:
        title: in tables.
        spec: of one level.
        device: where searches run.
    """

    title: str
    spec: GraphSpec
    device: str

    @property
    def regular(self) -> bool:
        """Whether it is a lattice's, for which "auto" chooses stencils."""
        return self.spec.sampling_kind.regular

    @property
    def ours(self) -> str:
        """The engine that "auto" chooses."""
        return "ours, stencils" if self.regular else "ours, pruned search"

    @cached_property
    def level(self) -> LevelPlan:
        """Its only one."""
        return level_plans(self.spec, self.choice)[0]

    @property
    def choice(self) -> Choice:
        """Stencils need no device."""
        return Choice("stencil", "cpu") if self.regular else Choice("pruned", self.device)

    @cached_property
    def cloud(self) -> Cloud:
        """What distances are computed from."""
        return PlacedPoints.of(self.level.sampled).cloud()

    def found_by(self, choice: Choice) -> Edges:
        """Edges of an engine of ours, from the specification alone."""
        neighbors = level_plans(self.spec, choice)[0].neighbors
        engine = neighbors.engine()
        degrees, columns = engine.neighbors(0, self.spec.num_vertices)
        rows = np.repeat(np.arange(self.spec.num_vertices), degrees)
        lengths = neighbors.lengths(neighbors.lists())
        return Edges(rows * self.spec.num_vertices + columns, lengths(rows, columns))

    def by_the_rule(self, nearest: Nearest) -> Edges:
        """Edges that lists of nearest vertices give: whole shells, both ends listing each other."""
        squared, others = nearest
        vertices = len(squared)
        if self.regular:
            rule, tolerance = self.level.neighbors.rule, offsets.SHELL
            assert rule.squared_radii is not None
            radii = np.repeat(rule.squared_radii, self.cloud.points)
        else:
            tolerance = neighbor_lists.SHELL
            radii = np.array([last_whole_shell(row, NEIGHBORS, tolerance) for row in squared])
        row, place = np.nonzero(squared <= radii[:, None] * (1 + tolerance))
        column = others[row, place]
        mutual = np.isin(row * vertices + column, column * vertices + row)
        keys = (row * vertices + column)[mutual]
        order = keys.argsort()
        return Edges(keys[order], squared[row, place][mutual][order])


def sampled_sizes(device: str, *, quick: bool) -> list[Sampled]:
    """Lattices of SE(2) and icospheres with orientations, each four times the one before."""
    sides, levels = ((4, 6), (0,)) if quick else ((8, 16, 32, 64, 128), (2, 3, 4, 5))
    how: dict[str, Any] = {"orientations": 6, "eps_squared": 0.1, "neighbors": NEIGHBORS}
    specs = {f"SE(2), {n} x {n} x 6": GraphSpec("se2", n, levels=1, **how) for n in sides}
    for n in levels:
        specs[f"SO(3), level {n} x 6"] = GraphSpec("so3", subdivisions=n, levels=1, **how)
    return [Sampled(title, spec, device) for title, spec in specs.items()]


def se2_distance(metric: Metric) -> Distance:
    """Of two (x, y, theta), in plain Python: |log g^-1 h|, theta and theta + pi being the same."""

    def distance(g: Floats, h: Floats) -> float:
        (x0, y0, a0), (x1, y1, a1) = g.tolist(), h.tolist()
        x, y = x1 - x0, y1 - y0
        shortest = math.inf
        for half_turn in (0.0, math.pi):
            angle = math.remainder(a1 - a0 + half_turn, 2 * math.pi)
            stretch = angle / 2 / math.sin(angle / 2) if angle else 1.0
            cos, sin = math.cos(a0 + angle / 2), math.sin(a0 + angle / 2)
            forward, sideways = stretch * (cos * x + sin * y), stretch * (cos * y - sin * x)
            length = forward**2 + (sideways / metric.eps) ** 2 + (metric.xi * angle) ** 2
            shortest = min(shortest, length)
        return math.sqrt(shortest)

    return distance


def so3_distance(metric: Metric) -> Distance:
    """Of two unit quaternions, in plain Python, as `se2_distance`."""

    def distance(g: Floats, h: Floats) -> float:
        (a, b, c, d), (p, q, r, s) = g.tolist(), h.tolist()
        w, x = a * p + b * q + c * r + d * s, a * q - b * p - c * s + d * r
        y, z = a * r + b * s - c * p - d * q, a * s - b * r + c * q - d * p
        shortest = math.inf
        for scalar, forward, sideways, turned in ((w, y, x, z), (z, x, y, w)):
            sine = math.sqrt(forward**2 + sideways**2 + turned**2)
            stretch = 2 * math.atan2(sine, abs(scalar)) / sine if sine else 2.0
            length = forward**2 + (sideways / metric.eps) ** 2 + (metric.xi * turned) ** 2
            shortest = min(shortest, stretch**2 * length)
        return math.sqrt(shortest)

    return distance


def by_scikit_learn(sampled: Sampled, algorithm: str) -> Nearest:
    """The K + 1 nearest others, the distance being a function that it calls pair by pair."""
    from sklearn.neighbors import NearestNeighbors  # an extra of the tests, seconds to import

    points = np.stack([element.ravel() for element in sampled.cloud.elements], axis=1)
    maker = {"se2": se2_distance, "so3": so3_distance}[sampled.spec.manifold]
    count = min(NEIGHBORS + 1, len(points) - 1)
    tree = NearestNeighbors(
        n_neighbors=count, algorithm=algorithm, metric=maker(sampled.cloud.metric)
    )
    distances, others = tree.fit(points).kneighbors()
    return distances**2, others


def by_torch(sampled: Sampled) -> Nearest:
    """The K + 1 nearest others in float64, every pair evaluated, block by block."""
    vertices = sampled.spec.num_vertices
    everyone = torch.arange(vertices, device=sampled.device)
    squared, others = nearest_of_all(sampled.cloud, sampled.device, everyone)
    # The vertex itself is the nearest, but for rounding: put it first and drop it.
    itself = others == everyone[:, None]
    squared, order = squared.masked_fill(itself, -1.0).sort(dim=1, stable=True)
    return squared[:, 1:].cpu().numpy(), others.gather(1, order)[:, 1:].cpu().numpy()


def difference(edges: Edges, expected: Edges) -> str:
    """How many edges are others, or how much their lengths differ; empty where all agree."""
    if not np.array_equal(edges.keys, expected.keys):
        others = len(np.setxor1d(edges.keys, expected.keys)) // 2
        return f"{others:,} of {len(expected.keys) // 2:,} edges are others"
    off = float(np.abs(edges.squared - expected.squared).max() / expected.squared.max())
    return "" if off <= SAME_LENGTH else f"squared lengths differ by {off:.1e} of the longest"


def contenders(
    sampled: Sampled, *, with_scikit_learn: bool
) -> dict[str, Callable[[], Edges | Nearest]]:
    """Those that can be afforded at this size, ours first."""
    works: dict[str, Callable[[], Edges | Nearest]] = {
        sampled.ours: partial(sampled.found_by, sampled.choice),
        KEOPS: partial(sampled.found_by, Choice("keops", sampled.device)),
        ALL_PAIRS: partial(by_torch, sampled),
    }
    if with_scikit_learn:
        works[BRUTE_FORCE] = partial(by_scikit_learn, sampled, "brute")
        works[BALL_TREE] = partial(by_scikit_learn, sampled, "ball_tree")
    pairs = sampled.spec.num_vertices**2
    return {name: work for name, work in works.items() if pairs <= MOST_PAIRS.get(name, math.inf)}


def neighbors(rounds: int, device: str, *, quick: bool) -> None:
    """Print the table: at each size every contender that can be afforded there."""
    print("### Neighbors\n")
    print(
        f"K = {NEIGHBORS}, eps^2 = 0.1, float64. Who finds other edges than ours is refused: a "
        "ball tree needs the triangle inequality, which a distance by logarithms does not have.\n"
    )
    with_scikit_learn = installed("sklearn", "pip install scikit-learn")
    times = "median (quartiles)", "/ ours", "time grows as"
    print_head("graph", "V", "edges", "found by", *times)
    before: dict[str, tuple[int, float]] = {}
    for sampled in sampled_sizes(device, quick=quick):
        progress(f"{sampled.title}: comparing edges")
        works = contenders(sampled, with_scikit_learn=with_scikit_learn)
        results = {
            name: made if isinstance(made := work(), Edges) else sampled.by_the_rule(made)
            for name, work in works.items()
        }
        refused = refusals(results, difference)
        took = in_turns({n: w for n, w in works.items() if n not in refused}, rounds, device)
        edges = len(results[sampled.ours].keys) // 2
        start = sampled.title, f"{sampled.spec.num_vertices:,}", f"{edges:,}"
        for name in works:
            power, key = "", f"{sampled.spec.manifold} {name}"
            if name in took:
                now = sampled.spec.num_vertices, statistics.median(took[name])
                power = _power(before[key], now) if key in before else ""
                before[key] = now
            print_row(*start, name, *times_or_refusal(name, took, sampled.ours, refused), power)


def _power(before: tuple[int, float], now: tuple[int, float]) -> str:
    """'V^1.1', from (V, seconds) at the size before and at this one."""
    return f"V^{math.log(now[1] / before[1]) / math.log(now[0] / before[0]):.1f}"
