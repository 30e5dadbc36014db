"""All that a process needs to know to do a block of a sweep."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.neighbours.choice import Choice
from cheblienet_graphs.samplings.point_sets import PointArrays
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.records import Records
from cheblienet_graphs.store.staged import (
    StagedArray,
    StagedCsr,
    opened,
    opened_csr,
)
from cheblienet_graphs.store.writer import scratch_folder
from cheblienet_graphs.typing import Floats, Indices

SOLUTION = "matched-weights"
"""Scratch array of the matched weights of a lattice."""
OWN_POINTS = ("points", "point-areas")
"""Scratch arrays of points of one's own."""


@dataclass(frozen=True)
class Job:
    """A level in the making; picklable.

    Args:
        spec: of the build, as a store tells it: without arrays.
        choice: the engine that finds neighbours, and its device.
        number: of the level, 0 the finest.
        xi: of its metric, None without orientations.
        store: where it will be published.
        folder: where it is staged.
        software: of the building process, as `pools.software`; workers must have the same.
        direction: whose Laplacian it is about, as of `Level`; None for the metric's, which comes
            with the points.
    """

    spec: GraphSpec
    choice: Choice
    number: int
    xi: float | None
    store: Path
    folder: Path
    software: tuple[tuple[str, str], ...]
    direction: str | None = None

    def level(self) -> Level:
        """Its sampling, metric and neighbours, none of which is computed yet."""
        return Level(
            self._whole_spec,
            self.choice,
            self.number,
            xi=self.xi,
            solution=self.solution,
            places=self.places,
            direction=self.direction,
        )

    @property
    def _whole_spec(self) -> GraphSpec:
        """The specification, with the level's points where these are one's own."""
        if self.spec.coordinates is None:
            return self.spec
        points, areas = (np.asarray(self.scratch(name).mapped()) for name in OWN_POINTS)
        return self.spec.with_points({self.number: PointArrays(points, areas)})

    @property
    def num_vertices(self) -> int:
        """V."""
        return self.spec.orientations * self.spec.base_points(self.number)

    def solution(self) -> Floats | None:
        """Matched weights of a lattice, once the building process has solved for them."""
        folder = scratch_folder(self.folder) / str(self.number) / SOLUTION
        return np.array(opened(folder).mapped()) if (folder / "zarr.json").exists() else None

    def places(self) -> Indices:
        """(n_inside,) points inside the mask, among all."""
        return np.asarray(self.dense(layout.BASE_INDEX).mapped())

    @property
    def arrays(self) -> Path:
        """Folder of the level's arrays."""
        return self.folder / "version" / "levels" / str(self.number)

    @property
    def laplacian(self) -> str:
        """The kind: directional ones are combinatorial whatever the metric's is."""
        return self.spec.laplacian if self.direction is None else "combinatorial"

    @property
    def lambda_max_known(self) -> bool:
        """Whether it is rescaled by a bound that holds without computing."""
        return self.spec.lambda_max == 2 and self.direction is None

    @property
    def matrix_name(self) -> str:
        """Where the Laplacian is among the level's arrays."""
        return "laplacian" if self.direction is None else f"{layout.DIRECTIONAL}/{self.direction}"

    @property
    def csr(self) -> StagedCsr:
        """The Laplacian."""
        return opened_csr(self.arrays / self.matrix_name)

    def dense(self, name: str) -> StagedArray:
        """Another of its arrays."""
        return opened(self.arrays / name)

    def scratch(self, name: str) -> StagedArray:
        """An array that is not published."""
        return opened(scratch_folder(self.folder) / self.scratch_path(name))

    def scratch_path(self, name: str) -> str:
        """Where such an array is: each Laplacian has its own."""
        part = [] if self.direction is None else [self.direction]
        return "/".join([str(self.number), *part, name])

    @property
    def records(self) -> Records:
        """Its finished ranges."""
        return Records(self.folder / "finished")

    def matrix(self, entries: StagedArray) -> scipy.sparse.csr_array:
        """The Laplacian, mapped, with these entries."""
        csr = self.csr
        parts = (entries.mapped(), csr.indices.mapped(), csr.indptr.mapped())
        return scipy.sparse.csr_array(parts, shape=(self.num_vertices, self.num_vertices))

    def key(self, name: str, **given: float | None) -> str:
        """The name of the records of a sweep, or of what is computed once.

        Those of the two kinds of engines are different ones, and so are those that are given other
        results of earlier sweeps: what is written depends on them.
        """
        kind = {"stencil": "lattice", "diagram": "diagram"}.get(self.choice.engine, "searched")
        told = [f"{what}={json.dumps(value)}" for what, value in sorted(given.items())]
        part = [] if self.direction is None else [self.direction]
        return "-".join([str(self.number), kind, *part, name, *told])
