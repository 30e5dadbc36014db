"""Rows of the Laplacian of a part of a lattice, by stencils.

Along a line of pixels whose neighbours are all inside, numbers of neighbours grow as those of the
pixels do: such runs are copies of their first row. Only rows near the mask's edge are looked up.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.assembly.rows import Ends, Entries, Scaling
from cheblienet_graphs.neighbours.masked import LookedUp, MaskedStencils, Piece
from cheblienet_graphs.sparse import ascending_sums, rescaled
from cheblienet_graphs.typing import Floats, Indices
from cheblienet_graphs.weights.kernel import KernelWeights

SHORTEST_RUN = 16
"""Shorter runs are looked up, too: copying them would take longer."""


class MaskedRows:
    """The rows of the vertices inside; the weights of edges are those of the whole lattice.

    Args:
        level: of a lattice with a mask.

    Attributes:
        level: with all that was computed of it.
        stencils: the neighbours inside.
        bandwidth: the kernel's t, None without a kernel.
    """

    def __init__(self, level: Level) -> None:
        self.level, stencils = level, level.stencils_inside
        if not isinstance(stencils, MaskedStencils):
            raise TypeError("the level has no mask")
        self.stencils = stencils
        whole, given = LatticeRows(level).weights, level.offset_weights
        self.bandwidth = whole.bandwidth
        if isinstance(whole, KernelWeights):
            lengths = level.neighbours.rule.squared_lengths
            by_offset = [[whole.of_squared_lengths(squared)] for squared in lengths]
        else:
            by_offset = given.offset_values if given else []
        # The last place stands for the vertex itself. What is everywhere comes first, then sides.
        self._weights = [[np.append(part, 0.0) for part in parts] for parts in by_offset]
        self._degrees = [float(ascending_sums(w[0][None].copy())[0]) for w in self._weights]

    @property
    def dropped_edges(self) -> int:
        """Edges between vertices inside that are left out because their weight came out 0."""
        given = self.level.offset_weights
        if given is None or not given.left_out:
            return 0
        united = MaskedStencils(given.with_left_out, self.stencils.places)
        return (united.total_degree - self.stencils.total_degree) // 2

    def weighed(self, start: int, stop: int) -> tuple[Indices, Floats]:
        """As `Rows.weighed`."""
        pieces = [self._weighed(piece) for piece in self.stencils.pieces(start, stop)]
        counts, degrees = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return counts, degrees

    def entries(self, start: int, ends: Ends, scaling: Scaling) -> Entries:
        """As `Rows.entries`."""
        columns = np.empty(int(ends[-1] - ends[0]), ends.dtype)
        values = np.empty(len(columns), np.float32)
        for piece in self.stencils.pieces(start, start + len(ends) - 1):
            first = piece.first_vertex - start
            those = ends[first : first + len(piece) + 1] - ends[0]
            part = slice(int(those[0]), int(those[-1]))
            self._fill(piece, those - those[0], scaling, columns[part], values[part])
        return columns, values

    def _weighed(self, piece: Piece) -> tuple[Indices, Floats]:
        """(vertices,) entries of each row, and sums of its weights: the same bits in any block."""
        complete = piece.complete
        everywhere = self.stencils.stencils[piece.orientation]
        counts = np.full(len(piece), len(everywhere) + 1)
        degrees = np.full(len(piece), self._degrees[piece.orientation])
        cut = np.flatnonzero(~complete)
        if len(cut):
            found = piece.look_up(cut)
            counts[cut] = found.inside.sum(axis=1)
            degrees[cut] = ascending_sums(np.where(found.inside, self._entries(found), 0.0))
        return counts, degrees

    def _fill(
        self,
        piece: Piece,
        ends: Ends,
        scaling: Scaling,
        columns: npt.NDArray[np.signedinteger[Any]],
        values: npt.NDArray[np.float32],
    ) -> None:
        """Write (nnz,) columns and values of the rows of a piece, whose first begins at 0."""
        starts, lengths, rest = self._runs(piece)
        heads = piece.look_up(starts, away=True)
        numbers = self._values(heads, scaling)
        step = np.arange(lengths.max(initial=0), dtype=columns.dtype)[:, None]
        for row, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
            first = int(ends[start])
            part = slice(first, first + length * heads.columns.shape[1])
            np.add(heads.columns[row], step[:length], out=columns[part].reshape(length, -1))
            values[part].reshape(length, -1)[:] = numbers[row]
        found = piece.look_up(rest)
        counts = np.diff(ends)[rest]
        into = np.arange(counts.sum()) + np.repeat(ends[rest] - np.cumsum(counts) + counts, counts)
        columns[into] = found.columns[found.inside]
        values[into] = self._values(found, scaling)[found.inside]

    def _runs(self, piece: Piece) -> tuple[Indices, Indices, Indices]:
        """First vertex and length of each run of rows that are copies, and all other vertices."""
        alike = piece.surrounded
        follows = alike[1:] & alike[:-1] & (np.diff(piece.places) == 1)
        starts = np.flatnonzero(np.concatenate([[True], ~follows]))
        lengths = np.diff(np.append(starts, len(piece)))
        long = alike[starts] & (lengths >= SHORTEST_RUN)
        return starts[long], lengths[long], np.flatnonzero(np.repeat(~long, lengths))

    def _values(self, found: LookedUp, scaling: Scaling) -> npt.NDArray[np.float32]:
        """(M, N) entries of Delta, or rescaled; of no meaning where there is no neighbour."""
        here = scaling.inverse_root[found.vertices]
        there = scaling.inverse_root[np.where(found.inside, found.columns, 0)]
        # One product of both factors, as `sparse.laplacian` has it, for the same bits.
        values = -self._entries(found) * (here[:, None] * there)
        degree = scaling.degree[found.vertices] * here**2
        entries = values.astype(np.float32)
        entries[found.diagonal] = degree
        if scaling.lambda_max is None:
            return entries
        return rescaled(entries, found.diagonal, scaling.lambda_max).astype(np.float32)

    def _entries(self, found: LookedUp) -> Floats:
        """(N,) or (M, N) weights of the neighbours, 0 of the vertex itself."""
        everywhere, *sides = self._weights[found.orientation]
        entries: Floats = everywhere[found.which]
        for there, weights in zip(self.stencils.at_sides(found), sides, strict=False):
            entries = entries + there[:, None] * weights[found.which]
        return entries
