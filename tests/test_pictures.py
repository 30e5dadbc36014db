"""Files of pictures, each format written by its description, are read as what was written."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from labelled_files import RNG, cifar, grey, idx, mnist, npz, pictures, refusal, stl


@pytest.mark.parametrize("name", ["{}-idx{}-ubyte", "{}-idx{}-ubyte.gz", "{}.idx{}-ubyte"])
def test_idx(tmp_path: Path, name: str) -> None:
    images = grey(5)
    mnist(tmp_path, images[:3], [7, 0, 2], "train-", name)
    file = mnist(tmp_path, images[3:], [1, 7], "t10k-", name)
    whole = pictures.read(tmp_path)
    assert whole.images.dtype == torch.uint8
    assert np.array_equal(whole.images, images[:, None])
    assert whole.labels.dtype == torch.int64
    assert whole.labels.tolist() == [7, 0, 2, 1, 7]
    assert whole.names == ("0", "1", "2", "3", "4", "5", "6", "7")
    assert whole.is_test.tolist() == [False, False, False, True, True]
    one = pictures.read(file)
    assert np.array_equal(one.images[:, 0], images[3:])
    assert one.labels.tolist() == [1, 7]
    assert one.is_test is None


def test_damaged_idx(tmp_path: Path) -> None:
    file = mnist(tmp_path, grey(3), [0, 1, 2], "train-")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert "must have 76 bytes for 3 x 4 x 5. Got 75; load it anew." in refusal(tmp_path)
    file.write_bytes(whole + b"0")
    assert "Got 77" in refusal(file)
    file.write_bytes(b"\0\0\x0d\3" + whole[4:])
    message = refusal(file)
    assert "must begin with the bytes 00 00 08 03, as IDX files of images" in message
    assert "Got 00 00 0d 03." in message
    file.write_bytes(b"")
    assert "Got nothing." in refusal(file)
    packed = gzip.compress(whole)
    for contents in (packed[:-9], packed[:3], packed[:20] + b"zzzz" + packed[24:]):
        file.write_bytes(contents)
        assert "can't be unpacked" in refusal(file)
    idx(file, grey(4))
    assert "and train-labels-idx1-ubyte must have one label for each" in refusal(file)
    assert "Got 4 images and 3 labels." in refusal(file)


def test_cifar_10(tmp_path: Path) -> None:
    pixels = RNG.integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    labels = np.array([[3], [0], [9], [9], [1]], np.uint8)
    last = cifar(tmp_path / "data_batch_2.bin", labels[2:4], pixels[2:4])
    cifar(tmp_path / "data_batch_1.bin", labels[:2], pixels[:2])
    cifar(tmp_path / "test_batch.bin", labels[4:], pixels[4:])
    whole = pictures.read(tmp_path)
    assert np.array_equal(whole.images, pixels.transpose(0, 3, 1, 2))
    assert whole.labels.tolist() == [3, 0, 9, 9, 1]
    assert whole.is_test.tolist() == [False] * 4 + [True]
    assert whole.names == tuple("0123456789")
    names = [f"class {n}" for n in range(10)]
    (tmp_path / "batches.meta.txt").write_text("\n".join(names) + "\n\n")
    assert pictures.read(tmp_path).names == tuple(names)
    assert "two or more classes. Got class 9 alone." in refusal(last)
    (tmp_path / "batches.meta.txt").write_text("\n".join(names[:9]))
    assert "must have a name for each class. Got 9 names and the label 9." in refusal(tmp_path)
    (tmp_path / "batches.meta.txt").unlink()
    (tmp_path / "test_batch.bin").unlink()
    assert pictures.read(tmp_path).is_test is None
    cifar(last, np.array([[0], [200]], np.uint8), pixels[:2])
    assert "must be 0 to 9, as in CIFAR-10. Found 200." in refusal(last)
    last.write_bytes(last.read_bytes()[:-1])
    message = refusal(last)
    assert "must have 3,073 bytes for each image, as CIFAR-10 has: 6,146 or another" in message
    assert "Got 6,145" in message
    last.write_bytes(b"")
    assert "3,073 or another multiple. Got 0" in refusal(last)


def test_cifar_100(tmp_path: Path) -> None:
    pixels = RNG.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    labels = np.array([[4, 98], [19, 2], [4, 3]], np.uint8)
    file = cifar(tmp_path / "train.bin", labels[:2], pixels[:2])
    cifar(tmp_path / "test.bin", labels[2:], pixels[2:])
    names = [f"fine {n}" for n in range(100)]
    (tmp_path / "fine_label_names.txt").write_text("\n".join(names))
    whole = pictures.read(tmp_path)
    assert np.array_equal(whole.images, pixels.transpose(0, 3, 1, 2))
    assert whole.labels.tolist() == [98, 2, 3]
    assert whole.names[98] == "fine 98"
    assert whole.is_test.tolist() == [False, False, True]
    assert pictures.read(file).labels.tolist() == [98, 2]
    cifar(file, labels[:2] + 2, pixels[:2])
    assert "must be 0 to 99, as in CIFAR-100. Found 100." in refusal(file)


def test_stl_10(tmp_path: Path) -> None:
    pixels = RNG.integers(0, 256, (4, 96, 96, 3), dtype=np.uint8)
    stl(tmp_path, "train", pixels[:3], [1, 10, 2])
    stl(tmp_path, "test", pixels[3:], [10])
    (tmp_path / "unlabeled_X.bin").write_bytes(b"left alone")
    stored = (tmp_path / "train_X.bin").read_bytes()
    whole = pictures.read(tmp_path)
    assert whole.images[0, 0, 1, 0] == stored[1]  # the next byte is the next pixel downwards
    assert whole.images[0, 0, 0, 1] == stored[96]
    assert whole.images[0, 2, 5, 7] == stored[2 * 96 * 96 + 7 * 96 + 5]
    assert np.array_equal(whole.images, pixels.transpose(0, 3, 1, 2))
    assert whole.labels.tolist() == [0, 9, 1, 9]
    assert whole.is_test.tolist() == [False, False, False, True]
    (tmp_path / "class_names.txt").write_text("\n".join("abcdefghij"))
    assert pictures.read(tmp_path).names == tuple("abcdefghij")
    assert f"is one of several files of STL-10; give {tmp_path}." in refusal(
        tmp_path / "train_X.bin"
    )
    for labels, message in (
        ([1, 0, 2], "must be 1 to 10, as in STL-10. Found 0."),
        ([1, 2, 11], "Found 11."),
        ([1, 2], "Got 3 images and 2 labels."),
    ):
        stl(tmp_path, "train", pixels[:3], labels)
        assert message in refusal(tmp_path)
    (tmp_path / "test_y.bin").unlink()
    stl(tmp_path, "train", pixels[:3], [1, 2, 3])
    assert "has no labels; test_y.bin must lie beside it." in refusal(tmp_path)
    (tmp_path / "test_X.bin").unlink()
    assert pictures.read(tmp_path).is_test is None
    (tmp_path / "train_X.bin").write_bytes(stored[:-5])
    assert "27,648 bytes for each image, as STL-10 has: 82,944" in refusal(tmp_path)


def test_npz(tmp_path: Path) -> None:
    images, colour = grey(5), RNG.integers(0, 256, (5, 4, 6, 3), dtype=np.uint8)
    labels = np.array([0, 2, 2, 0, 5], np.uint8)
    plain = pictures.read(npz(tmp_path / "a.npz", images=images, labels=labels))
    assert np.array_equal(plain.images, images[:, None])
    assert plain.labels.tolist() == labels.tolist()
    assert plain.names == tuple("012345")
    assert plain.is_test is None
    pairs = {"x_train": colour[:3], "y_train": labels[:3, None]}
    keras = npz(tmp_path / "b.npz", **pairs, x_test=colour[3:], y_test=labels[3:, None])
    found = pictures.read(keras)
    assert np.array_equal(found.images, colour.transpose(0, 3, 1, 2))
    assert found.images.is_contiguous()
    assert found.labels.tolist() == labels.tolist()
    assert found.is_test.tolist() == [False] * 3 + [True] * 2
    parts = {"train": slice(3), "val": slice(0, 1), "test": slice(3, 5)}
    arrays = {
        f"{part}_{kind}": values[rows]
        for part, rows in parts.items()
        for kind, values in (("images", colour), ("labels", labels))
    }
    assert pictures.read(npz(tmp_path / "c.npz", **arrays)).digest == found.digest


NPZ: dict[str, tuple[dict[str, Any], str]] = {
    "names": ({"x": grey(2)}, "must have the arrays images, labels; or x_train, y_train, x_test,"),
    "float": ({"images": grey(2) / 255, "labels": [0, 1]}, "must be uint8, .* Got float64 (2, 4,"),
    "flat": ({"images": grey(2)[0], "labels": [0, 1]}, "(N, H, W) or (N, H, W, C). Got uint8 (4,"),
    "objects": ({"images": grey(2), "labels": np.array([0, None])}, "can't be read as .npz: Obj"),
    "counts": ({"images": grey(2), "labels": [0, 1, 1]}, "Got 2 images and 3 labels."),
    "negative": ({"images": grey(2), "labels": [0, -1]}, "must be 0 to 65,535. Found -1."),
    "none": ({"images": grey(0), "labels": np.zeros(0, int)}, "no pixels; its images are (0, 1, 4"),
    "test": (
        {"x_train": grey(2), "y_train": [0, 1], "x_test": grey(0), "y_test": np.zeros(0, int)},
        "must have pictures to train and to test on",
    ),
}


@pytest.mark.parametrize("name", NPZ)
def test_refused_npz(tmp_path: Path, name: str) -> None:
    arrays, expected = NPZ[name]
    message = refusal(npz(tmp_path / "a.npz", **arrays))
    assert all(part in message for part in expected.split(".*"))
