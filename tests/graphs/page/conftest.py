"""Reports that several tests make pages of."""

from pathlib import Path

import pytest
from masks import awkward

from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.plot.opened import OpenedGraph, open_graph
from cheblienet_graphs.report.record import Report

Reported = tuple[Report, OpenedGraph]

SPECS = {
    "plane": GraphSpec("r2", "6x4", levels=2),
    "se2": GraphSpec("se2", 16, orientations=4, levels=2),
    "torus": GraphSpec("se2", 12, orientations=4, weights="selling", boundary="periodic", levels=1),
    "masked": GraphSpec("se2", mask=awkward(16), orientations=3, levels=1),
    "one": GraphSpec("se2", 4, orientations=1, levels=1),
    "space": GraphSpec("r3", 4, levels=1),
    "axes": GraphSpec("r3s2", "4x4x2", axes=4, spacing=(1, 1, 2), levels=1),
    "region": GraphSpec("s2", subdivisions=2, region=(-20, 20, 40, 70), levels=2),
    "sphere": GraphSpec("so3", subdivisions=1, orientations=3, levels=1),
    "apart": GraphSpec("se2", 8, orientations=4, xi=1000, levels=1),
}


@pytest.fixture(scope="package")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reported]:
    """A report on each, with the graph."""
    store = tmp_path_factory.mktemp("pages") / "graphs.zarr"
    found = {}
    for name, spec in SPECS.items():
        build(spec, store, name=name)
        found[name] = (inspect(store, name), open_graph(store, name))
    return found


@pytest.fixture(scope="package")
def store_of_pages(reported: dict[str, Reported]) -> Path:
    return reported["se2"][1].version.parents[1]
