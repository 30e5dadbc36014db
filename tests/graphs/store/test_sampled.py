"""Coordinates and areas that are not those of the sampling, under digests that are in order."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sealing import reseal_array, reseal_file

from cheblienet_graphs import CheblienetError, GraphSpec, build, verify
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import LevelArrays

RNG = np.random.default_rng(5)
STATIONS = np.column_stack(
    [np.degrees(np.arcsin(RNG.uniform(-1, 1, 40))), RNG.uniform(-180, 180, 40)]
)
PLACES = RNG.uniform(0, [3, 2], (40, 2))
LAND = RNG.random(162) < 0.6
SPECS = {
    "lattice": GraphSpec("se2", "8x6", orientations=4, levels=2),
    "masked lattice": GraphSpec("se2", mask=RNG.random((6, 8)) < 0.7, orientations=4, levels=1),
    "space": GraphSpec("r3", "4x3x5", spacing=(1, 1, 2), levels=1),
    "axes": GraphSpec("r3s2", "4x3x3", axes=7, levels=1),
    "icosphere": GraphSpec("so3", subdivisions=2, orientations=4, levels=2),
    "masked sphere": GraphSpec("s2", subdivisions=2, mask=LAND, levels=1),
    "healpix": GraphSpec("s2", nside=2, levels=1),
    "equiangular": GraphSpec("s2", bandlimit=4, levels=1),
    "gaussian": GraphSpec("s2", gaussian="O4", levels=1),
    "random sphere": GraphSpec("so3", points=40, seed=3, orientations=2, levels=1),
    "random torus": GraphSpec("se2", points=40, orientations=2, boundary="periodic", levels=1),
    "stations": GraphSpec("so3", coordinates=STATIONS, orientations=3),
    "places": GraphSpec("se2", coordinates=[PLACES, PLACES[::4]], orientations=3),
    "masked places": GraphSpec("r2", coordinates=PLACES, mask=PLACES[:, 0] < 2),
}


@pytest.fixture(params=SPECS)
def version(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    build(SPECS[request.param], tmp_path / "g.zarr", name="g")
    return tmp_path / "g.zarr/g/v001"


def faults(version: Path) -> list[tuple[str, str]]:
    return [
        (fault.where.removeprefix("g/v001/"), fault.what) for fault in verify(version.parents[1])
    ]


def shifted(version: Path, vertex: int, column: int, step: float) -> None:
    arrays = LevelArrays(version, read_facts(version), 0)
    values = np.array(arrays.coordinates)
    values[vertex, column] += step
    reseal_file(version, "levels/0/coordinates/c/0/0", values.tobytes())


def test_a_vertex_elsewhere_is_noticed(version: Path) -> None:
    """The last one, which lies over another orientation where there are several."""
    assert faults(version) == []
    arrays = LevelArrays(version, read_facts(version), 0)
    untouched = np.array(arrays.coordinates).tobytes()
    # A point of the plane whose digest can't be had from a mask may lie anywhere.
    anywhere = arrays.facts.spec.coordinates is not None and arrays.facts.spec.mask is not None
    for column in range(0 if not anywhere else 2, arrays.coordinates.shape[1]):
        shifted(version, -1, column, 1e-9)
        assert [where for where, _ in faults(version)] == ["levels/0/coordinates"], column
        reseal_file(version, "levels/0/coordinates/c/0/0", untouched)
    assert faults(version) == []


@pytest.mark.parametrize("version", sorted(SPECS.keys() - {"masked places"}), indirect=True)
def test_another_area_is_noticed(version: Path) -> None:
    """One that keeps the mean and, as Laplacians are normalized here, all else.

    Cells of given points beside others that a mask leaves out are not known.
    """
    reseal_array(version, "levels/0/area", lambda v: v.__iadd__([1e-3, -1e-3] + [0] * (len(v) - 2)))
    assert [where for where, _ in faults(version)] == ["levels/0/area"]


@pytest.mark.parametrize(("turns", "fine"), [(-1, True), (-2, False), (1e300, False)])
def test_a_whole_turn_of_longitude_is_the_same_place(
    tmp_path: Path, turns: float, fine: bool
) -> None:
    """Another machine may round the seam to its other side; nothing else is a turn away."""
    build(SPECS["equiangular"], tmp_path / "g.zarr", name="g")
    shifted(tmp_path / "g.zarr/g/v001", -1, 1, turns * 2 * np.pi)
    assert (verify(tmp_path / "g.zarr") == []) is fine


GIVEN = {
    "plane": GraphSpec("r2", coordinates=PLACES),
    "torus": GraphSpec("r2", coordinates=PLACES, boundary="periodic", domain=(0, 0, 3, 2)),
    "plane with areas": GraphSpec("r2", coordinates=np.column_stack([PLACES, 1 + PLACES[:, 0]])),
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
    build(GIVEN[name], tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr/g/v001"
    untouched = np.array(LevelArrays(version, read_facts(version), 0).coordinates)
    for change in NOWHERE.values():
        moved = change(untouched)
        assert moved.shape == untouched.shape
        reseal_file(version, "levels/0/coordinates/c/0/0", moved.tobytes())
        found = verify(tmp_path / "g.zarr", remark=lambda *_: None)
        assert [fault.where for fault in found] == ["g/v001/levels/0/coordinates"]


@pytest.mark.parametrize("apart", [2e-9, 1e-8, 1e-6])
def test_given_points_may_be_close(tmp_path: Path, apart: float) -> None:
    beside = STATIONS[0] + np.array([0, np.degrees(apart)])
    build(GraphSpec("s2", coordinates=np.vstack([STATIONS, beside])), tmp_path / "g.zarr", name="g")
    assert verify(tmp_path / "g.zarr") == []


def test_given_points_of_the_plane_have_their_digest(tmp_path: Path) -> None:
    """All orientations of a point moved alike, and the areas with it: the digest tells."""
    build(GraphSpec("r2", coordinates=PLACES), tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr/g/v001"
    shifted(version, 0, 0, 1e-11)
    assert faults(version) == [("levels/0/coordinates", "are not the points of the spec's digest")]


@pytest.mark.parametrize(("factor", "remarkable"), [(1.0, False), (1.9, False), (5.0, True)])
def test_given_areas_far_from_cells_are_remarked_on(
    tmp_path: Path, factor: float, remarkable: bool
) -> None:
    build(GraphSpec("s2", coordinates=STATIONS), tmp_path / "cells.zarr", name="g")
    version = tmp_path / "cells.zarr/g/v001"
    cells = LevelArrays(version, read_facts(version), 0).sampling.areas()
    areas = cells * np.where(np.arange(40) == 7, factor, 1)
    given = np.column_stack([STATIONS, areas])
    build(GraphSpec("s2", coordinates=given), tmp_path / "g.zarr", name="g")
    made: list[tuple[str, str]] = []
    assert verify(tmp_path / "g.zarr", remark=lambda *said: made.append(said)) == []
    assert [where for where, _ in made] == ["g/v001/levels/0/area"] * remarkable
    assert all("times those of Voronoi cells" in what for _, what in made)


def test_without_the_library_of_a_sampling_verification_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(SPECS["healpix"], tmp_path / "g.zarr", name="g")
    monkeypatch.setitem(sys.modules, "astropy_healpix.healpy", None)
    with pytest.raises(CheblienetError, match="cheblienet\\[healpix\\]"):
        verify(tmp_path / "g.zarr")
