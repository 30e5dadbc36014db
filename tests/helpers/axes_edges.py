"""Independent truth on positions and axes: translations and rotation vectors of SE(3)."""

import itertools

import numpy as np
from space_truth import voxels
from truth import Edges, edges_within, of_fibers, squared_radius


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


def stencil_radii(
    axes: np.ndarray, sides: np.ndarray, count: int, eps: float, xi: float, reach: int
) -> np.ndarray:
    """(n_o,) r^2 of the infinite lattice, lengths in units of the sides', by a box of offsets.

    Args:
        axes: (n_o, 3).
        sides: (3,) of voxels along x, y, z.
        count: K.
        eps, xi: of the metric.
        reach: of the box, larger than r over the shortest side.
    """
    box = np.array(list(itertools.product(range(-reach, reach + 1), repeat=3))) * sides
    radii = []
    for axis in axes:
        starts = np.broadcast_to(axis, (len(box) * len(axes), 3))
        steps, ends = np.tile(box, (len(axes), 1)), np.repeat(axes, len(box), axis=0)
        squared = np.sort(squared_distances(steps, starts, ends, eps, xi))[1 : count + 2]
        assert squared[count] < (reach * sides.min()) ** 2
        radii.append(squared_radius(squared, count))
    return np.array(radii)


def edges(
    shape: tuple[int, int, int],
    axes: np.ndarray,
    count: int,
    eps: float,
    xi: float,
    *,
    sides: tuple[float, float, float] = (1.0, 1.0, 1.0),
    periodic: bool = False,
    reach: int = 7,
) -> Edges:
    """Both directions of each edge and d^2, by looking at all pairs; lengths as the sides'.

    Args:
        shape: (depth, height, width).
        axes: (n_o, 3).
        count: K.
        eps, xi: of the metric.
        sides: of voxels along x, y, z.
        periodic: whether opposite sides are glued: the nearest image counts.
        reach: as in `stencil_radii`.
    """
    radii = stencil_radii(axes, np.array(sides), count, eps, xi, reach)
    places, period = voxels(shape), np.array(shape[::-1]) * sides
    pairs = (places - places[:, None]).reshape(-1, 3)
    offsets, of_pair = np.unique(pairs, axis=0, return_inverse=True)
    apart = offsets * np.array(sides)
    shifts = list(itertools.product((-1, 0, 1), repeat=3)) if periodic else [(0, 0, 0)]
    squared = np.empty((len(axes), len(axes), len(places), len(places)))
    for k, j in itertools.product(range(len(axes)), repeat=2):
        ends = [np.broadcast_to(axes[i], apart.shape) for i in (k, j)]
        images = [squared_distances(apart + period * s, *ends, eps, xi) for s in shifts]
        squared[k, j] = np.min(images, axis=0)[of_pair].reshape(squared.shape[2:])
    return edges_within(of_fibers(squared), np.repeat(radii, len(places)))
