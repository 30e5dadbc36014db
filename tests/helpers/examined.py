"""Small graphs that are examined in blocks of rows, matrices at random, bytes allocated."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse
from csr_truth import mapped
from masks import disc

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.store.folder import Folder

SPECS = {
    "open": GraphSpec("se2", 12, orientations=5, levels=1),
    "torus": GraphSpec("se2", 12, orientations=4, boundary="periodic", levels=1),
    "combinatorial": GraphSpec("r2", "9x7", laplacian="combinatorial", levels=1),
    "sphere": GraphSpec("so3", subdivisions=2, orientations=4, levels=1),
    "random": GraphSpec("r2", sampling="random", points=90, levels=1),
    "masked": GraphSpec("se2", mask=disc(16), orientations=3, levels=2),
}


def laplacian_of(versions: Path, name: str) -> scipy.sparse.csr_array:
    return mapped(Folder(versions / name / "v001/levels/0/laplacian"))


def random_matrix(size: int, density: float, seed: int) -> scipy.sparse.csr_array:
    """Symmetric, float32."""
    half = scipy.sparse.random_array(
        (size, size), density=density, random_state=np.random.default_rng(seed), dtype=np.float32
    )
    matrix = scipy.sparse.csr_array(half + half.T)
    matrix.sort_indices()
    return matrix


def allocated_by(work: Callable[[], object]) -> int:
    """The most bytes that are allocated at once meanwhile, mapped files left out."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
