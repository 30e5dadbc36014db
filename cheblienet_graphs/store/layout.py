"""Names, paths and metadata documents of the format, with the standard library alone.

    STORE/zarr.json                    attributes clg: {store_schema}
      NAME/zarr.json                   attributes clg: {refs: {latest: "v002", ...}}
        v001/zarr.json                 attributes clg: {schema, spec, ..., levels, manifest}
          levels/L/laplacian/{data,indices,indptr}, levels/L/{coordinates,degree,area[,base_index]}
          [levels/L/fraction, levels/L/filling/{data,indices,indptr}]
          [levels/L/directional/{forward,sideways,rotation}/{data,indices,indptr}]
          [levels/L/gradients/{fields[,symmetric]}/{data,indices,indptr}]
          pooling/LtoM/{data,indices,indptr}, unpooling/MtoL/...

Versions of maps between samplings have {map,transposed}/{data,indices,indptr} and, of both sides,
{source,target}/{coordinates[,base_index]} instead.

Arrays have one chunk, no compressor and no filter, so a chunk file is the array's bytes. Sparse
matrices follow AnnData's encoding. The documents are the same as zarr-python writes.
"""

import hashlib
import json
import os
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from cheblienet_graphs.errors import StoreError, UnknownGraphError, quoted
from cheblienet_graphs.store.folder import DOCUMENT, SEGMENT, Folder

STORE_SCHEMA = 1
SCHEMAS = ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6")
"""Schemas that this version reads; it writes the earliest that can hold a graph."""
BASE_INDEX = "base_index"
"""Array of a level: where its points are in the full sampling."""
FRACTION = "fraction"
"""Array of a level with a domain that cuts pixels: the part of each pixel in it."""
FILLING = "filling"
"""Matrix of such a level: what each pixel shows of a signal on the vertices."""
DIRECTIONAL = "directional"
"""Group of a level: its directional Laplacians."""
GRADIENTS = "gradients"
"""Group of a level: its gradients, in the two parts below."""
FIELDS = "fields"
"""Name of the matrices of all fields, one below the other."""
SYMMETRIC = "symmetric"
"""Name of their sums with their transposes; left out where these are 0."""
MAP = "map"
"""Attribute of a version that is a map between samplings, and its matrix, (targets, sources)."""
TRANSPOSED = "transposed"
"""The same matrix by columns, (sources, targets)."""
SIDES = ("source", "target")
"""Groups of the points that a map joins."""
NAME = SEGMENT
VERSION = re.compile(r"v[0-9]{3,9}")
MOST_PARTS = 256
"""Most folders in the path of a store."""
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""Beginning of an address that is no path; as a pathlib.Path it has one slash."""
LAST_VERSION = 10**9 - 1
MAX_DIMENSIONS = 2
"""Most dimensions of an array."""
MAX_SIDE = 2**40
"""Largest side of an array."""
DTYPES = {"float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8"}

COPIES = "consolidated_metadata"
"""Key of these copies in a document."""
Attributes = dict[str, Any]


def group_document(attributes: Attributes) -> Attributes:
    """The zarr.json of a group."""
    return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def array_document(
    shape: Sequence[int], dtype: str, attributes: Attributes, names: Sequence[str] = ()
) -> Attributes:
    """The zarr.json of a raw little-endian array of one chunk; dtype is a key of DTYPES.

    `names` are the names of its dimensions, if they have any.
    """
    named = {"dimension_names": list(names)} if names else {}
    return {
        "shape": list(shape),
        "data_type": dtype,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(1, n) for n in shape]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0 if dtype.startswith("float") else 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": attributes,
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
        **named,
    }


def store_path(store: str | os.PathLike[str]) -> Path:
    """The absolute path of a store, "~" expanded.

    Raises:
        StoreError: it is no path, or there is no such home folder.
    """
    if not isinstance(store, str | os.PathLike):
        raise StoreError(f"store must be a path, text or a pathlib.Path. Got {quoted(store)}.")
    if URL.match(os.fspath(store)) or not os.fspath(store).strip():
        found = quoted(os.fspath(store))
        raise StoreError(f"store must be a folder of this machine's file systems. Got {found}.")
    try:
        path = Path(store).expanduser().absolute()
    except RuntimeError as error:
        raise StoreError(f"{store} can't be found: {error} Write the path out.") from error
    if len(path.parts) > MOST_PARTS:
        found = f"a path of {len(path.parts)}"
        raise StoreError(f"store must be a path of at most {MOST_PARTS} folders. Got {found}.")
    return path


def staging_folder(store: Path) -> Path:
    """The folder of staged versions and locks: beside the store, as zarr would list it inside."""
    store = Path(os.path.realpath(store))  # for the same locks through all links
    return store.parent / f".{store.name}.staging"


def array_type(array: Folder) -> tuple[tuple[int, ...], str]:
    """Shape and data type, a key of DTYPES, of the node of an array from its zarr.json.

    Raises:
        StoreError: that is not one that `array_document` makes, or the shape is impossible.
    """
    document = array.document()
    shape, dtype = document.get("shape"), document.get("data_type")
    if not is_shape(shape, range(1, MAX_DIMENSIONS + 1)):
        raise StoreError(f"{array} has an impossible shape {quoted(shape)}.")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise StoreError(f"{array} is of type {quoted(dtype)}, not {' or '.join(DTYPES)}.")
    names = document.get("dimension_names")
    named = names if are_names(names, len(shape)) else ()
    ours = array_document(shape, dtype, document.get("attributes", {}), named)
    if not same(document, ours):
        raise StoreError(f"{array} is not a raw little-endian array of one chunk.")
    return tuple(shape), dtype


def is_shape(value: Any, dimensions: Container[int]) -> TypeGuard[list[int]]:
    """True if a value of a document is a shape of so many dimensions."""
    return (
        isinstance(value, list)
        and len(value) in dimensions
        and all(type(n) is int and 0 <= n <= MAX_SIDE for n in value)
    )


def are_names(value: Any, dimensions: int) -> TypeGuard[list[str]]:
    """True if a value of a document names so many dimensions."""
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return texts and len(set(value)) == len(value) == dimensions


def same(one: Any, other: Any) -> bool:
    """True if JSON values are the same; 1, 1.0 and true are three different values."""
    # The text is faster, and alike where keys have the same order, as in files of ours.
    return repr(one) == repr(other) or canonical(one) == canonical(other)


def chunk_path(dimensions: int) -> str:
    """The path of the only chunk of an array, below its node."""
    return "/".join(["c", *["0"] * dimensions])


def manifest_key(file: str) -> str:
    """Key of a file below a version in its manifest: an array's path stands for its one chunk."""
    array, chunk, indices = file.partition("/c/")
    return array if chunk and set(indices) <= {"0", "/"} else file


def csr_attributes(shape: Sequence[int]) -> Attributes:
    """AnnData's encoding of a CSR matrix."""
    return {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": list(shape)}


def dense_attributes(columns: Sequence[str] = (), more: Attributes | None = None) -> Attributes:
    """AnnData's encoding of a dense array, its columns' names if there are any, and more."""
    named = {"columns": list(columns)} if columns else {}
    return {"encoding-type": "array", "encoding-version": "0.2.0"} | named | (more or {})


def document_bytes(document: Attributes) -> bytes:
    """The file contents of a metadata document."""
    return json.dumps(document, indent=2, allow_nan=False).encode()


def canonical(value: Any) -> str:
    """A JSON value as text, the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_sha256(attributes: Attributes) -> str:
    """Hex digest of attributes in canonical form, without the digest among them."""
    rest = {key: value for key, value in attributes.items() if key != "attributes_sha256"}
    return hashlib.sha256(canonical(rest).encode()).hexdigest()


def is_group(document: Attributes) -> bool:
    """Check whether a document is that of a group of zarr format 3, and has no unknown fields."""
    rest = without_copies(document)
    attributes = rest.pop("attributes", {})
    return isinstance(attributes, dict) and same({"attributes": {}} | rest, group_document({}))


def without_copies(document: Attributes) -> Attributes:
    """A document without consolidated metadata."""
    return {key: value for key, value in document.items() if key != COPIES}


def read_attributes(group: Folder) -> Attributes | None:
    """Our attributes of a zarr group; None where the group is not one of ours.

    Raises:
        StoreError: the group's metadata can't be read.
    """
    return our_attributes(group.document())


def our_attributes(document: Attributes) -> Attributes | None:
    """Our attributes in the zarr.json of a group; None where the group is not one of ours."""
    attributes = document.get("attributes")
    ours = attributes.get("clg") if isinstance(attributes, dict) else None
    return ours if isinstance(ours, dict) else None


def check_name(name: str) -> str:
    """The name itself, if a graph may have it.

    Raises:
        UnknownGraphError: it can't be a folder of a store.
    """
    fits = isinstance(name, str) and NAME.fullmatch(name)
    if fits and not VERSION.fullmatch(name) and name != DOCUMENT:
        return name
    raise UnknownGraphError(
        f"A graph's name must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter "
        f"or digit, and not look like a version. Got {quoted(name)}."
    )


def version_number(version: str) -> int:
    """12 for "v012"."""
    return int(version[1:])


def check_version(version: Folder) -> Attributes:
    """Our attributes of a published version as they are; `facts` checks them.

    Raises:
        StoreError: they are missing, or the version is no group of zarr format 3.
    """
    document = version.document()
    if not is_group(document):
        raise StoreError(f"{version} is not a zarr v3 group.")
    attributes = our_attributes(document)
    if attributes is None:
        raise StoreError(f"{version} is not a version of a graph of ours.")
    return attributes
