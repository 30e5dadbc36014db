"""Pyramids of graphs, which know which published version they are, and the maps between levels."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from cheblienet_graphs.csr import Csr
from cheblienet_models.arguments import file_path, instance, integer, number
from cheblienet_models.graphs import exports
from cheblienet_models.graphs.coupled import coupled
from cheblienet_models.graphs.edges import Coupled
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import Identified, Mapped, Reopen
from cheblienet_models.graphs.vertex_map import VertexMap
from cheblienet_models.tensors import CsrParts, csr_tensor, padded, save_npz

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData


class LevelMap(Mapped):
    """A map between levels: each target vertex has up to m weighted sources.

    It holds `sources` (targets, m), int32 or int64, and `weights` (targets, m), float32, with rows
    that sum to 1; rows with fewer sources repeat their first one with weight 0.

    Args:
        reopen: how to open it again.
        matrix: (targets, origins), at least one entry in each row.

    Attributes:
        targets, origins: numbers of vertices.
    """

    sources: Tensor
    weights: Tensor

    def __init__(self, reopen: Reopen, matrix: Csr) -> None:
        super().__init__(reopen)
        self.targets, self.origins = instance("matrix", matrix, Csr).shape
        sources, weights = padded(CsrParts.of(matrix))
        self._hold("sources", sources)
        self._hold("weights", weights)

    def matrix(self) -> Tensor:
        """(targets, origins) sparse CSR tensor of the means that "mean" pooling takes, a copy.

        Rows sum to 1. On the device and in the dtype of `weights`.
        """
        return csr_tensor(self.parts(), self.origins)

    def parts(self) -> CsrParts:
        """Row pointers, columns and values of `matrix`, padding left out."""
        held = self.weights > 0
        rows = held.sum(1, dtype=self.sources.dtype)
        pointers = torch.cat([rows.new_zeros(1), rows.cumsum(0, dtype=rows.dtype)])
        return CsrParts(pointers, self.sources[held], self.weights[held])

    def save_npz(self, path: str | Path) -> Path:
        """Write `matrix()` to a file that scipy.sparse.load_npz reads.

        Args:
            path: of the file; `.npz` is appended where it does not end so.

        Returns:
            Where the file is.

        Raises:
            OSError: it can't be written.
        """
        return save_npz(path, self.matrix())


class Pyramid(Identified):
    """The graphs of a published version, finest first, and the maps between them.

    A network that registers its pyramid saves the graph's identity in checkpoints, and refuses one
    that was trained on another graph.

    Args:
        reopen: how to open it again.
        identity: of the version, its specification included.
        levels: n graphs, finest first.
        poolings: n - 1 maps from each level to the next coarser one.
        unpoolings: n - 1 maps to each level from the next coarser one.
    """

    def __init__(
        self,
        reopen: Reopen,
        identity: Identity,
        levels: Sequence[Graph],
        poolings: Sequence[LevelMap],
        unpoolings: Sequence[LevelMap],
    ) -> None:
        super().__init__(reopen, identity)
        for kind, modules in (("level", levels), ("pool", poolings), ("unpool", unpoolings)):
            for level, module in enumerate(modules):
                self.add_module(f"{kind}{level}", module)
        for level, graph in enumerate(levels):
            graph.identity = replace(identity, level=level)
            graph.spec = self.spec
        self._num_levels = len(levels)
        self.adopt_parts()

    @property
    def levels(self) -> tuple[Graph, ...]:
        """The graphs, finest first."""
        return tuple(
            cast("Graph", self.get_submodule(f"level{n}")) for n in range(self._num_levels)
        )

    def pooling(self, level: int) -> LevelMap:
        """The map from a level to the next coarser one.

        Raises:
            TypeError: level is no integer.
            ValueError: there is none.
        """
        return self._map("pool", level)

    def unpooling(self, level: int) -> LevelMap:
        """The map to a level from the next coarser one.

        Raises:
            TypeError: level is no integer.
            ValueError: there is none.
        """
        return self._map("unpool", level)

    def _map(self, kind: str, fine: int) -> LevelMap:
        if not 0 <= integer("level", fine) < self._num_levels - 1:
            raise ValueError(
                f"{self.name}@{self.version} has levels 0 to {self._num_levels - 1}; there is no "
                f"map between levels {fine} and {fine + 1}."
            )
        return cast("LevelMap", self.get_submodule(f"{kind}{fine}"))

    def to_hetero(
        self,
        encoder: VertexMap | None = None,
        decoder: VertexMap | None = None,
        *,
        processor: VertexMap | None = None,
    ) -> "HeteroData":
        """The levels, the maps between them, and maps from and to other points, for PyG.

        In the layout of anemoi-graphs. Node sets are "data", the source of the encoder and target
        of the decoder, and "hidden"; of several levels "hidden_1", the finest, "hidden_2", ....
        Edge sets are `(source, "to", target)`: the maps, of each level its edges, and pooling and
        unpooling between levels. Pixels are at their centers.

        - Of nodes: `pos` (V, d) float64; `area_weight` (V, 1), means 1, of levels; over the sphere
          `x` (V, 2) float32, latitude and longitude in radians; `node_type`, what they were opened
          from.
        - Of edges: `edge_index`, `edge_weight`, here (E, 1), and `edge_attr` as of `Graph.to_pyg`;
          on the sphere `edge_length` (E, 1), arcs in radians, and `edge_dirs` (E, 2), unit vectors
          towards the source in the frame of anemoi-graphs at the target; `edge_type`.

        Weights of maps, areas, and coordinates but of pixels are mapped from the store.

        Args:
            encoder: a map to the finest level.
            decoder: a map from it.
            processor: a map from it to itself, with edges that replace the finest graph's, such as
                the edges of several meshes.

        Raises:
            TypeError: one of them is no map.
            ValueError: a map is from or to other points.
            ModuleNotFoundError: torch_geometric is not installed.
        """
        network = self._coupled(encoder=encoder, processor=processor, decoder=decoder)
        return exports.pyg_hetero(network)

    def save_neural_lam(
        self,
        folder: str | Path,
        encoder: VertexMap,
        decoder: VertexMap,
        *,
        processor: VertexMap | None = None,
        unit: float = 1.0,
    ) -> Path:
        """Write the levels and maps as a folder of neural-lam, of its graph specification 0.1.0.

        Grid nodes are numbered as the encoder's sources. Features of edges are their length and
        their components as of `Graph.to_pyg`, features of mesh nodes are x and y, or longitude and
        latitude in radians. Several levels make a hierarchical graph.

        Args:
            folder: to be made, or empty.
            encoder: a map to the finest level, "g2m".
            decoder: a map from it, "m2g".
            processor: as of `to_hetero`.
            unit: number of the datastore's length units in the domain's width or a radian.

        Returns:
            The folder.

        Raises:
            TypeError: a map is no map, the folder no path, or the unit no number.
            ValueError: a map is from or to other points, these are not of the plane or sphere,
                something is in the folder, or the unit is not positive and finite.
            OSError: it can't be written.
        """
        for name, one in (("encoder", encoder), ("decoder", decoder)):
            instance(name, one, VertexMap)
        target = file_path("folder", folder)
        network = self._coupled(encoder=encoder, processor=processor, decoder=decoder)
        return exports.save_neural_lam(target, network, number("unit", unit))

    def _coupled(self, **maps: VertexMap | None) -> Coupled:
        steps = range(self._num_levels - 1)
        between = [(self.pooling(n).parts(), self.unpooling(n).parts()) for n in steps]
        return coupled(str(self.identity), self.levels, between, **maps)


def level_of(pyramid: Pyramid, level: int) -> Graph:
    """A level of a pyramid.

    Raises:
        TypeError: it is no pyramid, or level no integer.
        ValueError: there is no such level.
    """
    instance("pyramid", pyramid, Pyramid)
    return pyramid.levels[integer("level", level, 0, len(pyramid.levels) - 1)]
