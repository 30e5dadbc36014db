"""Where the points of a masked graph are in the full sampling, resealed after a change."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from masks import disc
from sealing import reseal, reseal_file, writable

from cheblienet_graphs import GraphSpec, StoreError, build, inspect, verify
from cheblienet_graphs.report.spectra import eigenvalues


@pytest.fixture
def version(tmp_path: Path) -> Path:
    build(GraphSpec("r2", mask=disc(8), levels=2), tmp_path / "g.zarr", name="g")
    return tmp_path / "g.zarr/g/v001"


def set_first(value: int) -> Callable[[np.ndarray], object]:
    return lambda places: places.__setitem__(0, value)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (set_first(-1), r"base_index must ascend in \[0, 63\]"),
        (lambda places: places.__setitem__(-1, 64), r"base_index must ascend in \[0, 63\]"),
        (lambda places: places.__setitem__(1, places[0]), "must ascend"),
        (lambda places: places.sort() or places.__setitem__(slice(None), places[::-1]), "ascend"),
    ],
)
def test_places_that_can_not_be(version: Path, change: Callable, fault: str) -> None:
    name = "levels/0/base_index/c/0"
    places = np.frombuffer((version / name).read_bytes(), "<i4").copy()
    change(places)
    reseal_file(version, name, places.tobytes())
    for read in (inspect, eigenvalues):
        with pytest.raises(StoreError, match=fault) as error:
            read(version.parents[1], "g")
        assert "\n" not in str(error.value)
    assert any("base_index" in str(found) for found in verify(version.parents[1]))


def test_other_points_than_those_of_the_digest(version: Path) -> None:
    """They ascend, and so look right; the mask's digest tells."""
    name = "levels/0/base_index/c/0"
    places = np.frombuffer((version / name).read_bytes(), "<i4").copy()
    assert places[0] > 0
    places[0] -= 1
    reseal_file(version, name, places.tobytes())
    [fault] = verify(version.parents[1])
    assert "base_index" in str(fault)
    assert "not the points inside" in str(fault)


@pytest.mark.parametrize("change", ["missing", "shorter"])
def test_a_file_that_is_not_there_or_too_short(version: Path, change: str) -> None:
    chunk = writable(version) / "levels/1/base_index/c/0"
    if change == "missing":
        chunk.unlink()
    else:
        chunk.write_bytes(chunk.read_bytes()[:-4])
    with pytest.raises(StoreError, match="base_index"):
        inspect(version.parents[1], "g")
    assert verify(version.parents[1])


@pytest.mark.parametrize(
    "mask", [None, {"inside": [52], "sha256": "0" * 64}, {"inside": [51, 16], "sha256": "0" * 64}]
)
def test_a_spec_of_another_mask(version: Path, mask: object) -> None:
    def other(clg: dict) -> None:
        clg["spec"]["mask"] = mask
        if mask is None:
            del clg["spec"]["mask"]

    reseal(version, other)
    with pytest.raises(StoreError, match="was changed"):
        inspect(version.parents[1], "g")
