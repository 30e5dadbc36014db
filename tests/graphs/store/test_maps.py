"""Published maps: what is changed is found, what is killed leaves nothing."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from csr_truth import mapped
from damage import writable_copy
from sealing import put, reseal, reseal_array, reseal_file
from stores import store_of

from cheblienet_graphs import GraphSpec, MapSpec, StoreError, build_map, inspect_map, verify
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.leftovers import clean, leftovers
from cheblienet_graphs.store.map_facts import listing, read_map_facts

POINTS = np.random.default_rng(4).random((30, 2))
PLACES = GraphSpec("r2", coordinates=POINTS, domain=(0, 0, 1, 1))
SPECS = {
    "near": MapSpec(
        GraphSpec("s2", gaussian="O4"),
        GraphSpec("s2", subdivisions=2, region=(0, -80, 170, 80)),
        neighbors=3,
    ),
    "within": MapSpec(PLACES, GraphSpec("r2", 6, mask=np.eye(6) == 0), radius=0.4),
    "meshes": MapSpec(*[GraphSpec("s2", subdivisions=2)] * 2, scales=3, weights="uniform"),
    "smooth": MapSpec(GraphSpec("r2", 4), PLACES, neighbors=2, weights="gaussian"),
}


built = store_of(SPECS)


@pytest.fixture
def store(built: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return writable_copy(built, tmp_path / "m.zarr")


def faults(store: Path, name: str) -> list[str]:
    return [f"{fault.where}: {fault.what}" for fault in verify(store, name)]


def test_what_was_published_has_no_faults(built: Path) -> None:
    checked: list[str] = []
    assert verify(built, progress=checked.append) == []
    assert checked == [f"{name}/v001" for name in sorted(SPECS)]


def added(amount: float) -> Callable[[np.ndarray], object]:
    return put(0, lambda v: v[0] + amount)


SWAPPED = put([0, 1], lambda v: v[[1, 0]])
LAST_MOVED = put(-1, lambda v: v[-1] + 1 if v[-1] < 161 else v[-2] + 1)
CHANGED: list[tuple[str, str, Callable[[np.ndarray], object], str]] = [
    ("near", "map/data", SWAPPED, "transposed: is not the map's matrix by columns"),
    ("near", "map/indices", SWAPPED, "columns do not ascend"),
    ("near", "map/indices", put(0, -1), "is not a CSR matrix"),
    ("near", "map/indptr", added(1), "is not a CSR matrix"),
    ("near", "transposed/data", added(0.1), "transposed: is not the map's matrix by columns"),
    ("near", "source/coordinates", added(1e-6), "are not those of the spec's sampling"),
    ("near", "source/coordinates", put(0, np.inf), "has values that are not finite"),
    ("near", "target/base_index", LAST_MOVED, "inside the mask of the spec's digest"),
    ("near", "target/base_index", put(0, 1000), "must ascend in"),
    ("within", "source/coordinates", added(1e-3), "are not the points of the spec's digest"),
    ("within", "source/coordinates", put(0, 7), "has points outside the domain"),
]


@pytest.mark.parametrize(("name", "key", "change", "message"), CHANGED)
def test_values_with_new_digests_are_found(
    store: Path, name: str, key: str, change: Callable[[np.ndarray], object], message: str
) -> None:
    reseal_array(store / name / "v001", key, change)
    assert message in faults(store, name)[0]


def rewritten(version: Path, change: Callable[[np.ndarray, np.ndarray], object]) -> None:
    """Change the columns and weights of the matrix, and its transpose with it."""
    kept = mapped(Folder(version / "map"))
    data, columns = kept.data.copy(), kept.indices.copy()
    change(columns, data)
    matrix = scipy.sparse.csr_array((data, columns, kept.indptr), kept.shape)
    back = matrix.T.tocsr()
    back.sort_indices()
    for key, of in (("map", matrix), ("transposed", back)):
        for part in ("data", "indices", "indptr"):
            contents = getattr(of, part).astype("<f4" if part == "data" else "<i4").tobytes()
            reseal_file(version, f"{key}/{part}/c/0", contents)


def moved(_columns: np.ndarray, data: np.ndarray) -> None:
    shift = np.float32(2.0**-12) * (1 if data[0] < 0.5 else -1)
    data[[0, 1]] += [shift, -shift]


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda _, data: put(slice(None), data * (1 - 2**-20))(data),
            "has weights that do not sum",
        ),
        (moved, "has other weights than follow from its lengths"),
        (lambda columns, _: put(0, int(columns[0] == 0))(columns), "has "),
    ],
)
def test_matrices_that_do_not_follow_from_points_are_found(
    store: Path, name: str, change: Any, message: str
) -> None:
    """Also where the transpose and all digests agree."""
    rewritten(store / name / "v001", change)
    (fault,) = faults(store, name)
    assert fault.startswith(f"{name}/v001/map: {message}")


FACTS = {"targets": 7, "nnz": 3, "farthest": 0.5, "target_grid": [1, 2, 3], "source_grid": None}


@pytest.mark.parametrize(("name", "value"), FACTS.items())
def test_facts_that_contradict_are_found(store: Path, name: str, value: Any) -> None:
    reseal(store / "near/v001", lambda clg: clg["map"].update({name: value}))
    assert faults(store, "near")
    if name not in {"nnz", "farthest"}:
        with pytest.raises(StoreError, match=rf"its map\.{name} can't be"):
            read_map_facts(Folder(store / "near/v001"))


@pytest.mark.parametrize(
    "change", [{"neighbors": 99999}, {"source": 3}, {"source": {"manifold": "s2"}}, {"radius": 1}]
)
def test_specifications_that_are_none_are_refused(store: Path, change: dict[str, Any]) -> None:
    reseal(store / "near/v001", lambda clg: clg["spec"].update(change))
    with pytest.raises(StoreError, match="was changed or not written by cheblienet"):
        inspect_map(store, "near")
    assert len(faults(store, "near")) == 1
    listed = {of.name: of for of in listing(store)}
    assert (listed["near"].fault is None, listed["within"].fault) == (False, None)


@pytest.mark.parametrize("step", ["writer.publish", "groups.replace", "publishing._rename_to_next"])
def test_a_build_that_is_killed_leaves_nothing_visible(tmp_path: Path, step: str) -> None:
    """When all is written, when the store is made, and when the map has its folder in it."""
    store, spec = tmp_path / "m.zarr", SPECS["meshes"]
    program = f"""
import os
from cheblienet_graphs import MapSpec, build_map
from cheblienet_graphs.store import groups, publishing, writer
{step} = lambda *_: os._exit(9)
build_map(MapSpec.from_dict({spec.to_dict()!r}), {str(store)!r})"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert not store.exists() or verify(store) == []
    assert clean(store) != []
    assert leftovers(store) == []
    assert build_map(spec, store).version == "v001"
    assert verify(store) == []
