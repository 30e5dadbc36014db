"""A published version: everything that is stored of a pyramid, as arrays and JSON values."""

import math
import re
from dataclasses import dataclass
from typing import Any

from cheblienet_models.errors import StoreError, quoted
from cheblienet_models.store.base_index import verify_mask
from cheblienet_models.store.csr import CsrArrays, read_averages
from cheblienet_models.store.documents import Document
from cheblienet_models.store.facts import verify_facts, verify_spec
from cheblienet_models.store.files import Folder, own_attributes
from cheblienet_models.store.laplacian import verify_laplacian
from cheblienet_models.store.levels import Level, read_level
from cheblienet_models.store.manifest import verify_files

SCHEMA_MAJOR = 1
SCHEMA_MINOR = 1
"""The latest that is read: later ones hold what would be misread."""
SCHEMA = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")
MAX_LEVELS = 64


@dataclass(frozen=True)
class Version:
    """Everything that is stored of a pyramid of n levels, mapped copy-on-write.

    Args:
        spec: what it was built from.
        spec_sha256: hexadecimal digest of that.
        levels: n, finest first.
        poolings: n - 1 matrices of averages, (V of level k + 1, V of level k).
        unpoolings: n - 1 matrices of averages, (V of level k, V of level k + 1).
    """

    spec: Document
    spec_sha256: str
    levels: tuple[Level, ...]
    poolings: tuple[CsrArrays, ...]
    unpoolings: tuple[CsrArrays, ...]


def read_version(folder: Folder, label: str, *, verify: bool = False) -> Version:
    """Map a version.

    Args:
        folder: of the version.
        label: name@version, for messages.
        verify: whether to hash every file and compare it with the manifest, and the facts with the
            arrays, besides the checks that are always made.

    Raises:
        StoreError: it is missing or not valid, or of a format that this version can't read.
    """
    attributes = own_attributes(folder)
    if verify:
        verify_files(folder, attributes)
    _check_schema(folder, attributes)
    spec, facts, digest = (attributes.get(key) for key in ("spec", "levels", "spec_sha256"))
    if not (isinstance(spec, dict) and isinstance(facts, list) and isinstance(digest, str)):
        raise StoreError(f"{folder} lacks spec, spec_sha256 or levels.")
    if not 1 <= len(facts) <= MAX_LEVELS:
        raise StoreError(f"{folder} must have 1 to {MAX_LEVELS} levels. Got {len(facts)}.")
    levels = tuple(
        read_level(folder, number, f"{label}, level {number}", spec, fact)
        for number, fact in enumerate(facts)
    )
    if verify:
        verify_spec(folder, attributes)
        for level, fact in zip(levels, facts, strict=True):
            verify_laplacian(level)
            verify_facts(spec, fact, level)
        if levels[0].base_index is not None:
            verify_mask(folder, spec, levels[0].base_index, math.prod(levels[0].grid[1:]))
    sizes = [level.num_vertices for level in levels]
    finer = range(len(levels) - 1)
    poolings = tuple(
        read_averages(folder / f"pooling/{n}to{n + 1}", (sizes[n + 1], sizes[n])) for n in finer
    )
    unpoolings = tuple(
        read_averages(folder / f"unpooling/{n + 1}to{n}", (sizes[n], sizes[n + 1])) for n in finer
    )
    return Version(spec, digest, levels, poolings, unpoolings)


def _check_schema(folder: Folder, attributes: Document) -> None:
    schema: Any = attributes.get("schema")
    known = SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if known is None or int(known[1]) != SCHEMA_MAJOR:
        raise StoreError(
            f"{folder} has schema {quoted(schema)}; this version reads {SCHEMA_MAJOR}.x. Install "
            f"the version of cheblienet that wrote it: {quoted(attributes.get('generator'))}."
        )
    if int(known[2]) > SCHEMA_MINOR:
        raise StoreError(
            f"{folder} has schema {schema}; this version reads {SCHEMA_MAJOR}.0 to "
            f"{SCHEMA_MAJOR}.{SCHEMA_MINOR}. "
            f"Install a newer cheblienet; it was written by {quoted(attributes.get('generator'))}."
        )
