"""Graphs that fields are smoothed and filled on, built once."""

import numpy as np
from stores import store_of

from cheblienet_graphs import GraphSpec

ISLANDS = np.kron(np.array([[1, 1, 0, 1]], bool), np.ones((6, 3), bool))
SPECS = {
    "sphere": GraphSpec("s2", nside=4, weights="voronoi", levels=1),
    "healpix": GraphSpec("s2", nside=16, weights="voronoi", levels=2),
    "icosphere": GraphSpec("s2", subdivisions=4, weights="voronoi", levels=1),
    "matched": GraphSpec("s2", nside=16, weights="matched", neighbors=24, levels=1),
    "region": GraphSpec("s2", nside=16, region=(-60, -20, 70, 60), weights="voronoi", levels=1),
    "kernel": GraphSpec("s2", nside=8, levels=1),
    "plane": GraphSpec("r2", "9x7", weights="selling", levels=1),
    "turning": GraphSpec("se2", 6, orientations=4, neighbors=10, levels=1),
    "islands": GraphSpec("r2", mask=ISLANDS, weights="selling", levels=1),
}

fields = store_of(SPECS, "session", opened=True)
