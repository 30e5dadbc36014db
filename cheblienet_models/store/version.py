"""The graphs and maps of a store, and their published versions as arrays and JSON values."""

import hashlib
import math
import re
import stat
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cheblienet_graphs.store import layout
from cheblienet_graphs.store.arrays import mapped_array
from cheblienet_graphs.store.folder import DOCUMENT, SEGMENT, Folder
from cheblienet_models.errors import StoreError, UnreadableError, quoted
from cheblienet_models.store.csr import CsrArrays, read_averages, read_csr
from cheblienet_models.store.files import (
    Document,
    own_attributes,
    read_count,
    read_grid,
    read_number,
)
from cheblienet_models.store.levels import Level, read_level
from cheblienet_models.store.verify import (
    verify_facts,
    verify_files,
    verify_laplacian,
    verify_mask,
    verify_spec,
)

SCHEMAS = ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6")
"""Those that are read: later ones hold what would be misread."""
MAX_LEVELS = 64
STORE_SCHEMA = 1
VERSION = re.compile(r"v[0-9]{3,9}")
MAP = "map"
"""Attribute of a version that is a map, and its matrix."""
GRIDS = ("source_grid", "target_grid")
MOST_VERTICES = 2**40
"""Of a side of a map."""


@dataclass(frozen=True)
class Version:
    """Everything that is stored of a pyramid of n levels, mapped copy-on-write.

    Args:
        spec: what it was built from.
        spec_sha256: hexadecimal digest of that.
        sha256: hexadecimal digest of that, the facts and the arrays, whenever and by whatever these
            were written.
        levels: n, finest first.
        poolings: n - 1 matrices of averages, (V of level k + 1, V of level k).
        unpoolings: n - 1 matrices of averages, (V of level k, V of level k + 1).
    """

    spec: Document
    spec_sha256: str
    sha256: str
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
    spec, facts, of_spec, digest = _read_attributes(folder, "levels", list, verify=verify)
    if not 1 <= len(facts) <= MAX_LEVELS:
        raise StoreError(f"{folder} must have 1 to {MAX_LEVELS} levels. Got {len(facts)}.")
    levels = tuple(
        read_level(folder, number, f"{label}, level {number}", spec, fact)
        for number, fact in enumerate(facts)
    )
    if verify:
        for level, fact in zip(levels, facts, strict=True):
            verify_laplacian(level)
            verify_facts(spec, fact, level)
        if levels[0].base_index is not None and levels[0].filling is None:
            verify_mask(folder, spec, levels[0].base_index, math.prod(levels[0].grid[1:]))
    poolings, unpoolings = [], []
    for n, (fine, coarse) in enumerate(pairwise(level.num_vertices for level in levels)):
        poolings.append(read_averages(folder / f"pooling/{n}to{n + 1}", (coarse, fine)))
        unpoolings.append(read_averages(folder / f"unpooling/{n + 1}to{n}", (fine, coarse)))
    return Version(spec, of_spec, digest, levels, tuple(poolings), tuple(unpoolings))


@dataclass(frozen=True)
class StoredMap:
    """Everything that is stored of a map, mapped copy-on-write.

    Args:
        spec: what it was built from.
        spec_sha256: hexadecimal digest of that.
        sha256: as of a `Version`.
        matrix: (targets, sources) averages.
        transposed: the same by columns.
        coordinates: (sources, d) and (targets, d) float64.
        grids: shapes of signals of the source and the target, orientations first.
    """

    spec: Document
    spec_sha256: str
    sha256: str
    matrix: CsrArrays
    transposed: CsrArrays
    coordinates: tuple[Tensor, Tensor]
    grids: tuple[tuple[int, ...], tuple[int, ...]]


def is_map(folder: Folder) -> bool:
    """Whether a version is a map.

    Raises:
        StoreError: it can't be read.
    """
    return MAP in own_attributes(folder)


def read_map(folder: Folder, label: str, *, verify: bool = False) -> StoredMap:
    """Map a map.

    Args:
        folder: of the version.
        label: name@version, for messages.
        verify: whether to hash every file and compare it with the manifest, and the transpose with
            the matrix, besides the checks that are always made.

    Raises:
        StoreError: it is missing or not valid, or of a format that this version can't read.
    """
    spec, facts, of_spec, digest = _read_attributes(folder, MAP, dict, verify=verify)
    here, there = (read_grid(label, name, facts.get(name)) for name in GRIDS)
    sources, targets = (
        read_count(label, f"a number of {side}", facts.get(side), MOST_VERTICES)
        for side in ("sources", "targets")
    )
    matrix = read_averages(folder / MAP, (targets, sources))
    transposed = read_csr(folder / "transposed", (sources, targets))
    source, target = (
        torch.from_numpy(mapped_array(folder / side / "coordinates", (count, None), ("float64",)))
        for side, count in (("source", sources), ("target", targets))
    )
    stored = StoredMap(spec, of_spec, digest, matrix, transposed, (source, target), (here, there))
    if verify:
        _verify_map(label, facts, stored)
    return stored


def _verify_map(label: str, facts: Document, stored: StoredMap) -> None:
    """Check that weights sum to exactly 1, and that the transpose is the matrix by columns.

    Raises:
        StoreError: one of them does not, or coordinates are not finite.
    """
    matrix = stored.matrix
    if (np.add.reduceat(matrix.data.astype(np.float64), matrix.indptr[:-1]) != 1).any():
        raise StoreError(f"{label} must have weights that sum to exactly 1 for each target.")
    if not stored.transposed.is_transpose_of(matrix):
        raise StoreError(f"The transpose of {label} is not its matrix by columns.")
    entries, known = len(matrix.data), facts.get("nnz")
    if known != entries:
        message = f"{label} must have nnz {entries}, as its matrix says. Got {quoted(known)}."
        raise StoreError(message)
    if not all(bool(side.isfinite().all()) for side in stored.coordinates):
        raise StoreError(f"{label} has coordinates that are not finite.")
    read_number(label, "farthest", facts.get("farthest"), zero=True)


def _read_attributes(
    folder: Folder, name: str, kind: type, *, verify: bool
) -> tuple[Document, Any, str, str]:
    """Specification of a version, the facts under a name, and the digests of a `Version`."""
    attributes = own_attributes(folder)
    if verify:
        verify_files(folder, attributes)
    _check_version_schema(folder, attributes)
    spec, facts, digest = (attributes.get(key) for key in ("spec", name, "spec_sha256"))
    if not (isinstance(spec, dict) and isinstance(facts, kind) and isinstance(digest, str)):
        raise StoreError(f"{folder} lacks spec, spec_sha256 or {name}.")
    if verify:
        verify_spec(folder, attributes)
    return spec, facts, digest, _numbers_sha256(spec, facts, attributes.get("manifest"))


def _numbers_sha256(spec: Document, facts: Any, manifest: Any) -> str:
    """Hexadecimal digest of all that a version's modules compute with.

    When and by what it was written is not in it, nor documents of arrays, where later versions of
    the package may say more: a build that gives the same bytes again has the same digest.
    """
    files = manifest.items() if isinstance(manifest, dict) else ()
    arrays = {key: entry for key, entry in files if not key.endswith(DOCUMENT)}
    return hashlib.sha256(layout.canonical([spec, facts, arrays]).encode()).hexdigest()


def _check_version_schema(folder: Folder, attributes: Document) -> None:
    """Check that the schema of a version is one that is read here."""
    schema, by = attributes.get("schema"), quoted(attributes.get("generator"))
    if schema not in SCHEMAS:
        raise StoreError(
            f"{folder} has schema {quoted(schema)}; this version reads {SCHEMAS[0]} to "
            f"{SCHEMAS[-1]}. Install the version of cheblienet that wrote it: {by}."
        )


class UnknownGraphError(StoreError, KeyError):
    """No graph, version or ref of that name."""

    __str__ = Exception.__str__  # KeyError's would print the message's repr


def check_schema(root: Folder) -> None:
    """Check that a folder is a store of the format that is read here.

    Raises:
        StoreError: it is not.
    """
    if DOCUMENT not in root.names():
        raise StoreError(f"{root} is no store: it has no {DOCUMENT}. Give the folder of one.")
    attributes = own_attributes(root)
    schema = attributes.get("store_schema")
    if schema is None and isinstance(attributes.get("refs"), dict):
        raise StoreError(f"{root} is a graph within a store: open the store, {root.parent}.")
    if schema != STORE_SCHEMA:
        raise StoreError(
            f"{root} has store schema {quoted(schema)}; this version reads {STORE_SCHEMA}. "
            "Install the version of cheblienet that wrote it."
        )


def versions_of(root: Folder, name: str) -> dict[str, str]:
    """The versions of a graph of a store, by their own names, by its refs and as "latest".

    Empty where there is no such graph, or none of its versions: a crash can leave one without.
    `latest` is the newest, and refs that name nothing are left out, whatever was written down.
    """
    if not SEGMENT.fullmatch(name):
        return {}
    graph = root / name
    try:
        refs, entries = own_attributes(graph).get("refs"), graph.entries()
    except UnreadableError:
        raise
    except StoreError:
        return {}
    names = [n for n, of in entries if VERSION.fullmatch(n) and stat.S_ISDIR(of.st_mode)]
    if not names or not isinstance(refs, dict):
        return {}
    names.sort(key=lambda version: int(version[1:]))
    named = refs | {"latest": names[-1]}
    return {n: n for n in names} | {ref: n for ref, n in named.items() if n in names}
