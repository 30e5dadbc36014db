"""Graphs of every sampling, most with symmetries, and names of these."""

from cheblienet_graphs import GraphSpec

SPECS = {
    "r2": GraphSpec("r2", "12x8", levels=2),
    "square": GraphSpec("r2", 8, levels=1),
    "open": GraphSpec("se2", 12, orientations=6, levels=2),
    "odd": GraphSpec("se2", 8, orientations=5, levels=1),
    "torus": GraphSpec("se2", 16, orientations=4, boundary="periodic", levels=2),
    "selling": GraphSpec("se2", 8, orientations=6, weights="selling", boundary="periodic"),
    "matched": GraphSpec("se2", 8, orientations=6, weights="matched", levels=1),
    "arrows": GraphSpec("se2", 8, orientations=4, period="2pi", boundary="periodic", levels=2),
    "even-arrows": GraphSpec("se2", 8, orientations=6, period="2pi", levels=1),
    "odd-arrows": GraphSpec("se2", 8, orientations=5, period="2pi", boundary="periodic", levels=1),
    "rotations": GraphSpec("so3", nside=2, orientations=4, period="2pi", levels=2),
    "icosahedral": GraphSpec("so3", subdivisions=2, orientations=4, levels=2),
    "healpix": GraphSpec("so3", nside=2, orientations=4, levels=2),
    "equiangular": GraphSpec("so3", bandlimit=4, orientations=4, levels=2),
    "s2": GraphSpec("s2", subdivisions=2, levels=2),
    "s2-equiangular": GraphSpec("s2", bandlimit=4, levels=2),
    "random-plane": GraphSpec("r2", points=60),
}
PLANE = {"rotation_180", "flip"}
SQUARE = PLANE | {"rotation_90"}
TRANSLATIONS = {"translation_x", "translation_y"}
