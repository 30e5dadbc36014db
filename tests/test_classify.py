"""Image classifiers from files to tables: each format, resuming, refusals, invariance."""

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from benchmark_scripts import loaded, npz, one_error, two_classes
from PIL import Image

classify, classifying, pictures = loaded("classify", "classifying", "pictures")
QUICK = ["--levels", 1, "--orientations", 2, "--widen", 0.25, "--batch", 8, "--device", "cpu"]
PARTS = {"train": slice(4), "test": slice(4, 6)}
LABELS = np.array([1, 0, 1, 0, 0, 1], np.uint8)
IMAGES = np.random.default_rng(0).integers(0, 256, (6, 3, 96, 96), np.uint8)
"""(N, C, H, W), four to train on and two to test on; formats take what they have room for."""


def in_idx(folder: Path) -> np.ndarray:
    for name, part in (("train", PARTS["train"]), ("t10k", PARTS["test"])):
        for kind, values in (("images-idx3", IMAGES[part, 0]), ("labels-idx1", LABELS[part])):
            sides = b"".join(side.to_bytes(4, "big") for side in values.shape)
            contents = bytes([0, 0, 8, values.ndim]) + sides + values.tobytes()
            (folder / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(contents))
    return IMAGES[:, :1]


def in_cifar(
    folder: Path, before: bytes = b"", names: str = "data_batch_1 test_batch"
) -> np.ndarray:
    images = IMAGES[..., :32, :32]
    for name, part in zip(names.split(), PARTS.values(), strict=True):
        pairs = zip(images[part], LABELS[part], strict=True)
        records = [before + bytes([label]) + one.tobytes() for one, label in pairs]
        (folder / f"{name}.bin").write_bytes(b"".join(records))
    return images


in_cifar_100 = partial(in_cifar, before=b"\7", names="train test")


def in_stl(folder: Path) -> np.ndarray:
    """Each channel column by column, labels from 1."""
    for name, part in PARTS.items():
        (folder / f"{name}_X.bin").write_bytes(IMAGES[part].swapaxes(2, 3).tobytes())
        (folder / f"{name}_y.bin").write_bytes((LABELS[part] + 1).tobytes())
    (folder / "unlabeled_X.bin").write_bytes(b"left alone")
    return IMAGES


def in_folders(folder: Path) -> np.ndarray:
    for name, part in PARTS.items():
        for label in (0, 1):
            place = folder / name / "ab"[label]
            place.mkdir(parents=True)
            for n in np.flatnonzero(LABELS[part] == label):
                Image.fromarray(IMAGES[part][n].transpose(1, 2, 0)).save(place / f"{n}.png")
    (folder / "README.md").write_text("notes")
    order = [*np.argsort(LABELS[:4], kind="stable"), 4, 5]
    return IMAGES[order]


def in_npz(folder: Path) -> np.ndarray:
    last, (train, test) = IMAGES.transpose(0, 2, 3, 1), PARTS.values()
    arrays = {"x_train": last[train], "y_train": LABELS[train, None], "x_test": last[test]}
    npz(folder / "a.npz", **arrays, y_test=LABELS[test])
    return IMAGES


@pytest.mark.parametrize("written", [in_idx, in_cifar, in_cifar_100, in_stl, in_folders, in_npz])
def test_formats_are_read_as_they_were_written(
    tmp_path: Path, written: Callable[[Path], np.ndarray]
) -> None:
    images = written(tmp_path)
    read = pictures.read(tmp_path / "a.npz" if written is in_npz else tmp_path)
    assert np.array_equal(read.images, images)
    labels = [0, 0, 1, 1] if written is in_folders else LABELS[:4].tolist()
    assert read.labels.tolist() == [*labels, 0, 1]
    assert read.is_test.tolist() == [False] * 4 + [True] * 2
    train, test = pictures.split(read, 1, 3)
    assert set(train.tolist()) < set(range(4))
    assert test.tolist() == [4, 5]


def test_resizing(tmp_path: Path) -> None:
    """To means of squares of pixels, and to larger sides."""
    file = npz(tmp_path / "a.npz", images=IMAGES[:, 0, :6, 1:5], labels=LABELS)
    means = IMAGES[:, 0, 1:5, 1:5].reshape(6, 2, 2, 2, 2).mean((2, 4)).round()
    assert np.array_equal(pictures.read(file, 2).images[:, 0], means)
    assert pictures.read(file, 8).images.shape == (6, 1, 8, 8)


def in_one_file(folder: Path) -> Path:
    images, labels = two_classes(24)
    return npz(folder / "a.npz", images=images, labels=labels)


def run(*options: object) -> int:
    return classify.main([str(option) for option in options])


def test_from_files_to_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.json"
    options = [*QUICK, "--size", 8, "--epochs", 15, "--seeds", 2]
    assert run(in_one_file(tmp_path), *options, "--json", file) == 0
    out = capsys.readouterr().out
    assert "Accuracy in % on 5 test images, 19 to train on" in out
    runs = json.loads(file.read_text())["runs"]
    for one in runs:
        assert one["upright"] == one["90 degrees"] >= 75  # it was 100; half would be chance
        assert one["change at 90 degrees"] <= 1e-4


@pytest.mark.parametrize("option", ["--recipe=mnist-isotropic", "--network=plain"])
def test_networks_and_recipes(tmp_path: Path, option: str) -> None:
    file = tmp_path / "a.json"
    options = [*QUICK, option, "--steps", 7, "--seeds", 1]
    assert run(in_one_file(tmp_path), *options, "--json", file) == 0
    [one] = json.loads(file.read_text())["runs"]
    assert one["steps"] == 7
    assert (one["change at 90 degrees"] <= 1e-4) == ("plain" not in option)


def test_goes_on_as_if_nothing_had_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped within the second seed's second epoch, with all that is random in a training."""
    random = [*QUICK, "--augment", "motions", "--kappa-edges", 0.7, "--pool", "random"]
    options = [in_one_file(tmp_path), *random, "--levels", 2, "--epochs", 3, "--seeds", 2]
    assert run(*options, "--json", tmp_path / "whole.json") == 0
    original, calls = classifying.augmented, iter(range(13))

    def augmented(*arguments: Any) -> torch.Tensor:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(classifying, "augmented", augmented)
        with pytest.raises(KeyboardInterrupt):
            run(*options, "--checkpoint", tmp_path / "c.pt")
    assert run(*options, "--checkpoint", tmp_path / "c.pt", "--json", tmp_path / "two.json") == 0
    whole, two = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "two"))
    for one in (*whole["runs"], *two["runs"]):
        one.pop("processor seconds")
    assert two == whole
    capsys.readouterr()
    assert run(*options[:-2], "--rate", 0.5, "--checkpoint", tmp_path / "c.pt") == 2
    assert "another experiment: its rate is 0.01, here it is 0.5." in capsys.readouterr().err


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = in_one_file(tmp_path)
    (tmp_path / "cut.npz").write_bytes(data.read_bytes()[:900])
    in_idx(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0])))
    for where, options, message in (
        (data, ["--recipe", "climatenet"], "The recipe climatenet is not one of images"),
        (data, ["--train", 1000], "There are 24 pictures, too few for 1000 to train"),
        (tmp_path / "cut.npz", [], "can't be read"),
        (tmp_path, [], "is no IDX file of 1 sides, or not whole"),
        (tmp_path / "a.txt", [], "is in no known format, or not there. Known are: IDX, CIFAR"),
    ):
        assert run(where, *QUICK, *options, "--steps", 1) == 2
        assert message in one_error(capsys.readouterr().err)
