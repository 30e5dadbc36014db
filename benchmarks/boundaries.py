"""Ways to end a lattice at an open side, by the eigenvalues that they give.

    python benchmarks/boundaries.py                      # everything, half an hour
    python benchmarks/boundaries.py square|thin|oblong|flat|cost [--finest N]

square, thin, oblong: SE(2) on [0, 1] x [0, height], no heat flowing through its sides, against
Galerkin's method (`neumann.py`): the error of largest size among the first 10 eigenvalues but 0,
with its sign, and the order from one size to the next. Thin has eps = 0.1. Constructions:

- cut: stencils cut off at the sides (`boundary_correction=False`);
- corrected: with edges along the sides, as built (`boundary_correction=True`);
- first part: with edges for what is cut off alone, not for what the layer takes;
- without fiber: corrected, but the steps between orientations;
- two rows: the same edges, half of them in the row next to the outermost;
- mirrored: edges across a side lead to the mirror image of their end, at the mirrored orientation;
- half cells: outermost vertices on the sides themselves: edges along these and masses halved.

flat: r2 and r3 on squares and cubes against cosines, cut and corrected.

cost: seconds and peak memory of builds as whole processes, cut and corrected in turns, medians.
"""

import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse
from neumann import neumann_spectrum
from numpy.typing import NDArray
from scripts import print_head, print_row, run_parts

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.spectrum.numeric import extreme_eigenpairs
from cheblienet_graphs.weights import boundary
from cheblienet_graphs.weights.lattice import LatticeWeights, lattice_weights

COUNT = 10
ROUNDS = 3
XI = math.sqrt(0.1)
SIZES = ((8, 3), (16, 6), (32, 12), (64, 24))
Floats = NDArray[np.float64]
Laplacian = tuple[scipy.sparse.csr_array, Floats]
"""D - W, and the masses of the vertices."""


class Edges:
    """Ordered pairs of vertices of an open lattice, with weights."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.places = np.indices(lattice.shape).reshape(len(lattice.shape), -1)
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]] = []

    def add(
        self, k: int, others: Any, offsets: Any, weights: Any, row: tuple[int, int] | None = None
    ) -> None:
        """Edges of the vertices of an orientation, or of a row (axis, how far from its sides)."""
        shape = np.array(self.lattice.shape)[:, None]
        chosen = np.ones(self.places.shape[1], bool)
        if row is not None:
            axis, depth = row
            place, side = self.places[axis], self.lattice.shape[axis]
            chosen = np.minimum(place, side - 1 - place) == depth
        for j, offset, weight in zip(others, offsets, weights, strict=True):
            there = self.places + np.asarray(offset)[:, None]
            both = chosen & ((there >= 0) & (there < shape)).all(axis=0)
            self.pairs(k, self.places[:, both], j, there[:, both], weight)

    def pairs(self, k: int, here: Any, j: int, there: Any, weight: float) -> None:
        """Edges between places."""
        ends = [self.lattice.encode(np.full(p.shape[1], o), p) for o, p in ((k, here), (j, there))]
        self._parts.append((ends[0], ends[1], np.full(here.shape[1], weight)))

    def laplacian(self, masses: Floats | None = None) -> Laplacian:
        """Of the edges so far; masses are 1 unless given."""
        rows, columns, weights = (np.concatenate(p) for p in zip(*self._parts, strict=True))
        size = self.lattice.num_vertices
        w = scipy.sparse.coo_array((weights, (rows, columns)), shape=(size, size)).tocsr()
        degree = np.asarray(w.sum(axis=1)).ravel()
        return scipy.sparse.diags_array(degree).tocsr() - w, (
            np.ones(size) if masses is None else masses
        )


def cut(given: LatticeWeights) -> Edges:
    edges = Edges(given.lattice)
    for k, (s, values) in enumerate(zip(given.stencils, given.values, strict=True)):
        edges.add(k, s.orientation, s.offsets, values)
    return edges


def corrected(given: LatticeWeights, *, rows: int = 1, fiber: bool = True) -> Laplacian:
    edges = cut(given)
    for axis, (steps, weights) in enumerate(given.sides):
        for k, (s, values) in enumerate(zip(steps, weights, strict=True)):
            kept = np.full(len(s), 1) if fiber else s.orientation == k
            for depth in range(rows):
                edges.add(k, s.orientation, s.offsets, values * kept / rows, (axis, depth))
    return edges.laplacian()


def first_part(given: LatticeWeights) -> Laplacian:
    """As corrected, the layer left out."""

    def no_layer(moments: Floats, coupling: Floats) -> Floats:
        del coupling
        return np.zeros((moments.shape[1],) * 2)

    scale = given.lattice.pixels_per_area
    with patch.object(boundary, "_layer", no_layer):
        sides = boundary.along_sides(given.stencils, [v / scale for v in given.values])
    edges = cut(given)
    for axis, across in enumerate(sides):
        for k, (others, offsets, weights) in enumerate(across):
            edges.add(k, others, offsets, weights * scale, (axis, 0))
    return edges.laplacian()


def mirrored(given: LatticeWeights) -> Laplacian:
    """Ghosts at (-1 - m, y, theta) are (m, y, -theta): the same mirror across x and across y."""
    edges, lattice = cut(given), given.lattice
    shape = np.array(lattice.shape)[:, None]
    for k, (s, values) in enumerate(zip(given.stencils, given.values, strict=True)):
        for j, offset, weight in zip(s.orientation, s.offsets, values, strict=True):
            there = edges.places + offset[:, None]
            for lines in product((False, True), repeat=2):
                outside = (there < 0) | (there >= shape)
                chosen = (outside == np.array(lines)[:, None]).all(axis=0)
                if not any(lines) or not chosen.any():
                    continue
                images = np.where(there < 0, -1 - there, there)
                images = np.where(there >= shape, 2 * shape - 1 - there, images)
                other = int(j) if all(lines) else -int(j) % lattice.orientations
                edges.pairs(k, edges.places[:, chosen], other, images[:, chosen], weight)
    return edges.laplacian()


def half_cells(given: LatticeWeights) -> Laplacian:
    """Spacing 1 / (n - 1); an edge has the share that both its ends' sides have of their cells."""
    edges, lattice = Edges(given.lattice), given.lattice
    scale = (lattice.width - 1) ** 2 / lattice.width**2
    ends = [(p == 0) | (p == n - 1) for p, n in zip(edges.places, lattice.shape, strict=True)]
    for k, (s, values) in enumerate(zip(given.stencils, given.values, strict=True)):
        for j, offset, weight in zip(s.orientation, s.offsets, values, strict=True):
            for sides in product((False, True), repeat=2):
                chosen = np.all([e == side for e, side in zip(ends, sides, strict=True)], axis=0)
                along = sum(side and not step for side, step in zip(sides, offset, strict=True))
                there = edges.places + offset[:, None]
                inside = ((there >= 0) & (there < np.array(lattice.shape)[:, None])).all(axis=0)
                both = chosen & inside
                share = weight * scale / 2**along
                edges.pairs(k, edges.places[:, both], int(j), there[:, both], share)
    masses = np.tile(np.prod([np.where(e, 0.5, 1.0) for e in ends], axis=0), lattice.orientations)
    return edges.laplacian(masses)


CONSTRUCTIONS: dict[str, Callable[[LatticeWeights], Laplacian]] = {
    "cut": lambda given: cut(given).laplacian(),
    "corrected": corrected,
    "first part": first_part,
    "without fiber": lambda given: corrected(given, fiber=False),
    "two rows": lambda given: corrected(given, rows=2),
    "mirrored": mirrored,
    "half cells": half_cells,
}


def weights_of(spec: GraphSpec) -> LatticeWeights:
    lattice = spec.full_sampling(0)
    assert isinstance(lattice, Lattice)
    return lattice_weights(spec, SampledManifold(lattice, spec.geometry, spec.metric(0)))


def smallest(laplacian: Laplacian, count: int) -> Floats:
    """Eigenvalues of the masses' inverse times D - W."""
    matrix, masses = laplacian
    root = scipy.sparse.diags_array(1 / np.sqrt(masses))
    delta = (root @ matrix @ root).tocsr()
    largest = float(abs(delta).sum(axis=1).max())
    rescaled = scipy.sparse.csr_array(delta * (2 / largest) - scipy.sparse.eye_array(len(masses)))
    pairs = extreme_eigenpairs(rescaled, largest, count)
    assert pairs.converged
    return pairs.values


def table(exact: Floats, title: str, specs: list[GraphSpec], constructions: dict[str, Any]) -> None:
    names = [spec.default_name.partition("-")[2] for spec in specs]
    print_head("weights", "construction", *names, "orders")
    for name, construction in constructions.items():
        errors: list[tuple[int, float]] = []
        for weights in map(weights_of, specs):
            values = smallest(construction(weights), len(exact))
            errors.append((weights.lattice.width, max(values[1:] / exact[1:] - 1, key=abs)))
        finer = pairwise(errors)
        orders = [math.log(abs(a / b)) / math.log(n / m) for (m, a), (n, b) in finer]
        cells = [f"{error:+.4f}" for _, error in errors]
        print_row(title, name, *cells, ", ".join(f"{order:.2f}" for order in orders))


def oriented(finest: int, eps: float, height: float = 1.0, *, all_of_them: bool = True) -> None:
    exact = neumann_spectrum(COUNT + 1, eps, XI, height=height, degree=18, frequency=10)
    coarser = neumann_spectrum(COUNT + 1, eps, XI, height=height, degree=15, frequency=8)
    print(f"exact to {abs(exact[1:] / coarser[1:] - 1).max():.0e}: {exact[1:].round(3)}\n")
    chosen = CONSTRUCTIONS if all_of_them else dict(list(CONSTRUCTIONS.items())[:3])
    for weights in ("selling", "matched"):
        how: dict[str, Any] = {"weights": weights, "levels": 1, "eps": eps, "xi": XI}
        sizes = [((n, round(n * height)), n_o) for n, n_o in SIZES if n <= finest]
        specs = [GraphSpec("se2", size, orientations=n_o, **how) for size, n_o in sizes]
        table(exact, weights, list(filter(has_room, specs)), chosen)
        print()


def has_room(spec: GraphSpec) -> bool:
    """Whether the lattice has room for the stencils."""
    try:
        weights_of(spec)
    except ValueError:
        return False
    return True


def flat(finest: int) -> None:
    for manifold, sizes in (("r2", (8, 16, 32, 64)), ("r3", (6, 12, 24))):
        dimension = int(manifold[1])
        waves = product(range(COUNT + 1), repeat=dimension)
        exact = np.sort([math.pi**2 * sum(n**2 for n in wave) for wave in waves])[: COUNT + 1]
        specs = [GraphSpec(manifold, n, weights="matched", levels=1) for n in sizes if n <= finest]
        flat_ones = {name: CONSTRUCTIONS[name] for name in ("cut", "corrected", "two rows")}
        table(exact, f"{manifold} matched", specs, flat_ones)
        print()


def cost() -> None:
    script = (
        "import sys, time; from cheblienet_graphs import GraphSpec, build;"
        "began = time.perf_counter();"
        "spec = GraphSpec('se2', int(sys.argv[1]), orientations=8, weights=sys.argv[2], levels=1,"
        " boundary_correction=sys.argv[3] == 'corrected');"
        "build(spec, sys.argv[4]);"
        "took, lines = time.perf_counter() - began, open('/proc/self/status');"
        "print(took, *(int(n.split()[1]) / 1e3 for n in lines if n.startswith('VmHWM')))"
    )
    print_head("weights", "graph", "seconds: cut", "corrected", "MB: cut", "corrected")
    for weights, size in product(("selling", "matched"), (64, 256)):
        runs: dict[str, list[list[float]]] = {"cut": [], "corrected": []}
        for _ in range(ROUNDS):
            for kind, results in runs.items():
                with tempfile.TemporaryDirectory() as folder:
                    command = [sys.executable, "-c", script, str(size), weights, kind]
                    done = subprocess.run(
                        [*command, f"{folder}/g"], check=True, capture_output=True, text=True
                    )
                results.append([float(number) for number in done.stdout.split()])
        middle = {k: [statistics.median(c) for c in zip(*r, strict=True)] for k, r in runs.items()}
        cells = [f"{middle[k][0]:.2f}" for k in runs] + [f"{middle[k][1]:.0f}" for k in runs]
        print_row(weights, f"{size}x{size}x8", *cells)


PARTS: dict[str, Callable[..., None]] = {
    "square": lambda finest: oriented(finest, math.sqrt(0.1)),
    "oblong": lambda finest: oriented(finest, math.sqrt(0.1), 1.5, all_of_them=False),
    "thin": lambda finest: oriented(finest, 0.1, all_of_them=False),
    "flat": flat,
    "cost": lambda **_: cost(),
}


if __name__ == "__main__":
    run_parts(__doc__, PARTS, finest=64)
