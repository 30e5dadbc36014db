"""Spheres to resample to and from, built once."""

from stores import store_of

from cheblienet_graphs import GraphSpec

SPECS = {
    "icosahedral": GraphSpec("s2", subdivisions=4, levels=2),
    "healpix": GraphSpec("s2", nside=16, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=24, levels=1),
    "random": GraphSpec("s2", points=2000),
    "so3": GraphSpec("so3", subdivisions=2, orientations=3, levels=1),
    "pl": GraphSpec("s2", pl=[*range(20, 52, 4), *range(48, 16, -4)], levels=2),
    "few": GraphSpec("s2", points=3),
    "plane": GraphSpec("se2", 8, orientations=2, levels=1),
}


spheres = store_of(SPECS, "session", opened=True)
