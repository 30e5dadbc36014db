"""Independent truth on axes: moments of edges from matrix logarithms, motions of a cube of axes."""

import numpy as np
import scipy.linalg
from space_truth import ROTATIONS, moved_voxels


def tilt_residual(points: np.ndarray, areas: np.ndarray, weights: np.ndarray) -> float:
    """Largest entry of sum_j w_ij (T_i - T_j) - 6 a_i T_i, T = n n^T - I / 3."""
    tensors = points[:, :, None] * points[:, None] - np.eye(3) / 3
    applied = weights.sum(axis=1)[:, None, None] * tensors - np.tensordot(weights, tensors, 1)
    return float(abs(applied - 6 * areas[:, None, None] * tensors).max())


def logarithm_moments(axis: np.ndarray, other: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(3, 3) c c^T in the coordinates of space, c the translation of the smallest rotation's log.

    The mean of both where the axes are orthogonal.
    """
    cosine = float(axis @ other)
    ends = [other, -other] if abs(cosine) < 1e-9 else [other * np.sign(cosine)]
    moments = np.zeros((3, 3))
    for end in ends:
        part = _translation(axis, end, step)
        moments += np.outer(part, part) / len(ends)
    return moments


def logarithm_of(axis: np.ndarray, end: np.ndarray, step: np.ndarray) -> tuple[float, float, float]:
    """Lengths along the axis, across it and of the tilt of the logarithm of a motion.

    The motion turns the axis to an end by the smallest rotation, and moves it by a step.
    """
    part = _translation(axis, end, step)
    along = float(part @ axis)
    across = float(np.linalg.norm(part - along * axis))
    return along, across, float(np.arccos(np.clip(axis @ end, -1, 1)))


def _translation(start: np.ndarray, end: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(3,) of the logarithm of the smallest rotation to an end, followed by a step."""
    generator = np.cross(np.eye(3), np.cross(start, end))
    motion = np.eye(4)
    motion[:3, :3] += generator + generator @ generator / (1 + start @ end)
    motion[:3, 3] = step
    return scipy.linalg.logm(motion).real[:3, 3]


def cube_permutations(side: int, points: np.ndarray) -> list[np.ndarray]:
    """Permutations (V,) by `ROTATIONS` of a cube of voxels with axes, index ((k z) y) x."""
    images = [abs(points @ matrix.T @ points.T).argmax(axis=1) for matrix in ROTATIONS]
    places = [moved_voxels(side, matrix) for matrix in ROTATIONS]
    pairs = zip(images, places, strict=True)
    return [(image[:, None] * side**3 + place).ravel() for image, place in pairs]
