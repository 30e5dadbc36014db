"""Graphs and fields in other programs: read by their own code, which a virtual environment has.

    python .ci/peers.py neural-lam VALIDATOR | anemoi | earth2studio

VALIDATOR is docs/validate_graph.py of neural-lam's source distribution.
"""

import runpy
import sys
import tempfile
from collections import OrderedDict
from datetime import datetime
from pathlib import Path

import numpy as np
import torch

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map, open_or_build
from cheblienet_models import LatLonToVertices, Pyramid, VertexMap

FOLDER = Path(tempfile.mkdtemp())
STORE = FOLDER / "graphs.zarr"
GRID, MESH = GraphSpec("s2", gaussian="N32"), GraphSpec("s2", subdivisions=3, levels=2)


def check(what: str, *, holds: bool) -> None:
    """End with an error unless something holds."""
    if not holds:
        raise SystemExit(f"{what} are others")


def coupled(mesh: GraphSpec) -> tuple[Pyramid, VertexMap, VertexMap]:
    """A mesh, an encoder to it and a decoder from it."""
    encoder = build_map(MapSpec(GRID, mesh, cutoff_factor=0.6), STORE).open()
    decoder = build_map(MapSpec(mesh, GRID, neighbors=3), STORE).open()
    return build(mesh, STORE).open(), encoder, decoder


def neural_lam(validator: str) -> None:
    """The validator ends with an error where a graph breaks neural-lam's specification."""
    for name, levels in (("flat", 1), ("hierarchical", 2)):
        pyramid, *maps = coupled(GraphSpec("s2", subdivisions=3, levels=levels))
        sys.argv = [validator, str(pyramid.save_neural_lam(FOLDER / name, *maps))]
        try:
            runpy.run_path(validator, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise


def anemoi() -> None:
    """Its reader and its description, and lengths of edges as it computes them itself."""
    from anemoi.graphs.create import load_graph_from_file
    from anemoi.graphs.describe import GraphDescriptor
    from anemoi.graphs.edges.attributes import EdgeLength

    pyramid, *maps = coupled(MESH)
    torch.save(pyramid.to_hetero(*maps), FOLDER / "graph.pt")
    GraphDescriptor(FOLDER / "graph.pt").describe()
    graph = load_graph_from_file(FOLDER / "graph.pt")
    for kind in graph.edge_types:
        edges = graph[kind]
        lengths = EdgeLength()((graph[kind[0]], graph[kind[2]]), edges.edge_index)
        check(f"lengths of {kind}", holds=torch.allclose(lengths, edges.edge_length, atol=1e-6))


def earth2studio() -> None:
    """A field of its layout, (time, variable, lat, lon) with both poles, north up."""
    from earth2studio.data import Random

    lat, lon = np.linspace(90, -90, 37), np.linspace(0, 360, 72, endpoint=False)
    source = Random(OrderedDict({"lat": lat, "lon": lon}))
    field = source([datetime(2020, 1, 1), datetime(2020, 1, 2)], ["t2m", "u10m"])
    field.values[:] = np.sin(np.radians(lat))[:, None]
    pyramid = open_or_build(MESH, STORE)
    points = LatLonToVertices(pyramid, lat, lon)(field)
    z = pyramid.levels[0].coordinates[:, 0].cos()
    check(f"shape {points.shape}", holds=points.shape == (2, 2, 642))
    check("values", holds=float((points - z).abs().max()) < 2e-3)


CHECKS = {"neural-lam": neural_lam, "anemoi": anemoi, "earth2studio": earth2studio}

if __name__ == "__main__":
    peer, *given = sys.argv[1:]
    CHECKS[peer](*given)
    print(f"{peer} reads them")
