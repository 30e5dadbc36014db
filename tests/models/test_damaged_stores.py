"""Stores that somebody changed are refused in one line, whatever was changed."""

import math
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import zarr
from damage import edit, extend, field, shape, to_fifo, to_folder, to_link, truncate, writable_copy
from refusing import refused
from sealing import reseal_array

from cheblienet_models import Store, StoreError, open_store

Change = Callable[[Path], object]
STORES = {
    "torus": "store",
    "few": "spectral_graphs",
    "ring": "masked_graphs",
    "arrows": "gradient_graphs",
    "disc": "masked_graphs",
}
"""Where graphs are copied from."""
TORUS, FEW, RING, ARROWS, DISC = (f"{name}/v001" for name in STORES)
LAPLACIAN, MAPS = f"{TORUS}/levels/0/laplacian", f"{TORUS}/pooling/0to1"
PLACES = f"{TORUS}/levels/0/coordinates"
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
DOCUMENT, COUNTS = f"{LAPLACIAN}/data/zarr.json", f"{TORUS}/levels/0/degree/zarr.json"
INDEX, EIGEN = f"{RING}/levels/0/base_index", f"{FEW}/levels/0/eigen"
FLOATS, VECTORS = f"{EIGEN}values", f"{EIGEN}vectors"
FIELDS, SYMMETRIC = (f"{ARROWS}/levels/0/gradients/{part}" for part in ("fields", "symmetric"))


def in_array(change_values: Callable[[np.ndarray], object]) -> Change:
    """Values of an array, with digests that agree."""

    def change(array: Path) -> None:
        version = next(parent for parent in array.parents if parent.name == "v001")
        reseal_array(version, str(array.relative_to(version)), change_values)

    return change


def put(place: int, value: float) -> Change:
    return in_array(lambda values: values.__setitem__(place, value))


def times(factor: float) -> Change:
    return in_array(lambda values: values.__imul__(factor))


def in_group(change: Callable[[dict], object]) -> Change:
    return lambda path: edit(path, lambda document: change(document["attributes"]))


def written(contents: bytes) -> Change:
    return lambda path: path.write_bytes(contents)


def empty_row(matrix: Path) -> None:
    """The first row's entries go to the second."""
    pointers, columns = (zarr.open_array(matrix / name) for name in ("indptr", "indices"))
    both = int(pointers[2])
    pointers[1], columns[:both] = 0, sorted(columns[:both])


AVERAGES: list[tuple[str, Change]] = [
    (".", empty_row),
    ("data", times(1.01)),
    ("data", in_array(lambda weights: weights.__setitem__([0, 1], weights[:2] * [-1, 3]))),
    ("indices", put(-1, 1024)),
]
"""Weights from 0 that sum to 1 in every row, of columns of the matrix."""
MUTATIONS: list[tuple[str, Change]] = [
    *(
        (f"{array}/c/0", change)
        for array in (f"{LAPLACIAN}/data", INDEX, FLOATS)
        for change in (truncate, extend, Path.unlink, to_link, to_fifo, to_folder)
    ),
    (f"{VECTORS}/c/0/0", truncate),
    *((path, to_link) for path in (LAPLACIAN, "torus", TORUS, DOCUMENT, INDEX)),
    *((array, shutil.rmtree) for array in (INDEX, FLOATS, VECTORS)),
    (DOCUMENT, Path.unlink),
    *((DOCUMENT, written(text)) for text in (b"{", b"[]", b"\xff\xfe", b"[" * 100_000)),
    *((DOCUMENT, written(text)) for text in (b'{"a": ' * 100_000, b" " * 10_000_000)),
    (DOCUMENT, written(b'{"shape": [' + b"9" * 5000 + b"]}")),
    *((DOCUMENT, shape(sides)) for sides in ([-1], [True], [1e300], [10**30], [0], [], None)),
    *((DOCUMENT, shape(sides)) for sides in (["128", "128"], 128, [1] * 40, [2**40], [10**19])),
    (DOCUMENT, shape([math.inf, 1])),
    *((COUNTS, shape(sides)) for sides in ([3], [2**40])),
    *((f"{PLACES}/zarr.json", shape(sides)) for sides in ([0, 2**62], [2**40])),
    *(
        (f"{PLACES}/zarr.json", field(dimension_names=names))
        for names in (["vertex"], ["a", "a"], ["a", 1], "ab", None)
    ),
    *((f"{INDEX}/zarr.json", shape(sides)) for sides in ([14, 14], [0])),
    *((f"{VECTORS}/zarr.json", shape(sides)) for sides in ([20, 1536], [1536 * 20])),
    (f"{FLOATS}/zarr.json", shape([10])),
    *((DOCUMENT, field(data_type=kind)) for kind in ("float64", "<f4", ["float32"])),
    *((f"{INDEX}/zarr.json", field(data_type=kind)) for kind in ("float32", "uint32", "int64")),
    (f"{FLOATS}/zarr.json", field(data_type="float32")),
    *((DOCUMENT, field(codecs=codecs)) for codecs in ([BIG], [BIG, {"name": "zstd"}], [])),
    *((DOCUMENT, field(zarr_format=version)) for version in (2, 3.0)),
    *((DOCUMENT, field(node_type="group")), (DOCUMENT, field(fill_value=1.0))),
    *((DOCUMENT, field(surprise=1)), (DOCUMENT, field(chunk_grid={"name": "rectangular"}))),
    *((f"{LAPLACIAN}/indices", put(*entry)) for entry in ((0, -1), (5, 10**6), (1, 0))),
    *((f"{LAPLACIAN}/indptr", put(*entry)) for entry in ((0, 1), (1, 10**6), (1, -5), (-1, 3))),
    *((f"{MAPS}/data/c/0", written(byte * 4096)) for byte in (b"\xff", b"\0")),
    *((f"{MAPS}/indptr", put(-2, 1024)), (f"{TORUS}/unpooling/1to0/data", put(0, 0))),
    *((f"{TORUS}/levels/0/area", put(5, value)) for value in (np.nan, -1.0, np.inf)),
    *((f"{MAPS}/{array}", change) for array, change in AVERAGES),
    *((array, put(0, np.nan)) for array in (f"{TORUS}/levels/0/degree", f"{MAPS}/data")),
    *((INDEX, put(*entry)) for entry in ((0, -1), (5, 250), (5, 0), (-1, 256), (-1, 2**31 - 1))),
    *((FLOATS, put(*entry)) for entry in ((3, np.nan), (-1, np.inf), (-1, 1e9), (0, -np.inf))),
    *((FLOATS, put(*entry)) for entry in ((0, -1e3), (0, 1e3), (5, 0), (slice(None), 10))),
    *(
        (f"{LAPLACIAN}/zarr.json", in_group(partial(dict.update, **{of: [1, 1]})))
        for of in ("shape", "encoding-type", "encoding-version")
    ),
    (f"{LAPLACIAN}/zarr.json", in_group(partial(dict.update, shape=[2**40]))),
    (f"{LAPLACIAN}/zarr.json", field(attributes=[])),
    *(
        (f"{path}zarr.json", in_group(dict.clear))
        for path in (f"{LAPLACIAN}/", f"{TORUS}/", "torus/", "")
    ),
    ("torus/zarr.json", in_group(lambda attributes: attributes["clg"].update(refs=[1]))),
    (INDEX, in_array(lambda places: places.__setitem__(1, places[0]))),
    *((SYMMETRIC, change) for change in (shutil.rmtree, to_link)),
    (f"{FIELDS}/indices", put(0, 10**6)),
    (f"{FIELDS}/indptr", put(1, -1)),
    (f"{SYMMETRIC}/indices", put(0, 200)),
    (f"{DISC}/levels/0/fraction", times(2)),
    (f"{DISC}/levels/0/filling/data", times(0.5)),
    (f"{DISC}/levels/0/filling/indices", in_array(lambda v: np.maximum(v - 1, 0, out=v))),
]


@pytest.fixture
def changed(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, Change], str]:
    """Copy a graph and change the copy, which opened as it was; its name."""

    def to(where: str, change: Change) -> str:
        name = where.split("/")[0].replace("zarr.json", "torus")
        source = request.getfixturevalue(STORES[name])
        source = source.path if isinstance(source, Store) else source
        writable_copy(source / name, tmp_path / name)
        shutil.copytree(source / name, tmp_path / "neighbor", copy_function=os.link)
        shutil.copy(source / "zarr.json", tmp_path)
        (tmp_path / "zarr.json").chmod(0o644)
        change(tmp_path / where)
        return name

    return to


@pytest.mark.parametrize("name", STORES)
def test_copies_are_in_order(
    changed: Callable[[str, Change], str], tmp_path: Path, name: str
) -> None:
    changed(name, Path.exists)
    assert open_store(tmp_path, verify=True)[name].levels


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    changed: Callable[[str, Change], str], tmp_path: Path, where: str, change: Change
) -> None:
    name = changed(where, change)
    for verify in (False, True):
        refused(".", lambda v=verify: open_store(tmp_path, verify=v)[name], error=StoreError)
    if where != "zarr.json":
        assert open_store(tmp_path)["neighbor"].levels


def test_extra_attributes_are_tolerated(copy: Path) -> None:
    for document in (DOCUMENT, "torus/zarr.json"):
        edit(copy / document, lambda d: d["attributes"].update(note="mine"))
    assert open_store(copy)["torus"].levels
