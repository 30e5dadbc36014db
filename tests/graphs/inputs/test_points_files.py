"""Points from files: each form, and one line for whatever is wrong."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from failures import refusal_by

from cheblienet_graphs.inputs.files import read_points

RNG = np.random.default_rng(0)
POINTS = np.column_stack([RNG.uniform(-90, 90, 9), RNG.uniform(-180, 180, 9)])
AREAS = RNG.uniform(1, 2, 9)
WITH_AREAS = np.column_stack([POINTS, AREAS])


refusal = partial(refusal_by, read_points, sphere=True)


def written(file: Path, content: Any) -> Path:
    """A file of an array, of arrays by name, or of text."""
    if isinstance(content, np.ndarray):
        np.save(file, content)
    elif isinstance(content, dict):
        np.savez(file, **content)
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_arrays(tmp_path: Path) -> None:
    for values in (POINTS, WITH_AREAS, np.arange(6).reshape(3, 2), POINTS.astype(np.float32)):
        np.save(tmp_path / "p.npy", values)
        read = read_points(tmp_path / "p.npy", sphere=True)
        assert read.dtype == np.float64
        assert np.array_equal(read, values)


def test_archives(tmp_path: Path) -> None:
    columns = {"LONGITUDE": POINTS[:, 1], "Latitude": POINTS[:, 0]}
    np.savez(tmp_path / "p.npz", other=np.ones((2, 2)), **columns)
    assert np.array_equal(read_points(tmp_path / "p.npz", sphere=True), POINTS)
    np.savez_compressed(tmp_path / "p.npz", area=AREAS, **columns)
    assert np.array_equal(read_points(tmp_path / "p.npz", sphere=True), WITH_AREAS)
    message = refusal(tmp_path / "p.npz", sphere=False)
    assert "must have arrays named x and y. Got 'area', " in message


def test_damaged_archives(tmp_path: Path) -> None:
    file = tmp_path / "p.npz"
    np.savez(file, lat=np.ones(2), lon=np.ones(2))
    whole = file.read_bytes()
    for contents in (b"", b"PK", whole[:50], whole[: len(whole) // 2]):
        file.write_bytes(contents)
        refusal(file)
    np.save(tmp_path / "p.npy", POINTS)
    (tmp_path / "p.npy").replace(file)
    assert "one array" in refusal(file)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables(tmp_path: Path, separator: str, end: str) -> None:
    header = ["Longitude", '"station, id"', " lat ", "AREA"]
    rows = [[f"{p[1]!r}", '"a, b; c"', f" {p[0]!r}", repr(a)] for p, a in
            zip(POINTS.tolist(), AREAS.tolist(), strict=True)]  # fmt: skip
    lines = [separator.join(row) for row in [header, *rows[:4], [], *rows[4:], []]]
    file = written(tmp_path / "p.csv", "\ufeff" + end.join(lines))
    assert np.array_equal(read_points(file, sphere=True), WITH_AREAS)


def test_values_of_tables(tmp_path: Path) -> None:
    for text, sphere, points in (
        ("y,x\n1,2\n3,4e-1\n", False, "[[2.0, 1.0], [0.4, 3.0]]"),
        ("lat,lon\n", True, "[]"),
        ("lat,lon\nnan,1000\n", True, "[[nan, 1000.0]]"),  # refused by the specification
    ):
        table = read_points(written(tmp_path / "p.csv", text), sphere=sphere)
        assert (table.shape, str(table.tolist())) == ((len(table), 2), points)


ONE, TWO = np.ones(1), np.ones(2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.npy", POINTS.ravel(), "(N, 2): latitude, longitude; or (N, 3)"),
        ("p.npy", np.ones((3, 4)), "(N, 2): latitude, longitude; or (N, 3)"),
        ("p.npz", {"lat": TWO, "LAT": TWO, "lon": TWO}, "latitude twice"),
        ("p.npz", {"lat": ONE, "lon": TWO}, "one length. Got lat (1,), lon (2,)"),
        ("p.npz", {"lat": np.array(["a"]), "lon": ONE}, "must hold numbers. Got <U1"),
        ("p.npz", {"lat": np.array([{}]), "lon": ONE}, "Object arrays cannot be loaded"),
        ("p.csv", "", "must have columns named latitude and longitude. Got none."),
        ("p.csv", "10,20\n30,40\n", "no header line. Begin it with the line latitude,longitude."),
        ("p.csv", "lat,lon\n\n1,2,3\n", "line 3: must have 2 fields, as its header. Got 3."),
        ("p.csv", "lat,lon\n1,2\n3,north\n", "line 3: lon must be a number. Got 'north'."),
        ("p.csv", "lat,lon\n1,2\x00\n", "line 2"),
        ("p.csv", "lat,lon,näme\n".encode("latin-1"), "UTF-8"),
        ("p.txt", "1 2", "must be one of .npy, .npz, .csv"),
    ],
)
def test_files_that_hold_no_points(tmp_path: Path, name: str, content: Any, message: str) -> None:
    assert message in refusal(written(tmp_path / name, content))
