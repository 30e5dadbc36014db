"""The ClimateNet experiment from end to end on a few made-up samples, and what it refuses."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import StoreError, open_store

FOLDER = Path(__file__).parents[2] / "benchmarks" / "accuracy"
POINTS = 42


def loaded() -> ModuleType:
    """The script, which imports those beside it by their names."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("climatenet")
    finally:
        sys.path.remove(str(FOLDER))


climatenet = loaded()


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("climate") / "graphs.zarr"
    build(climatenet.spec_of(1), path)
    build(GraphSpec("s2", subdivisions=1, levels=2), path, name="isotropic")
    build(GraphSpec("se2", 8, levels=2), path, name="plane")
    return path


def made_up(grid: tuple[int, ...] = (POINTS,), samples: int = 4) -> dict[str, Any]:
    """Labels that the first two fields tell."""
    generator = np.random.default_rng(0)
    fields = generator.normal(5, 3, (samples, 16, *grid)).astype(np.float32)
    labels = np.where(fields[:, 0] > 6, 1, np.where(fields[:, 1] > 6, 2, 0))
    return {"fields": fields, "labels": labels}


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def run(graphs: Path, path: Path, *more: object, seeds: int = 2) -> int:
    options = [
        "--subdivisions",
        1,
        "--epochs",
        2,
        "--batch",
        2,
        "--seeds",
        seeds,
        "--device",
        "cpu",
    ]
    return climatenet.main([str(o) for o in (path, *options, "--store", graphs, *more)])


def table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


@pytest.mark.slow
def test_from_end_to_end(graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path / "a.npz", **made_up())
    assert run(graphs, path) == 0
    out = capsys.readouterr().out
    assert "F1 on 1 test samples, 3 to train on, mean +- deviation over 2 seeds, 2 epochs" in out
    header, _, row = table(out)
    assert header.split(" | ")[1] == "tropical cyclone"
    found = [float(cell.split(" +- ")[0]) for cell in row.strip("| ").split(" | ")]
    assert len(found) == 5
    assert all(0 <= f1 <= 1 for f1 in found)
    assert out.rstrip().endswith(" s")


def test_interrupted_anywhere_it_ends_the_same(
    graphs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(tmp_path / "a.npz", **made_up())
    states = {}

    def note(seed: int, epoch: int) -> None:
        del epoch
        states[seed] = torch.load(checkpoint, weights_only=True)["run"]["network"]

    whole = climatenet.Experiment.run
    monkeypatch.setattr(climatenet.Experiment, "run", lambda *a: whole(*a, note))
    checkpoint = tmp_path / "whole.pt"
    assert run(graphs, path, "--checkpoint", checkpoint) == 0
    expected, expected_states = table(capsys.readouterr().out), dict(states)
    states.clear()
    checkpoint = tmp_path / "parts.pt"
    for _ in range(4):

        def stop(seed: int, epoch: int) -> None:
            note(seed, epoch)
            raise KeyboardInterrupt

        monkeypatch.setattr(climatenet.Experiment, "run", lambda *a: whole(*a, stop))
        with pytest.raises(KeyboardInterrupt):
            run(graphs, path, "--checkpoint", checkpoint)
    monkeypatch.setattr(climatenet.Experiment, "run", whole)
    assert run(graphs, path, "--checkpoint", checkpoint) == 0
    assert table(capsys.readouterr().out) == expected
    assert states.keys() == expected_states.keys() == {0, 1}
    for seed, state in states.items():
        for name, tensor in state.items():
            assert torch.allclose(tensor, expected_states[seed][name], atol=1e-6), name
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.npz", "parts.pt", "whole.pt"]


def test_checkpoints_of_other_experiments(
    graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, checkpoint = saved(tmp_path / "a.npz", **made_up()), tmp_path / "c.pt"
    other = saved(tmp_path / "b.npz", **made_up(samples=5))
    assert run(graphs, path, "--checkpoint", checkpoint, seeds=1) == 0
    for data, more, name in (
        (path, ["--batch", 1], "batch is 2, here it is 1"),
        (path, ["--graph", "isotropic"], "graph is so3-"),
        (other, [], "data is of digest"),
    ):
        capsys.readouterr()
        assert run(graphs, data, "--checkpoint", checkpoint, *more) == 2
        assert name in one_error(capsys)
    checkpoint.write_bytes(b"nonsense")
    assert run(graphs, path, "--checkpoint", checkpoint) == 2
    assert "c.pt is not a checkpoint of this experiment." in one_error(capsys)


def one_error(capsys: pytest.CaptureFixture[str]) -> str:
    lines = [line for line in capsys.readouterr().err.splitlines() if "Error: " in line]
    assert len(lines) == 1
    return lines[0]


def test_the_networks_refuse_weights_of_another_graph(graphs: Path) -> None:
    opened = open_store(graphs)
    path = next(name for name in opened if name.startswith("so3"))
    networks = [climatenet.UNet(opened[name], 16, 3) for name in (path, "isotropic")]
    with pytest.raises(StoreError, match="was trained on so3"):
        networks[1].load_state_dict(networks[0].state_dict())


def test_latitudes_and_longitudes(graphs: Path, tmp_path: Path) -> None:
    """A field and labels that depend on latitude alone arrive at the points' own latitudes."""
    pyramid = open_store(graphs)["isotropic"]
    height, width = 91, 180
    latitude = np.linspace(-90, 90, height)[:, None].repeat(width, 1).astype(np.float32)
    fields = np.broadcast_to(latitude, (2, 16, height, width))
    labels = np.broadcast_to(np.digitize(latitude, [20, 50]), (2, height, width))
    arrays = {"fields": fields, "labels": labels.astype(np.uint8), "split": ["train", "test"]}
    points = pyramid.levels[0].coordinates[:, -2]
    expected = 90 - torch.rad2deg(points)
    for axes in (
        {},
        {"latitudes": np.linspace(-90, 90, height), "longitudes": np.arange(0, 360, 2)},
    ):
        data = climatenet.load(saved(tmp_path / "grid.npz", **arrays, **axes), pyramid)
        assert data.fields.shape == (2, 16, POINTS)
        assert torch.allclose(data.fields.double(), expected.expand(2, 16, -1), atol=1e-3)
        clear = (expected - 20).abs().minimum((expected - 50).abs()) > 2
        classes = (expected > 20).long() + (expected > 50)
        assert torch.equal(data.labels[:, clear], classes[clear].expand(2, -1))
        assert [part.tolist() for part in data.split(3)] == [[0], [1]]


def test_channels_are_put_in_order(graphs: Path, tmp_path: Path) -> None:
    pyramid, arrays = open_store(graphs)["isotropic"], made_up()
    plain = climatenet.load(saved(tmp_path / "a.npz", **arrays), pyramid)
    turned = arrays | {"fields": arrays["fields"][:, ::-1], "channels": climatenet.CHANNELS[::-1]}
    assert torch.equal(
        climatenet.load(saved(tmp_path / "b.npz", **turned), pyramid).fields, plain.fields
    )


def test_splits_by_the_seed(graphs: Path, tmp_path: Path) -> None:
    pyramid = open_store(graphs)["isotropic"]
    data = climatenet.load(saved(tmp_path / "a.npz", **made_up(samples=10)), pyramid)
    splits = [data.split(seed) for seed in range(5)]
    assert all(len(test) == 2 for _, test in splits)
    assert all(sorted([*a.tolist(), *b.tolist()]) == list(range(10)) for a, b in splits)
    assert len({tuple(test.tolist()) for _, test in splits}) > 1


def test_f1_and_weights_against_scikit_learn() -> None:
    from sklearn.metrics import f1_score
    from sklearn.utils.class_weight import compute_class_weight

    generator = np.random.default_rng(1)
    true, found = generator.integers(3, size=(2, 500))
    confusion = torch.from_numpy(true * 3 + found).bincount(minlength=9).view(3, 3)
    scores = climatenet.f1_scores(confusion)
    each = f1_score(true, found, average=None)
    assert np.allclose([scores[name] for name in climatenet.CLASSES], each)
    assert np.isclose(scores["mean of all"], each.mean())
    assert np.isclose(scores["mean of the two"], each[1:].mean())
    weights = climatenet.inverse_frequencies(torch.from_numpy(true))
    assert np.allclose(weights, compute_class_weight("balanced", classes=np.arange(3), y=true))
    assert climatenet.inverse_frequencies(torch.zeros(2, 5, dtype=torch.long)).tolist()[1:] == [
        0,
        0,
    ]
    assert climatenet.f1_scores(torch.diag(torch.tensor([5, 0, 0])))["tropical cyclone"] == 0


def changed(key: str, place: tuple[int, ...], value: float) -> dict[str, Any]:
    arrays = made_up()
    arrays[key][place] = value
    return arrays


BAD = {
    "points": (made_up((41,)), r"must have 42 points, as so3-.* has, or \(lat, lon\)\. Got 41"),
    "grid": (made_up((2, 2, 2)), r"must be \(N, 16, lat, lon\) or \(N, 16, points\)\. Got \(4, 16"),
    "half": (made_up((8, 16)) | {"latitudes": np.linspace(0, 90, 8)}, "cover the points"),
    "nan": (changed("fields", (1, 7, 3), np.nan), "PSL in .* has 1 values that are NaN"),
    "infinite": (changed("fields", (1, 0, 3), np.inf), "TMQ in .* has 1 values that are NaN"),
    "labels": (changed("labels", (2, 5), 3), "0 background, .*2 atmospheric river. Found 3"),
    "negative": (changed("labels", (2, 5), -1), "Found -1"),
    "shape": (made_up() | {"labels": np.zeros((4, 41))}, r"must be \(4, 42\) .*Got \(4, 41\)"),
    "text": (made_up() | {"labels": np.full((4, 42), "a")}, "must be numbers"),
    "few": ({"fields": np.zeros((4, 15, 42)), "labels": np.zeros((4, 42))}, "must be"),
    "names": (made_up() | {"channels": ["TMQ"] * 15 + ["RAIN"]}, "in any order.*RAIN"),
    "repeated": (made_up() | {"channels": ["TMQ", *climatenet.CHANNELS[:15]]}, "unknown: ZBOT"),
    "no labels": ({"fields": np.zeros((4, 16, 42))}, "must have an array 'labels'. It has fields"),
    "split": (made_up() | {"split": [0, 1, 2, 0]}, '"train" or "test"'),
    "short split": (made_up() | {"split": [0, 1]}, r"split in .* must be \(4,\)"),
    "no test": (made_up() | {"split": [0] * 4}, "to train and to test on. It has 4 and 0"),
    "one": (made_up(samples=1), "to train and to test on. It has 0 and 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_refused_in_one_sentence(
    graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    arrays, message = BAD[name]
    assert run(graphs, saved(tmp_path / "bad.npz", **arrays)) == 2
    assert re.search(message, one_error(capsys))


def test_bad_files_and_graphs_are_refused(
    graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nonsense")
    for path, message in (
        (tmp_path / "none.npz", "There is no file or folder"),
        (broken, "broken.npz can't be read as .npz"),
        (tmp_path, "has no NetCDF files"),
        (graphs / "zarr.json", "must be .npz, NetCDF"),
    ):
        assert run(graphs, path) == 2
        assert message in one_error(capsys)
    good = saved(tmp_path / "a.npz", **made_up())
    assert run(graphs, good, "--graph", "plane") == 2
    assert "takes a graph on the sphere, so3 or s2. plane@v001 is on se2." in one_error(capsys)
    assert run(graphs, good, "--graph", "absent") == 2
    assert "absent" in one_error(capsys)


def test_netcdf_without_xarray(
    graphs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    (tmp_path / "a.nc").touch()
    assert run(graphs, tmp_path) == 2
    assert "takes xarray: pip install xarray netcdf4, or convert it to .npz." in one_error(capsys)


def test_netcdf(graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As ClimateNet has it: (time, lat, lon) a channel, LABELS (lat, lon), one file a time."""
    xarray = pytest.importorskip("xarray")
    arrays = made_up((9, 16), samples=3)
    axes = {"lat": np.linspace(-90, 90, 9), "lon": np.arange(16) * 22.5}
    for part, number in (("train", 0), ("train", 1), ("test", 2)):
        (tmp_path / part).mkdir(exist_ok=True)
        columns = {
            name: (("time", "lat", "lon"), arrays["fields"][number, None, channel])
            for channel, name in enumerate(climatenet.CHANNELS)
        }
        columns["LABELS"] = (("lat", "lon"), arrays["labels"][number].astype(np.int32))
        xarray.Dataset(columns, axes).to_netcdf(tmp_path / part / f"{number}.nc", engine="scipy")
    pyramid = open_store(graphs)["isotropic"]
    data = climatenet.load(tmp_path, pyramid)
    npz = saved(tmp_path / "same.npz", **arrays, split=["train", "train", "test"])
    same = climatenet.load(npz, pyramid)
    order = [2, 0, 1]  # folders come by name
    assert torch.equal(data.fields, same.fields[order])
    assert torch.equal(data.labels, same.labels[order])
    assert torch.equal(data.test, same.test[order])
    xarray.Dataset({"TMQ": ("lat", np.zeros(3))}).to_netcdf(tmp_path / "odd.nc", engine="scipy")
    assert run(graphs, tmp_path) == 2
    assert "NetCDF files outside train/ and test/: odd.nc" in one_error(capsys)
    assert run(graphs, tmp_path / "odd.nc") == 2
    assert "odd.nc must have the variables U850," in one_error(capsys)


@pytest.mark.slow
def test_profile(graphs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["--profile", "--subdivisions", "1", "--store", str(graphs), "--threads", "1"]
    assert climatenet.main(arguments) == 0
    header, _, row = table(capfd.readouterr().out)
    assert header.count("|") == row.count("|") == 6
    assert row.count("ms") == 3
    assert row.count("MB") == 2
