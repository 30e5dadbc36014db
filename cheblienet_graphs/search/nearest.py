"""Common parts of searches: the neighbor rule on many vertices, in torch."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True)
class Shells:
    """The vertices that a vertex lists, among the nearest to it.

    Args:
        count: K.
        tolerance: relative width of a shell; None for exactly the K nearest, whatever shells.
        squared_radii: (n_o,) r^2 by orientation where known beforehand, as on a lattice; elsewhere
            taken from whole shells, see `rule.last_whole_shell`.
    """

    count: int
    tolerance: float | None
    squared_radii: Tensor | None = None

    def listed(self, ascending: Tensor, vertex: Tensor, own: slice) -> tuple[Tensor, Tensor]:
        """The neighbors that vertices list, orientation after orientation.

        Args:
            ascending: (rows, N) d^2 to the nearest other vertices.
            vertex: (rows, N) these; all others are farther, or N is at least K + 1.
            own: the points of these rows.

        Returns:
            (rows,) d^2 up to which vertices were needed: r^2 where known beforehand, else that of
            the (K + 1)-th nearest, without shells of the K-th, inf where there is none; and
            (rows, K) neighbors, -1 for none.
        """
        if self.tolerance is None:
            width = (0, max(0, self.count - ascending.shape[1]))
            ascending, vertex = pad(ascending, width, value=torch.inf), pad(vertex, width)
            nearest = ascending[:, : self.count]
            return nearest[:, -1], vertex[:, : self.count].masked_fill(nearest.isinf(), -1)
        width = (0, self.count + 1 - ascending.shape[1])
        ascending, vertex = pad(ascending, width, value=torch.inf), pad(vertex, width)
        place = torch.arange(self.count + 1, device=vertex.device)
        if self.squared_radii is None:
            reach = ascending[:, -1]
            ends = ascending[:, 1:] > ascending[:, :-1] * (1 + self.tolerance)
            members = (ends * place[1:]).amax(dim=1)
        else:
            radii = self.squared_radii[own].to(vertex.device)
            reach = radii.repeat_interleave(len(vertex) // len(radii)) * (1 + self.tolerance)
            members = (ascending <= reach[:, None]).sum(dim=1)
        return reach, vertex.masked_fill(place >= members[:, None], -1)[:, :-1]
