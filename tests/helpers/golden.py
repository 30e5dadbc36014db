"""Stores kept as test data, one for each schema: what is in them, and what was found there once.

`python tests/helpers/golden.py FOLDER` builds the graphs of `SPECS` into FOLDER/1.0 and so on, and
writes beside each what zarr reads in it, FOLDER/1.0.json. The stores of a released schema are never
written again: they stand for those that users have.
"""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from stores import publish

from cheblienet_graphs import GraphSpec, MapSpec, open_group

KEPT = Path(__file__).parents[1] / "data" / "stores"
OWN_POINTS = np.array([(n / 6, n * n % 31 / 8) for n in range(24)])
PARTS = np.clip(3.1 - np.hypot(*(np.indices((6, 6)) - [[[2.4]], [[2.7]]])), 0, 1).round(3)
MASK = np.array([[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]], bool)

SPECS: dict[str, dict[str, GraphSpec]] = {
    "1.0": {
        "plane-orientations": GraphSpec(
            "se2", 6, orientations=2, neighbors=8, levels=2, eigenpairs=3
        ),
        "sphere": GraphSpec("s2", subdivisions=1, neighbors=6, levels=1),
        "rotations": GraphSpec("so3", subdivisions=0, orientations=3, neighbors=8, levels=1),
    },
    "1.1": {
        "masked": GraphSpec(
            "se2", mask=MASK, orientations=3, weights="selling", directional=0.1, levels=1
        ),
        "axes": GraphSpec("r3s2", "3x3x2", axes=3, weights="selling", levels=1),
        "own-points": GraphSpec("r2", coordinates=OWN_POINTS, neighbors=5),
    },
    "1.2": {
        "arrows": GraphSpec(
            "se2", 6, orientations=4, period="2pi", weights="selling", levels=2, eigenpairs=3
        ),
        "turned": GraphSpec("so3", nside=1, orientations=4, period="2pi", neighbors=8, levels=1),
    },
    "1.3": {
        "fields": GraphSpec(
            "se2", 6, orientations=4, period="2pi", weights="selling", levels=1, gradients=True
        ),
        "masked-slopes": GraphSpec("r2", mask=MASK, levels=1, gradients=True),
        "slopes": GraphSpec("s2", subdivisions=1, levels=1, gradients=True, neighbors=8),
        "seamless": GraphSpec("r2", 4, boundary="periodic", levels=1, gradients=True),
    },
    "1.4": {
        "parts": GraphSpec(
            "se2", mask=PARTS, mask_edge="cut", orientations=3, weights="selling", levels=2
        ),
        "voxels-in-part": GraphSpec(
            "r3", mask=np.stack([PARTS, PARTS / 2]), mask_edge="cut", weights="selling", levels=1
        ),
    },
    "1.6": {
        "closer": GraphSpec("s2", refined=(1, 2, 0, 10, 60, 50), weights="voronoi", levels=2),
        "rows": GraphSpec("s2", pl=(5, 8, 8, 5), neighbors=6, levels=1),
        "sky": GraphSpec("s2", nside=2, neighbors=8, levels=2, eigenpairs=3),
        "bay": GraphSpec("s2", nside=4, region=(-60, 10, 60, 70), neighbors=4, levels=1),
    },
}

PLACES = GraphSpec("r2", coordinates=OWN_POINTS, domain=(0, 0, 4, 4))
SHORE = GraphSpec("r2", 6, mask=np.kron(MASK, np.ones((2, 2), bool))[:6, :6], levels=1)
MAPS: dict[str, dict[str, MapSpec]] = {
    "1.5": {
        "encoder": MapSpec(
            GraphSpec("s2", gaussian="O2"), GraphSpec("s2", subdivisions=1), neighbors=3
        ),
        "decoder": MapSpec(
            GraphSpec("s2", subdivisions=1),
            GraphSpec("s2", gaussian="O2"),
            radius=0.6,
            weights="gaussian",
        ),
        "meshes": MapSpec(*[GraphSpec("s2", subdivisions=1)] * 2, scales=2, weights="uniform"),
        "turns": MapSpec(
            GraphSpec("se2", 4, orientations=3, boundary="periodic"),
            GraphSpec("se2", 3, orientations=4, boundary="periodic"),
            neighbors=5,
        ),
        "from-shore": MapSpec(SHORE, PLACES, neighbors=2),
    }
}
"""Maps, by the schema that they came with."""


def arrays(version: zarr.Group) -> dict[str, np.ndarray]:
    """Every array of a version that has elements by its path, as zarr reads it."""
    members = sorted(dict(version.members(max_depth=None)).items())
    found = {key: node for key, node in members if isinstance(node, zarr.Array)}
    return {key: node[:] for key, node in found.items() if node.size}


def recorded(array: np.ndarray) -> dict[str, Any]:
    """Type, shape, sums plain and weighted by position, and the first and last value."""
    values = array.astype(np.float64).ravel()
    sums = math.fsum(values), math.fsum(values * np.arange(1, len(values) + 1))
    ends = float(values[0]), float(values[-1])
    return {"dtype": array.dtype.name, "shape": [*array.shape], "sums": [*sums], "ends": [*ends]}


def record(store: Path, name: str) -> dict[str, Any]:
    """What is kept of the first version of a graph: facts as they are, arrays as `recorded`."""
    version = open_group(store, f"{name}@v001")
    facts = version.attrs["clg"]
    return {
        "schema": facts["schema"],
        "generator": facts["generator"],
        "spec_sha256": facts["spec_sha256"],
        **{kind: facts[kind] for kind in ("levels", "map") if kind in facts},
        "arrays": {path: recorded(array) for path, array in arrays(version).items()},
    }


def write(folder: Path) -> None:
    """Build the stores into a folder that has none of them."""
    for schema, specs in (*SPECS.items(), *MAPS.items()):
        store = folder / schema
        store.mkdir(parents=True)
        publish(specs, store)
        records = {name: record(store, name) for name in specs}
        (folder / f"{schema}.json").write_text(_lines(records) + "\n")


def _lines(records: dict[str, Any]) -> str:
    """JSON with a line for each array and fact."""
    text = json.dumps(records, indent=1)
    return re.sub(r"\n {4,}|(?<=[\d\]\"}])\n {3}(?=[\]}])", " ", text)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
