"""Stores that somebody changed are refused in one line, whatever was changed."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from damage import edit, extend, field, shape, to_fifo, to_folder, to_link, truncate, writable_copy
from sealing import reseal, reseal_array

from cheblienet_models import StoreError, open_store

Change = Callable[[Path], object]
STORES = {"torus": "store", "few": "spectral_graphs", "ring": "masked_graphs"}
"""Where graphs are copied from."""
TORUS, FEW, RING = (f"{name}/v001" for name in STORES)
LAPLACIAN, MAPS = f"{TORUS}/levels/0/laplacian", f"{TORUS}/pooling/0to1"
DOCUMENT, COUNTS = f"{LAPLACIAN}/data/zarr.json", f"{TORUS}/levels/0/degree/zarr.json"
INDEX, EIGEN = f"{RING}/levels/0/base_index", f"{FEW}/levels/0/eigen"
FLOATS, VECTORS = f"{EIGEN}values", f"{EIGEN}vectors"


def put(place: int, value: float) -> Change:
    """Into an array, with digests that agree."""

    def change(array: Path) -> None:
        version = next(parent for parent in array.parents if parent.name == "v001")
        key = str(array.relative_to(version))
        reseal_array(version, key, lambda values: values.__setitem__(place, value))

    return change


def ours(**values: object) -> Change:
    """Our attributes of a version, with digests that agree."""
    return lambda version: reseal(version, lambda clg: clg.update(values))


def spec(**values: object) -> Change:
    return lambda version: reseal(version, lambda clg: clg["spec"].update(values))


def mask(**values: object) -> Change:
    return lambda version: reseal(version, lambda clg: clg["spec"]["mask"].update(values))


def without(name: str) -> Change:
    return lambda version: reseal(version, lambda clg: clg["spec"].pop(name))


def fact(**values: object) -> Change:
    return lambda version: reseal(version, lambda clg: clg["levels"][0].update(values))


def in_group(change: Callable[[dict], object]) -> Change:
    return lambda path: edit(path, lambda document: change(document["attributes"]))


def written(contents: bytes) -> Change:
    return lambda path: path.write_bytes(contents)


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
    *((DOCUMENT, shape(sides)) for sides in ([-1], [True], [1e300], [10**30], [2**61], [0])),
    *((DOCUMENT, shape(sides)) for sides in ([], "wide", None)),
    (COUNTS, shape([3])),
    (f"{TORUS}/levels/0/coordinates/zarr.json", shape([0, 2**62])),
    *((f"{INDEX}/zarr.json", shape(sides)) for sides in ([14, 14], [0])),
    *((f"{VECTORS}/zarr.json", shape(sides)) for sides in ([20, 1536], [1536 * 20])),
    (f"{FLOATS}/zarr.json", shape([10])),
    *((DOCUMENT, field(data_type=kind)) for kind in ("float64", "<f4", ["float32"])),
    *((f"{INDEX}/zarr.json", field(data_type=kind)) for kind in ("float32", "uint32", "int64")),
    (f"{FLOATS}/zarr.json", field(data_type="float32")),
    *(
        (DOCUMENT, field(codecs=codecs))
        for codecs in (
            [{"name": "bytes", "configuration": {"endian": "big"}}],
            [{"name": "bytes"}, {"name": "zstd"}],
            [{"name": "transpose", "configuration": {"order": [0]}}],
            [],
        )
    ),
    *((DOCUMENT, field(zarr_format=version)) for version in (2, 3.0)),
    *((DOCUMENT, field(node_type="group")), (DOCUMENT, field(fill_value=1.0))),
    *((DOCUMENT, field(surprise=1)), (DOCUMENT, field(chunk_grid={"name": "rectangular"}))),
    *((f"{LAPLACIAN}/indices", put(*entry)) for entry in ((0, -1), (5, 10**6), (1, 0))),
    *((f"{LAPLACIAN}/indptr", put(*entry)) for entry in ((0, 1), (1, 10**6), (1, -5), (-1, 3))),
    *((f"{MAPS}/data/c/0", written(byte * 4096)) for byte in (b"\xff", b"\0")),
    *((f"{MAPS}/indptr", put(-2, 1024)), (f"{TORUS}/unpooling/1to0/data", put(0, 0))),
    *((INDEX, put(*entry)) for entry in ((0, -1), (5, 250), (5, 0), (-1, 256), (-1, 2**31 - 1))),
    *((FLOATS, put(*entry)) for entry in ((3, np.nan), (-1, np.inf), (-1, 1e9), (0, -np.inf))),
    *((FLOATS, put(*entry)) for entry in ((0, -1e3), (0, 1e3), (5, 0), (slice(None), 10))),
    *(
        (f"{LAPLACIAN}/zarr.json", in_group(partial(dict.update, **{of: [1, 1]})))
        for of in ("shape", "encoding-type", "encoding-version")
    ),
    (f"{LAPLACIAN}/zarr.json", field(attributes=[])),
    *(
        (f"{path}zarr.json", in_group(dict.clear))
        for path in (f"{LAPLACIAN}/", f"{TORUS}/", "torus/", "")
    ),
    ("torus/zarr.json", in_group(lambda attributes: attributes["clg"].update(refs=[1]))),
    ("zarr.json", in_group(lambda attributes: attributes["clg"].update(store_schema=2))),
    *((TORUS, ours(schema=schema)) for schema in ("2.0", 1)),
    *((TORUS, ours(levels=levels)) for levels in ([], [1, 2], "many", [{"lambda_max": 1.4}] * 40)),
    *((TORUS, ours(spec=None)), (TORUS, ours(spec_sha256=3))),
    *((TORUS, fact(lambda_max=bound)) for bound in (0, True, 10**400, float("inf"))),
    *(
        (TORUS, fact(grid=grid))
        for grid in ([4, 16.0, 16], [4, 16, 17], [1024], 1024, [4, True, 256], [4, 1, 1, 1, 16, 16])
    ),
    *(
        (TORUS, fact(grid=grid))
        for grid in ([4, 0, 16], [0, 16, 16], [4, 16, -16], [4, -16, -16], [4, 2**31])
    ),
    *(
        (TORUS, fact(eigenvalue_scale=scale))
        for scale in (0, -1.5, "1", True, [1.0], float("inf"), float("nan"), 10**400)
    ),
    *((FEW, spec(laplacian=word)) for word in ("other", "", None, 1, ["normalized"], {})),
    (FEW, without("laplacian")),
    *(
        (FEW, spec(eigenpairs=count))
        for count in (0, -1, 19, 21, 385, 2**70, True, 20.0, "20", None)
    ),
    *(
        (RING, mask(inside=counts))
        for counts in ([197, 60], [195, 60], [0, 60], [257, 60], [196], 196)
    ),
    *((RING, mask(inside=counts)) for counts in ([196.0, 60], [True, 60], [2**70, 60])),
    *((RING, spec(mask=value)) for value in ([], None)),
    (RING, without("mask")),
    (RING, fact(grid=[4, 2**30, 2**30, 2**30])),
]


@pytest.mark.parametrize("name", STORES)
def test_copies_are_in_order(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> None:
    store = writable_copy(request.getfixturevalue(STORES[name]), tmp_path / "g.zarr")
    assert open_store(store, verify=True)[name].levels


@pytest.mark.parametrize(("where", "change"), MUTATIONS)
def test_mutated_stores_are_refused(
    request: pytest.FixtureRequest, tmp_path: Path, where: str, change: Change
) -> None:
    name = where.split("/")[0].replace("zarr.json", "torus")
    source, store = request.getfixturevalue(STORES[name]), tmp_path
    writable_copy(source / name, store / name)
    shutil.copytree(source / name, store / "neighbor", copy_function=os.link)  # stays as it is
    shutil.copy(source / "zarr.json", store)
    (store / "zarr.json").chmod(0o644)
    change(store / where)
    for verify in (False, True):
        with pytest.raises(StoreError) as caught:
            open_store(store, verify=verify)[name]
        assert len(str(caught.value)) < 2000
        assert "\n" not in str(caught.value)
    if where != "zarr.json":
        assert open_store(store)["neighbor"].levels


def test_extra_attributes_are_tolerated(copy: Path) -> None:
    for document in (DOCUMENT, "torus/zarr.json"):
        edit(copy / document, lambda d: d["attributes"].update(note="mine"))
    assert open_store(copy)["torus"].levels
