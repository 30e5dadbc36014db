"""The neighbour rule on many vertices at once, in torch."""

import torch
from torch import Tensor


def whole_shells(ascending: Tensor, tolerance: float) -> Tensor:
    """Number of the K nearest that lie in whole shells.

    Args:
        ascending: (rows, K + 1) d^2 to the nearest other vertices, inf where there are no more.
        tolerance: relative width of a shell.

    Returns:
        (rows,) count in [0, K]; see `rule.last_whole_shell`.
    """
    shell_ends = ascending[:, 1:] > ascending[:, :-1] * (1 + tolerance)
    position = torch.arange(1, ascending.shape[1], device=ascending.device)
    return (shell_ends * position).amax(dim=1)


def neighbours_within(ascending: Tensor, squared_radii: Tensor | None, tolerance: float) -> Tensor:
    """(rows,) number of the nearest that lie within each vertex's radius.

    Args:
        ascending: as in `whole_shells`.
        squared_radii: (rows,) where the radii are known beforehand, as on a lattice.
        tolerance: relative width of a shell.
    """
    if squared_radii is not None:
        return (ascending <= squared_radii[:, None] * (1 + tolerance)).sum(dim=1)
    return whole_shells(ascending, tolerance)
