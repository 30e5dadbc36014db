"""The directional Laplacians of a level: along forward, sideways and rotation."""

from dataclasses import dataclass
from typing import Any

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.csr import CsrArrays, read_csr
from cheblienet_models.store.documents import Document
from cheblienet_models.store.files import Folder

DIRECTIONS = ("forward", "sideways", "rotation")
MAX_LAMBDA = 1e15


@dataclass(frozen=True)
class Directional:
    """A combinatorial Laplacian, mapped copy-on-write.

    Args:
        laplacian: (V, V), 2 Delta / lambda_max - I.
        lambda_max: upper bound of the spectrum of Delta, in (0, MAX_LAMBDA].
    """

    laplacian: CsrArrays
    lambda_max: float


def read_directional(
    folder: Folder, spec: Document, facts: Any, vertices: int
) -> dict[str, Directional]:
    """Map the directional Laplacians of a level; none where the specification has none.

    Args:
        folder: of the level.
        spec: of the version.
        facts: of the level.
        vertices: V.

    Raises:
        StoreError: a matrix is missing, of another shape, type or encoding, or has no lambda_max.
    """
    if "directional" not in spec:
        return {}
    known = facts.get("directional") if isinstance(facts, dict) else None
    found = {}
    for name in DIRECTIONS:
        own = known.get(name) if isinstance(known, dict) else None
        value: Any = own.get("lambda_max") if isinstance(own, dict) else None
        if type(value) not in {int, float} or not 0 < value <= MAX_LAMBDA:
            raise StoreError(
                f"{folder}/directional/{name} must have lambda_max in (0, {MAX_LAMBDA:g}]. "
                f"Got {quoted(value)}."
            )
        matrix = read_csr(folder / "directional" / name, (vertices, vertices))
        found[name] = Directional(matrix, float(value))
    return found
