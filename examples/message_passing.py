"""Train message passing on the sphere with PyTorch Geometric: the wind carries a field.

The field lies on a Gaussian grid. An encoder takes it to an icosphere that is finer in a region,
two steps of message passing follow there, and a decoder writes the grid again, as in GraphCast and
anemoi. All edges with their attributes come from `Pyramid.to_hetero`.

    python examples/message_passing.py [--steps 200]

PyTorch Geometric: pip install '.[pyg]' in a clone.
"""

import argparse
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData
from torch_geometric.data.storage import EdgeStorage
from torch_geometric.nn import MessagePassing

from cheblienet_graphs import CheblienetError, GraphSpec, MapSpec, build_map, open_or_build
from cheblienet_models import StoreError

WIND = 0.3
"""Radians by which the field turns eastwards about the poles."""
GRID = GraphSpec("s2", gaussian="O8")
MESH = GraphSpec("s2", refined=(2, 3, -30, 20, 60, 70), weights="voronoi", levels=1)


def network_of_edges(store: Path) -> HeteroData:
    """The grid, the mesh, and the edges within the mesh and between both."""
    encoder = build_map(MapSpec(GRID, MESH, neighbors=4), store, name="encoder").open()
    decoder = build_map(MapSpec(MESH, GRID, neighbors=4), store, name="decoder").open()
    return open_or_build(MESH, store).to_hetero(encoder, decoder)


def fields(count: int, places: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(count, V, 1) smooth random fields at (V, 2) latitudes and longitudes, before and after."""
    waves = torch.randn(count, 3, 1, generator=generator)
    phases = 2 * torch.pi * torch.rand(count, 1, 1, generator=generator)
    before, after = ((vectors(places, turn) @ waves + phases).sin() for turn in (0.0, WIND))
    return before, after


def vectors(places: Tensor, turn: float) -> Tensor:
    """(V, 3) where the air at (V, 2) latitudes and longitudes, radians, was before a turn."""
    latitude, longitude = places[:, 0], places[:, 1] - turn
    across = latitude.cos()
    return torch.stack([across * longitude.cos(), across * longitude.sin(), latitude.sin()], dim=1)


class Step(MessagePassing):  # type: ignore[misc]  # without annotations
    """Each target adds to itself the mean of its sources, filtered by where they lie from it.

    Args:
        edges: `edge_index`, `edge_attr` and `edge_weight` of a set of edges.
        channels: of nodes.
    """

    def __init__(self, edges: EdgeStorage, channels: int) -> None:
        super().__init__(aggr="add")
        target, weights = edges.edge_index[1], edges.edge_weight
        total = torch.zeros(int(target.max()) + 1, 1).index_add(0, target, weights)
        self.register_buffer("edge_index", edges.edge_index)
        self.register_buffer("share", weights / total[target])
        self.register_buffer("place", edges.edge_attr / edges.edge_attr.std())
        filters = nn.Linear(edges.edge_attr.shape[1], 32), nn.SiLU(), nn.Linear(32, channels)
        self.filter, self.mix = nn.Sequential(*filters), nn.Linear(channels, channels)

    def forward(self, sources: Tensor, targets: Tensor) -> Tensor:
        """(B, sources, channels) and (B, targets, channels) -> (B, targets, channels)."""
        filters = self.share * self.filter(self.place)
        size = sources.shape[-2], targets.shape[-2]
        heard = self.propagate(self.edge_index, x=(sources, targets), filters=filters, size=size)
        mixed: Tensor = targets + self.mix(heard)
        return mixed

    def message(self, x_j: Tensor, filters: Tensor) -> Tensor:
        """(B, E, channels) of sources j."""
        return filters * x_j


class Carried(nn.Module):
    """(B, V, 1) fields on the grid -> (B, V, 1) the same a turn later."""

    def __init__(self, edges: HeteroData, channels: int = 32) -> None:
        super().__init__()
        self.hidden = edges["hidden"].num_nodes
        self.lift, self.read = nn.Linear(1, channels), nn.Linear(channels, 1)
        self.encode = Step(edges["data", "to", "hidden"], channels)
        within = edges["hidden", "to", "hidden"]
        self.process = nn.ModuleList(Step(within, channels) for _ in range(2))
        self.decode = Step(edges["hidden", "to", "data"], channels)
        self.register_buffer("across", edges["data"].x[:, :1].cos())

    def forward(self, field: Tensor) -> Tensor:
        """(B, V, 1) -> (B, V, 1); what the air turns by is in proportion to the parallel."""
        x = self.lift(field)
        mesh = self.encode(x, x.new_zeros(len(x), self.hidden, x.shape[2]))
        for step in self.process:
            mesh = step(mesh, mesh)
        out: Tensor = field + self.across * self.read(self.decode(mesh, x))
        return out


def trained(edges: HeteroData, steps: int) -> tuple[float, float]:
    """Squared errors of fields that were not trained on: of no change, and of the network."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network, places = Carried(edges), edges["data"].x
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(steps):
        before, after = fields(8, places, generator)
        loss = (network(before) - after).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    before, after = fields(50, places, generator)
    with torch.no_grad():
        found = network(before)
    return (before - after).square().mean().item(), (found - after).square().mean().item()


def main() -> None:
    """Build the edges, train, and print both errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="of training [%(default)s]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        edges = network_of_edges(Path(folder) / "graphs.zarr")
        unchanged, carried = trained(edges, arguments.steps)
    print(f"mean squared error: {unchanged:.4f} if nothing moved, {carried:.4f} of the network")


if __name__ == "__main__":
    try:
        main()
    except (CheblienetError, StoreError, OSError, ValueError) as error:
        raise SystemExit(f"Error: {error}") from error
