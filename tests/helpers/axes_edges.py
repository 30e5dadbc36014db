"""Independent truth on positions and axes: translations and rotation vectors of SE(3)."""

from typing import Any

import numpy as np
from truth import Edges, lattice_edges


def squared_distances(
    steps: np.ndarray, starts: np.ndarray, ends: np.ndarray, eps: float, xi: float
) -> np.ndarray:
    """(N,) from an axis (N, 3) at the origin to another at (N, 3) steps.

    The minimal rotation w from an axis to an end of the other, v = V^-1 step with V^-1 = 1 - W / 2
    + c W^2, in the frame of the first: v along the axis, v across it, w.
    """
    both = [squared_norm(steps, starts, sign * ends, eps, xi) for sign in (1, -1)]
    return np.minimum(*both)


def squared_norm(
    steps: np.ndarray, starts: np.ndarray, ends: np.ndarray, eps: float, xi: float
) -> np.ndarray:
    normal, cosine = np.cross(starts, ends), (starts * ends).sum(axis=1)
    sine = np.linalg.norm(normal, axis=1)
    other = np.cross(starts, np.eye(3)[abs(starts).argmin(axis=1)])
    normal[sine < 1e-9] = other[sine < 1e-9]  # opposite axes: a half turn about any normal
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    angle = np.arctan2(sine, cosine)
    w = angle[:, None] * normal
    half = angle / 2
    with np.errstate(all="ignore"):
        c = np.where(angle < 1e-4, 1 / 12, (1 - half / np.tan(half)) / angle**2)
    first = np.cross(w, steps)
    v = steps - first / 2 + c[:, None] * np.cross(w, first)
    along = (v * starts).sum(axis=1)
    across = ((v - along[:, None] * starts) ** 2).sum(axis=1)
    return along**2 + across / eps**2 + xi**2 * angle**2


def edges(
    shape: tuple[int, int, int], axes: np.ndarray, *, eps: float, xi: float, **rule: Any
) -> Edges:
    """Both directions of each edge and d^2, of (n_o, 3) axes over a lattice."""

    def between(k: int, steps: np.ndarray) -> np.ndarray:
        start, *ends = (np.broadcast_to(axis, steps.shape) for axis in (axes[k], *axes))
        return np.array([squared_distances(steps, start, end, eps, xi) for end in ends])

    return lattice_edges(shape, between, len(axes), reach=7, **rule)
