"""The ClimateNet experiment from end to end on a few made-up samples, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmark_scripts import loaded, npz, one_error

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import open_store

(climatenet,) = loaded("climatenet")
POINTS = 42


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("climate") / "graphs.zarr"
    build(climatenet.spec_of(1), path)
    build(GraphSpec("s2", subdivisions=1, levels=2), path, name="isotropic")
    return path


def made_up(grid: tuple[int, ...] = (POINTS,), samples: int = 4) -> dict[str, Any]:
    """Labels that the first two fields tell."""
    generator = np.random.default_rng(0)
    fields = generator.normal(5, 3, (samples, 16, *grid)).astype(np.float32)
    labels = np.where(fields[:, 0] > 6, 1, np.where(fields[:, 1] > 6, 2, 0))
    return {"fields": fields, "labels": labels}


def run(graphs: Path, path: Path) -> int:
    sizes = {"subdivisions": 1, "epochs": 2, "batch": 2, "seeds": 2, "device": "cpu"}
    options = [text for name, value in sizes.items() for text in (f"--{name}", str(value))]
    return climatenet.main([str(path), *options, "--store", str(graphs)])


def test_from_end_to_end(graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(graphs, npz(tmp_path / "a.npz", **made_up())) == 0
    out = capsys.readouterr().out
    assert "F1 on 1 test samples, 3 to train on, mean +- deviation over 2 seeds, 2 epochs" in out
    row = [line for line in out.splitlines() if line.startswith("|")][2]
    means = [float(cell.split(" +- ")[0]) for cell in row.strip("| ").split(" | ")]
    assert len(means) == 5
    assert all(0 <= f1 <= 1 for f1 in means)


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
    grid = {"latitudes": np.linspace(-90, 90, height), "longitudes": np.arange(0, 360, 2)}
    for axes in ({}, grid):
        data = climatenet.load(npz(tmp_path / "grid.npz", **arrays, **axes), pyramid)
        assert data.fields.shape == (2, 16, POINTS)
        assert torch.allclose(data.fields.double(), expected.expand(2, 16, -1), atol=1e-3)
        clear = (expected - 20).abs().minimum((expected - 50).abs()) > 2
        classes = (expected > 20).long() + (expected > 50)
        assert torch.equal(data.labels[:, clear], classes[clear].expand(2, -1))
        assert [part.tolist() for part in data.split(3)] == [[0], [1]]


def test_f1_and_weights_against_scikit_learn() -> None:
    from sklearn.metrics import f1_score
    from sklearn.utils.class_weight import compute_class_weight

    generator = np.random.default_rng(1)
    true, guessed = generator.integers(3, size=(2, 500))
    confusion = torch.from_numpy(true * 3 + guessed).bincount(minlength=9).view(3, 3)
    scores = climatenet.f1_scores(confusion)
    each = f1_score(true, guessed, average=None)
    assert np.allclose([scores[name] for name in climatenet.CLASSES], each)
    assert np.isclose(scores["mean of all"], each.mean())
    assert np.isclose(scores["mean of the two"], each[1:].mean())
    weights = climatenet.inverse_frequencies(torch.from_numpy(true))
    assert np.allclose(weights, compute_class_weight("balanced", classes=np.arange(3), y=true))
    one_class = climatenet.inverse_frequencies(torch.zeros(2, 5, dtype=torch.long))
    assert one_class.tolist()[1:] == [0, 0]
    assert climatenet.f1_scores(torch.diag(torch.tensor([5, 0, 0])))["tropical cyclone"] == 0


def test_bad_data_is_refused_in_one_sentence(
    graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = made_up()["fields"]
    fields[1, 7, 3] = np.nan
    for arrays, message in (
        (made_up((41,)), "must have 42 points, as so3-"),
        (made_up() | {"fields": fields}, "PSL in "),
        (made_up() | {"labels": np.full((4, POINTS), 3)}, "atmospheric river. Found 3"),
        (made_up() | {"split": [0] * 4}, "to train and to test on. It has 4 and 0"),
    ):
        assert run(graphs, npz(tmp_path / "bad.npz", **arrays)) == 2
        assert message in one_error(capsys.readouterr().err)
