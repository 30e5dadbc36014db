"""Specifications of every kind, drawn at random: what they are made from, and they themselves."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import MANIFOLDS
from cheblienet_graphs.samplings import SAMPLINGS

Given = dict[str, Any]
"""Arguments of `GraphSpec`."""

SIZES: dict[str, tuple[Any, ...]] = {
    "icosahedral": (1, 2, 3),
    "refined-icosahedral": ((0, 2, -10, 35, 30, 60), "1,3,170,-40,-150,10"),
    "healpix": (1, 2, 4, 8),
    "equiangular": (4, 6, 8),
    "gaussian": ("O4", "F4", "F8"),
    "reduced-gaussian": ((6, 9, 9, 6), "8,12,12,16,16,12,12,8"),
    "random": (30, 60, 200),
}
FIELDS: dict[str, tuple[Any, ...]] = {
    "orientations": (1, 3, 4, 8),
    "period": ("pi", "2pi"),
    "axes": (3, 6, "ico6", "ico21"),
    "spacing": ((1, 1, 2), (0.3, 0.3, 0.1)),
    "eps": (1, 0.1, 1 / 3, 0.25),
    "eps_squared": (0.05, 0.1, 0.3),
    "xi": (0.3, 1, 1 / 7, "auto", "alpha"),
    "alpha": (0.5, 2 / 3, 3),
    "in_plane_fraction": (0.3, 0.4),
    "neighbors": (8, 16, 18, 24, 32),
    "kernel": ("gaussian", "laplace", "cauchy", "rectangular"),
    "bandwidth": (0.2, 0.5, 0.1 + 0.2),
    "laplacian": ("normalized", "combinatorial"),
    "boundary": ("open", "periodic"),
    "boundary_correction": (True, False),
    "levels": (1, 2),
    "lambda_max": (2,),
    "eigenpairs": (1, 4),
    "region": ((-40, 10, 80, 80), (150, -60, -100, 70)),
    "directional": (0.05, 1),
    "drift": (0.03, 0.1),
    "seed": (0, 3),
}
"""Values that are tried, most where they apply."""
OFTEN = 0.25
"""Share of the specifications that each field is tried on."""
WEIGHTS = ("kernel", "matched", "selling", "voronoi")


def many_specs(count: int, seed: int = 0) -> Iterator[tuple[Given, GraphSpec]]:
    """As many different specifications, all manifolds, samplings and weights in turn."""
    random = np.random.default_rng(seed)
    kinds = [
        (name, sampling, weights)
        for name, manifold in MANIFOLDS.items()
        for sampling in manifold.base.samplings
        for weights in WEIGHTS
    ]
    seen: set[str] = set()
    while len(seen) < count:
        for manifold, sampling, weights in kinds:
            given = {"manifold": manifold, "weights": weights} | _size(random, manifold, sampling)
            if weights == "matched":
                given["neighbors"] = max(24, MANIFOLDS[manifold].least_matched_neighbors)
            for field, values in FIELDS.items():
                if random.random() < OFTEN:
                    value = values[random.integers(len(values))]
                    given = _accepted(given, {field: value}) or given
            try:
                spec = GraphSpec(**given)
            except SpecError:
                continue
            given = _accepted(given, _mask(random, spec)) or given
            spec = GraphSpec(**given)
            if spec.sha256 not in seen and len(seen) < count:
                seen.add(spec.sha256)
                yield given, spec


def _accepted(given: Given, more: Given) -> Given | None:
    try:
        GraphSpec(**given | more)
    except SpecError:
        return None
    return given | more


def _size(random: np.random.Generator, manifold: str, sampling: str) -> Given:
    """The size of a sampling, by the field that it is given by."""
    base = MANIFOLDS[manifold].base
    if sampling == "lattice":
        sides = (8, 12, 16) if base.dimension == 2 else (4, 6, 8)
        return {"size": tuple(int(side) for side in random.choice(sides, base.dimension))}
    if sampling == "unstructured":
        return _points(random, flat=base.flat)
    sizes = SIZES[sampling]
    return {SAMPLINGS[sampling].field: sizes[random.integers(len(sizes))]}


def _points(random: np.random.Generator, *, flat: bool) -> Given:
    """Given points: one level or two, with areas or without, in a domain or none."""
    low, high = ((3.0, -1.0), (7.0, 2.0)) if flat else ((-80.0, -170.0), (85.0, 180.0))
    if not flat and random.random() < OFTEN:
        low, high = (-1.0, -1.0), (1.0, 1.0)
    tables = [random.uniform(low, high, (n, 2)) for n in (60, 20)[: random.integers(1, 3)]]
    if random.random() < 0.5:
        tables = [np.column_stack([t, random.uniform(1, 2, len(t))]) for t in tables]
    given: Given = {"coordinates": tables}
    if flat and random.random() < 0.5:
        given["domain"] = (2.5, -1.5, 7.5, 2.25)
    return given if flat else given | {"units": "degrees"}


def _mask(random: np.random.Generator, spec: GraphSpec) -> Given:
    """A mask on some of them."""
    if random.random() > OFTEN:
        return {}
    inside = random.random(spec.full_points(0)) < 0.7
    inside[: len(inside) // 2] = True
    grid = spec.sampling_kind.grid(spec.level_size(0)) if spec.geometry.base.flat else ()
    mask = inside.reshape(grid) if len(grid) > 1 else inside
    return {"mask": mask}
