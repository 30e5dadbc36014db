"""Points from files: each form, and one line for whatever is wrong."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from failures import refusal_by

from cheblienet_graphs.inputs.files import read_points

RNG = np.random.default_rng(0)
POINTS = np.column_stack([RNG.uniform(-90, 90, 9), RNG.uniform(-180, 180, 9)])
AREAS = RNG.uniform(1, 2, 9)
WITH_AREAS = np.column_stack([POINTS, AREAS])


refusal = partial(refusal_by, read_points, sphere=True)


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8", newline="")
    return file


def test_arrays(tmp_path: Path) -> None:
    for values in (POINTS, WITH_AREAS, np.arange(6).reshape(3, 2), POINTS.astype(np.float32)):
        np.save(tmp_path / "p.npy", values)
        read = read_points(tmp_path / "p.npy", sphere=True)
        assert read.dtype == np.float64
        assert np.array_equal(read, values)


@pytest.mark.parametrize("values", [POINTS.ravel(), np.ones((3, 4))])
def test_arrays_of_another_shape(tmp_path: Path, values: np.ndarray) -> None:
    np.save(tmp_path / "p.npy", values)
    assert "(N, 2): latitude, longitude; or (N, 3)" in refusal(tmp_path / "p.npy")


def test_archives(tmp_path: Path) -> None:
    columns = {"LONGITUDE": POINTS[:, 1], "Latitude": POINTS[:, 0]}
    np.savez(tmp_path / "p.npz", other=np.ones((2, 2)), **columns)
    assert np.array_equal(read_points(tmp_path / "p.npz", sphere=True), POINTS)
    np.savez_compressed(tmp_path / "p.npz", area=AREAS, **columns)
    assert np.array_equal(read_points(tmp_path / "p.npz", sphere=True), WITH_AREAS)
    message = refusal(tmp_path / "p.npz", sphere=False)
    assert "must have arrays named x and y. Got 'area', " in message


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones(2), "X": np.ones(2), "y": np.ones(2)}, "x twice"),
        ({"x": np.ones(3), "y": np.ones(4)}, "one length. Got x (3,), y (4,)"),
        ({"x": np.array(["a"]), "y": np.ones(1)}, "must hold numbers. Got <U1"),
        ({"x": np.array([{}], dtype=object), "y": np.ones(1)}, "Object arrays cannot be loaded"),
    ],
)
def test_archives_that_are_wrong(tmp_path: Path, arrays: dict, message: str) -> None:
    np.savez(tmp_path / "p.npz", **arrays)
    assert message in refusal(tmp_path / "p.npz", sphere=False)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have columns named latitude and longitude. Got none."),
        ("10,20\n30,40\n", "no header line. Begin it with the line latitude,longitude."),
        ("lat,lon\n\n1,2,3\n", "line 3: must have 2 fields, as its header. Got 3."),
        ("lat,lon\n1,2\n3,north\n", "line 3: lon must be a number. Got 'north'."),
        ("lat,lon\n1,2\x00\n", "line 2"),
    ],
)
def test_tables_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(written(tmp_path / "p.csv", text))


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "must be one of .npy, .npz, .csv" in refusal(written(tmp_path / "p.txt", "1 2"))
    for suffix in ("npy", "npz", "csv"):
        assert "does not exist" in refusal(tmp_path / f"absent.{suffix}")
    (tmp_path / "p.csv").write_bytes("lat,lon,näme\n".encode("latin-1"))
    assert "UTF-8" in refusal(tmp_path / "p.csv")
