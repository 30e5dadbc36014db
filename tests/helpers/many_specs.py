"""Specifications of every kind: what they are made from, and they themselves."""

from typing import Any

import numpy as np
from masks import disc, points_mask

from cheblienet_graphs import GraphSpec

Given = dict[str, Any]
"""Arguments of `GraphSpec`."""

RANDOM = np.random.default_rng(0)
PLANE = RANDOM.uniform((3, -1), (7, 2), (60, 2))
STATIONS = RANDOM.uniform((-80, -170), (85, 180), (60, 2))
AREAS = np.column_stack([STATIONS, RANDOM.uniform(1, 2, 60)])
DOMAIN, REGION = (2.5, -1.5, 7.5, 2.25), (150, -60, -100, 70)
MATCHED = {"weights": "matched", "neighbors": 32}
FIBERS: list[Given] = [
    {"orientations": 3, "eps": 1 / 3, "xi": 1 / 7, "kernel": "cauchy", "bandwidth": 0.1 + 0.2},
    {"period": "2pi", "eps_squared": 0.05, "alpha": 2 / 3, "levels": 1, "seed": 3, "points": 60},
    {"xi": "auto", "in_plane_fraction": 0.3, "laplacian": "combinatorial", "levels": 1},
]
MANY: list[Given] = [
    {"manifold": "r2", "size": (12, 8), "weights": "selling", "boundary": "periodic"},
    {"manifold": "r2", "points": 60, "weights": "voronoi", "boundary": "periodic", "seed": 3},
    {"manifold": "r2", "coordinates": [PLANE]},
    {"manifold": "r2", "coordinates": [PLANE], "domain": DOMAIN, "mask": points_mask(60, 0.7)},
    {"manifold": "se2", "coordinates": [PLANE, PLANE[:20]], "domain": DOMAIN, "orientations": 4},
    {"manifold": "se2", "mask": disc(16), "weights": "selling", "directional": 0.05, "levels": 2},
    {"manifold": "se2", "size": 12, **MATCHED, "boundary_correction": False, "eigenpairs": 4},
    *({"manifold": "se2"} | ({} if "points" in f else {"size": (8, 12)}) | f for f in FIBERS),
    {"manifold": "s2", "subdivisions": 2, "region": REGION, "weights": "voronoi"},
    {"manifold": "s2", "subdivisions": 2, "mask": points_mask(162, 0.7), "lambda_max": 2},
    {"manifold": "s2", "subdivisions": 2, "mask": points_mask(162, 0.7), "region": REGION},
    {"manifold": "s2", "refined": (0, 2, -10, 35, 30, 60), "weights": "voronoi"},
    {"manifold": "s2", "nside": 4, **MATCHED, "drift": 0.1},
    {"manifold": "s2", "bandlimit": 6, "kernel": "laplace", "neighbors": 18},
    {"manifold": "s2", "gaussian": "F8", "kernel": "rectangular", "levels": 2},
    {"manifold": "s2", "pl": (6, 9, 9, 6), "weights": "voronoi"},
    {"manifold": "s2", "coordinates": [AREAS, AREAS[:20]], "weights": "voronoi"},
    {"manifold": "s2", "coordinates": [STATIONS], "region": REGION, "mask": points_mask(60, 0.7)},
    *({"manifold": "so3"} | ({} if "points" in f else {"nside": 2}) | f for f in FIBERS),
    {"manifold": "so3", "subdivisions": 2, "region": REGION, **MATCHED, "period": "2pi"},
    {"manifold": "so3", "coordinates": [STATIONS], "orientations": 1},
    {"manifold": "so3", "points": 60, **MATCHED},
    {"manifold": "r3", "size": (4, 6, 8), "spacing": (0.3, 0.3, 0.1), "weights": "selling"},
    {"manifold": "r3", "mask": points_mask(192, 0.7).reshape(4, 6, 8), **MATCHED},
    {"manifold": "r3s2", "size": 8, "axes": 6, "spacing": (1, 1, 2), "xi": "auto"},
    {"manifold": "r3s2", "size": 8, "axes": "ico21", "weights": "selling", "boundary": "periodic"},
]
MANY_SPECS = [(given, GraphSpec(**given)) for given in MANY]
"""All manifolds, samplings and weights."""
