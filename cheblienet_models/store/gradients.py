"""The gradients of a level: one stacked matrix of all fields, and what makes its transposes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cheblienet_graphs.store.folder import Folder
from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays, read_csr
from cheblienet_models.store.files import Document, read_number

FRAMES = {
    "r2": ("x", "y"),
    "r3": ("x", "y", "z"),
    "s2": ("south", "east"),
    "se2": ("forward", "sideways", "rotation"),
    "so3": ("forward", "sideways", "rotation"),
}
"""Fields by manifold."""
SIZES = ("norms", "spacings")


@dataclass(frozen=True)
class StoredGradients:
    """First derivatives along the F fields of a frame, mapped copy-on-write.

    Args:
        names: of the fields.
        fields: (F V, V), G of the first field, then that of the next; per unit of length, the
            width of the domain or a radian.
        symmetric: (F V, V), G + G^T of each field; without entries where all are antisymmetric.
        norms: bounds of the fields' spectral norms, at least 0.
        spacings: what a step to a neighbor is along each, above 0, one for all directions of the
            base.
    """

    names: tuple[str, ...]
    fields: CsrArrays
    symmetric: CsrArrays
    norms: tuple[float, ...]
    spacings: tuple[float, ...]


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
    norms, spacings = (_sizes(folder, name, known.get(name), len(names)) for name in SIZES)
    if 0.0 in spacings or len(set(spacings[: 3 if manifold == "r3" else 2])) > 1:
        raise StoreError(
            f"{folder} must have one spacing above 0 along the base. Got {quoted(spacings)}."
        )
    parts = set((folder / "gradients").names() if "gradients" in folder.names() else ())
    fields, symmetric = (
        _stacked(folder / f"gradients/{part}", known.get(fact), (len(names) * vertices, vertices))
        if part in parts or known.get(fact) != 0
        else _empty(len(names) * vertices, vertices)
        for part, fact in (("fields", "nnz"), ("symmetric", "symmetric_nnz"))
    )
    return StoredGradients(names, fields, symmetric, norms, spacings)


def _sizes(folder: Folder, name: str, values: Any, count: int) -> tuple[float, ...]:
    """A fact that has a number for each field."""
    if not isinstance(values, list) or len(values) != count:
        raise StoreError(f"{folder} must have {count} {name} of gradients. Got {quoted(values)}.")
    return tuple(read_number(folder, f"{name} of gradients", n, zero=True) for n in values)


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
