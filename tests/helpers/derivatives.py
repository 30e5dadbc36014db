"""Smooth functions on manifolds as groups of matrices, and their derivatives by exponentials."""

from pathlib import Path

import numpy as np
import scipy.sparse
from scipy.linalg import expm

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder

STEP = 1e-5
A, B, C, D = np.random.default_rng(0).normal(size=(4, 3))
ROTATIONS = {  # generators of rotations about x, y and z
    axis: np.cross(np.eye(3), unit) for axis, unit in zip("xyz", np.eye(3), strict=True)
}
FRAMES = {
    "se2": (*(np.outer(unit, [0, 0, 1]) for unit in np.eye(3)[:2]), ROTATIONS["z"]),
    "so3": (ROTATIONS["y"], -ROTATIONS["x"], ROTATIONS["z"]),
}
FRAMES |= {"r2": FRAMES["se2"][:2], "s2": FRAMES["so3"][:2]}


def about(axis: str, angles: np.ndarray) -> np.ndarray:
    """(N, 3, 3) rotations."""
    return expm(angles[:, None, None] * ROTATIONS[axis])


def elements(spec: GraphSpec, coordinates: np.ndarray) -> np.ndarray:
    """(N, 3, 3) vertices as matrices; on r2 and s2 those of the angle 0."""
    if spec.geometry.base.flat:
        x, y, *theta = coordinates.T
        matrices = about("z", theta[0] if theta else 0 * x)
        matrices[:, :2, 2] = np.stack([x, y], axis=1)
        return matrices
    *alpha, beta, gamma = coordinates.T
    turned = about("z", alpha[0] if alpha else 0 * beta)
    return about("z", gamma) @ about("y", beta) @ turned


def smooth(spec: GraphSpec, g: np.ndarray) -> np.ndarray:
    """(N,) a function of matrices, periodic where the spec is; even in half turns modulo pi."""
    turns = len(spec.geometry.fiber.turns) if spec.geometry.oriented else 0
    if spec.geometry.base.flat:
        (x, y), waves = g[:, :2, 2].T, (2, 4) if spec.boundary == "periodic" else (1, 0.75)
        plane = np.sin(waves[0] * np.pi * x + 0.3) * np.cos(waves[1] * np.pi * y)
        mode = (g[:, 0, 0] + 1j * g[:, 1, 0]) ** turns
        return plane * (1 + mode.real) + (mode + mode**2).imag * np.cos(waves[0] * np.pi * x)
    u, v, p = np.moveaxis(g, 2, 0)
    on_sphere = np.sin(p @ A) + (p @ B) * (p @ C) ** 2
    return on_sphere + ((u @ D + 1j * (v @ D)) ** turns * (1 + p @ A)).real if turns else on_sphere


def derivatives(spec: GraphSpec, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The function at vertices, (V,), and along the frame, (fields, V)."""
    if spec.manifold == "r3":
        waves = 2 * np.pi if spec.boundary == "periodic" else np.array([3.1, 2.3, 1.7])
        angles = coordinates * waves + [0.3, 0.1, 0.7]
        sines = np.sin(angles)
        along = (
            np.cos(angles) * waves * np.stack([np.delete(sines, k, 1).prod(1) for k in range(3)], 1)
        )
        return sines.prod(axis=1), along.T
    g = elements(spec, coordinates)
    ends = [
        [smooth(spec, g @ expm(sign * STEP * x)) for sign in (1, -1)] for x in FRAMES[spec.manifold]
    ]
    return smooth(spec, g), np.array([after - before for after, before in ends]) / (2 * STEP)


def built(spec: GraphSpec, folder: Path, **how: object) -> list[LevelFolder]:
    """The levels of a graph, built into a folder of its own."""
    version = build(spec, folder / "g.zarr", **how)
    path = folder / "g.zarr" / version.name / version.version
    return [
        LevelFolder.published(Folder(path), read_facts(Folder(path)), level)
        for level in range(spec.levels)
    ]


def errors(arrays: LevelFolder) -> np.ndarray:
    """(fields,) root mean squares of the errors of derivatives."""
    values, true = derivatives(arrays.spec, arrays.coordinates)
    made = np.stack([matrix @ values for matrix in arrays.gradients.values()])
    return np.sqrt(((made - true) ** 2).mean(axis=1))


def wide(matrix: scipy.sparse.csr_array) -> np.ndarray:
    """A matrix in float64, dense."""
    return matrix.toarray().astype(float)
