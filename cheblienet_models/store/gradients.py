"""The gradients of a level: one stacked matrix of all fields, and what makes its transposes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays, read_csr
from cheblienet_models.store.files import Document, Folder

FRAMES = {
    "r2": ("x", "y"),
    "r3": ("x", "y", "z"),
    "s2": ("south", "east"),
    "se2": ("forward", "sideways", "rotation"),
    "so3": ("forward", "sideways", "rotation"),
}
"""Fields by manifold."""
MAX_NORM = 1e30


@dataclass(frozen=True)
class StoredGradients:
    """First derivatives along the F fields of a frame, mapped copy-on-write.

    Args:
        names: of the fields.
        fields: (F V, V), G of the first field, then that of the next; per unit of length, the
            width of the domain or a radian.
        symmetric: (F V, V), G + G^T of each field; without entries where all are antisymmetric.
        norms: bounds of the fields' spectral norms, at least 0.
    """

    names: tuple[str, ...]
    fields: CsrArrays
    symmetric: CsrArrays
    norms: tuple[float, ...]


def read_gradients(folder: Folder, spec: Document, facts: Any, vertices: int) -> StoredGradients:
    """Map the gradients of a level; `verify=True` looks at their values.

    Args:
        folder: of the level.
        spec: of the version.
        facts: of the gradients, any JSON value.
        vertices: V.

    Raises:
        StoreError: a matrix is missing or no such one, or a fact is not one of gradients.
    """
    manifold, known = spec.get("manifold"), facts if isinstance(facts, dict) else {}
    names = FRAMES.get(manifold) if isinstance(manifold, str) else None
    if names is None or spec["gradients"] is not True:
        raise StoreError(
            f"{folder} must have gradients true, on {', '.join(FRAMES)}. "
            f"Got {quoted(spec['gradients'])} on {quoted(manifold)}."
        )
    norms: Any = known.get("norms")
    if not isinstance(norms, list) or [*map(_is_size, norms)] != [True] * len(names):
        raise StoreError(
            f"{folder} must have {len(names)} norms of gradients, finite numbers from 0. "
            f"Got {quoted(norms)}."
        )
    parts = set((folder / "gradients").names() if "gradients" in folder.names() else ())
    fields, symmetric = (
        _stacked(folder / f"gradients/{part}", known.get(fact), (len(names) * vertices, vertices))
        if part in parts or known.get(fact) != 0
        else _empty(len(names) * vertices, vertices)
        for part, fact in (("fields", "nnz"), ("symmetric", "symmetric_nnz"))
    )
    return StoredGradients(names, fields, symmetric, tuple(map(float, norms)))


def _is_size(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value <= MAX_NORM


def _stacked(folder: Folder, entries: Any, shape: tuple[int, int]) -> CsrArrays:
    """A matrix of so many entries."""
    matrix = read_csr(folder, shape)
    if type(entries) is not int or entries != len(matrix.data):
        raise StoreError(
            f"{folder} must have {quoted(entries)} entries, as the facts of its level say. "
            f"Got {len(matrix.data)}."
        )
    return matrix


def _empty(rows: int, columns: int) -> CsrArrays:
    """A matrix without entries, which is not stored."""
    none = np.zeros(0, np.int32)
    pointers = np.zeros(rows + 1, np.int32)
    return CsrArrays((rows, columns), pointers, none, none.astype(np.float32))
