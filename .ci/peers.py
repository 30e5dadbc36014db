"""Graphs and fields in other programs: read by their own code, which a virtual environment has.

    python .ci/peers.py neural-lam VALIDATOR | anemoi | anemoi-models | earth2studio

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
from cheblienet_models import (
    Gaussian,
    LatLonToVertices,
    Matern,
    Pyramid,
    VertexMap,
    noise_matrix,
    save_npz,
)
from cheblienet_models.fields.spectra import amplitude

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


def anemoi_models() -> None:
    """Noise of its layer before its network: its deviation and correlations."""
    from anemoi.models.layers.ensemble import NoiseConditioning

    pyramid = open_or_build(GraphSpec("s2", subdivisions=3, levels=1), STORE)
    matrix = noise_matrix(pyramid, Matern(0.5))
    save_npz(FOLDER / "noise.npz", matrix)
    kernels = {
        "Linear": {"_target_": "torch.nn.Linear"},
        "Activation": {"_target_": "torch.nn.GELU"},
    }
    kernels["LayerNorm"] = {"_target_": "torch.nn.Identity", "_partial_": True}
    layer = NoiseConditioning(
        noise_std=2,
        noise_channels_dim=64,
        noise_mlp_hidden_dim=8,
        layer_kernels=kernels,
        noise_matrix=str(FOLDER / "noise.npz"),
    )
    layer.noise_mlp = torch.nn.Identity()
    torch.manual_seed(0)
    nodes = torch.zeros(20 * 642, 64)
    _, noise = layer(nodes, batch_size=1, ensemble_size=20, grid_size=642, grid_shard_sizes=None)
    noise = noise.view(20, 642, 64).transpose(0, 1).flatten(1)
    check("deviations", holds=bool((noise.std(1) / 2 - 1).abs().max() < 0.1))
    rows = matrix.to_dense()
    check("correlations", holds=bool((noise.corrcoef() - rows @ rows.T).abs().max() < 0.2))


def earth2studio() -> None:
    """A field of its layout, (time, variable, lat, lon), north up; amplitudes of its noise."""
    from earth2studio.data import Random
    from earth2studio.perturbation.gaussian import CorrelatedSphericalField

    lat, lon = np.linspace(90, -90, 37), np.linspace(0, 360, 72, endpoint=False)
    source = Random(OrderedDict({"lat": lat, "lon": lon}))
    field = source([datetime(2020, 1, 1), datetime(2020, 1, 2)], ["t2m", "u10m"])
    field.values[:] = np.sin(np.radians(lat))[:, None]
    pyramid = open_or_build(MESH, STORE)
    points = LatLonToVertices(pyramid, lat, lon)(field)
    z = pyramid.levels[0].coordinates[:, 0].cos()
    check(f"shape {points.shape}", holds=points.shape == (2, 2, 642))
    check("values", holds=float((points - z).abs().max()) < 2e-3)

    length = 0.3
    noise = CorrelatedSphericalField(32, length * 6.371e6, 48.0, 1.0, 1)
    theirs = noise.sigma_n[:, 0].double() ** 2
    degree = torch.arange(len(theirs), dtype=torch.float64)
    share = amplitude(Gaussian(length), degree * (degree + 1), 2) ** 2 / theirs
    check("spectra", holds=bool((share[:16] / share[0] - 1).abs().max() < 1e-4))


CHECKS = {
    "neural-lam": neural_lam,
    "anemoi": anemoi,
    "anemoi-models": anemoi_models,
    "earth2studio": earth2studio,
}

if __name__ == "__main__":
    peer, *given = sys.argv[1:]
    CHECKS[peer](*given)
    print(f"{peer} reads them")
