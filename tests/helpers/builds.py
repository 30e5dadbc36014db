"""Builds as a whole and interrupted at a counted moment, and what tells two results apart."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
from masks import awkward, fractions, points_mask

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.layout import check_version

POINTS = np.random.default_rng(4).uniform([-80, -170], [85, 175], (180, 2))
SPECS = {
    "lattice": GraphSpec("se2", "24x20", orientations=4, levels=2, gradients=True),
    "torus": GraphSpec("se2", 24, orientations=4, boundary="periodic", lambda_max=2, levels=1),
    "selling": GraphSpec("se2", 32, orientations=4, weights="selling", levels=1),
    "directional": GraphSpec("se2", "24x20", orientations=4, levels=2, directional=0.05),
    "masked directional": GraphSpec(
        "se2", mask=awkward(24), orientations=3, period="2pi", directional=0.2, gradients=True
    ),
    "masked torus": GraphSpec("se2", mask=awkward(24), boundary="periodic", gradients=True),
    "cut": GraphSpec(
        "se2", mask=fractions(24), mask_edge="cut", weights="selling", orientations=4, levels=2
    ),
    "gaussian": GraphSpec("so3", gaussian="O4", orientations=3, levels=2),
    "sphere": GraphSpec("so3", subdivisions=2, orientations=4, levels=2, gradients=True),
    "matched": GraphSpec(
        "so3", subdivisions=1, orientations=4, levels=1, weights="matched", neighbors=32, drift=0.03
    ),
    "random torus": GraphSpec(
        "se2", points=150, orientations=4, boundary="periodic", gradients=True
    ),
    "mask": GraphSpec("se2", mask=awkward(32), orientations=4, levels=2),
    "given points": GraphSpec("so3", coordinates=[POINTS, POINTS[20:60]], orientations=4),
    "voronoi": GraphSpec(
        "s2", points=1200, weights="voronoi", mask=points_mask(1200, 0.7), levels=2
    ),
    "fraction": GraphSpec("so3", subdivisions=2, period="2pi", levels=1, xi="auto"),
}


def manifest(store: Path) -> dict[str, object]:
    """What identifies every byte of the only graph's newest version, and what is recorded of it."""
    [graph] = [path for path in store.iterdir() if path.is_dir()]
    attributes = check_version(Folder(graph) / catalog.versions(Folder(graph))[-1])
    return {"manifest": attributes["manifest"], "levels": attributes["levels"]}


class Whole(dict[str, dict[str, object]]):
    """What is published of each of the specifications, built when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> dict[str, object]:
        build(SPECS[name], self._folder / name)
        self[name] = manifest(self._folder / name)
        return self[name]


def inodes(store: Path) -> dict[Path, int]:
    """Records of finished blocks: a block that is redone makes a new file."""
    staging = layout.staging_folder(store)
    return {path: path.stat().st_ino for path in staging.glob("*/finished/*/*.json")}


class Stop(BaseException):
    """What interrupts a build in these tests."""


def calls_of(spec: GraphSpec, store: Path, **how: object) -> int:
    """Build, and count the progress calls."""
    called = Mock()
    build(spec, store, progress=called, **how)
    return called.call_count


def interrupted(spec: GraphSpec, store: Path, after: int, **how: object) -> Stop | None:
    """Build, and stop at the progress call of that number; None where it ends before."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Stop

    try:
        build(spec, store, progress=count, **how)
    except Stop as stop:
        return stop
    return None
