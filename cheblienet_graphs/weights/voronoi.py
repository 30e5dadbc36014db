"""Finite volumes: the length of a common side of Voronoi cells over the distance across it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.search.choice import DIAGRAM, Choice, only
from cheblienet_graphs.weights.weighting import Advice, ListedEdges, Search, Weighting

APART = "Take points that are farther apart, or `weights='kernel'`."

if TYPE_CHECKING:
    from cheblienet_graphs.samplings import SamplingKind
    from cheblienet_graphs.samplings.sampling import SampledManifold, Sampling
    from cheblienet_graphs.spec import GraphSpec


@dataclass(frozen=True)
class Voronoi(Weighting):
    """Edges between Voronoi cells with a common side; see `cells`."""

    name = "voronoi"
    meaning = "voronoi: finite volumes of Voronoi cells, off lattices, without K."
    finding = "finding Voronoi cells"
    schema = "1.1"

    @classmethod
    def absence(cls, geometry: Manifold, *, lattice: bool) -> str | None:
        """They need points without a lattice, and no orientations."""
        if lattice:
            cells = "Voronoi cells are for points without a lattice."
            same = " `weights='selling'` is the same there."
            return cells + same if geometry.name == "r2" else cells
        alone = "Weights of Voronoi cells exist on r2 and s2, without orientations."
        return alone if geometry.oriented else None

    def words(self, spec: "GraphSpec") -> str:
        """'edges of Voronoi cells with a common side'."""
        return "edges of Voronoi cells with a common side, weights its length over the distance"

    @classmethod
    def choose(cls, kind: "type[SamplingKind]", engine: str, device: str) -> Choice:
        """No neighbors are searched for."""
        remedy = "Their edges come from Voronoi cells, on the CPU."
        return only(DIAGRAM, engine, device, f"{cls.name} weights", remedy)

    def degree_bound(self, spec: "GraphSpec", vertices: int) -> int:
        """The largest number of sides that a cell can have."""
        from cheblienet_graphs.samplings.voronoi import most_sides

        return most_sides(vertices, flat=spec.geometry.base.flat)

    def edges(
        self, spec: "GraphSpec", sampled: "SampledManifold[Sampling]", search: Search
    ) -> ListedEdges:
        """Edges between cells with a common side."""
        from cheblienet_graphs.samplings.voronoi import on_a_circle
        from cheblienet_graphs.weights.cells import voronoi_entries

        points = sampled.sampling
        if points.extent is None and on_a_circle(points.base_points):
            accepted = (
                f"kernel here, where the {points.num_points:,} points of a level lie on one circle"
            )
            remedy = "Take points all over the sphere, or fewer `levels`."
            raise SpecError("weights", accepted, self.name, remedy)
        return ListedEdges(*voronoi_entries(points, APART))

    def pointwise(self, spec: "GraphSpec") -> bool:
        """Second moments are the metric's on average over any region."""
        return False

    def errors_unknown(self, spec: "GraphSpec") -> str | None:
        """Cells of irregular points are not alike on levels."""
        if spec.coordinates is not None and spec.coordinates.given_areas:
            return "areas are given"
        alike = spec.sampling not in ("random", "unstructured")
        return None if alike else "cells of such points are not alike on levels"

    def finite_volumes(self, spec: "GraphSpec") -> bool:
        """The combinatorial Laplacian is a finite-volume scheme."""
        return spec.laplacian == "combinatorial"

    def advice(self, spec: "GraphSpec") -> Advice | None:
        """The combinatorial Laplacian, else more points."""
        if spec.laplacian == "normalized":
            return Advice(({"laplacian": "combinatorial"},))
        one_number = spec.coordinates is None and not isinstance(spec.level_size(0), tuple)
        return Advice(more=spec.sampling_kind.field) if one_number else None
