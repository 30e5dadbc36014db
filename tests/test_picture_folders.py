"""Folders of classes with pictures in them, written by Pillow."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_files import RNG, grey, pictures, refusal
from PIL import Image


def save(file: Path, pixels: np.ndarray, mode: str | None = None, **options: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, **options)
    return file


def colour(height: int = 4, width: int = 5) -> np.ndarray:
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture
def cats(tmp_path: Path) -> np.ndarray:
    """Two cats and a dog, grey (3, 4, 5), in folders of classes; and what is to be ignored."""
    values = grey(3)
    for name, pixels in zip(("cat/a.png", "cat/b.PNG", "dog/a.bmp"), values, strict=True):
        save(tmp_path / name, pixels)
    for name in (".DS_Store", "Thumbs.db", "cat/.hidden.txt", "dog/thumbs.db"):
        (tmp_path / name).touch()
    (tmp_path / ".cache").mkdir()
    return values


def test_classes(tmp_path: Path, cats: np.ndarray) -> None:
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images, cats[:, None])
    assert found.labels.tolist() == [0, 0, 1]
    assert found.names == ("cat", "dog")
    assert found.is_test is None


@pytest.mark.parametrize(
    ("training", "test", "alone"),
    [("train", "test", "val"), ("train", "val", None), ("Training", "Valid", None)],
)
def test_training_and_test(tmp_path: Path, training: str, test: str, alone: str | None) -> None:
    values = grey(4)
    names = (f"{training}/b/1.png", f"{training}/a/1.png", f"{training}/c/1.png", f"{test}/c/1.png")
    for name, pixels in zip(names, values, strict=True):
        save(tmp_path / name, pixels)
    if alone:
        save(tmp_path / alone / "a" / "1.png", values[0])
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images[:, 0], values[[1, 0, 2, 3]])
    assert found.labels.tolist() == [0, 1, 2, 2]
    assert found.names == ("a", "b", "c")
    assert found.is_test.tolist() == [False, False, False, True]


@pytest.mark.parametrize("name", ["p.tif", "p.TIFF", "p.bmp", "p.png"])
def test_formats_without_loss(tmp_path: Path, name: str) -> None:
    values = [colour(), colour()]
    for class_, pixels in zip("ab", values, strict=True):
        save(tmp_path / class_ / name, pixels)
    assert np.array_equal(pictures.read(tmp_path).images, np.stack(values).transpose(0, 3, 1, 2))


def test_formats_with_loss(tmp_path: Path) -> None:
    """Flat pictures survive; of a GIF the first frame is taken, of a palette its colours."""
    flat = np.full((8, 8, 3), (204, 51, 102), np.uint8)
    save(tmp_path / "a" / "1.jpg", flat, quality=95)
    save(tmp_path / "a" / "2.JPEG", flat, quality=95)
    later = [Image.fromarray(255 - flat)]
    save(tmp_path / "b" / "1.gif", flat, save_all=True, append_images=later)
    save(tmp_path / "b" / "2.png", flat, "P")
    found = pictures.read(tmp_path).images.numpy()
    assert np.abs(found.astype(int) - flat.transpose(2, 0, 1)).max() <= 3
    binary = np.eye(8, dtype=bool)
    for class_ in "ab":
        save(tmp_path / "bits" / class_ / "1.png", binary)
    assert np.array_equal(pictures.read(tmp_path / "bits").images[1, 0], 255 * binary)


def test_pictures_of_several_sizes(tmp_path: Path) -> None:
    """Central squares: columns 2 to 9 of 12, rows 1 to 4 of 6."""
    wide, high = colour(8, 12), colour(6, 4)
    first = save(tmp_path / "a" / "1.png", wide)
    second = save(tmp_path / "b" / "1.png", high)
    assert refusal(tmp_path) == (
        f"Pictures must have one size. {first} is 12 x 8, {second} is 4 x 6; "
        "give --size to bring all to one."
    )
    found = pictures.read(tmp_path, 4).images
    means = wide[:, 2:10].reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    assert np.array_equal(found[0], np.round(means).transpose(2, 0, 1))
    assert np.array_equal(found[1], high[1:5].transpose(2, 0, 1))
    assert pictures.read(tmp_path, 9).images.shape == (2, 3, 9, 9)


def test_unreadable_pictures(tmp_path: Path, cats: np.ndarray) -> None:
    file = save(tmp_path / "dog" / "z.png", cats[0])
    whole = file.read_bytes()
    for contents in (b"", b"hello", whole[:20], whole[:-30], whole[:44] + b"~~~~" + whole[48:]):
        file.write_bytes(contents)
        message = refusal(tmp_path)
        assert message.startswith(f"{file} ")
        assert "is no picture, or a damaged one" in message or "can't be read as" in message
    for suffix in ("jpg", "gif", "tif", "bmp"):
        file.unlink()
        file = save(tmp_path / "dog" / f"z.{suffix}", colour(40, 40))
        file.write_bytes(file.read_bytes()[:90])
        assert refusal(tmp_path).startswith(f"{file} ")


ODD = {
    "beside.png": "beside.png is not in the folder of a class; move it there, or away.",
    "cat/notes.txt": "cat/notes.txt is no picture (.png, .jpg, .jpeg, .bmp, .tif, .tiff, .gif)",
    "cat/more/a.png": "cat must have pictures right in it, as the folder of a class. It has the "
    "folder more.",
    "train/cat/a.png": "has train/ but no test/, val/ or valid/ to test on. Give ",
}


@pytest.mark.parametrize("name", ODD)
def test_what_does_not_belong(tmp_path: Path, cats: np.ndarray, name: str) -> None:
    save(tmp_path / "x.png", cats[0])
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "x.png").rename(tmp_path / name)
    assert ODD[name] in refusal(tmp_path)


def test_notes_beside_folders_are_left_alone(tmp_path: Path) -> None:
    """Archives of data sets have a README.md beside train/ and test/, some in these, too."""
    values = grey(4)
    names = ("train/a/1.png", "train/b/1.png", "test/a/1.png", "test/b/1.png")
    for name, pixels in zip(names, values, strict=True):
        save(tmp_path / name, pixels)
    for name in ("README.md", "labels.csv", "train/README.md", "test/LICENSE"):
        (tmp_path / name).write_text("notes")
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images[:, 0], values)
    assert pictures.read(tmp_path / "train").names == ("a", "b")
