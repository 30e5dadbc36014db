"""Graphs with stored eigenpairs that several tests read."""

from pathlib import Path

from cheblienet_graphs import GraphSpec
from cheblienet_models import Graph, open_store

SPECS = {
    "kernel": GraphSpec("se2", 8, orientations=6, levels=1, eigenpairs=384),
    "selling": GraphSpec("se2", 8, orientations=6, weights="selling", levels=1, eigenpairs=384),
    "matched": GraphSpec("se2", 8, orientations=6, weights="matched", levels=1, eigenpairs=384),
    "sphere": GraphSpec(
        "so3", subdivisions=1, orientations=3, laplacian="combinatorial", levels=1, eigenpairs=126
    ),
    "few": GraphSpec("se2", 16, orientations=6, weights="selling", levels=2, eigenpairs=20),
}
WHOLE = ["kernel", "selling", "matched", "sphere"]


def level(graphs: Path, name: str) -> Graph:
    return open_store(graphs)[name].levels[0]
