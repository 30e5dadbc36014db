"""Arrays that are not those of their level, under digests that are in order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from damage import writable_copy
from examined import random_matrix
from hypothesis import given
from hypothesis import strategies as st
from marks import slow_but
from masks import disc
from moments import stored
from refusing import refused
from sealing import put, reseal, reseal_array, reseal_file
from stores import store_of

from cheblienet_graphs import GraphSpec, StoreError, inspect, verify
from cheblienet_graphs.measure.spectra import eigenvalues
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.verification import levels as agreement
from cheblienet_graphs.verification.levels import is_symmetric
from cheblienet_models import open_store

RNG = np.random.default_rng(5)
STATIONS = np.column_stack(
    [np.degrees(np.arcsin(RNG.uniform(-1, 1, 40))), RNG.uniform(-180, 180, 40)]
)
PLACES = RNG.uniform(0, [3, 2], (40, 2))
LAND = RNG.random(162) < 0.6
SPECS = {
    "lattice": GraphSpec("se2", "8x6", orientations=4, levels=2, gradients=True),
    "masked lattice": GraphSpec(
        "se2", mask=RNG.random((6, 8)) < 0.7, orientations=4, levels=1, gradients=True
    ),
    "axes": GraphSpec("r3s2", "4x3x3", axes=7, levels=1),
    "icosphere": GraphSpec("so3", subdivisions=1, orientations=4, levels=2, gradients=True),
    "masked sphere": GraphSpec(
        "s2", subdivisions=2, mask=LAND, neighbors=8, levels=1, gradients=True
    ),
    "healpix": GraphSpec("s2", nside=1, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=4, levels=1),
    "random torus": GraphSpec(
        "se2", points=90, orientations=3, boundary="periodic", levels=1, gradients=True
    ),
    "stations": GraphSpec("so3", coordinates=STATIONS, orientations=3),
    "places": GraphSpec("se2", coordinates=[PLACES, PLACES[::4]], orientations=3, gradients=True),
    "plane": GraphSpec("r2", coordinates=PLACES),
    "masked places": GraphSpec("r2", coordinates=PLACES, mask=PLACES[:, 0] < 2, gradients=True),
}


periodic = store_of({"g": GraphSpec("r2", 8, boundary="periodic", levels=2, eigenpairs=5)})


def faults(version: Path) -> list[str]:
    """Where they are, below the version."""
    of_store = verify(version.parents[1], remark=lambda *_: None)
    return [fault.where.removeprefix("g/v001/") for fault in of_store]


def arrays(version: Path) -> LevelFolder:
    return LevelFolder.published(Folder(version), read_facts(Folder(version)), 0)


def shifted(version: Path, column: int, step: float) -> None:
    """Move a coordinate, counted through all vertices."""
    reseal_array(version, "levels/0/coordinates", put(column, lambda v: v[column] + step))


ALL = slice(None)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("laplacian/data", put(1, lambda v: v[1] + 1)),
        ("laplacian/data", put(0, np.nan)),
        ("laplacian/data", lambda v: v.__imul__(1.05)),
        ("laplacian/indices", put(0, 99)),
        ("laplacian/indices", put(0, lambda v: v[1])),
        ("laplacian/indptr", put(1, 10**6)),
        ("eigenvalues", put(4, lambda v: v[4] * 1.01)),
        ("eigenvectors", lambda v: v.__imul__(1.01)),
        ("eigenvectors", put(5, np.nan)),
        ("eigenvectors", put(slice(1, None, 5), lambda v: v[::5])),
        ("degree", put(5, lambda v: v[5] * 1.001)),
        ("degree", put(5, np.nan)),
        ("area", lambda v: v.__imul__(1.01)),
        ("../../pooling/0to1/data", lambda v: v.__imul__(0.5)),
        ("../../unpooling/1to0/data", put(0, np.nan)),
        ("eigenvalues", put(1, lambda v: v[1] * 1.001)),
        ("../../pooling/0to1/indices", put(ALL, lambda v: v.reshape(-1, 4)[::-1].ravel())),
        ("../../pooling/0to1/data", put(ALL, lambda v: v * np.tile([0.9, 1.1], len(v) // 2))),
        ("../../unpooling/1to0/indices", put(ALL, lambda v: v[::-1])),
    ],
)
def test_arrays_that_can_not_be_are_noticed(
    periodic: Path, tmp_path: Path, part: str, change: Callable
) -> None:
    version = writable_copy(periodic, tmp_path / "g.zarr") / "g/v001"
    path = (version / "levels/0" / part).resolve().relative_to(version.resolve())
    reseal_array(version, str(path), change)
    (where,) = faults(version)
    assert where.startswith(
        ("levels/0/laplacian", "levels/0/eigen", "levels/0/area", path.parts[0])
    )


CHANGE = st.tuples(st.integers(0, 29), st.integers(0, 29), st.sampled_from(["roll", 0.5, 0]))


@given(st.integers(0, 99), st.integers(1, 200), st.lists(CHANGE, max_size=2))
def test_symmetry_in_blocks(seed: int, entries: int, changes: list) -> None:
    """Whether entries have other values, are missing or moved within their row."""
    dense = random_matrix(30, 0.1, seed).toarray()
    for row, column, change in changes:
        dense[row, column] = dense[row, column] if change == "roll" else change
        dense[row] = np.roll(dense[row], column if change == "roll" else 0)
    matrix = scipy.sparse.csr_array(dense)
    assert is_symmetric(matrix, entries) == (dense == dense.T).all()


@pytest.mark.parametrize("name", slow_but([*SPECS][::3], SPECS))
def test_another_place_or_area_is_noticed(tmp_path: Path, name: str) -> None:
    """The last vertex lies over another orientation where there are several.

    A point of the plane whose digest can't be had from a mask may lie anywhere, and cells of given
    points beside others that a mask leaves out are not known.
    """
    version, _ = stored(SPECS[name], tmp_path, name="g")
    assert faults(version) == []
    untouched, columns = arrays(version).coordinates.tobytes(), arrays(version).coordinates.shape[1]
    anywhere = name == "masked places"
    for column in range(2 if anywhere else 0, columns):
        shifted(version, column - columns, 1e-9)
        assert faults(version) == ["levels/0/coordinates"], column
        reseal_file(version, "levels/0/coordinates/c/0/0", untouched)
    assert faults(version) == []
    # One that keeps the mean and, as Laplacians are normalized here, all else.
    reseal_array(version, "levels/0/area", lambda v: v[:2].__iadd__([1e-3, -1e-3]))
    assert faults(version) == ([] if anywhere else ["levels/0/area"])


@pytest.mark.parametrize(("turns", "fine"), [(-1, True), (-2, False), (1e300, False)])
def test_a_whole_turn_of_longitude_is_the_same_place(
    tmp_path: Path, turns: float, fine: bool
) -> None:
    """Another machine may round the seam to its other side; nothing else is a turn away."""
    version, _ = stored(SPECS["equiangular"], tmp_path, name="g")
    shifted(version, -1, turns * 2 * np.pi)
    assert (faults(version) == []) is fine


GIVEN = {
    "plane": SPECS["plane"],
    "torus": GraphSpec("r2", coordinates=PLACES, boundary="periodic", domain=(0, 0, 3, 2)),
    "sphere": GraphSpec("s2", coordinates=STATIONS),
    "sphere with areas": GraphSpec("s2", coordinates=np.column_stack([STATIONS, 1 + LAND[:40]])),
    "masked": SPECS["masked places"],
}
NOWHERE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all at the corner": np.zeros_like,
    "two at one place": lambda v: np.concatenate([v[:1], v[:1], v[2:]]),
    "half at one place": lambda v: v[np.arange(len(v)).clip(len(v) // 2)],
    "beyond all": lambda v: v * 1e14 - 1e13,
    "too small": lambda v: np.full_like(v, 1e-310),
    "nearly one": lambda v: 1e-12 * v,
}


@pytest.mark.parametrize("name", GIVEN)
def test_given_points_that_no_build_takes_are_noticed(tmp_path: Path, name: str) -> None:
    """Whatever Qhull and trees of such points say."""
    version, _ = stored(GIVEN[name], tmp_path, name="g")
    untouched = np.array(arrays(version).coordinates)
    for change in NOWHERE.values():
        reseal_file(version, "levels/0/coordinates/c/0/0", change(untouched).tobytes())
        assert faults(version) == ["levels/0/coordinates"]


@pytest.mark.parametrize("apart", [2e-9, 1e-6])
def test_given_points_may_be_close(tmp_path: Path, apart: float) -> None:
    beside = STATIONS[0] + np.array([0, np.degrees(apart)])
    spec = GraphSpec("s2", coordinates=np.vstack([STATIONS, beside]))
    assert faults(stored(spec, tmp_path, name="g")[0]) == []


@pytest.mark.parametrize(("factor", "remarkable"), [(1.0, False), (1.9, False), (5.0, True)])
def test_given_areas_far_from_cells_are_remarked_on(
    tmp_path: Path, factor: float, remarkable: bool
) -> None:
    version, _ = stored(GraphSpec("s2", coordinates=STATIONS), tmp_path / "cells")
    cells = arrays(version).area
    areas = cells * np.where(np.arange(40) == 7, factor, 1)
    stored(GraphSpec("s2", coordinates=np.column_stack([STATIONS, areas])), tmp_path, name="g")
    made: list[tuple[str, str]] = []
    assert verify(tmp_path / "g.zarr", remark=lambda *remark: made.append(remark)) == []
    assert [where for where, _ in made] == ["g/v001/levels/0/area"] * remarkable
    assert all("times those of Voronoi cells" in what for _, what in made)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        *((change, "must ascend") for change in (put(0, -1), put(-1, 64), put(1, lambda v: v[0]))),
        (put(0, lambda v: v[0] - 1), "not the points inside"),  # ascends, and so looks right
    ],
)
@pytest.mark.parametrize("size", [1, 7, 50, 64, 65])
def test_places_that_are_not_those_inside_a_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable, fault: str, size: int
) -> None:
    """Masks are compared in parts of any size."""
    monkeypatch.setattr(agreement, "MASKED", size)
    version, _ = stored(GraphSpec("r2", mask=disc(8), levels=2), tmp_path, name="g")
    assert verify(tmp_path / "g.zarr") == []
    reseal_array(version, "levels/0/base_index", change)
    [noticed] = verify(tmp_path / "g.zarr")
    assert noticed.where == "g/v001/levels/0/base_index"
    assert fault in noticed.what
    for read in (inspect, eigenvalues) if fault == "must ascend" else ():
        with pytest.raises(StoreError, match=r"base_index must ascend in \[0, 63\]"):
            read(tmp_path / "g.zarr", "g")


COUNTED = ([51, 16], [53, 16], [65, 16], [52], 52)
"""What a mask may say is inside on each level, where it is [52, 16]."""


@pytest.mark.parametrize(
    "mask", ["none", None, [], {"sha256": 3}, *({"inside": inside} for inside in COUNTED)]
)
def test_a_spec_of_another_mask(tmp_path: Path, mask: object) -> None:
    version, _ = stored(GraphSpec("r2", mask=disc(8), levels=2), tmp_path, name="g")

    def change(clg: dict[str, Any]) -> None:
        known = clg["spec"].pop("mask")
        if mask != "none":
            clg["spec"]["mask"] = known | mask if isinstance(mask, dict) else mask

    reseal(version, change)
    for read in (inspect, lambda store, name: open_store(store)[name]):
        refused("was changed", read, tmp_path / "g.zarr", "g", error=StoreError)
