"""Names, paths and metadata documents of the format, with the standard library alone.

    STORE/zarr.json                    attributes clg: {store_schema}
      NAME/zarr.json                   attributes clg: {refs: {latest: "v002", ...}}
        v001/zarr.json                 attributes clg: {schema, spec, ..., levels, manifest}
          levels/L/laplacian/{data,indices,indptr}, levels/L/{coordinates,degree,area}
          pooling/LtoM/{data,indices,indptr}, unpooling/MtoL/...

Arrays have one chunk, no compressor and no filter, so a chunk file is the array's bytes. Sparse
matrices follow AnnData's encoding. The documents are those that zarr-python itself writes.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import StoreError, UnknownGraphError

STORE_SCHEMA = 1
SCHEMA = "1.0"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
VERSION = re.compile(r"v[0-9]{3,9}")
DTYPES = {"float32": "<f4", "float64": "<f8", "int32": "<i4", "int64": "<i8"}

Attributes = dict[str, Any]


def group_document(attributes: Attributes) -> Attributes:
    """The zarr.json of a group."""
    return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def array_document(shape: Sequence[int], dtype: str, attributes: Attributes) -> Attributes:
    """The zarr.json of a raw little-endian array of one chunk; dtype is a key of DTYPES."""
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
    }


def staging_folder(store: Path) -> Path:
    """Where versions are made and locks lie: beside the store, inside it zarr would list them."""
    return store.parent / f".{store.name}.staging"


def chunk_file(array: Path, dimensions: int) -> Path:
    """The only chunk of an array."""
    return array.joinpath("c", *["0"] * dimensions)


def manifest_key(file: str) -> str:
    """Key of a file below a version in its manifest: an array's path stands for its one chunk."""
    array, chunk, indices = file.partition("/c/")
    return array if chunk and set(indices) <= {"0", "/"} else file


def manifest_file(version: Path, key: str) -> Path:
    """The file below a version that a manifest key stands for."""
    if key.rpartition("/")[2] == "zarr.json":
        return version / key
    try:
        dimensions = len(read_document(version / key)["shape"])
    except (StoreError, KeyError, TypeError):
        dimensions = 1  # its metadata is another entry of the manifest, and at fault itself
    return chunk_file(version / key, dimensions)


def csr_attributes(shape: Sequence[int]) -> Attributes:
    """AnnData's encoding of a CSR matrix."""
    return {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": list(shape)}


def dense_attributes(columns: Sequence[str] = ()) -> Attributes:
    """AnnData's encoding of a dense array, with the names of its columns where it has some."""
    named = {"columns": list(columns)} if columns else {}
    return {"encoding-type": "array", "encoding-version": "0.2.0"} | named


def document_bytes(document: Attributes) -> bytes:
    """The file contents of a metadata document."""
    return json.dumps(document, indent=2, allow_nan=False).encode()


def canonical_sha256(attributes: Attributes) -> str:
    """Hex digest of attributes in canonical form, their own digest left out."""
    rest = {key: value for key, value in attributes.items() if key != "attributes_sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_document(node: Path) -> Attributes:
    """The metadata document of a zarr node.

    Raises:
        StoreError: there is none, or it is not a zarr v3 document.
    """
    try:
        document = json.loads(_read_regular(node / "zarr.json"))
    except OSError as error:
        raise StoreError(f"{node} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{node}/zarr.json is not JSON.") from error
    if isinstance(document, dict) and document.get("node_type") in {"group", "array"}:
        return document
    raise StoreError(f"{node}/zarr.json is not a zarr v3 document.")


def _read_regular(file: Path) -> bytes:
    """Contents of a file; a pipe in its place would make a plain read wait for ever."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return opened.read()


def read_attributes(group: Path) -> Attributes | None:
    """Our attributes of a zarr group; None where the group is not one of ours.

    Raises:
        StoreError: the group's metadata can't be read.
    """
    attributes = read_document(group).get("attributes")
    ours = attributes.get("clg") if isinstance(attributes, dict) else None
    return ours if isinstance(ours, dict) else None


def check_name(name: str) -> str:
    """The name of a graph, if it is one.

    Raises:
        UnknownGraphError: it could not be a folder of a store.
    """
    if NAME.fullmatch(name) and not VERSION.fullmatch(name) and name != "zarr.json":
        return name
    raise UnknownGraphError(
        f"A graph's name must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter "
        f"or digit, and not look like a version. Got {name!r}."
    )


def check_store(store: Path) -> bool:
    """Whether a store of ours exists at a path; False where nothing does, or an empty folder.

    Raises:
        StoreError: something else is there.
    """
    try:
        if not store.exists() or (store.is_dir() and not any(store.iterdir())):
            return False
        if not store.is_dir():
            raise StoreError(f"{store} is a file, not a store; choose another `store`.")
        if not (store / "zarr.json").exists():
            raise StoreError(f"{store} is a folder of other files; choose another `store`.")
    except OSError as error:
        raise StoreError(f"{store} can't be read: {error.strerror}.") from error
    attributes = read_attributes(store)
    if attributes is None:
        raise StoreError(f"{store} is a zarr group of another program; choose another `store`.")
    if attributes.get("store_schema") != STORE_SCHEMA:
        found = attributes.get("store_schema")
        raise StoreError(
            f"{store} has store schema {found!r}; this version reads {STORE_SCHEMA}. "
            "Install the version of cheblienet that wrote it."
        )
    return True


def graph_names(store: Path) -> list[str]:
    """Names of the graphs of an existing store, sorted; foreign and empty groups are left out."""
    return sorted(path.name for path in store.iterdir() if _is_graph(path))


def _is_graph(folder: Path) -> bool:
    """Whether a folder is a graph with at least one version; a crash can leave one without."""
    try:
        return read_attributes(folder) is not None and bool(versions(folder))
    except StoreError:
        return False


def versions(graph: Path) -> list[str]:
    """Published versions of a graph, oldest first."""
    found = [p.name for p in graph.iterdir() if VERSION.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=version_number)


def version_number(version: str) -> int:
    """12 for "v012"."""
    return int(version[1:])


def refs(graph: Path) -> dict[str, str]:
    """Refs of a graph: name -> version. `latest` is the newest, whatever a crash left behind."""
    attributes = read_attributes(graph) or {}
    found = attributes.get("refs", {})
    if isinstance(found, dict):
        stored = {str(ref): str(version) for ref, version in found.items()}
        existing = versions(graph)
        return stored | ({"latest": existing[-1]} if existing else {})
    raise StoreError(f"{graph}/zarr.json has refs of another form than ours.")


def resolve(store: Path, name: str | None) -> Path:
    """The folder of a version: NAME, NAME@v001, NAME@REF, or the store's only graph.

    Raises:
        UnknownGraphError: there is none of that name, or several where none was named.
        StoreError: the store can't be read.
    """
    if not check_store(store):
        raise UnknownGraphError(f"There is no store at {store}; `clg build` makes one.")
    names = graph_names(store)
    if not names:
        raise UnknownGraphError(f"{store} holds no graph; `clg build` makes one.")
    listed = ", ".join(names)
    if name is None:
        if len(names) != 1:
            raise UnknownGraphError(f"Name one of the graphs in {store}: {listed}.")
        name = names[0]
    name, at, ref = name.partition("@")
    if at and not ref:
        raise UnknownGraphError(
            f"Nothing follows the @ of {name}@; give a version, such as @v001, or a ref."
        )
    if name not in names:
        raise UnknownGraphError(f"No graph {name!r} in {store}. There: {listed}.")
    graph = store / name
    known = refs(graph)
    version = known.get(ref or "latest", ref)
    if version not in versions(graph):
        choices = ", ".join([*versions(graph), *known])
        raise UnknownGraphError(f"No version {ref or 'latest'!r} of {name}. There: {choices}.")
    return graph / version


def check_version(version: Path) -> Attributes:
    """Our attributes of a published version.

    Raises:
        StoreError: they are missing, or of a format that this version can't read.
    """
    attributes = read_attributes(version)
    if attributes is None:
        raise StoreError(f"{version} is not a version of a graph of ours.")
    schema = str(attributes.get("schema"))
    if schema.partition(".")[0] != SCHEMA.partition(".")[0]:
        raise StoreError(
            f"{version} has schema {schema}; this version reads {SCHEMA}. Install the version of "
            f"cheblienet that wrote it: {attributes.get('generator')}."
        )
    return attributes
